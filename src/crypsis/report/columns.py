"""What happened to each published column, for the reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.measures.information_loss import information_losses
from crypsis.measures.masking_description import Treatment
from crypsis.table.attribute import Role
from crypsis.table.table import LOCAL, Table
from crypsis.text import missing_text, treatment_text

RECEIVED = "as received"
"""Treatment of every column where no original is given."""


@dataclass(frozen=True)
class ReportedColumn:
    """What happened to one column.

    Attributes
    ----------
    name, role, kind : str
    treatment : str
        What was done, in words.
    distinct_before, distinct_after : int or None
        Distinct values; None for a column that was not counted.
    changed : float or None
        Share of released cells that differ from the original, 0–100; None without an original.
    loss : float or None
        Mean cell loss, 0–100, of a quasi-identifier with an original.
    """

    name: str
    role: str
    kind: str
    treatment: str
    distinct_before: int | None
    distinct_after: int | None
    changed: float | None
    loss: float | None = None


def describe_columns(
    original: Table | None, masked: Table, losses: Mapping[str, float] | None = None
) -> tuple[ReportedColumn, ...]:
    """Describe every published column.

    Parameters
    ----------
    original : Table or None
        The table before masking; without it only what the file itself shows.
    masked : Table
    losses : mapping of str to float, optional
        Mean cell loss by column, 0–100.

    Returns
    -------
    tuple of ReportedColumn
    """
    if original is None:
        return tuple(_received(masked, name) for name in masked.names)
    return tuple(_described(original, masked, name, (losses or {}).get(name)) for name in masked.names)


def _received(masked: Table, name: str) -> ReportedColumn:
    attribute, distinct = masked.attribute(name), _distinct(masked, name, masked.kept)
    return ReportedColumn(name, attribute.role.value, attribute.kind.value, RECEIVED, distinct, distinct, None)


def _described(original: Table, masked: Table, name: str, loss: float | None) -> ReportedColumn:
    attribute, level, groups = original.attribute(name), masked.level(name), 0
    replaced = False
    if level == LOCAL:
        lifted, moved = _recoded_shares(original, masked, name)
        treatment = Treatment.LOCALLY_RECODED if lifted else Treatment.REPLACED if moved else Treatment.UNCHANGED
        changed, replaced = lifted + moved, moved > 0
    elif level > 0 and attribute.hierarchy is not None:
        treatment, changed = Treatment.GENERALISED, 100.0
        groups = len(attribute.hierarchy.labels[level])
    else:
        changed = _changed_share(original, masked, name)
        other = Treatment.MOVED if attribute.numeric else Treatment.REPLACED
        treatment = Treatment.UNCHANGED if changed == 0 else other
    quasi = masked.attribute(name).role is Role.QUASI_IDENTIFIER
    done = treatment_text(treatment, groups, masked=quasi, replaced=replaced)
    absent, blank = original.missing(name)[masked.kept], masked.missing(name)[masked.kept]
    counts = missing_text(int((blank & ~absent).sum()), int((absent & ~blank).sum()))
    return ReportedColumn(
        name,
        attribute.role.value,
        attribute.kind.value,
        f"{done}, {counts}" if counts else done,
        _distinct(original, name, np.ones(len(original), dtype=np.bool_)),
        _distinct(masked, name, masked.kept),
        changed,
        loss,
    )


def _distinct(table: Table, name: str, kept: NDArray[np.bool_]) -> int:
    codes = table.codes([name])[kept, 0]
    return int(np.unique(codes[codes >= 0]).size)


def _changed_share(original: Table, masked: Table, name: str) -> float:
    before, after = original.column(name)[masked.kept], masked.column(name)[masked.kept]
    if not before.size:
        return 0.0
    same = (before == after) | ((before != before) & (after != after))
    return float(100 * (1 - same.mean()))


def _recoded_shares(original: Table, masked: Table, name: str) -> tuple[float, float]:
    """Released cells of a locally recoded column that are coarser, and those with another value, per cent."""
    hierarchy, kept = masked.attribute(name).hierarchy, masked.kept
    column = masked.column(name)[kept]
    if hierarchy is None or not column.size:
        return 0.0, 0.0
    lifted = column >= hierarchy.size
    moved = (column >= 0) & ~lifted & (information_losses(original, masked, name)[kept] > 0)
    return float(100 * lifted.mean()), float(100 * moved.mean())
