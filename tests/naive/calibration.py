"""Slow twins of the calibration kernels: every gap is worked out anew after every change that is tried."""

from __future__ import annotations

import numpy as np


def label_gap(
    labels: list[int], sums: np.ndarray, targets: np.ndarray, weights: np.ndarray, scores: np.ndarray, line: float
) -> float:
    """Weighed squared gaps of the indicators of all values with every feature, and of the value as a number."""
    total = 0.0
    moments = np.zeros_like(targets)
    for g, label in enumerate(labels):
        moments[label] += sums[g]
    for level in range(len(targets)):
        total += weights[level] * float(((moments[level] - targets[level]) ** 2).sum())
    return total + line * float(((scores @ (moments - targets)) ** 2).sum())


def relabel(
    labels: list[int],
    choices: list[dict[int, float]],
    sums: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    scores: np.ndarray,
    costs: tuple[float, float],
    turns: list[int],
) -> list[int]:
    """Each group in turn takes the value that lowers gaps and price together most, of equal ones the first."""
    found = list(labels)
    for g in turns:

        def cost(label: int, g: int = g) -> float:
            tried = [*found[:g], label, *found[g + 1 :]]
            missed = sum(choices[g].values()) - choices[g][label]
            return label_gap(tried, sums, targets, weights, scores, costs[1]) + costs[0] * missed

        now = cost(found[g])
        best = min(choices[g], key=lambda label: (cost(label), label))
        if len(choices[g]) > 1 and cost(best) < now - 1e-9:
            found[g] = best
    return found


def number_gap(features: np.ndarray, sums: np.ndarray, targets: np.ndarray) -> float:
    """Squared gaps of the moments of one number, by all its features, with every feature of other columns."""
    return float(((features.T @ sums - targets) ** 2).sum())


def exchange(
    values: list[float], features: np.ndarray, sums: np.ndarray, targets: np.ndarray, pairs: list[tuple[int, int]]
) -> list[float]:
    """Pairs of groups exchange what they publish where the squared gaps fall."""
    order = list(range(len(values)))
    for g, h in pairs:
        tried = list(order)
        tried[g], tried[h] = tried[h], tried[g]
        if number_gap(features[tried], sums, targets) < number_gap(features[order], sums, targets) - 1e-12:
            order = tried
    return [values[place] for place in order]
