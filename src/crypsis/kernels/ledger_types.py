"""What the ledger's kernels count and what they count against, as named tuples of arrays."""

from __future__ import annotations

from typing import NamedTuple

from crypsis.kernels.arrays import Codes, Flags, Floats, Ints


class TableLayout(NamedTuple):
    """Where things lie: the pair (original o, masked m) of attribute j is ``at[j] + m · wide[j] + o``."""

    at: Ints  # int64[p + 1]
    wide: Ints  # int64[p], codes of the original
    mark: Ints  # int64[p + 1], start of each attribute's masked codes in `totals`
    strides: Ints  # int64[tables, p]
    starts: Ints  # int64[tables]


class Frame(NamedTuple):
    """All that stays while masked files change."""

    shape: TableLayout
    tuples: Codes  # int32[a, p], distinct originals
    counts: Ints  # int64[a]
    members: Ints  # int64[n], tuple of each record
    loss: Ints  # flat, numerators of distances
    denominators: Floats  # float64[p]
    near: Ints  # flat, 1 where the original counts as disclosed
    agree: Ints  # flat, 1 where the two agree
    costs: Ints  # int64[2, flat], of distance-based and of rank-based linkage
    widest: Ints  # int64[2], 1: costs combine by maximum; ALONE: and only a record's own cost matters
    rules: Ints  # int64[3], credit in distance-based, rank-based, probabilistic linkage
    divisor: Floats  # float64[1], of the contingency gap
    known: Floats  # float64[mark[p]], entropy given this masked code; NaN: estimate it
    logs: Floats  # float64[p], entropy that counts as total loss; 0: attribute cannot lose
    steps: Floats  # float64[n + 1], c · log2 c
    chosen: Flags  # bool[7], readings in use


class Tallies(NamedTuple):
    """All that is counted about each masked file."""

    codes: Codes  # int32[N, n, p]
    gaps: Codes  # int32[N, cells]
    gap: Ints  # int64[N]
    pairs: Codes  # int32[N, flat]
    totals: Codes  # int32[N, mark[p]]
    spread: Ints  # int64[N, p]
    inside: Ints  # int64[N]
    own: Codes  # int32[N, a, 2^p]
    seen: Codes  # int32[N, a, 2^p]
    patterns: Ints  # int64[N, 2^p]
    best: Ints  # int64[N, 2, a]
    ties: Ints  # int64[N, 2, a]
    hits: Ints  # int64[N, 2, a]


class MaskingTrial(NamedTuple):
    """What a search holds against each of its files."""

    goals: Floats  # float64[N, 4], see `trials.fitness`
    readings: Floats  # float64[N, 7]
    pairs: Floats  # float64[N, 2], mean loss and mean risk
    sizes: Ints  # int64[p], categories a mutation may choose from
    ordinal: Flags  # bool[p]
    allowed: Flags  # by cell of strides; empty: everything
    strides: Ints  # int64[p]
