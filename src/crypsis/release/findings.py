"""The gate on what a written file reveals by itself: a finding refuses the release unless it was waived by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import PlanError, ReleaseRefused, listing, suggestion
from crypsis.privacy.singling_out import SINGLING_OUT, Finding, finding, singling_out
from crypsis.table.hierarchy import MISSING
from crypsis.table.hierarchy_files import number_label
from crypsis.table.table import Table
from crypsis.text import decisions_text

CERTAINLY_FEW = 0.04
"""Share of different values, estimated, below which no more than `LARGEST_SHARE` of the records can stand alone."""
PART = 5_000_000
"""Values of a column that are counted at a time, about."""
ELSEWHERE = -2
"""Code of a collected value that the file does not show."""
SHORTEST_REASON = 5
"""Letters a reason has at least."""


@dataclass(frozen=True)
class FindingResult:
    """A finding and the reason it was waived for."""

    finding: Finding
    waived: str


def split_waivers(waivers: Mapping[str, str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """Waivers of rules (by their id) and of findings (kind:column); an id holds no colon."""
    rules = {key: reason for key, reason in (waivers or {}).items() if ":" not in key}
    return rules, {key: reason for key, reason in (waivers or {}).items() if ":" in key}


def check_finding_waivers(waivers: Mapping[str, str], columns: Sequence[str]) -> None:
    """Refuse a waiver of an unknown finding, of a column that is not there, or without a reason."""
    for key, reason in waivers.items():
        kind, column = key.split(":", 1)
        if kind != SINGLING_OUT:
            near = suggestion(kind, [SINGLING_OUT])
            raise PlanError(f"there is no finding {kind!r} to waive{near}; findings: {SINGLING_OUT}")
        if column not in columns:
            near = suggestion(column, columns)
            raise PlanError(
                f"waiver of {key!r}: there is no column {column!r}{near}; columns: {listing(columns, most=40)}"
            )
        if len(reason.strip()) < SHORTEST_REASON:
            raise PlanError(f"the waiver of {key!r} needs a reason in words, e.g. 'known to nobody outside the office'")


def check_findings(
    published: Table, original: Table | None, rows: NDArray[np.intp], waivers: Mapping[str, str]
) -> list[FindingResult]:
    """Every finding on a published table with the reason it was waived for; refused if one was not.

    Parameters
    ----------
    published : Table
        The written file, read back.
    original : Table or None
        The table before masking; without it nobody knows which cells were masked, and all count as collected.
    rows : int[n]
        Row of the original behind each published record.
    waivers : mapping of str to str
        Finding (kind:column) → reason.
    """
    cells = None if original is None else cells_as_collected(published, original, rows)
    return waived(singling_out(published, cells), waivers)


def waived(findings: Sequence[Finding], waivers: Mapping[str, str]) -> list[FindingResult]:
    """Findings with their reasons, or a refusal that says what to decide about those without."""
    open_ = [each for each in findings if each.key not in waivers]
    if open_:
        raise ReleaseRefused(decisions_text(open_))
    return [FindingResult(each, waivers[each.key]) for each in findings]


def cells_as_collected(published: Table, original: Table, rows: NDArray[np.intp]) -> dict[str, NDArray[np.bool_]]:
    """By column, the published cells that still say what was collected; columns the original lacks are left out."""
    before = original.take(rows)
    return {name: _same(published, before, name) for name in published.names if name in before.names}


def _same(published: Table, before: Table, name: str) -> NDArray[np.bool_]:
    if published.holds_numbers(name) and before.holds_numbers(name):
        return np.asarray(published.column(name) == before.column(name))
    if published.holds_numbers(name):
        return np.zeros(len(published), dtype=np.bool_)
    place = {label: code for code, label in enumerate(published.labels(name))}
    if before.holds_numbers(name):
        codes = before.codes([name])[:, 0]
        labels = _number_labels(before, name)
    else:
        codes, labels = before.column(name), before.labels(name)
    translate = np.array([*(place.get(label, ELSEWHERE) for label in labels), MISSING])
    return np.asarray(translate[codes] == published.column(name))


def _number_labels(before: Table, name: str) -> tuple[str, ...]:
    """What the different numbers of a column are called, ascending, where a recoded column still shows them."""
    column = before.column(name)
    values = np.unique(column[~np.isnan(column)]).tolist()
    hierarchy, dates = before.attribute(name).hierarchy, before.attribute(name).dates
    known = {} if hierarchy is None else dict(zip(hierarchy.values.tolist(), hierarchy.labels[0], strict=True))
    return tuple(known.get(value, number_label(value, dates)) for value in values)


def findings_in_files(data: Path, columns: Sequence[str]) -> list[Finding]:
    """What Parquet files reveal in columns that stand there as collected, counted without reading them as a whole."""
    files = pl.scan_parquet(data / "*.parquet")
    records = int(files.select(pl.len()).collect().item())
    found: list[Finding] = []
    for name in columns:
        values = files.select(pl.col(name).drop_nulls())
        about = values.select(pl.all().approx_n_unique()).collect(engine="streaming").item() if records else 0
        if about > CERTAINLY_FEW * records:
            found += finding(name, _alone(values, name, records), records)
    return found


def _alone(values: pl.LazyFrame, name: str, records: int) -> int:
    """How many values occur once, part by part of their hashes, so that memory follows a part."""
    parts, single = max(1, -(-records // PART)), 0
    for part in range(parts):
        some = values.filter(pl.col(name).hash(1) % parts == part) if parts > 1 else values
        once = some.group_by(name).len().filter(pl.col("len") == 1).select(pl.len())
        single += int(once.collect(engine="streaming").item())
    return single
