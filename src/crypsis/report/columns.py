"""What happened to each published column, in words and counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.table.table import LOCAL, Table


@dataclass(frozen=True)
class ColumnStory:
    """What happened to one column."""

    name: str
    role: str
    kind: str
    treatment: str
    distinct_before: int | None
    """None, as after it, for a column of data that were counted by others."""
    distinct_after: int | None
    changed: float | None
    """Share of released cells that differ from the original, 0–100; None without an original."""
    loss: float | None = None
    """Mean cell loss of the column, 0–100, where an original was given and the column is a quasi-identifier."""


def tell_columns(
    original: Table | None, masked: Table, losses: dict[str, float] | None = None
) -> tuple[ColumnStory, ...]:
    """One story per published column; without an original, only what the file itself shows."""
    if original is None:
        return tuple(_received(masked, name) for name in masked.names)
    return tuple(_tell(original, masked, name, (losses or {}).get(name)) for name in masked.names)


def _received(masked: Table, name: str) -> ColumnStory:
    attribute, distinct = masked.attribute(name), _distinct(masked, name, masked.kept)
    return ColumnStory(name, attribute.role.value, attribute.kind.value, "as received", distinct, distinct, None)


def _tell(original: Table, masked: Table, name: str, loss: float | None) -> ColumnStory:
    attribute, level = original.attribute(name), masked.level(name)
    if level == LOCAL:
        treatment = "recoded record by record to coarser values where needed"
        changed = _lifted_share(original, masked, name)
    elif level > 0 and attribute.hierarchy is not None:
        groups = len(attribute.hierarchy.labels[level])
        treatment = "hidden" if groups == 1 else f"recoded to {groups} groups"
        changed = 100.0
    else:
        changed = _changed_share(original, masked, name)
        role = masked.attribute(name).role.value
        treatment = "unchanged" if changed == 0 else ("masked" if role == "quasi" else "changed")
    return ColumnStory(
        name,
        attribute.role.value,
        attribute.kind.value,
        treatment,
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


def _lifted_share(original: Table, masked: Table, name: str) -> float:
    hierarchy = original.attribute(name).hierarchy
    leaves = hierarchy.size if hierarchy is not None else 0
    column = masked.column(name)[masked.kept]
    return float(100 * np.mean(column >= leaves)) if column.size else 0.0
