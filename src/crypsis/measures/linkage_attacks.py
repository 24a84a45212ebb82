"""Many ways to link records: which columns an intruder knows, and how records are compared.

A file whose values were changed until one attack fails may still fall to another. So there are many: sets of three and
four known columns, compared by deviations, by ranges, or by counting the columns that agree. Half of the sets may guide
a search. The other half, and distances with weights that no search uses, are held out and judge what it found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.exchanges import ExchangeFile, ExchangeWorkspace, LinkCounts, count_links
from crypsis.measures.intervals import score_confidence_interval
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.measures.record_linkage import MISSING_LINKS, sides_of_record_linkage
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.precision import Scales
from crypsis.table.table import LOCAL, PERTURBATION, Table

Distance = Literal["z", "range", "agreement"]
Half = Literal["searched", "held-out"]

DISTANCES: tuple[Distance, ...] = ("z", "range", "agreement")
UNSEEN: dict[Distance, tuple[str, ...]] = {"z": ("equal",), "range": ("equal",), "agreement": ("value", "aside")}
"""Coordinates that a distance does not see."""
NOTHING = 1e9
"""A missing value, where it only matters whether values are equal."""
SIZES = (3, 4)
"""Columns known together, where not all are."""
MOST_SETS = 20_000
"""Sets of columns among which is chosen."""
WEIGHTINGS = 4
"""Weighted distances over all columns that are held out."""
LEVELS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Weights of a column in them."""

Floats = NDArray[np.float64]
Columns = tuple[str, ...]


@dataclass(frozen=True)
class LinkageAttack:
    """How an intruder looks for a person: the nearest published record is taken for theirs.

    >>> LinkageAttack(("age", "sex"), "agreement").columns
    ('age', 'sex')
    """

    columns: Columns  # what is known
    # whether numbers are compared by deviations or by ranges, or every column only by whether it agrees
    distance: Distance = "z"
    weights: tuple[float, ...] = ()  # what each column counts for; empty: all alike


def column_sets_for_linkage(names: Sequence[str], half: Half, most: int) -> list[Columns]:
    """Sets of three and four columns that an intruder who links may know; of up to four columns, all but one or two.

    `names`: what may be known; their order does not matter; `most`: sets that are wanted at most.

    >>> column_sets_for_linkage(["a", "b", "c"], "searched", 10)
    [('c',), ('a', 'c'), ('b', 'c')]
    >>> column_sets_for_linkage(["a", "b", "c"], "held-out", 10)
    [('a',), ('b',), ('a', 'b')]
    """
    ordered = sorted(names)
    sizes = SIZES if len(ordered) > max(SIZES) else range(max(1, len(ordered) - 2), len(ordered))
    every = [list(islice(combinations(ordered, size), MOST_SETS)) for size in sizes]
    found = sorted((each for sets in every for each in sets), key=lambda each: _digest(*each))
    return found[0 if half == "searched" else 1 :: 2][:most]


def searched_linkage_attacks(names: Sequence[str], most: int) -> list[LinkageAttack]:
    """Ways to link records that may guide a search: all columns by every distance, and half of the sets of columns."""
    whole = [LinkageAttack(tuple(names), distance) for distance in DISTANCES]
    return whole + _by_turns(column_sets_for_linkage(names, "searched", most))


def held_out_linkage_attacks(names: Sequence[str], most: int) -> list[LinkageAttack]:
    """Ways to link records that no search uses: the other half of the sets, and all columns with drawn weights."""
    drawn = [tuple(LEVELS[_digest(name, str(turn))[0] % len(LEVELS)] for name in names) for turn in range(WEIGHTINGS)]
    whole = [LinkageAttack(tuple(names), DISTANCES[turn % 3], weights) for turn, weights in enumerate(drawn)]
    return whole + _by_turns(column_sets_for_linkage(names, "held-out", most))


def _by_turns(sets: Sequence[Columns]) -> list[LinkageAttack]:
    return [LinkageAttack(each, DISTANCES[turn % len(DISTANCES)]) for turn, each in enumerate(sets)]


def _digest(*texts: str) -> bytes:
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest()


class SeenCoordinates(NamedTuple):
    """What attacks see: bounds int32[A + 1], seen int32[…] and weights float64[…], as `ExchangeFile` has them."""

    bounds: NDArray[np.int32]
    seen: NDArray[np.int32]
    weights: Floats


