"""Chance applied to a column: partners of a rank swap, and transitions of a Markov matrix.

Both take numbers drawn beforehand, so that the same draws give the same result everywhere.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


def _swap_partners(n: int, window: int, uniforms: Floats) -> Ints:
    """For sorted positions 0 … n−1, the position whose value each one receives.

    Each position not yet swapped takes a partner drawn uniformly from the unswapped positions among the
    next `window`; with none left it keeps its own value. A Fenwick tree counts the unswapped positions,
    so the draw is exact and costs O(log n) whatever the window.

    `uniforms` float64[n].
    """
    partner = np.arange(n)
    tree = np.zeros(n + 1, dtype=np.int64)
    for i in range(1, n + 1):
        tree[i] = i & (-i)
    top = 1
    while top * 2 <= n:
        top *= 2
    for a in range(n):
        if partner[a] != a:
            continue
        before = 0
        i = a + 1
        while i > 0:
            before += tree[i]
            i -= i & (-i)
        upto = 0
        i = min(n, a + 1 + window)
        while i > 0:
            upto += tree[i]
            i -= i & (-i)
        free = upto - before
        if free <= 0:
            continue
        wanted = before + 1 + int(uniforms[a] * free)
        place = 0
        step = top
        while step > 0:
            if place + step <= n and tree[place + step] < wanted:
                place += step
                wanted -= tree[place]
            step //= 2
        b = place
        partner[a] = b
        partner[b] = a
        for taken in (a, b):
            i = taken + 1
            while i <= n:
                tree[i] -= 1
                i += i & (-i)
    return partner


swap_partners = kernel(_swap_partners)


def _transitions(codes: Int32s, cumulative: Floats, uniforms: Floats) -> Int32s:
    """Each code moved by its row of a Markov matrix; a negative code (missing) stays.

    `cumulative` float64[K, K].
    """
    moved = codes.copy()
    last = cumulative.shape[1] - 1
    for i in range(codes.shape[0]):
        code = codes[i]
        if code < 0:
            continue
        lo = 0
        hi = last
        while lo < hi:
            middle = (lo + hi) // 2
            if uniforms[i] < cumulative[code, middle]:
                hi = middle
            else:
                lo = middle + 1
        moved[i] = lo
    return moved


transitions = kernel(_transitions)
