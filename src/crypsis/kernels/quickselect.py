"""The value of a given rank without sorting: Hoare (1961)."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.compile import kernel


def _select_between(values: Floats, order: Ints | None, begin: int, end: int, rank: int) -> None:
    """Reorder values begin … end − 1 so that the one at `rank` is where sorting would put it.


    What lies before and behind is not touched.
    """
    left, right = begin, end - 1
    while left < right:
        pivot = values[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while values[np.uint64(i)] < pivot:
                i += 1
            while values[np.uint64(j)] > pivot:
                j -= 1
            if i <= j:
                low, high = np.uint64(i), np.uint64(j)
                values[low], values[high] = values[high], values[low]
                if order is not None:
                    order[low], order[high] = order[high], order[low]
                i += 1
                j -= 1
        if rank <= j:
            right = j
        elif rank >= i:
            left = i
        else:
            return


select_between = kernel(_select_between)