@dataclass(frozen=True, eq=False)
class LinkageCoordinates:
    """Columns of an original as coordinates in which attacks compare records.

    A number or an ordinal category is a coordinate; where cells are missing, so is whether they are; and its value is
    another one that agrees or not. A nominal category only agrees or not.
    """

    original: Table = field(repr=False)  # as collected
    names: Columns  # columns that are known to somebody
    # what is published, the original unless given. A column that it generalises agrees or not
    masked: Table | None = field(default=None, repr=False)

    @cached_property
    def _columns(self) -> list[_Column]:
        masked = self.original if self.masked is None else self.masked
        return [_column(self.original, masked, name) for name in self.names]

    @cached_property
    def known_coordinates(self) -> Floats:
        """float64[q, n]: the original."""
        return np.ascontiguousarray(np.concatenate([column.known for column in self._columns]))

    @cached_property
    def published_coordinates(self) -> Floats:
        """float64[q, n]: the masked table."""
        return np.ascontiguousarray(np.concatenate([column.published for column in self._columns]))

    @cached_property
    def roles(self) -> list[str]:
        """What each coordinate is."""
        return [role for column in self._columns for role in column.roles]

    @cached_property
    def column_of(self) -> NDArray[np.int32]:
        """int32[q]: the place of the column of each coordinate."""
        return np.repeat(np.arange(len(self.names)), [len(each.roles) for each in self._columns]).astype(np.int32)

    @cached_property
    def nominal(self) -> NDArray[np.bool_]:
        """bool[q]: whether a coordinate only agrees or not."""
        return np.array([role in ("equal", "code") for role in self.roles])

    @cached_property
    def range_units(self) -> Floats:
        """float64[q]: what one unit of a coordinate is on the scale on which the column is 1 wide."""
        found = []
        for name, column in zip(self.names, self._columns, strict=True):
            unit = 1.0
            if self.original.attribute(name).numeric:
                scales = Scales.of(finite_numbers_of_frame(self.original, name)[:, None])
                unit = float(scales.deviation[0] / (2 * scales.half_range[0])) if scales.half_range[0] > 0 else 0.0
            found += [unit if role == "value" else 1.0 for role in column.roles]
        return np.array(found)

    def select_seen(self, attacks: Sequence[LinkageAttack]) -> SeenCoordinates:
        """The coordinates that attacks see."""
        seen, weights, bounds = [], [], [0]
        for attack in attacks:
            share = dict(zip(attack.columns, attack.weights or (1.0,) * len(attack.columns), strict=True))
            for c, role in enumerate(self.roles):
                name = self.names[self.column_of[c]]
                if name not in share or role in UNSEEN[attack.distance]:
                    continue
                seen.append(c)
                unit = float(self.range_units[c]) if attack.distance == "range" else 1.0
                weights.append(share[name] * unit * unit)
            bounds.append(len(seen))
        return SeenCoordinates(
            np.array(bounds, dtype=np.int32), np.array(seen, dtype=np.int32), np.array(weights, dtype=np.float64)
        )


def attack_credits(
    original: Table, masked: Table, names: Columns, attacks: Sequence[LinkageAttack], people: NDArray[np.int64]
) -> Floats:
    """What attacks on a masked table earn.

    `original`, `masked`: row by row the same records; `people` int64[m]; returns float64[A, m].
    """
    coordinates = LinkageCoordinates(original, names, masked)
    kept, there = np.flatnonzero(masked.kept), masked.kept[people]
    looked_for = (np.cumsum(masked.kept) - 1)[people[there]].astype(np.int64)
    file = file_for_linkage_attacks(
        coordinates, coordinates.select_seen(attacks), kept, coordinates.published_coordinates[:, kept]
    )
    counts = allocate_linkage_attack_counts(len(attacks), len(kept))
    count_links(
        file, counts, allocate_linkage_attack_workspace(len(coordinates.roles), len(kept), len(attacks), 0), looked_for
    )
    near, ties = counts.near[:, looked_for], counts.ties[:, looked_for]
    found = np.zeros((len(attacks), len(people)))
    found[:, there] = np.where(near == 0, 1.0 / np.maximum(ties, 1), 0.0)
    return found


def file_for_linkage_attacks(
    coordinates: LinkageCoordinates, seen: SeenCoordinates, rows: NDArray[np.int64], published: Floats
) -> ExchangeFile:
    """Some records of an original, as published, for the many ways to link; nothing can be exchanged yet."""
    q, nothing = len(coordinates.roles), np.zeros(0, np.int32)
    return ExchangeFile(
        known=np.ascontiguousarray(coordinates.known_coordinates[:, rows]), published=np.ascontiguousarray(published),
        nominal=coordinates.nominal, charge=np.zeros(q), spent=np.zeros(q), caps=np.full(q, np.inf), starts=nothing,
        coords=nothing, unit_of=np.full(q, -1, np.int32), donors=np.zeros((len(rows), 0), np.int32),
        strata=np.zeros((0, len(rows)), np.int32), bounds=seen.bounds, seen=seen.seen, weights=seen.weights,
        touched=np.zeros((0, len(seen.bounds) - 1), np.bool_), limits=np.zeros(len(seen.bounds) - 1),
    )  # fmt: skip


def allocate_linkage_attack_counts(attacks: int, records: int) -> LinkCounts:
    """Allocate counts of links for a measure of many ways to link: one row per linkage attack."""
    near, ties = np.zeros((attacks, records), np.int32), np.ones((attacks, records), np.int32)
    return LinkCounts(near, ties, np.zeros((attacks, records)), np.zeros((attacks, records)), np.zeros(attacks))


