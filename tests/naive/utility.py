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


def tail_change(before: Sequence[float], after: Sequence[float]) -> float:
    """The larger relative change of the shares beyond the 5 % and the 95 % point of the original, per cent."""
    low, high = (quantile(before, share) for share in (0.05, 0.95))
    found = [0.0]
    for beyond in (lambda x: x < low, lambda x: x > high):
        first, last = (sum(map(beyond, side)) / len(side) for side in (before, after))
        if first:
            found.append(min(abs(last - first) / first, 1.0))
    return 100 * max(found)


def quantile(values: Sequence[float], share: float) -> float:
    """The point between the two values around a share of the way from the least to the greatest."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    lower = int(place)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (place - lower) * (ordered[upper] - ordered[lower])
