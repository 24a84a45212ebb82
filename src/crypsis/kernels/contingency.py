"""Counts of one file against another: tables of several orders, and pairs of original and masked category.

Codes are int32[n, p] and never negative. A table is named by its strides: the cell of a record is
``start + Σ_j stride[j] · code[j]``, with stride 0 for attributes outside the table.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Codes, Ints
from crypsis.kernels.compile import kernel


def _table_gaps(original: Codes, masked: Codes, strides: Ints, starts: Ints, gaps: Codes) -> int:
    """Masked minus original count of every cell of every table, and the sum of their sizes.

    strides  int64[tables, p]
    starts   int64[tables], first cell of each table
    gaps     int32[cells], overwritten
    →        Σ |count − count'| over all cells of all tables
    """
    gaps[:] = 0
    rows, attributes = original.shape
    for table in range(len(starts)):
        for row in range(rows):
            before = starts[table]
            after = starts[table]
            for attribute in range(attributes):
                before += strides[table, attribute] * original[row, attribute]
                after += strides[table, attribute] * masked[row, attribute]
            gaps[before] -= 1
            gaps[after] += 1
    total = 0
    for cell in range(len(gaps)):
        total += abs(gaps[cell])
    return total


table_gaps = kernel(_table_gaps)


def _pair_counts(original: Codes, masked: Codes, at: Ints, wide: Ints, mark: Ints, pairs: Codes) -> Codes:
    """How often each original category became each masked one.

    at      int64[p], where the block of an attribute starts in `pairs`
    wide    int64[p], number of codes of the original; the pair (o, m) is ``at[j] + m · wide[j] + o``
    mark    int64[p + 1], where the masked codes of an attribute start in the result
    pairs   int32, overwritten
    →       int32[mark[p]]: how often each masked category occurs
    """
    pairs[:] = 0
    rows, attributes = original.shape
    totals = np.zeros(mark[attributes], dtype=np.int32)
    for row in range(rows):
        for attribute in range(attributes):
            code = masked[row, attribute]
            pairs[at[attribute] + code * wide[attribute] + original[row, attribute]] += 1
            totals[mark[attribute] + code] += 1
    return totals


pair_counts = kernel(_pair_counts)


def _weighted(pairs: Codes, weights: Ints, bounds: Ints) -> Ints:
    """Σ pairs · weights within each block [bounds[j], bounds[j + 1])."""
    sums = np.zeros(len(bounds) - 1, dtype=np.int64)
    for block in range(len(bounds) - 1):
        for cell in range(bounds[block], bounds[block + 1]):
            sums[block] += pairs[cell] * weights[cell]
    return sums


weighted = kernel(_weighted)