def allocate_linkage_attack_workspace(coordinates: int, records: int, attacks: int, noted: int) -> ExchangeWorkspace:
    """Allocate buffers in which a measure follows many linkage attacks; `noted` counts can be put back."""
    q, n = coordinates, records
    return ExchangeWorkspace(
        np.zeros((2, q, n)), np.zeros((2, n)), np.zeros(q), np.zeros(q), np.zeros(q), np.zeros(attacks),
        np.zeros((noted, 4), np.int32), np.zeros((noted, 2)), np.zeros(1, np.int64),
    )  # fmt: skip


class _Column(NamedTuple):
    """One column as coordinates, float64[coordinates, n], and what each is: value, aside, equal or code."""

    known: Floats
    published: Floats
    roles: list[str]


def _column(original: Table, masked: Table, name: str) -> _Column:
    if masked.level(name) == LOCAL:
        raise TableError(f"column {name!r} is recoded record by record, and attacks here compare values; leave it out")
    sides = sides_of_record_linkage(original, original, masked, name, "z")
    if sides.codes.shape[1]:
        return _Column(sides.ancestors[:, :1].T.astype(np.float64), sides.codes.T.astype(np.float64), ["code"])
    both = []
    for table, values in ((original, sides.known.T), (masked, sides.published.T)):
        both.append(np.concatenate([values, np.where(table.missing(name), NOTHING, values[0])[None]]))
    return _Column(both[0], both[1], [*("value", "aside")[: len(both[0]) - 1], "equal"])


# -- Linkage by attacks that no search uses, the worst of them: what judges a file that was fitted to other attacks.

HELD_OUT = "held-out-linkage"
"""What judges a perturbed table beside the risks that are limited: it may have been fitted to those."""
SETS = 24
"""Sets of three and four known columns that are tried, where there are so many."""
PAIRS = 2_000_000
"""Pairs of a person and a published record that every attack looks at, about; fewer people of a large table."""


@measures.add(HELD_OUT)
class HeldOutLinkage(Measure):
    """Share of people found by the worst of several attacks that no search uses to guide itself.

    100 times the largest share, over the attacks, of original records whose nearest published record is their own: sets
    of three and four known columns, compared by deviations, by ranges or by the columns that agree, and all columns
    with weights that were drawn; none of these attacks is used by a search; t equally near records are worth 1/t if the
    right one is among them.

    Notes
    -----
    - Formula: 100 · max over held-out attacks of the share of records whose nearest published record is their own
    - Paper: own; distance-based record linkage after Domingo-Ferrer and Torra (2001)
    - Cost: O(n · people) for each attack
    - Departures: own measure; people are a fixed draw where the table is large

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.HeldOutLinkage().against(original).read(masked), 2)
    100.0
    """

    aim: ClassVar[Aim] = "risk"
    valid_for: ClassVar[frozenset[str]] = frozenset({PERTURBATION})

    def against(self, original: Table) -> BoundHeldOut:
        return BoundHeldOut.of(self, original)


class BoundHeldOut(BoundColumns[HeldOutLinkage]):
    """The held-out attacks on one original."""

    @cached_property
    def attacks(self) -> list[LinkageAttack]:
        """The attacks, in a fixed order."""
        return held_out_linkage_attacks(self.names, SETS)

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """Rows of the people who are looked for: all, or a draw that depends on nothing but their number."""
        rows = self.original.rows
        wanted = max(100, PAIRS // max(rows, 1))
        return np.arange(rows) if wanted >= rows else np.sort(default_rng(rows).choice(rows, wanted, replace=False))

    def _credits(self, masked: Table) -> NDArray[np.float64]:
        check_measured_rows(self.original.rows, masked)
        return attack_credits(self.original, masked, self.names, self.attacks, self.people)

    def read(self, masked: Table) -> float:
        return 100.0 * float(self._credits(masked).mean(axis=1).max())

    def explain(self, masked: Table) -> Reading:
        earned = self._credits(masked)
        rates = earned.mean(axis=1)
        worst = int(np.argmax(rates))
        attack, few = self.attacks[worst], len(self.people) < self.original.rows
        published = int(masked.kept.sum())
        counts = {
            "attacks": len(self.attacks),
            "records": len(self.people),
            **({"records in all": self.original.rows} if few else {}),
            "mean of the attacks": 100.0 * float(rates.mean()),
            **(
                {f"weight of {n}": w for n, w in zip(attack.columns, attack.weights, strict=True)}
                if attack.weights
                else {}
            ),
        }
        return self.measure.make_reading(
            100.0 * float(rates[worst]),
            attack.columns,
            MISSING_LINKS,
            counts,
            interval=score_confidence_interval(earned[worst], population=self.original.rows if few else None),
            baseline=100.0 / published if published else 0.0,
        )
