"""Swapping records between groups, every change priced by the SSE of the whole partition."""

from __future__ import annotations

from collections import Counter

import numpy as np

from naive.partitions import sse


def swap_records(
    points: np.ndarray, labels: np.ndarray, near: np.ndarray, k: int, passes: int
) -> tuple[np.ndarray, int]:
    """Row after row the exchange or move with a near group that lowers the SSE most → (labels, changes)."""
    labels, changes = labels.copy(), 0
    for _ in range(passes):
        before = changes
        for row in range(len(points)):
            own, sizes, tried = labels[row], Counter(labels.tolist()), []
            for other in near[own]:
                if sizes[own] > k and sizes[other] < 2 * k - 1:
                    tried.append(labels.copy())
                    tried[-1][row] = other
                for mate in np.flatnonzero(labels == other):
                    tried.append(labels.copy())
                    tried[-1][[row, mate]] = other, own
            best = min(tried, key=lambda one: sse(points, one), default=labels)
            if sse(points, best) < sse(points, labels) - 1e-12:
                labels, changes = best, changes + 1
        if changes == before:
            break
    return labels, changes
