"""The ledger for releases that are counted: what identifies their source, and what they reveal with earlier ones.

Nothing is read as a whole: records are hashed batch by batch, and classes are intersected with those of an earlier
release by counts of equal records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.attacks.several_releases import CHANGED, tuples_together
from crypsis.audits import Finding
from crypsis.errors import CrypsisError
from crypsis.release.evidence import public_part_as_evidence
from crypsis.release.ledger import (
    KEPT,
    Hashes,
    LedgerEntry,
    Sketch,
    combine_hashes,
    digest_of_hashes,
    findings_from_ledger,
    label_hashes,
    number_hashes,
)
from crypsis.release.published import read_published, scan_published_parts
from crypsis.table.attribute import UNMASKED, UNPUBLISHED, Kind, Role
from crypsis.table.encoding import Source
from crypsis.table.frames import table_of, to_frame
from crypsis.table.lazy import RECORDS, Lazy, batches, lazy_frame, scan, tally
from crypsis.table.table import Table

MOST_HASHED = 20_000_000
"""Records of which every hash is kept; of more, the sketch alone identifies the source, and its path."""
MOST_PAIRS = 3_000_000
"""Pairs of classes with an equal record that are intersected; more are not looked at, which the report says."""
UNREADABLE = "it is no longer where it was written, or cannot be read"
NOTHING_COMMON = "both publish no column as collected by which their records could be joined"
TOO_MANY = f"their classes have more than {MOST_PAIRS} pairs with an equal record"


@dataclass(frozen=True, eq=False)
class CountedSource:
    """A source that is not read as a whole, as the ledger knows it."""

    frame: Lazy  # as collected
    roles: Mapping[str, Role]

    @property
    def quasi_identifiers(self) -> Sequence[str]:
        """Columns an intruder is assumed to know."""
        return [name for name in self._names if self.roles.get(name) is Role.QUASI_IDENTIFIER]

    @cached_property
    def _names(self) -> list[str]:
        return list(self.frame.collect_schema().names())

    def digest(self) -> str:
        """Digest of the records, whatever their order; of very many, that of the smallest of their hashes."""
        names = sorted(self._names)
        smallest, rows, every = self._hashes(names, "")
        return digest_of_hashes(smallest if every is None else every, names) if rows else ""

    def sketch(self, salt: str, columns: Sequence[str] | None = None) -> Sketch:
        """The smallest hashes of the records over the published columns, or over those given."""
        published = sorted(name for name in self._names if self.roles.get(name) not in UNPUBLISHED)
        names = published if columns is None else list(columns)
        if not names or not set(names) <= set(self._names):
            return Sketch()
        smallest, rows, every = self._hashes(names, salt)
        if every is not None:
            return Sketch.of_hashes(np.unique(every), rows, names)
        # The number of different records from the largest of the smallest hashes (Bar-Yossef et al. 2002).
        different = round((len(smallest) - 1) / (float(smallest[-1]) / 2.0**64))
        return Sketch(tuple(names), min(different, rows), tuple(map(int, smallest)))

    def _hashes(self, names: Sequence[str], salt: str) -> tuple[Hashes, int, Hashes | None]:
        """The smallest different hashes, the number of records, and every hash unless there are too many."""
        smallest, rows = np.zeros(0, dtype=np.uint64), 0
        every: list[Hashes] | None = []
        for batch in _batches(self.frame, names):
            cells = [_series_hashes(batch[name]) for name in names]
            hashes = combine_hashes(cells, names, salt, len(batch))
            rows += len(hashes)
            smallest = np.unique(np.concatenate([smallest, np.unique(hashes)[:KEPT]]))[:KEPT]
            every = None if every is None or rows > MOST_HASHED else [*every, hashes]
        return smallest, rows, None if every is None else np.concatenate([smallest[:0], *every])


def _batches(frame: Lazy, names: Sequence[str]) -> Any:
    """Some columns in batches; of another engine than polars, all at once."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        return batches(native.select(names))
    return [frame.select(*names).collect().to_polars()]


def _series_hashes(series: pl.Series) -> NDArray[np.uint64]:
    """uint64[n]: hashes of cells, equal to those of the same cells in a table."""
    if series.dtype.is_numeric():
        return number_hashes(series.cast(pl.Float64).fill_null(np.nan).to_numpy())
    texts = series.cast(pl.String)
    labels = texts.drop_nulls().unique().sort()
    codes = texts.cast(pl.Enum(labels)).to_physical().cast(pl.Int32).fill_null(-1)
    return label_hashes(labels.to_list(), codes.to_numpy())


# -- what a release reveals with earlier ones of the same source --


