"""Slow, obvious twins of the utility measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def total_variation(before: Sequence[object], after: Sequence[object]) -> float:
    """Half the sum of the differences of shares, per cent."""
    first, last = Counter(before), Counter(after)
    gaps = [abs(first[v] / len(before) - last[v] / len(after)) for v in {*first, *last}]
    return 100 * sum(gaps) / 2


def kolmogorov(before: Sequence[float], after: Sequence[float]) -> float:
    """Largest difference of the shares at or below any value, per cent."""
    gaps = [
        abs(sum(x <= v for x in before) / len(before) - sum(x <= v for x in after) / len(after))
        for v in [*before, *after]
    ]
    return 100 * max(gaps)


def vanished(before: Sequence[object], after: Sequence[object]) -> tuple[int, int]:
    """Values that are gone, and records that held them."""
    gone = set(before) - set(after)
    return len(gone), sum(value in gone for value in before)
