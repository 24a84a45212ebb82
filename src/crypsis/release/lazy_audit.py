"""The audit of a release that is counted: columns alone, and two or three together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from math import prod
from pathlib import Path

import polars as pl

from crypsis.audits import Audit, Finding, FindingKind
from crypsis.audits.exposure import FEW, Exposure
from crypsis.table.attribute import Role
from crypsis.table.profile import LARGEST_SHARE

PART = 1_000_000
"""Values that are counted at a time, about."""
MOST_COMBINATIONS = 60
"""Combinations of columns that are counted; those with most values first."""


def audit_lazy_release(
    data: Path | pl.LazyFrame, roles: Mapping[str, str], unstated: Collection[str] = (), allowed: int = 0
) -> Audit:
    """The audit of a frame, or of the Parquet files of a folder: columns that are no quasi-identifiers, each by itself
    and beside every other column.
    """
    files = pl.scan_parquet(data / "*.parquet") if isinstance(data, Path) else data
    records = int(files.select(pl.len()).collect().item())
    outside = [name for name, role in roles.items() if role != Role.QUASI_IDENTIFIER]
    about = _about(files, list(roles)) if records else dict.fromkeys(roles, 0)
    exposure, found = Exposure(records, allowed, unstated), list[Finding]()
    for name in outside:
        single = _alone(files, (name,), records) if records else 0
        if roles[name] == Role.UNDECIDED:
            found.append(Finding(FindingKind.UNDECIDED, (name,), single, single / max(records, 1)))
        found += exposure.judge(name, Role(roles[name]), single)
    many = (each for each in found if each.share > LARGEST_SHARE or each.kind is FindingKind.UNDECIDED)
    settled = {each.columns[0] for each in many}
    open_ = [name for name in roles if name not in settled]
    tried = [names for size in range(2, FEW + 1) for names in combinations(open_, size) if not _quasi(names, roles)]
    values = {names: prod(about[name] for name in names) for names in tried}
    tried.sort(key=lambda each: -values[each])
    found += _together(files, tried[:MOST_COMBINATIONS], roles, records, unstated)
    looked = min(len(tried), MOST_COMBINATIONS)
    found.sort(key=lambda each: not each.refuses)
    return Audit(tuple(found), records, len(roles), looked, len(tried), False, {}, whole=False)


def _quasi(names: tuple[str, ...], roles: Mapping[str, str]) -> bool:
    """Whether all are quasi-identifiers, of which k-anonymity speaks."""
    return all(roles[name] == Role.QUASI_IDENTIFIER for name in names)


def _about(files: pl.LazyFrame, names: list[str]) -> dict[str, int]:
    """How many different values every column has, estimated."""
    counts = files.select(pl.col(name).approx_n_unique() for name in names).collect(engine="streaming")
    return {name: int(counts[name].item()) for name in names}


def _together(
    files: pl.LazyFrame,
    tried: list[tuple[str, ...]],
    roles: Mapping[str, str],
    records: int,
    unstated: Collection[str],
) -> Iterator[Finding]:
    """The worst combination of every column that is no quasi-identifier, as `few_together` gives them."""
    worst: dict[tuple[str, FindingKind, bool], tuple[int, tuple[str, ...]]] = {}
    for names in tried:
        single = _alone(files, names, records)
        confidential = [name for name in names if roles[name] == Role.CONFIDENTIAL]
        stated = [name for name in confidential if name not in unstated]
        named = (stated or confidential)[:1] or [name for name in names if roles[name] != Role.QUASI_IDENTIFIER]
        kind = FindingKind.ASSUMPTION if confidential else FindingKind.COMBINATION
        for name in named:
            key = name, kind, not stated
            if single > worst.get(key, (0, names))[0]:
                worst[key] = single, names
    for (name, kind, stops), (single, names) in worst.items():
        others, share = tuple(other for other in names if other != name), single / max(records, 1)
        yield Finding(kind, (name, *others), single, share, stops and share > LARGEST_SHARE)


def _alone(files: pl.LazyFrame, names: tuple[str, ...], records: int) -> int:
    """How many combinations of values occur once, part by part of their hashes, so that memory follows a part."""
    empty = pl.all_horizontal(pl.col(name).is_null() for name in names)
    values = files.select(names).filter(~empty)
    parts, single = max(1, -(-records // PART)), 0
    for part in range(parts):
        some = values.filter(pl.struct(names).hash(1) % parts == part) if parts > 1 else values
        once = some.group_by(names).len("crypsis count").filter(pl.col("crypsis count") == 1).select(pl.len())
        single += int(once.collect(engine="streaming").item())
    return single
