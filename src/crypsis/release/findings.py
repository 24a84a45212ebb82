"""Findings on a written file: each refuses the release unless it is waived with a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.audits import Audit, Finding, FindingKind, Published, audit_published
from crypsis.audits.exposure import FEW, Exposure
from crypsis.audits.restatement import metadata
from crypsis.errors import PlanError, ReleaseRefused, listing, suggestion
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import MissingReading
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.provenance import PERTURBATION
from crypsis.table.table import Table
from crypsis.text import decisions_text

SHORTEST_REASON = 5
"""Letters a reason has at least."""


def split_waivers(waivers: Mapping[str, str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """Waivers of rules (by their id) and of findings (kind:column); an id holds no colon."""
    rules = {key: reason for key, reason in (waivers or {}).items() if ":" not in key}
    return rules, {key: reason for key, reason in (waivers or {}).items() if ":" in key}


def check_finding_waivers(waivers: Mapping[str, str], columns: Sequence[str]) -> None:
    """Refuse a waiver of an unknown finding, of a column that is not there, or without a reason."""
    for key, reason in waivers.items():
        kind, column = key.split(":", 1)
        known = [str(each) for each in FindingKind]
        if kind not in known:
            near = suggestion(kind, known)
            raise PlanError(f"there is no finding {kind!r} to waive{near}; findings: {listing(known, most=20)}")
        if column not in columns:
            near = suggestion(column, columns)
            raise PlanError(
                f"waiver of {key!r}: there is no column {column!r}{near}; columns: {listing(columns, most=40)}"
            )
        if len(reason.strip()) < SHORTEST_REASON:
            raise PlanError(f"the waiver of {key!r} needs a reason in words, e.g. 'known to nobody outside the office'")


@dataclass(frozen=True)
class AuditTerms:
    """How the audit reads a published table.

    family    family of the masking
    unstated  confidential columns of which nobody said that no one outside knows their values
    missing   how missing cells are read where records are counted
    allowed   people whom a column may single out that nothing masks and nobody spoke of
    """

    family: str
    unstated: frozenset[str] = frozenset()
    missing: MissingReading = "own"
    allowed: int = 0


def audit_release(
    published: Table,
    original: Table | None,
    rows: NDArray[np.intp],
    terms: AuditTerms,
    file: Path | None = None,
    beside: Sequence[Finding] = (),
) -> Audit:
    """The audit of a published table whose rows stand in another order than the original's.

    Parameters
    ----------
    published : Table
        The written file, read back.
    original : Table or None
        The table before masking; without it nobody knows which cells were masked, and all count as collected.
    rows : int[n]
        Row of the original behind each published record.
    terms : AuditTerms
        How the table is read.
    file : Path, optional
        The written file, for what it holds beside the table.
    beside : sequence of Finding
        What was found beside the file, such as earlier releases.

    Returns
    -------
    Audit
    """
    before = None if original is None else original.take(rows)
    seen = Published(
        published,
        before,
        terms.family == PERTURBATION,
        unstated=terms.unstated,
        missing=terms.missing,
        allowed=terms.allowed,
    )
    return audit_published(seen, beside=[*(metadata(file) if file is not None else ()), *beside])


def refuse_open(found: Audit, waivers: Mapping[str, str]) -> Audit:
    """The audit with the reasons findings were waived for.

    waivers  finding (kind:column) → reason

    Raises
    ------
    ReleaseRefused
        If a finding that stops a release was not waived; it says what to decide about each.
    """
    found = replace(found, waived=dict(waivers))
    if found.open:
        raise ReleaseRefused(decisions_text(found.open))
    return found


# -- Findings in Parquet files that are counted and not read as a whole: columns alone, and two or three together.

PART = 5_000_000
"""Values that are counted at a time, about."""
MOST_COMBINATIONS = 60
"""Combinations of columns that are counted; those with most values first."""


def audit_files(data: Path, roles: Mapping[str, str], unstated: Collection[str] = (), allowed: int = 0) -> Audit:
    """The audit of Parquet files: columns that are no quasi-identifiers, each by itself and beside every other column.

    Parameters
    ----------
    data : Path
        Folder of the files.
    roles : mapping of str to str
        Role of every published column.
    unstated : collection of str
        Confidential columns of which nobody said that no one outside knows their values.
    allowed : int
        People whom a column may single out that nothing masks and nobody spoke of.

    Returns
    -------
    Audit
        `whole` is False: cells that other columns restore are not looked at.
    """
    files = pl.scan_parquet(data / "*.parquet")
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