@dataclass(frozen=True)
class ReleaseParts:
    """The published files of a release, and what its schema says of each column."""

    files: pl.LazyFrame
    columns: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, public: Path, schema: Mapping[str, Any]) -> ReleaseParts:
        """The files of a release that was counted, or one that was written as a whole."""
        columns = {each["name"]: each for each in schema["columns"]}
        if "*" in str(schema["file"]):
            return cls(scan_published_parts(public, schema), columns)
        if schema["format"] == "parquet":
            return cls(scan(public / str(schema["file"])).to_native(), columns)
        return cls(pl.DataFrame(to_frame(read_published(public, dict(schema)))).lazy(), columns)

    def having(self, *roles: Role) -> list[str]:
        """Names of the columns with some roles."""
        return [name for name, each in self.columns.items() if Role(each["role"]) in roles]

    def count(self, names: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
        """The distinct combinations of some columns and how many records have each; quasi-identifiers as texts."""
        counted = tally(lazy_frame(self.files), list(names))
        numbers = [name for name in names if self._numeric(name)]
        texts = [pl.col(n).cast(pl.Float64) if n in numbers else pl.col(n).cast(pl.String) for n in names]
        roles = {name: Role(self.columns[name]["role"]) for name in names}
        kinds = {n: (Kind.NUMERIC if n in numbers else Kind.NOMINAL).value for n in names}
        table = table_of(counted.select(texts), roles, kinds, {}, Source("a release"), masked=True)
        return table, counted[RECORDS].to_numpy()

    def _numeric(self, name: str) -> bool:
        """Whether a column holds numbers by which records can be joined."""
        known = Role(self.columns[name]["role"]) is Role.QUASI_IDENTIFIER
        return not known and self.columns[name]["kind"] == Kind.NUMERIC.value


def findings_with_earlier(new: ReleaseParts, entries: Sequence[LedgerEntry]) -> tuple[list[Finding], list[str]]:
    """What a counted release reveals together with each earlier one, and why some were not looked at."""
    worst, untried = dict[str, Finding](), list[str]()
    for entry in entries:
        try:
            public = public_part_as_evidence(Path(entry.folder))
            old = ReleaseParts.of(public, json.loads((public / "schema.json").read_text(encoding="utf-8")))
            why, found = _reveal_pair(old, new)
        except (CrypsisError, OSError, ValueError, KeyError, pl.exceptions.PolarsError):
            why, found = UNREADABLE, []
        untried += [f"that of {entry.date}: {why}"] if why else []
        for each in found:
            if each.key not in worst or each.share > worst[each.key].share:
                worst[each.key] = each
    return list(worst.values()), untried


def _reveal_pair(old: ReleaseParts, new: ReleaseParts) -> tuple[str, list[Finding]]:
    """What two releases reveal together; or why that was not looked at."""
    common = [
        name
        for name in old.having(*UNMASKED)
        if name in new.having(*UNMASKED) and old.columns[name]["kind"] == new.columns[name]["kind"]
    ]
    common = [name for name in common if _alike(old, new, name)]
    sides = [each.having(Role.QUASI_IDENTIFIER) for each in (old, new)]
    if not common or not all(sides):
        return NOTHING_COMMON, []
    (one, before), (other, after) = (each.count([*own, *common]) for each, own in zip((old, new), sides, strict=True))
    if _pairs(one, other, common) > MOST_PAIRS:
        return TOO_MANY, []
    return "", findings_from_ledger(tuples_together(one, other, common, (before, after)), other)


def _alike(old: ReleaseParts, new: ReleaseParts, name: str) -> bool:
    """Whether two releases hold the same values of a column, but for few: else it was masked in one of them."""
    sides = [each.files.group_by(pl.col(name).cast(pl.String)).len().collect(engine="streaming") for each in (old, new)]
    both = sides[0].join(sides[1], on=name, nulls_equal=True)
    shared = int(both.select(pl.min_horizontal("len", "len_right")).sum().item())
    return shared >= (1.0 - CHANGED) * min(int(each["len"].sum()) for each in sides)


def _pairs(one: Table, other: Table, common: Sequence[str]) -> int:
    """How many pairs of rows of two counts agree in the common columns, which bounds the pairs of classes."""
    frames = []
    for each in (one, other):
        columns = [
            pl.Series(name, each.column(name))
            if each.holds_numbers(name)
            else pl.Series(name, [*each.labels(name), None]).gather(
                np.where(each.missing(name), len(each.labels(name)), each.column(name))
            )
            for name in common
        ]
        frames.append(pl.DataFrame(columns).group_by(common).len())
    joined = frames[0].join(frames[1], on=list(common), nulls_equal=True)
    return int((joined["len"].cast(pl.Int64) * joined["len_right"].cast(pl.Int64)).sum())
