"""The seven categorical measures written from their definitions: records against records, no tallies.

Codes are lists of rows; −1 is missing; `kept` says which masked records are published. Everything
in 0–100. `sizes` are the numbers of categories, `ordinal` says which attributes are ordered.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np


def contingency(original, masked, kept, order):
    """Mean total variation distance of all tables up to an order; a suppressed record falls into a cell of its own."""
    n, p = len(original), len(original[0])
    tables = [chosen for size in range(1, min(order, p) + 1) for chosen in combinations(range(p), size)]
    gap = 0
    for chosen in tables:
        before = Counter(tuple(row[j] for j in chosen) for row in original)
        after = Counter(tuple(row[j] for j in chosen) if k else "*" for row, k in zip(masked, kept, strict=True))
        gap += sum(abs(before[cell] - after[cell]) for cell in before.keys() | after.keys())
    return 100 * gap / (2 * n * len(tables))


def distance(a, b, size, ordered, divisor):
    """Between two categories of one attribute."""
    if a == b:
        return 0.0
    if a == -1 or b == -1:
        return 1.0
    if not ordered or divisor == "nominal":
        return 1.0
    below = size if divisor == "size" else size - 1
    return abs(a - b) / below


def distance_loss(original, masked, kept, sizes, ordinal, divisor):
    n, p = len(original), len(sizes)
    total = 0.0
    for i in range(n):
        for j in range(p):
            total += distance(original[i][j], masked[i][j], sizes[j], ordinal[j], divisor) if kept[i] else 1.0
    return 100 * total / (n * p)


def entropy(values):
    counts = Counter(values)
    n = len(values)
    return -sum(c / n * math.log2(c / n) for c in counts.values())


def entropy_loss(original, masked, kept, sizes, normalisation):
    """Σ over records of H(V | V' = its masked value); a suppressed record loses H(V)."""
    n, p = len(original), len(sizes)
    shares = []
    for j in range(p):
        column = [row[j] for row in original]
        whole = entropy(column) if normalisation == "entropy" else math.log2(sizes[j] + (-1 in column))
        if whole == 0:
            shares.append(0.0)
            continue
        total = 0.0
        for i in range(n):
            if kept[i]:
                total += entropy([column[peer] for peer in range(n) if kept[peer] and masked[peer][j] == masked[i][j]])
            else:
                total += entropy(column)
        shares.append(total / (n * whole))
    return 100 * sum(shares) / p


def disclosure(original, masked, kept, sizes, ordinal, width):
    n, p = len(original), len(sizes)
    hits = 0
    for i in range(n):
        for j in range(p):
            a, b = original[i][j], masked[i][j]
            reach = math.floor(width * sizes[j] / 2 + 1e-9) if ordinal[j] else 0
            hits += kept[i] and (a == b or (a != -1 and b != -1 and abs(a - b) <= reach))
    return 100 * hits / (n * p)


def credit(costs, kept, rule):
    """Share of records linked rightly, from an n × n list of costs (None: no candidate)."""
    n, total = len(costs), 0.0
    for i in range(n):
        open_to = [peer for peer in range(n) if kept[peer] and costs[i][peer] is not None]
        if not open_to:
            continue
        least = min(costs[i][peer] for peer in open_to)
        tied = [peer for peer in open_to if costs[i][peer] <= least + 1e-9]
        if i in tied:
            total += {"expected": 1 / len(tied), "strict": len(tied) == 1, "first": tied[0] == i, "set": 1}[rule]
    return 100 * total / n


def linkage(original, masked, kept, sizes, ordinal, divisor, rule, weights=None):
    n, p = len(original), len(sizes)
    weights = weights or [1.0] * p
    costs = [
        [
            sum(weights[j] * distance(original[i][j], masked[peer][j], sizes[j], ordinal[j], divisor) for j in range(p))
            for peer in range(n)
        ]
        for i in range(n)
    ]
    return credit(costs, kept, rule)


def rank_gap(column, a, b, size, ordered, ranks):
    """Rank distance of two categories and how many ranks there are."""
    total = len(column) if ranks == "records" else size
    if a == b:
        return 0, total
    if a == -1 or b == -1 or not ordered:
        return total, total
    if ranks == "categories":
        return abs(a - b), total
    low, high = min(a, b), max(a, b)
    return sum(1 for c in column if low < c < high) + 1, total


def rank_linkage(original, masked, kept, sizes, ordinal, window, ranks, mode):
    n, p = len(original), len(sizes)
    columns = [[row[j] for row in original] for j in range(p)]
    costs = []
    for i in range(n):
        line = []
        for peer in range(n):
            gaps = [
                rank_gap(columns[j], original[i][j], masked[peer][j], sizes[j], ordinal[j], ranks) for j in range(p)
            ]
            if window is None:
                line.append(max(gap / total for gap, total in gaps))
            elif all(gap <= math.floor(window * total / 100 + 1e-9) and gap < total for gap, total in gaps):
                line.append(sum(gap for gap, _ in gaps) if mode == "nearest" else 0)
            else:
                line.append(None)
        costs.append(line)
    return credit(costs, kept, "set" if mode == "set" else "expected")


def mixture(patterns, n):
    """EM in plain numpy: patterns is {tuple of 0/1: pairs}."""
    keys = np.array(sorted(patterns))
    counts = np.array([patterns[tuple(key)] for key in keys], dtype=float)
    p = keys.shape[1]
    m, u, q = np.full(p, 0.9), np.full(p, 0.1), np.clip(1 / n, 1e-6, 1 - 1e-6)
    for _ in range(100):
        match = q * np.prod(np.where(keys, m, 1 - m), axis=1)
        unlike = (1 - q) * np.prod(np.where(keys, u, 1 - u), axis=1)
        g = match / (match + unlike)
        inside, outside = (g * counts).sum(), ((1 - g) * counts).sum()
        new_m = np.clip((g * counts) @ keys / inside if inside > 0 else m, 1e-6, 1 - 1e-6)
        new_u = np.clip(((1 - g) * counts) @ keys / outside if outside > 0 else u, 1e-6, 1 - 1e-6)
        new_q = np.clip(inside / counts.sum(), 1e-6, 1 - 1e-6)
        change = max(abs(new_m - m).max(), abs(new_u - u).max(), abs(new_q - q))
        m, u, q = new_m, new_u, new_q
        if change < 1e-6:
            break
    if m.sum() < u.sum():
        m, u, q = u, m, 1 - q
    return m, u, q


def probabilistic(original, masked, kept, rule="expected"):
    """Fellegi–Sunter over all pairs of records."""
    n, p = len(original), len(original[0])
    agree = [[tuple(int(original[i][j] == masked[peer][j]) for j in range(p)) for peer in range(n)] for i in range(n)]
    patterns = Counter(agree[i][peer] for i in range(n) for peer in range(n) if kept[peer])
    if not patterns:
        return 0.0
    m, u, _ = mixture(patterns, n)
    weight = {
        key: sum(math.log2(m[j] / u[j]) if key[j] else math.log2((1 - m[j]) / (1 - u[j])) for j in range(p))
        for key in patterns
    }
    costs = [[-weight[agree[i][peer]] if kept[peer] else None for peer in range(n)] for i in range(n)]
    return credit(costs, kept, rule)
