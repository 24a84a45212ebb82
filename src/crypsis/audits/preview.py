"""What the audit will say of confidential columns, seen in the file as collected, before anything is masked.

The quasi-identifiers are masked in groups of similar records, each of which publishes its middle value, and amounts in
which many records are alone in groups of near ones. A search groups better; how many records its groups leave alone
with a confidential value is about the same.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.dependence import MOST_RESTORED, dependence
from crypsis.audits.exposure import few_together, mark_exposed_records, singling_out
from crypsis.audits.partial_values import find_partial_numbers, restoring_parts
from crypsis.audits.published import Codes, Finding, FindingKind, Published
from crypsis.audits.restatement import find_restated
from crypsis.masking.following import recompute_following
from crypsis.masking.representatives import middle_representatives
from crypsis.masking.weights import draw_weight_noise
from crypsis.table.attribute import UNPUBLISHED, Attribute, Kind, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.population import weight_column
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

GROUP = 5
"""Records of a group of similar ones."""
LOOKED_AT = 50_000
"""Records that are looked at, drawn at random from a larger table."""


def preview_findings(table: Table, most: float = LARGEST_SHARE, stated: Collection[str] = ()) -> list[Finding]:
    """Confidential columns that will single people out together with others, although those are masked.

    >>> people = crypsis.example(300)
    >>> [each.columns[0] for each in preview_findings(people)]
    ['income', 'diagnosis']
    >>> preview_findings(people, stated=["income", "diagnosis"])
    []
    """
    kept = table.drop(table.names_by_role(*UNPUBLISHED, Role.WEIGHT, Role.STRATUM, Role.OTHER, Role.UNDECIDED))
    if not kept.confidential or not kept.quasi_identifiers:
        return []
    if len(kept) > LOOKED_AT:
        kept = kept.take(np.sort(np.random.default_rng(0).choice(len(kept), LOOKED_AT, replace=False)))
    seen = Published(preview_masking_in_groups(kept), unstated=frozenset(kept.confidential).difference(stated))
    findings = few_together(seen, most=most, least=most).findings
    found = [each for each in findings if each.kind is FindingKind.ASSUMPTION and each.refuses]
    return sorted(found, key=lambda each: -each.records)


def preview_masking_in_groups(table: Table, least: int = GROUP) -> Table:
    """Preview for the audit: mask the collected table roughly, in groups of similar records."""
    labels = group_records_for_preview(table.codes(table.quasi_identifiers), least)
    shown: dict[str, NDArray[Any]] = {
        n: middle_representatives(table.column(n), labels) for n in table.quasi_identifiers
    }
    for name in table.confidential:
        if table.holds_numbers(name) and mark_exposed_records(table.codes([name])[:, 0]).mean() > LARGEST_SHARE:
            ranks = np.argsort(np.argsort(table.column(name), kind="stable"), kind="stable")
            shown[name] = middle_representatives(table.column(name), (ranks // least).astype(np.int32))
    return table.with_columns(shown)


def preview_weight_findings(table: Table, least: int = GROUP) -> list[Finding]:
    """What the weight of a roughly masked table would reveal, published as its attribute says."""
    if len(table) > LOOKED_AT:
        table = table.take(np.sort(np.random.default_rng(0).choice(len(table), LOOKED_AT, replace=False)))
    name = weight_column(table)
    noisy = draw_weight_noise(table, np.random.default_rng(0))
    masked = recompute_following(preview_masking_in_groups(noisy, least), table)
    found = audit_of_weight(Published(masked.drop(masked.names_by_role(*UNPUBLISHED)), table), name)
    return [each for each in found if each.refuses]


def audit_of_weight(seen: Published, name: str) -> list[Finding]:
    """Findings that name the weight first: alone, with others, and what it restores."""
    told = seen.without_recomputed
    found = [*singling_out(told), *few_together(told).findings, *dependence(told, about=name)]
    return [each for each in found if name in each.columns[: each.by]]


def group_records_for_preview(codes: NDArray[np.int32], least: int) -> NDArray[np.int32]:
    """Group similar records for the preview of an audit, by repeated splits at the median of a column.

    `codes` int32[n, columns]; returns int32[n].

    >>> group_records_for_preview(np.array([[0, 5], [1, 5], [8, 5], [9, 5]]), 2).tolist()
    [0, 0, 1, 1]
    """
    labels, count, open_ = np.zeros(len(codes), dtype=np.int32), 0, [np.arange(len(codes))]
    while open_:
        rows = open_.pop()
        some = codes[rows]
        values = 1 + np.count_nonzero(np.diff(np.sort(some, axis=0), axis=0), axis=0) if len(rows) else np.zeros(1)
        if len(rows) < 2 * least or max(values) == 1:
            labels[rows], count = count, count + 1
            continue
        order = np.argsort(some[:, int(np.argmax(values))], kind="stable")
        half = len(rows) // 2
        open_ += [rows[order[half:]], rows[order[:half]]]
    return labels


def preview_restoring_in_groups(table: Table, labels: Codes, most: float) -> list[Finding]:
    """Single columns that would restore quasi-identifiers before masking, if the group of each record were known.

    `labels` int32[n].
    """
    first = table.quasi_identifiers[0]
    group = Attribute(first, Kind.NUMERIC, Role.QUASI_IDENTIFIER)
    shown = _blank_for_preview(table).with_columns({first: labels + 0.5 * np.pi}, attributes={first: group})
    return dependence(Published(shown, table), most=most, together=2)


def _blank_for_preview(table: Table) -> Table:
    """The table of a preview, without any value of a quasi-identifier, as if all were masked."""
    names = table.quasi_identifiers
    blank = {name: np.full(len(table), np.nan if table.holds_numbers(name) else MISSING) for name in names}
    return table.with_columns({name: cells.astype(table.column(name).dtype) for name, cells in blank.items()})


def preview_restoring_columns(table: Table) -> list[Finding]:
    """Columns, their parts and intervals, and texts that would say values of quasi-identifiers, were these all
    masked.
    """
    seen = Published(_blank_for_preview(table), table)
    whole = dependence(seen, most=0.0, together=1)
    told = {(each.columns[0], name) for each in whole for name in each.columns[1:] if each.share > MOST_RESTORED}
    return [*whole, *restoring_parts(seen, told), *find_partial_numbers(seen, told), *find_restated(seen)]
