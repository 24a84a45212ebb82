"""Minimal sample uniques (SUDA2; Elliot, Manning and Ford 2002; Manning, Haglin and Keane 2008).

A minimal sample unique (MSU) of a record is a set of columns on which it is alone in the file while on no smaller part
of the set it is. A missing cell takes part in none. Few columns that single a record out say that it is special, and
likely to be unique in the population too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.classes import find_alone, refine_classes, slots_for
from crypsis.table.equivalence_classes import Codes, equivalence_classes
from crypsis.table.hierarchy import MISSING

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST_CELLS = 50_000_000
"""Records times sets of columns that are looked at where no largest size of a set is given."""
MOST_SETS = 5000
"""Sets of columns that are looked at then."""
PAIRED = 4
"""Room for pairs of a class and a value, as a multiple of the slots of a hash table: more costs more than searching."""


@dataclass(frozen=True, eq=False)
class SampleUniques:
    """The minimal sample uniques of every record: how many of each size, and how many of them hold each column."""

    record: Integers  # int64[alone]: records that are alone on all columns; no other has an MSU
    by_size: Integers  # int64[alone, M]: MSUs of 1, 2, … M columns
    by_column: Integers  # int64[alone, p, M]: the same, of those that hold a column
    records: int  # n
    columns: int  # number of columns
    largest: int  # M: larger sets were not looked at
    pairs: int  # records in classes of exactly two

    def scores(self, alternative: bool = False) -> Floats:
        """float64[n]: Σ over the MSUs of a record of (m − s)!; alternative: of (2^(m − s) − 1) s!(m − s)!/m!."""
        found = np.zeros(self.records)
        found[self.record] = self.by_size @ self._terms(alternative)
        return found

    def smallest(self) -> Integers:
        """int64[n]: columns of the smallest MSU of each record; 0 where it has none."""
        found = np.zeros(self.records, dtype=np.int64)
        found[self.record] = np.where((self.by_size > 0).any(axis=1), 1 + (self.by_size > 0).argmax(axis=1), 0)
        return found

    def count(self) -> Integers:
        """int64[n]: MSUs of each record."""
        found = np.zeros(self.records, dtype=np.int64)
        found[self.record] = self.by_size.sum(axis=1)
        return found

    def contributions(self, alternative: bool = False) -> Floats:
        """float64[p]: share of the sum of all scores that comes from MSUs with each column; columns overlap."""
        parts = (self.by_column @ self._terms(alternative)).sum(axis=0)
        total = float(self.scores(alternative).sum())
        return np.asarray(parts / total) if total else np.zeros(self.columns)

    def _terms(self, alternative: bool) -> Floats:
        m, sizes = self.columns, range(1, self.largest + 1)
        if alternative:
            return np.array([(2.0 ** (m - s) - 1) / math.comb(m, s) for s in sizes])
        return np.array([float(math.factorial(m - s)) for s in sizes])

    def intrusion_scores(self, fraction: float, alternative: bool = False) -> Floats:
        """DIS: how likely a match with the record is right, if the file is such a fraction of the population.

        1/(1 + P (1 − δ)/(δ S^Q Σ S^−Q)), P records in classes of two, Q = 1 + (8 − m)/20; 0 where S is 0. Without any
        class of two every record with an MSU gets 1, and the scores say nothing.

        Returns float64[n].
        """
        scores = self.scores(alternative)
        special = scores > 0
        found = np.zeros(len(scores))
        power = 1.0 + (8.0 - self.columns) / 20.0
        logs = power * np.log(scores[special])
        if len(logs):
            inverse = float(np.logaddexp.reduce(-logs))
            odds = np.log(self.pairs) if self.pairs else -np.inf
            odds += np.log1p(-fraction) - np.log(fraction) if fraction < 1 else -np.inf
            found[special] = 1.0 / (1.0 + np.exp(odds - logs - inverse))
        return found


def largest_sample_unique_size(records: int, columns: int) -> int:
    """Search for minimal sample uniques: up to which size all sets of columns can be looked at; at least 1.

    >>> largest_sample_unique_size(4580, 7), largest_sample_unique_size(1_000_000, 12)
    (7, 1)
    """
    sets = 0
    for size in range(1, columns + 1):
        sets += math.comb(columns, size)
        if (sets > MOST_SETS or sets * records > MOST_CELLS) and size > 1:
            return size - 1
    return columns


def minimal_sample_uniques(codes: Codes, largest: int = 0) -> SampleUniques:
    """Find the minimal sample uniques of every row.

    `codes` int[n, p], −1 where missing; `largest`: size of the largest sets; 0 as large as can be afforded.

    >>> found = minimal_sample_uniques(np.array([[0, 0], [0, 1], [1, 0], [1, 0]]))
    >>> found.record.tolist(), found.by_size.tolist(), found.scores().tolist()
    ([0, 1], [[0, 1], [1, 0]], [1.0, 1.0, 0.0, 0.0])
    """
    n, p = codes.shape
    classes = equivalence_classes(codes)
    records = np.ascontiguousarray(classes.sizes)
    different = codes.max(axis=0, initial=MISSING) - MISSING + 1
    # Columns of few values come last: most sets differ in these alone, and their classes are found without searching.
    places = np.argsort(-different, kind="stable")
    columns = np.ascontiguousarray(codes[classes.first].T[places] - MISSING, dtype=np.int32)  # a missing cell is 0
    limit = min(largest or largest_sample_unique_size(classes.count, p), p)
    alone = np.flatnonzero(records == 1)
    present = columns[:, alone] > 0
    by_size = np.zeros((limit, len(alone)), dtype=np.int64)
    by_column = np.zeros((p, limit, len(alone)), dtype=np.int64)
    before: dict[tuple[int, ...], Flags] = {(): np.zeros(len(alone), dtype=np.bool_)}
    slots = int(slots_for(classes.count))
    keys, held = np.empty(slots, dtype=np.uint64), np.empty(PAIRED * slots, dtype=np.int64)
    groups = np.zeros((limit + 1, classes.count), dtype=np.int32)  # by the first columns of the set looked at last
    counts = [1] * (limit + 1)
    for size in range(1, limit + 1):
        unique: dict[tuple[int, ...], Flags] = {}
        last: tuple[int, ...] = ()
        for chosen in combinations(range(p), size):
            covered = np.logical_or.reduce([before[chosen[:gap] + chosen[gap + 1 :]] for gap in range(size)])
            shown = np.logical_and.reduce([present[column] for column in chosen])
            if (covered | ~shown).all():  # nobody new can be alone here; who is alone on a part still is
                unique[chosen] = covered & shown
                continue
            same = next((place for place, column in enumerate(last) if column != chosen[place]), len(last))
            for place in range(same, size):
                code, values = columns[chosen[place]], int(different[places[chosen[place]]])
                counts[place + 1] = refine_classes(
                    groups[place], counts[place], code, values, keys, held, groups[place + 1]
                )
            last, unique[chosen] = chosen, np.empty(len(alone), dtype=np.bool_)
            find_alone(groups[size], records, alone, shown, held, unique[chosen])
            minimal = np.flatnonzero(unique[chosen] & ~covered)
            by_size[size - 1, minimal] += 1
            for column in chosen:
                by_column[places[column], size - 1, minimal] += 1
        before = unique
    pairs = int(2 * (records == 2).sum())
    return SampleUniques(
        classes.first[alone], by_size.T.copy(), np.moveaxis(by_column, 2, 0).copy(), n, p, limit, pairs
    )
