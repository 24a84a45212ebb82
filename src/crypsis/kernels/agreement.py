"""Which masked records look most like an original one, over distinct tuples instead of records.

`tuples` are the distinct originals; `crowd` the distinct masked tuples, sorted, with their counts.
A table of costs or agreements is flat: the entry of (original o, masked m) in attribute j is
``at[j] + m · wide[j] + o``.
"""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Codes, Flags, Ints
from crypsis.kernels.compile import kernel

FAR = 1 << 60
"""A cost nobody links over: the pair is no candidate at all."""


def _leads(crowd: Codes) -> tuple[Codes, Codes]:
    """For sorted tuples: the first column that differs from the tuple before, and where each prefix ends.

    →  int32[d + 1] (0 for the first and the end), int32[d, p]: first later tuple with another prefix 0…j
    """
    size, attributes = crowd.shape
    lead = np.zeros(size + 1, dtype=np.int32)
    leap = np.empty((size, attributes), dtype=np.int32)
    for place in range(1, size):
        column = 0
        while column < attributes - 1 and crowd[place, column] == crowd[place - 1, column]:
            column += 1
        lead[place] = column
    for column in range(attributes):
        end = size
        for place in range(size - 1, -1, -1):
            leap[place, column] = end
            if lead[place] <= column:
                end = place
    return lead, leap


leads = kernel(_leads)


def _nearest(
    tuples: Codes, crowd: Codes, counts: Ints, first: Ints, cost: Ints, at: Ints, wide: Ints, widest: bool
) -> tuple[Ints, Ints, Ints]:
    """The least cost from every original tuple to a masked one, how many records lie there, and the first of them.

    counts, first  int64[d]: records with each masked tuple, and the lowest row among them
    cost           int64, flat; at least FAR: never a candidate
    widest         costs of attributes combine by their maximum instead of their sum
    →              int64[a] each: least cost (FAR if there is no candidate), ties, lowest row (−1 if none)

    Sorted tuples are read like a tree: a prefix already too dear is left behind whole.
    """
    lead, leap = leads(crowd)
    size, attributes = crowd.shape
    best = np.full(len(tuples), FAR, dtype=np.int64)
    ties = np.zeros(len(tuples), dtype=np.int64)
    lowest = np.full(len(tuples), -1, dtype=np.int64)
    partial = np.zeros(attributes + 1, dtype=np.int64)
    for seeker in range(len(tuples)):
        # A bound before the tour: the tuple that stands where the seeker itself would stand.
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            column = 0
            while column < attributes - 1 and crowd[middle, column] == tuples[seeker, column]:
                column += 1
            if crowd[middle, column] < tuples[seeker, column]:
                low = middle + 1
            else:
                high = middle
        bound = FAR - 1
        if size:
            guess = min(low, size - 1)
            so_far = 0
            for column in range(attributes):
                step = cost[at[column] + crowd[guess, column] * wide[column] + tuples[seeker, column]]
                so_far = max(so_far, step) if widest else so_far + min(step, FAR)
                if so_far >= FAR:
                    break
            bound = min(bound, so_far)
        place = 0
        while place < size:
            column = lead[place]
            dear = False
            while column < attributes:
                step = cost[at[column] + crowd[place, column] * wide[column] + tuples[seeker, column]]
                partial[column + 1] = max(partial[column], step) if widest else partial[column] + step
                if partial[column + 1] > bound:
                    dear = True
                    break
                column += 1
            if dear:
                place = leap[place, column]
                continue
            if partial[attributes] < best[seeker]:
                bound = int(partial[attributes])
                best[seeker] = bound
                ties[seeker] = counts[place]
                lowest[seeker] = first[place]
            else:
                ties[seeker] += counts[place]
                lowest[seeker] = min(lowest[seeker], first[place])
            place += 1
    return best, ties, lowest


nearest = kernel(_nearest)


def _own_hits(
    tuples: Codes, members: Ints, masked: Codes, kept: Flags, best: Ints, cost: Ints, at: Ints, wide: Ints
) -> tuple[Ints, Ints]:
    """How many records of each original tuple have their own masked record at the least cost (sum; maximum).

    members  int64[n], which original tuple each record has
    →        int64[a] for costs combined by their sum, int64[a] by their maximum
    """
    summed = np.zeros(len(tuples), dtype=np.int64)
    widest = np.zeros(len(tuples), dtype=np.int64)
    for row in range(len(members)):
        if not kept[row]:
            continue
        mine = members[row]
        total, largest = 0, 0
        for column in range(masked.shape[1]):
            step = cost[at[column] + masked[row, column] * wide[column] + tuples[mine, column]]
            total = min(FAR, total + step)
            largest = max(largest, step)
        if best[mine] < FAR:
            summed[mine] += total == best[mine]
            widest[mine] += largest == best[mine]
    return summed, widest


own_hits = kernel(_own_hits)


def _patterns(tuples: Codes, crowd: Codes, counts: Ints, agree: Ints, at: Ints, wide: Ints) -> Codes:
    """How many masked records agree with each original tuple in exactly which attributes.

    agree  int64, flat, 0 or 1
    →      int32[a, 2^p]: bit j of a pattern is set where attribute j agrees
    """
    attributes = tuples.shape[1]
    seen = np.zeros((len(tuples), 1 << attributes), dtype=np.int32)
    for seeker in range(len(tuples)):
        for place in range(len(crowd)):
            pattern = 0
            for column in range(attributes):
                same = agree[at[column] + crowd[place, column] * wide[column] + tuples[seeker, column]]
                pattern |= same << column
            seen[seeker, pattern] += counts[place]
    return seen


patterns = kernel(_patterns)


def _own_patterns(tuples: Codes, members: Ints, masked: Codes, kept: Flags, agree: Ints, at: Ints, wide: Ints) -> Codes:
    """int32[a, 2^p]: how many records of each original tuple meet their own masked record in each pattern."""
    attributes = tuples.shape[1]
    own = np.zeros((len(tuples), 1 << attributes), dtype=np.int32)
    for row in range(len(members)):
        if kept[row]:
            pattern = 0
            for column in range(attributes):
                same = agree[at[column] + masked[row, column] * wide[column] + tuples[members[row], column]]
                pattern |= same << column
            own[members[row], pattern] += 1
    return own


own_patterns = kernel(_own_patterns)
