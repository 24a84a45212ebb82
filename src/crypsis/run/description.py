"""A solution in plain words: what happened to each column, how small the groups are, who was hard to protect.

Counts and shares only: nothing here is a value of a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crypsis.masking.method import Family
from crypsis.measures.cell_loss import cell_losses
from crypsis.measures.record_linkage import BoundRecordLinkage, RecordLinkage
from crypsis.privacy.properties import class_sizes
from crypsis.table.lattice import describe
from crypsis.table.table import LOCAL, Table

HARD = 0.1
"""Share of the records that counts as the hardest to protect."""


@dataclass(frozen=True)
class ColumnStory:
    """What became of one quasi-identifier."""

    name: str
    words: str
    loss: float
    """Mean cell loss, per cent."""
    changed: float
    """Share of the published cells that are not as collected, per cent."""


@dataclass(frozen=True)
class Story:
    """What became of a table."""

    columns: tuple[ColumnStory, ...]
    suppressed: int
    classes: Mapping[str, int] = field(default_factory=dict)
    """Class size (as a range in words) → how many classes; empty where class sizes mean nothing."""
    hardest: tuple[str, ...] = ()


def describe_masking(original: Table, masked: Table, family: str) -> Story:
    """The story of one masking."""
    names = original.quasi_identifiers
    losses = {name: np.where(masked.kept, cell_losses(original, masked, name), 1.0) for name in names}
    columns = tuple(_column(original, masked, name, losses[name]) for name in names)
    known = family != Family.PERTURBATION
    return Story(
        columns,
        int((~masked.kept).sum()),
        _classes(masked, names) if known and names else {},
        _hardest(original, masked, losses),
    )


def _column(original: Table, masked: Table, name: str, loss: NDArray[np.float64]) -> ColumnStory:
    kept, level = masked.kept, masked.level(name)
    changed = 100.0 * float((loss[kept] > 0).mean()) if kept.any() else 0.0
    mean = 100.0 * float(loss.mean())
    if level == LOCAL:
        words = _locally(masked, name)
    elif level:
        words = describe(masked.attribute(name), level).removeprefix(f"{name} ")
    elif changed == 0.0:
        words = "as collected"
    elif masked.holds_numbers(name):
        words = (
            f"{changed:.0f} % of its numbers moved, by {100 * float(loss[kept].mean()):.1f} % of the range on average"
        )
    else:
        words = f"{changed:.0f} % of its values replaced by another category"
    return ColumnStory(name, words, mean, changed)


def _locally(masked: Table, name: str) -> str:
    """Levels in use, by share of the records."""
    hierarchy, codes = masked.attribute(name).hierarchy, masked.column(name)[masked.kept]
    if hierarchy is None or not len(codes):
        return "recoded record by record"
    stands = np.searchsorted(hierarchy.offsets, codes, side="right") - 1
    parts = []
    for level in range(hierarchy.height + 1):
        share = 100.0 * float(((stands == level) & (codes >= 0)).mean())
        if share >= 0.5:
            words = "as collected" if level == 0 else describe(masked.attribute(name), level).removeprefix(f"{name} ")
            parts.append(f"{share:.0f} % {words}")
    return ", ".join(parts) or "recoded record by record"


_RANGES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 10**12))


def _classes(masked: Table, names: list[str]) -> dict[str, int]:
    sizes = class_sizes(masked, names)[masked.kept].astype(np.int64)
    found = {}
    for low, high in _RANGES:
        inside = sizes[(sizes >= low) & (sizes <= high)]
        classes = round(float((1.0 / inside).sum())) if len(inside) else 0
        label = f"{low}" if low == high else f"{low} to {high}" if high < 10**12 else f"{low} or more"
        if classes:
            found[label] = classes
    return found


def _hardest(original: Table, masked: Table, losses: Mapping[str, NDArray[np.float64]]) -> tuple[str, ...]:
    """Who bears the loss, and who is still at risk."""
    if not losses or not len(original):
        return ()
    record_loss = np.mean(list(losses.values()), axis=0)
    count = max(1, round(HARD * len(record_loss)))
    worst = np.argsort(-record_loss, kind="stable")[:count]
    total = float(record_loss.sum())
    alone = class_sizes(original, list(losses)) == 1
    told = []
    if total > 0:
        share = 100 * float(record_loss[worst].sum()) / total
        told.append(
            f"the {count} hardest records ({100 * HARD:.0f} %) bear {share:.0f} % "
            f"of the loss; {int(alone[worst].sum())} of them were unique in the original, "
            f"{int((~masked.kept)[worst].sum())} are left out"
        )
    bound: BoundRecordLinkage = RecordLinkage(columns=tuple(losses)).against(original)
    credit = bound.credits(masked)
    told.append(
        f"an intruder who knows all {len(losses)} quasi-identifiers finds {int((credit == 1.0).sum())} records for "
        f"certain and {int(((credit >= 0.5) & (credit < 1.0)).sum())} more with an even chance or better"
    )
    return tuple(told)
