"""What no partition into groups of at least k can beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.squares import sse
from crypsis.masking.heuristics import checked
from crypsis.searches.exhaustive import optimal_partition
from crypsis.searches.partitions.columns import column_generation_bound
from crypsis.searches.partitions.neighbourhoods import nearest

SOLVED_UP_TO = 14
"""Records up to which the optimum itself is found in milliseconds."""
COLUMNS_UP_TO = {2: 100, 3: 100, 4: 40, 5: 30}
"""Records up to which column generation takes less than about a second, by k; many more groups are possible above."""


def best_bound(points: NDArray[np.float64], k: int, labels: NDArray[np.int32]) -> tuple[float, str]:
    """The best lower bound that costs little, and its name.

    points  ndarray of shape (n, p): finite and already scaled
    labels  a good k-partition, from which column generation starts
    """
    n = len(points)
    if k == 1 or n < 2 * k:
        return sse(points, labels), "optimum"
    if n <= SOLVED_UP_TO:
        return optimal_partition(points, k)[1], "optimum"
    cheap = nearest_neighbour_bound(points, k)
    if n <= COLUMNS_UP_TO.get(k, 0) and np.bincount(labels).max() < 2 * k:
        better = column_generation_bound(points, k, labels)
        if better > cheap:
            return better, "column-generation bound"
    return cheap, "nearest-neighbour bound"


def nearest_neighbour_bound(points: NDArray[np.float64], k: int) -> float:
    """A lower bound on the SSE of every partition of the points into groups of at least k, cheap at any size.

    points  ndarray of shape (n, p): finite and already scaled

    Notes
    -----
    The SSE of a group g of s records is Σ over its ordered pairs of d²ᵢⱼ / 2s. Record i pairs with s − 1 others,
    which lie no nearer than its s − 1 nearest neighbours: its share is at least (s − 1)/2s times their mean squared
    distance. Both factors grow with s, and s ≥ k; hence

        SSE ≥ Σᵢ (d²ᵢ₁ + … + d²ᵢ,ₖ₋₁) / 2k

    with d²ᵢ₁ ≤ d²ᵢ₂ ≤ … the squared distances from record i to the others. Sizes above 2k − 1 are covered as well.

    Examples
    --------
    >>> round(nearest_neighbour_bound(np.array([[0.0], [1.0], [5.0], [6.0]]), 2), 6)
    1.0
    """
    points = checked(points, k)
    if k == 1:
        return 0.0
    squares, _ = nearest(points, k - 1)
    # Rounding of the distances must not lift the bound above the truth.
    return float(squares.sum() / (2 * k)) * (1 - 1e-9)
