"""Groups of records that are hardest to protect: their loss and their risk of re-identification, never who they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Floats
from crypsis.report.histograms import FEW
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table


@dataclass(frozen=True)
class RecordHarm:
    """Loss and risk of each original record, by row.

    Attributes
    ----------
    alone : bool[n]
        Whether it is unique on the quasi-identifiers in the original.
    suppressed : bool[n]
        Whether it is suppressed.
    loss : float64[n]
        Mean cell loss, 0–1; 1 if suppressed.
    found : float64[n] or None
        Probability of re-identification by record linkage on the released file; None where no attack was run.
    """

    alone: NDArray[np.bool_]
    suppressed: NDArray[np.bool_]
    loss: Floats
    found: Floats | None


@dataclass(frozen=True)
class Subgroup:
    """Records that share a value of one column, if there are enough of them to be reported.

    Attributes
    ----------
    column, group : str
        The column and the value or range.
    records : int
        Number of records.
    alone, suppressed, loss, found : float
        Means over the group, per cent; `found` is None where no attack was run.
    """

    column: str
    group: str
    records: int
    alone: float
    suppressed: float
    loss: float
    found: float | None


def hardest_groups(original: Table, harm: RecordHarm, names: Sequence[str], most: int = 12) -> tuple[Subgroup, ...]:
    """All records together, then the groups with the greatest loss; ties by risk.

    Parameters
    ----------
    original : Table
        Gives the groups: categories, and quarters of numbers.
    harm : RecordHarm
        Loss and risk of each record.
    names : sequence of str
        Columns that form groups.
    most : int
        Largest number of groups.

    Returns
    -------
    tuple of Subgroup
    """
    everyone = _subgroup("", "all records", np.ones(len(original), dtype=np.bool_), harm)
    groups = [
        _subgroup(name, label, rows, harm)
        for name in names
        for label, rows in _groups(original, name)
        if int(rows.sum()) >= FEW
    ]
    groups.sort(key=lambda each: (-each.loss, -(each.found or 0.0), -each.alone))
    return (everyone, *groups[:most])


def _subgroup(column: str, label: str, rows: NDArray[np.bool_], harm: RecordHarm) -> Subgroup:
    found = None if harm.found is None else float(100 * harm.found[rows].mean())
    return Subgroup(
        column,
        label,
        int(rows.sum()),
        float(100 * harm.alone[rows].mean()),
        float(100 * harm.suppressed[rows].mean()),
        float(100 * harm.loss[rows].mean()),
        found,
    )


def _groups(original: Table, name: str) -> list[tuple[str, NDArray[np.bool_]]]:
    if original.holds_numbers(name):
        return _quarters(original.column(name))
    codes, labels = original.column(name), original.labels(name)
    counts = np.bincount(codes[codes != MISSING], minlength=len(labels))
    groups = [(labels[code], codes == code) for code in np.flatnonzero(counts >= FEW)]
    rare = np.append(counts < FEW, False)[codes] & (codes != MISSING)
    groups.append((f"values of fewer than {FEW} records, together", rare))
    groups.append(("missing", codes == MISSING))
    return groups


def _quarters(numbers: Floats) -> list[tuple[str, NDArray[np.bool_]]]:
    """Four groups of about equal size, and the missing ones."""
    missing = np.isnan(numbers)
    if missing.all():
        return [("missing", missing)]
    cuts = np.unique(np.nanpercentile(numbers, [25, 50, 75]))
    with np.errstate(invalid="ignore"):
        place = np.where(missing, -1, np.searchsorted(cuts, numbers, side="left"))
    labels = [
        f"up to {cuts[0]:g}",
        *(f"over {low:g}, up to {high:g}" for low, high in pairwise(cuts)),
    ]
    labels.append(f"over {cuts[-1]:g}")
    return [*((label, place == number) for number, label in enumerate(labels)), ("missing", missing)]
