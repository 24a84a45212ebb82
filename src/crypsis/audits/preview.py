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

from crypsis.audits.exposure import alone, few_together
from crypsis.audits.published import Finding, FindingKind, Published
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

GROUP = 5
"""Records of a group of similar ones."""
LOOKED_AT = 50_000
"""Records that are looked at, drawn at random from a larger table."""


def preview_findings(table: Table, most: float = LARGEST_SHARE, stated: Collection[str] = ()) -> list[Finding]:
    """Confidential columns that will single people out together with others, although those are masked.

    Parameters
    ----------
    table : Table
        As collected, with its roles.
    most : float
        Share of the records a combination may single out.
    stated : collection of str
        Confidential columns of which somebody said that nobody outside knows them.

    Returns
    -------
    list of Finding
        At most one per confidential column, the most exposing first. A combination that only a column which is no
        quasi-identifier makes exposing is not among them: that column has a finding of its own.

    Examples
    --------
    >>> people = crypsis.example(300)
    >>> [each.columns[0] for each in preview_findings(people)]
    ['income', 'diagnosis']
    >>> preview_findings(people, stated=["income", "diagnosis"])
    []
    """
    kept = table.drop(table.named(*UNPUBLISHED, Role.WEIGHT, Role.STRATUM, Role.OTHER, Role.UNDECIDED))
    if not kept.confidential or not kept.quasi_identifiers:
        return []
    if len(kept) > LOOKED_AT:
        kept = kept.take(np.sort(np.random.default_rng(0).choice(len(kept), LOOKED_AT, replace=False)))
    seen = Published(in_groups(kept), unstated=frozenset(kept.confidential).difference(stated))
    findings = few_together(seen, most=most, least=most).findings
    found = [each for each in findings if each.kind is FindingKind.ASSUMPTION and each.refuses]
    return sorted(found, key=lambda each: -each.records)


def in_groups(table: Table, least: int = GROUP) -> Table:
    """The table with its quasi-identifiers masked in groups of similar records, and exposing amounts in groups.

    table  as collected
    least  records in a group
    """
    labels = similar(table.codes(table.quasi_identifiers), least)
    shown: dict[str, NDArray[Any]] = {n: middle(table.column(n), labels) for n in table.quasi_identifiers}
    for name in table.confidential:
        if table.holds_numbers(name) and alone(table.codes([name])[:, 0]).mean() > LARGEST_SHARE:
            ranks = np.argsort(np.argsort(table.column(name), kind="stable"), kind="stable")
            shown[name] = middle(table.column(name), (ranks // least).astype(np.int32))
    return table.with_columns(shown)


def middle(values: NDArray[Any], labels: NDArray[np.int32]) -> NDArray[Any]:
    """The middle value of the group of each record; the value of most of a group, where most agree.

    values  numbers, or codes of categories
    labels  int32[n]: group of each record

    Examples
    --------
    >>> middle(np.array([3, 9, 3, 4, 4]), np.array([0, 0, 0, 1, 1], dtype=np.int32)).tolist()
    [3, 3, 3, 4, 4]
    """
    order = np.lexsort((values, labels))
    sizes = np.bincount(labels)
    places = np.cumsum(sizes) - sizes + sizes // 2
    return np.asarray(values[order[np.minimum(places, len(values) - 1)]][labels])


def similar(codes: NDArray[np.int32], least: int) -> NDArray[np.int32]:
    """Groups of at least so many similar records: split at the median of the column with most values, again and again.

    codes  int32[n, columns]
    least  records in a group
    returns  int32[n]: the group of each record

    Examples
    --------
    >>> similar(np.array([[0, 5], [1, 5], [8, 5], [9, 5]]), 2).tolist()
    [0, 0, 1, 1]
    """
    labels, count, open_ = np.zeros(len(codes), dtype=np.int32), 0, [np.arange(len(codes))]
    while open_:
        rows = open_.pop()
        some = codes[rows]
        values = [len(np.unique(some[:, place])) for place in range(codes.shape[1])]
        if len(rows) < 2 * least or max(values) == 1:
            labels[rows], count = count, count + 1
            continue
        order = np.argsort(some[:, int(np.argmax(values))], kind="stable")
        half = len(rows) // 2
        open_ += [rows[order[half:]], rows[order[:half]]]
    return labels
