"""Slow, obvious versions of the numeric measures, written from their definitions with plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def pairs(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float]]:
    """Original and published value of every cell whose original is there; a blank is read as the original mean."""
    known = [v for v in x if not math.isnan(v)]
    mean = math.fsum(known) / len(known)
    return [(a, mean if math.isnan(b) else b) for a, b in zip(x, y, strict=True) if not math.isnan(a)]


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    centre = mean(values)
    return mean([(v - centre) ** 2 for v in values])


def covariance(x: Sequence[float], y: Sequence[float]) -> float:
    mx, my = mean(x), mean(y)
    return mean([(a - mx) * (b - my) for a, b in zip(x, y, strict=True)])


def scale(values: Sequence[float], scaling: str) -> float:
    if scaling == "none":
        return 1.0
    if max(values) == min(values):
        return 0.0
    return math.sqrt(variance(values)) if scaling == "z" else max(values) - min(values)


def sse(x: Matrix, y: Matrix, scaling: str) -> float:
    total = 0.0
    for j in range(x.shape[1]):
        cells = pairs(x[:, j], y[:, j])
        width = scale([a for a, _ in cells], scaling)
        if width > 0:
            total += math.fsum(((a - b) / width) ** 2 for a, b in cells)
    return total


def sst(x: Matrix, scaling: str) -> float:
    middle = np.array([[np.nanmean(x[:, j]) for j in range(x.shape[1])]] * len(x))
    return sse(x, middle, scaling)


def il1s(x: Matrix, y: Matrix) -> float:
    ratios = []
    for j in range(x.shape[1]):
        cells = pairs(x[:, j], y[:, j])
        width = scale([a for a, _ in cells], "z")
        if width > 0:
            ratios += [abs(a - b) / (math.sqrt(2) * width) for a, b in cells]
    return mean(ratios) if ratios else 0.0


def filled(x: Matrix, y: Matrix) -> Matrix:
    """Published numbers with blanks read as means, for tables whose original is complete."""
    return np.where(np.isnan(y), x.mean(axis=0), y)


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    product = variance(x) * variance(y)
    return covariance(x, y) / math.sqrt(product) if max(x) > min(x) and max(y) > min(y) else 0.0


def over_pairs(
    x: Matrix, statistic: Callable[[Sequence[float], Sequence[float]], float], diagonal: bool
) -> list[float]:
    p = x.shape[1]
    return [statistic(x[:, j], x[:, k]) for j in range(p) for k in range(j if diagonal else j + 1, p)]


def mean_variation(before: Sequence[float], after: Sequence[float]) -> float:
    ratios = [abs(a - b) / abs(a) for a, b in zip(before, after, strict=True) if a != 0]
    return 100 * mean(ratios) if ratios else 0.0


def normal(z: float) -> float:
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def pil(before: float, after: float, spread: float) -> float:
    return 100 * (2 * normal(abs(after - before) / math.sqrt(spread)) - 1)


def variance_of_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """The formula as printed, in central moments m_rs."""
    a, b = [v - mean(x) for v in x], [v - mean(y) for v in y]

    def m(r: int, s: int) -> float:
        return mean([u**r * v**s for u, v in zip(a, b, strict=True)])

    r2 = m(1, 1) ** 2 / (m(2, 0) * m(0, 2))
    bracket = (
        m(2, 2) / m(1, 1) ** 2
        + (m(4, 0) / m(2, 0) ** 2 + m(0, 4) / m(0, 2) ** 2 + 2 * m(2, 2) / (m(2, 0) * m(0, 2))) / 4
        - m(3, 1) / (m(1, 1) * m(2, 0))
        - m(1, 3) / (m(1, 1) * m(0, 2))
    )
    return r2 / len(a) * bracket


def quantile(values: Sequence[float], share: float) -> float:
    """Linear interpolation between the two order statistics around share · (n - 1)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def silverman(values: Sequence[float]) -> float:
    """0.9 · min(deviation, quartile range / 1.349) · n^(-1/5); the deviation alone where the quartiles are equal."""
    deviation, quartiles = math.sqrt(variance(values)), quantile(values, 0.75) - quantile(values, 0.25)
    narrow = min(deviation, quartiles / 1.349) if quartiles > 0 else deviation
    return 0.9 * narrow * len(values) ** -0.2


def kernel_density(values: Sequence[float], at: float) -> float:
    width = silverman(values)
    bells = [math.exp(-(((v - at) / width) ** 2) / 2) / math.sqrt(2 * math.pi) for v in values]
    return mean(bells) / width


def variance_of_quantile(values: Sequence[float], share: float) -> float:
    """q (1 - q) / (n f²), f the density at the quantile."""
    return share * (1 - share) / (len(values) * kernel_density(values, quantile(values, share)) ** 2)


def middle_rank(value: float, column: Sequence[float]) -> float:
    return (sum(v < value for v in column) + sum(v <= value for v in column)) / 2


def interval_disclosure(x: Matrix, y: Matrix, variant: str, widths: Sequence[float], records: bool = False) -> float:
    """Share of cells (or whole records) inside, averaged over the widths, in per cent."""
    shares = []
    for w in widths:
        inside: list[bool] = []
        for row in range(len(x)):
            cells = []
            for j in range(x.shape[1]):
                if math.isnan(x[row, j]):
                    continue
                column = [v for v in x[:, j] if not math.isnan(v)]
                cells.append(not math.isnan(y[row, j]) and within(x[row, j], y[row, j], column, variant, w))
            inside += ([all(cells)] if cells else []) if records else cells
        shares.append(mean([float(flag) for flag in inside]))
    return 100 * mean(shares)


def within(value: float, shown: float, column: Sequence[float], variant: str, w: float) -> bool:
    slack = 1e-9
    if variant == "rank":
        return abs(middle_rank(value, column) - middle_rank(shown, column)) <= w / 100 * len(column) + slack
    if variant == "deviation":
        return abs(value - shown) <= w / 100 * scale(column, "z") + slack
    low, width = min(column), scale(column, "range") or 1.0
    return abs(value - shown) / width <= w / 100 * abs(shown - low) / width + slack


def linkage_credits(distance: Matrix, kept: NDArray[np.bool_], rule: str = "expected") -> list[float]:
    """From the full matrix of distances original × published: what each record's link is worth."""
    earned = []
    for row in range(len(distance)):
        if not kept[row]:
            earned.append(0.0)
            continue
        nearest = min(distance[row, other] for other in range(len(distance)) if kept[other])
        tied = [o for o in range(len(distance)) if kept[o] and distance[row, o] <= nearest + 1e-9]
        if row not in tied:
            earned.append(0.0)
        elif rule == "expected":
            earned.append(1 / len(tied))
        elif rule == "first":
            earned.append(float(tied[0] == row))
        else:
            earned.append(float(len(tied) == 1))
    return earned
