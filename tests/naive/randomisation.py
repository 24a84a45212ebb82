"""Slow twins of the randomising kernels: lists and loops, straight from the definition."""

from __future__ import annotations


def swap_partners(n: int, window: int, uniforms: list[float]) -> list[int]:
    """Each unswapped position draws a partner among the unswapped of the next `window` positions."""
    partner = list(range(n))
    swapped = [False] * n
    for a in range(n):
        if swapped[a]:
            continue
        free = [b for b in range(a + 1, min(n, a + 1 + window)) if not swapped[b]]
        if not free:
            continue
        b = free[min(len(free) - 1, int(uniforms[a] * len(free)))]
        partner[a], partner[b] = b, a
        swapped[a] = swapped[b] = True
    return partner


def transitions(codes: list[int], matrix: list[list[float]], uniforms: list[float]) -> list[int]:
    """Walk along the row of the matrix until the draw is used up."""
    moved = []
    for code, u in zip(codes, uniforms, strict=True):
        if code < 0:
            moved.append(code)
            continue
        running = 0.0
        for to, probability in enumerate(matrix[code]):
            running += probability
            if u < running or to == len(matrix) - 1:
                moved.append(to)
                break
    return moved
