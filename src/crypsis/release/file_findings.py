"""Findings in Parquet files that are counted and not read as a whole: columns by themselves, and in pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from pathlib import Path

import polars as pl

from crypsis.audits import Audit, Finding, FindingKind
from crypsis.audits.exposure import one_column
from crypsis.table.attribute import Role
from crypsis.table.profile import LARGEST_SHARE

CERTAINLY_FEW = 0.04
"""Share of different values, estimated, below which no more than `LARGEST_SHARE` of the records can stand alone."""
PART = 5_000_000
"""Values that are counted at a time, about."""
MOST_PAIRS = 60
"""Pairs of columns that are counted; those with most values first."""


def audit_files(data: Path, roles: Mapping[str, str], unstated: Collection[str] = ()) -> Audit:
    """The audit of Parquet files: columns that are no quasi-identifiers, each by itself and beside every other column.

    Parameters
    ----------
    data : Path
        Folder of the files.
    roles : mapping of str to str
        Role of every published column.
    unstated : collection of str
        Confidential columns of which nobody said that no one outside knows their values.

    Returns
    -------
    Audit
        `whole` is False: combinations of three columns, and cells that other columns restore, are not looked at.
    """
    files = pl.scan_parquet(data / "*.parquet")
    records = int(files.select(pl.len()).collect().item())
    outside = [name for name, role in roles.items() if role != Role.QUASI_IDENTIFIER]
    about = _about(files, list(roles)) if records else dict.fromkeys(roles, 0)
    found: list[Finding] = []
    for name in outside:
        single = _alone(files, (name,), records) if about[name] > CERTAINLY_FEW * records else 0
        if roles[name] == Role.UNDECIDED:
            found.append(Finding(FindingKind.UNDECIDED, (name,), single, single / max(records, 1)))
        found += one_column(name, single, records)
    settled = {name for each in found for name in each.columns}
    pairs = [pair for pair in combinations(roles, 2) if settled.isdisjoint(pair) and not _quasi(pair, roles)]
    many = [pair for pair in pairs if about[pair[0]] * about[pair[1]] > CERTAINLY_FEW * records]
    many.sort(key=lambda pair: -about[pair[0]] * about[pair[1]])
    found += _in_pairs(files, many[:MOST_PAIRS], roles, records, unstated)
    looked = len(pairs) - len(many[MOST_PAIRS:])
    found.sort(key=lambda each: not each.refuses)
    return Audit(tuple(found), records, len(roles), looked, len(pairs), False, {}, whole=False)


def _quasi(pair: tuple[str, ...], roles: Mapping[str, str]) -> bool:
    """Whether both are quasi-identifiers, of which k-anonymity speaks."""
    return all(roles[name] == Role.QUASI_IDENTIFIER for name in pair)


def _about(files: pl.LazyFrame, names: list[str]) -> dict[str, int]:
    """How many different values every column has, estimated."""
    counts = files.select(pl.col(name).approx_n_unique() for name in names).collect(engine="streaming")
    return {name: int(counts[name].item()) for name in names}


def _in_pairs(
    files: pl.LazyFrame,
    pairs: list[tuple[str, str]],
    roles: Mapping[str, str],
    records: int,
    unstated: Collection[str],
) -> Iterator[Finding]:
    """The worst pair of every column that is no quasi-identifier, as `few_together` gives them."""
    worst: dict[tuple[str, FindingKind, bool], tuple[int, tuple[str, str]]] = {}
    for pair in pairs:
        single = _alone(files, pair, records)
        confidential = [name for name in pair if roles[name] == Role.CONFIDENTIAL]
        stated = [name for name in confidential if name not in unstated]
        named = (stated or confidential)[:1] or [name for name in pair if roles[name] != Role.QUASI_IDENTIFIER]
        kind = FindingKind.ASSUMPTION if confidential else FindingKind.COMBINATION
        for name in named:
            key = name, kind, not stated
            if single > worst.get(key, (0, pair))[0]:
                worst[key] = single, pair
    for (name, kind, stops), (single, pair) in worst.items():
        if single > LARGEST_SHARE * records:
            other = pair[1] if pair[0] == name else pair[0]
            yield Finding(kind, (name, other), single, single / max(records, 1), stops)


def _alone(files: pl.LazyFrame, names: tuple[str, ...], records: int) -> int:
    """How many values, or pairs of values, occur once, part by part of their hashes, so that memory follows a part."""
    empty = pl.all_horizontal(pl.col(name).is_null() for name in names)
    values = files.select(names).filter(~empty)
    parts, single = max(1, -(-records // PART)), 0
    for part in range(parts):
        some = values.filter(pl.struct(names).hash(1) % parts == part) if parts > 1 else values
        once = some.group_by(names).len("crypsis count").filter(pl.col("crypsis count") == 1).select(pl.len())
        single += int(once.collect(engine="streaming").item())
    return single
