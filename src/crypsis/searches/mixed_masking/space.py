"""The records of a table as exchanges of values see them: coordinates, what moves together, attacks and blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.masked_file import join_masked_file_units
from crypsis.kernels.exchanges import (
    ExchangeFile,
    ExchangeRules,
    ExchangeWorkspace,
    LinkCounts,
    count_links,
    find_near_records,
    total_up,
)
from crypsis.masking.representatives import Representative
from crypsis.measures.information_loss import ColumnInformation
from crypsis.measures.linkage_attacks import (
    LinkageAttack,
    LinkageCoordinates,
    SeenCoordinates,
    allocate_linkage_attack_counts,
    allocate_linkage_attack_workspace,
    file_for_linkage_attacks,
)
from crypsis.privacy.demands import class_demands
from crypsis.searches.composite.space import CompositeSpace
from crypsis.table.attribute import attribute_weights
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.rules import EditRule, violations
from crypsis.table.table import Table

Columns = tuple[str, ...]

MOST_COMBINATIONS = 500_000
"""Combinations of values of the columns of a rule up to which they are listed."""


def is_listable_in_space(table: Table, rule: EditRule) -> bool:
    """Whether the space of mixed masking can list all combinations of values that an edit rule speaks of."""
    return prod(len(_first_rows(table, name)) for name in rule.columns) <= MOST_COMBINATIONS


def _first_rows(table: Table, name: str) -> NDArray[np.int64]:
    """The first record with each value of a column, missing first where cells are."""
    return np.unique(table.codes([name])[:, 0], return_index=True)[1]


def rule_tables_of_space(table: Table, units: Sequence[Columns], rules: Sequence[EditRule]) -> ExchangeRules:
    """The edit rules of a table in the space of mixed masking, listed so that exchanges can look them up."""
    names = list(dict.fromkeys(name for rule in rules for name in rule.columns))
    unit_of = {name: number for number, unit in enumerate(units) for name in unit}
    codes = [np.unique(table.codes([name])[:, 0], return_inverse=True)[1] for name in names]
    allowed, starts, strides, bounds = [np.zeros(0, np.bool_)], [], [], [0]
    for rule in rules:
        firsts = [_first_rows(table, name) for name in rule.columns]
        grid = np.indices([len(each) for each in firsts]).reshape(len(firsts), -1)
        others = rule.columns[1:]
        shown = table.take(firsts[0][grid[0]]).drop([name for name in table.names if name not in rule.columns])
        rest = zip(others, firsts[1:], grid[1:], strict=True)
        shown = shown.with_columns({name: table.column(name)[first[at]] for name, first, at in rest})
        starts.append(sum(map(len, allowed)))
        allowed.append(~violations(rule, shown))
        strides += [prod(len(each) for each in firsts[place + 1 :]) for place in range(len(firsts))]
        bounds.append(len(strides))
    columns = [name for rule in rules for name in rule.columns]
    return ExchangeRules(
        bounds=np.array(bounds, dtype=np.int32),
        columns=np.array([names.index(name) for name in columns], dtype=np.int32),
        units=np.array([unit_of.get(name, -1) for name in columns], dtype=np.int32),
        strides=np.array(strides, dtype=np.int64),
        codes=np.array(codes, dtype=np.int32).reshape(len(names), len(table)),
        allowed=np.concatenate(allowed),
        starts=np.array(starts, dtype=np.int64),
        exempt=np.array([violations(rule, table, collected=True) for rule in rules]).reshape(len(rules), len(table)),
    )


# -- The records of a table as exchanges of values see them: coordinates, what moves together, attacks and blocks.

Donors = NDArray[np.int32]
Rows = NDArray[np.int64]

WHOLE, BLOCK = 1_500, 1_000
"""Records up to which all are annealed together, and of a block of a larger table, about."""
NEIGHBOURS = 16
"""Similar records with which a record exchanges values."""
SINGLED_OUT = 90.0 * LARGEST_SHARE
"""Per cent of the records that one column may find: a little less than the audit of a release lets pass."""
GROUPS = (4, 12)
"""Least and largest size of the groups in which values are exchanged at first."""


@dataclass(frozen=True, eq=False)
class ExchangeSpace:
    """Records, columns whose values are exchanged, and attacks that may find only so many."""

    table: Table = field(repr=False)  # the original
    known: Columns  # columns that somebody may know, among them those that are published as collected
    units: tuple[Columns, ...]  # columns in which values are exchanged, those in one unit together
    ties: tuple[Columns, ...]  # for each unit, columns as collected in which only equal records exchange its values
    attacks: tuple[LinkageAttack, ...]  # what records are linked by
    caps: Mapping[str, float]  # largest share of its information that a column may lose, per cent, where it has one
    free: bool  # whether categories may be taken from others without giving one's own
    singling: int = 0  # how many of the last attacks know one column, by which a release lets few records be found
    # what every record keeps; all combinations of values that they speak of can be listed
    edit_rules: tuple[EditRule, ...] = ()

    def __len__(self) -> int:
        return len(self.table)

    def __getstate__(self) -> dict[str, object]:
        """Without what a worker can work out for itself."""
        fields = ("table", "known", "units", "ties", "attacks", "caps", "free", "singling", "edit_rules")
        return {name: self.__dict__[name] for name in fields}

    @cached_property
    def coordinates(self) -> LinkageCoordinates:
        """The known columns as coordinates."""
        return LinkageCoordinates(self.table, self.known)

    @cached_property
    def unit_of(self) -> NDArray[np.int32]:
        """int32[q]: the unit of a coordinate, −1 where it is published as collected."""
        place = {name: number for number, unit in enumerate(self.units) for name in unit}
        return np.array([place.get(self.known[c], -1) for c in self.coordinates.column_of], dtype=np.int32)

    @cached_property
    def charge(self) -> NDArray[np.float64]:
        """float64[q]: per cent of information lost by one record that moves one squared unit, or to another category.

        Columns count by their importance. Of a number the deviation is the unit; of categories any other one is wrong.
        """
        counts = np.array(attribute_weights([self.table.attribute(name) for name in self.known]))
        share = 100.0 * counts / counts.sum() / len(self)
        contents = [ColumnInformation.of(self.table, name) for name in self.known]
        found = np.zeros(len(self.coordinates.roles))
        for c, (role, column) in enumerate(zip(self.coordinates.roles, self.coordinates.column_of, strict=True)):
            numeric, spread = self.table.attribute(self.known[column]).numeric, contents[column].spread
            if numeric and role == "value":
                found[c] = share[column]
            elif not numeric and role in ("equal", "code"):
                found[c] = share[column] / spread if spread > 0.0 else share[column]
        return found

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """float64[q]: the largest share of loss, in the unit of `charge`, that a coordinate may have in all records."""
        counts = np.array(attribute_weights([self.table.attribute(name) for name in self.known]))
        caps = [self.caps.get(name, np.inf) for name in self.known]
        return np.asarray((np.array(caps) * counts / counts.sum())[self.coordinates.column_of])

    @cached_property
    def strata(self) -> NDArray[np.int32]:
        """int32[u, n]: records that may exchange a unit: alike in which cells are missing, and in its ties."""
        found = []
        for unit, tied in zip(self.units, self.ties, strict=True):
            lacking = [self.table.missing(name).astype(np.int32)[:, None] for name in unit]
            codes = [self.table.codes(list(tied))] if tied else []
            found.append(equivalence_classes(np.hstack([*lacking, *codes])).of)
        return np.array(found, dtype=np.int32)

    @cached_property
    def rules(self) -> ExchangeRules:
        """The edit rules as annealing looks them up."""
        return rule_tables_of_space(self.table, self.units, self.edit_rules)

    @cached_property
    def replaceable(self) -> NDArray[np.bool_]:
        """bool[u]: units of categories that may be taken from others."""
        named = [all(not self.table.attribute(name).numeric for name in unit) for unit in self.units]
        return np.array([self.free and each for each in named])

    # -- blocks --

    def blocks(self, turn: int) -> list[Rows]:
        """Blocks of similar records, cut along other columns in every turn; one of all records of a small table."""
        if len(self) <= WHOLE:
            return [np.arange(len(self))]
        points = self.coordinates.known_coordinates[np.array(self.coordinates.roles) != "equal"]
        parts, depth = [np.arange(len(self))], 0
        while max(map(len, parts)) > BLOCK:
            parts = [half for part in parts for half in _halves(points, part, depth + turn)]
            depth += 1
        return parts

    def donors(self, genome: NDArray[np.int32], names: Columns) -> Donors:
        """int32[n, u]: the donors of a genome over columns, unit by unit."""
        return np.ascontiguousarray(genome[:, [names.index(unit[0]) for unit in self.units]])

    def genome(self, donors: Donors, names: Columns) -> NDArray[np.int32]:
        """int32[n, p]: the genome of donors, column by column."""
        place = {name: number for number, unit in enumerate(self.units) for name in unit}
        return np.ascontiguousarray(donors[:, [place[name] for name in names]])

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """int32[n, u]: equal for records with equal values in all columns of a unit."""
        classes = [equivalence_classes(self.table.codes(list(unit))).of for unit in self.units]
        return np.stack(classes, axis=1).astype(np.int32)

    def shuffle_within_groups(self, limit: float) -> Donors:
        """Donors within groups of similar records, those of one record from different members: a file to begin with.

        `limit`: per cent of the records that may be found; groups are larger where it is small.
        """
        rows = np.arange(len(self), dtype=np.int32)
        donors = np.repeat(rows[:, None], len(self.units), axis=1)
        size = int(np.clip(np.ceil(100.0 / limit), *GROUPS))
        labels = self._similar(min(size, len(self)))
        joined, fixed = join_masked_file_units(self.rules, len(self.units))
        fixed |= np.isin(joined, joined[self._capped_units])
        strata = [equivalence_classes(self.strata[joined == each].T).of for each in joined]
        for group in np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1]):
            for unit in np.flatnonzero(~fixed):
                stratum = strata[unit][group]
                for each in np.unique(stratum):
                    inside = group[stratum == each]
                    donors[inside, unit] = np.roll(inside, 1 + joined[unit] % max(len(inside) - 1, 1))
        return donors

    @cached_property
    def _capped_units(self) -> NDArray[np.bool_]:
        """bool[u]: units of which a column has a largest loss; they begin as collected."""
        return np.array([bool(set(unit) & set(self.caps)) for unit in self.units])

    def _similar(self, size: int) -> NDArray[np.int32]:
        """int32[n]: groups of at least so many similar records, as a search over composite groups begins with."""
        names = tuple(name for unit in self.units for name in unit)
        attributes = [self.table.attribute(name) for name in names]
        profile = tuple(Representative.MEDIAN if each.numeric else Representative.TYPICAL for each in attributes)
        demands = class_demands((), self.table, names)
        nobody = np.zeros(len(self), np.int32)
        return CompositeSpace(
            self.table, names, (profile,), (size,), attribute_weights(attributes), nobody, demands
        ).halve(0, size)

    def file(self, rows: Rows, donors: Donors, limits: NDArray[np.float64]) -> ExchangeFile:
        """A block of records that publish the values of their donors.

        `donors` int32[n, u]; `limits` float64[A]: per cent of the block that attacks may find.
        """
        known, seen = self.coordinates.known_coordinates, self._seen_coordinates
        published = np.empty((len(known), len(rows)))
        for c, unit in enumerate(self.unit_of):
            published[c] = known[c, rows if unit < 0 else donors[rows, unit]]
        order = np.argsort(self.unit_of, kind="stable")
        order = order[self.unit_of[order] >= 0]
        starts = np.searchsorted(self.unit_of[order], np.arange(len(self.units) + 1))
        share = len(rows) / len(self)
        return file_for_linkage_attacks(self.coordinates, seen, rows, published)._replace(
            charge=self.charge / share, caps=self.most, starts=starts.astype(np.int32), coords=order.astype(np.int32),
            unit_of=self.unit_of, donors=np.ascontiguousarray(donors[rows]), touched=self._touched_units,
            strata=np.ascontiguousarray(self.strata[:, rows]), limits=limits,
        )  # fmt: skip

    def limits(self, limit: float) -> NDArray[np.float64]:
        """float64[A]: what each attack may find, per cent."""
        found = np.full(len(self.attacks), limit)
        found[len(found) - self.singling :] = min(limit, SINGLED_OUT)
        return found

    @cached_property
    def _seen_coordinates(self) -> SeenCoordinates:
        """What attacks see."""
        return self.coordinates.select_seen(self.attacks)

    @cached_property
    def _touched_units(self) -> NDArray[np.bool_]:
        """bool[u, A]: whether an attack sees a unit."""
        return np.array([[bool(set(unit) & set(a.columns)) for a in self.attacks] for unit in self.units])

    def load_block(self, key: tuple[int, ...], rows: Rows, donors: Donors, limits: NDArray[np.float64]) -> LoadedBlock:
        """A block ready to be annealed; what was counted for the same donors before is not counted again."""
        held = self._loaded_blocks.get(key)
        if held is None or not np.array_equal(held.file.donors, donors[rows]):
            file = self.file(rows, donors, limits)
            counts, workspace = self.count_links(file)
            near = self._near if len(rows) == len(self) else near_rows_in_space(file, workspace)
            held = LoadedBlock(file, counts, workspace, near)
            for other in [each for each in self._loaded_blocks if each[0] == key[0] and each[1:-1] != key[1:-1]]:
                del self._loaded_blocks[other]
            self._loaded_blocks[key] = held
        total_up(held.file, held.counts)
        return held

    @cached_property
    def _loaded_blocks(self) -> dict[tuple[int, ...], LoadedBlock]:
        """Blocks of the present run of every chain."""
        return {}

    @cached_property
    def _near(self) -> NDArray[np.int32]:
        """int32[n, m]: similar records of every record."""
        file = self.file(np.arange(len(self)), self.shuffle_within_groups(100.0), np.zeros(len(self.attacks)))
        return near_rows_in_space(
            file, allocate_linkage_attack_workspace(len(file.known), len(self), len(self.attacks), 0)
        )

    def count_links(self, file: ExchangeFile) -> tuple[LinkCounts, ExchangeWorkspace]:
        """The counts of a block, and buffers for annealing."""
        q, records = file.known.shape
        counts = allocate_linkage_attack_counts(len(self.attacks), records)
        workspace = allocate_linkage_attack_workspace(
            q, records, len(self.attacks), 2 * len(self.attacks) * (records + 1)
        )
        count_links(file, counts, workspace, np.arange(records))
        return counts, workspace


class LoadedBlock(NamedTuple):
    """A block with its counts, buffers, and similar records of every record."""

    file: ExchangeFile
    counts: LinkCounts
    workspace: ExchangeWorkspace
    near: NDArray[np.int32]


def near_rows_in_space(file: ExchangeFile, workspace: ExchangeWorkspace) -> NDArray[np.int32]:
    """int32[b, m]: in the space of mixed masking, the records most similar to each record of a block."""
    records = file.known.shape[1]
    found = np.zeros((records, max(1, min(NEIGHBOURS, records - 1))), np.int32)
    find_near_records(file, workspace, found, np.zeros(found.shape[1]))
    return found


def _halves(points: NDArray[np.float64], rows: Rows, turn: int) -> Sequence[Rows]:
    """A part cut at the middle of a coordinate, the next one in every turn."""
    order = rows[np.argsort(points[turn % len(points), rows], kind="stable")]
    return np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
