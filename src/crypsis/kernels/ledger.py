"""Seven readings from integer tallies, and how the tallies follow one changed record.

The tallies of many masked files lie stacked: the first axis of every array of `Tallies` says which file.
Only readings are floats, so an amended file and one counted afresh give the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Codes, Flags, Floats, Int32s, Ints
from crypsis.kernels.compile import kernel


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


# -- Seven readings from integer tallies, and how the tallies follow one changed record.
#
# The tallies of many masked files lie stacked: the first axis of every array of `Tallies` says which file.
# Only readings are floats, so an amended file and one counted afresh give the same bits.

FAR = 1 << 60
EXPECTED, STRICT, ANY = 0, 1, 2
"""Credit of a link among t tied candidates: 1/t, only if t = 1, or full."""
ALONE = 2
CLIP = 1e-6
SAME = 1e-9
"""Weights closer than this are one weight: sums of equal terms in another order differ in the last bit."""


def _contingency_loss(gap: int, divisor: float) -> float:
    return 100.0 * gap / divisor


def _distance_loss(spread: Ints, denominators: Floats, rows: int) -> float:
    total = 0.0
    for attribute in range(len(spread)):
        total += spread[attribute] / denominators[attribute]
    return 100.0 * total / (rows * len(spread))


def _entropy_loss(pairs: Codes, totals: Codes, shape: TableLayout, known: Floats, logs: Floats, steps: Floats) -> float:
    """100 · mean over attributes of H(V | V') / logs, with n·H = Σ_m (c_m log c_m − Σ_o c_om log c_om)."""
    rows = len(steps) - 1
    total = 0.0
    for attribute in range(len(logs)):
        if logs[attribute] == 0.0:
            continue
        entropy = 0.0
        for slot in range(shape.mark[attribute], shape.mark[attribute + 1]):
            if totals[slot] == 0:
                continue
            if not np.isnan(known[slot]):
                entropy += totals[slot] * known[slot]
                continue
            entropy += steps[totals[slot]]
            first = shape.at[attribute] + (slot - shape.mark[attribute]) * shape.wide[attribute]
            for cell in range(first, first + shape.wide[attribute]):
                entropy -= steps[pairs[cell]]
        total += entropy / (rows * logs[attribute])
    return max(0.0, 100.0 * total / len(logs))


def _linkage_risk(hits: Ints, ties: Ints, rule: int, rows: int) -> float:
    credit = 0.0
    for seeker in range(len(hits)):
        if hits[seeker]:
            if rule == EXPECTED:
                credit += hits[seeker] / ties[seeker]
            elif rule == ANY or ties[seeker] == 1:
                credit += hits[seeker]
    return 100.0 * credit / rows


def _mixture(patterns: Ints, attributes: int, rows: int) -> Floats:
    """EM of two classes of pairs, matches and others, with independent agreements; int64[2^p] pairs by pattern.

    →         float64[2p + 1]: P(agree | match), P(agree | no match), P(match)

    From 0.9, 0.1 and 1/rows; clipped; until a change below 1e-6 or 100 rounds; swapped if 'matches' agree less.
    """
    now, then, pairs = np.empty(2 * attributes + 1), np.empty(2 * attributes + 1), 0
    for j in range(attributes):
        now[j], now[attributes + j] = 0.9, 0.1
    now[2 * attributes] = min(max(1.0 / rows, CLIP), 1.0 - CLIP)
    for pattern in range(len(patterns)):
        pairs += patterns[pattern]
    if pairs == 0:
        return now
    for _ in range(100):
        for place in range(2 * attributes + 1):
            then[place] = 0.0
        matched = 0.0
        for pattern in range(len(patterns)):
            if patterns[pattern] == 0:
                continue
            match, other = now[2 * attributes], 1.0 - now[2 * attributes]
            for j in range(attributes):
                same = pattern >> j & 1
                match *= now[j] if same else 1.0 - now[j]
                other *= now[attributes + j] if same else 1.0 - now[attributes + j]
            share = patterns[pattern] * (match / (match + other))
            rest = patterns[pattern] - share
            matched += share
            for j in range(attributes):
                if pattern >> j & 1:
                    then[j] += share
                    then[attributes + j] += rest
        for j in range(attributes):
            then[j] = then[j] / matched if matched > 0.0 else now[j]
            then[attributes + j] = then[attributes + j] / (pairs - matched) if pairs > matched else now[attributes + j]
        then[2 * attributes] = matched / pairs
        change = 0.0
        for place in range(2 * attributes + 1):
            value = min(max(then[place], CLIP), 1.0 - CLIP)
            change = max(change, abs(value - now[place]))
            now[place] = value
        if change < 1e-6:
            break
    agreeing, differing = 0.0, 0.0
    for j in range(attributes):
        agreeing += now[j]
        differing += now[attributes + j]
    if agreeing < differing:
        for j in range(attributes):
            now[j], now[attributes + j] = now[attributes + j], now[j]
        now[2 * attributes] = 1.0 - now[2 * attributes]
    return now


mixture = kernel(_mixture)


def _pattern_weights(fitted: Floats) -> Floats:
    """float64[2^p]: Σ_j log2(m/u) where attribute j agrees, log2((1 − m)/(1 − u)) where it does not.

    `fitted` float64[2p + 1].
    """
    attributes = len(fitted) // 2
    weights = np.zeros(1 << attributes)
    for j in range(attributes):
        agreeing = np.log2(fitted[j] / fitted[attributes + j])
        differing = np.log2((1.0 - fitted[j]) / (1.0 - fitted[attributes + j]))
        for pattern in range(len(weights)):
            weights[pattern] += agreeing if pattern >> j & 1 else differing
    return weights


pattern_weights = kernel(_pattern_weights)


def _sort_falling(weights: Floats) -> Ints:
    """Places in order of falling weight (Shell 1959)."""
    n = len(weights)
    order, gap = np.empty(n, dtype=np.int64), n // 2
    for place in range(n):
        order[place] = place
    while gap > 0:
        for place in range(gap, n):
            moving, at = order[place], place
            while at >= gap and weights[order[at - gap]] < weights[moving]:
                order[at] = order[at - gap]
                at -= gap
            order[at] = moving
        gap //= 2
    return order


sort_falling = kernel(_sort_falling)


def _pattern_risk(own: Codes, seen: Codes, fitted: Floats, rule: int, rows: int) -> float:
    """Per cent of records linked rightly when each original goes to the masked record(s) of greatest weight.

    `fitted` float64[2p + 1].
    """
    weights = pattern_weights(fitted)
    order, credit = sort_falling(weights), 0.0
    for seeker in range(len(own)):
        hits, ties = 0, 0
        top = 0.0
        for rank in range(len(order)):
            place = order[rank]
            if ties and weights[place] < top - SAME:
                break
            if seen[seeker, place]:
                if not ties:
                    top = weights[place]
                hits += own[seeker, place]
                ties += seen[seeker, place]
        if hits:
            if rule == EXPECTED:
                credit += hits / ties
            elif ties == 1:
                credit += 1.0
    return 100.0 * credit / rows


contingency_loss = kernel(_contingency_loss)
distance_loss = kernel(_distance_loss)
entropy_loss = kernel(_entropy_loss)
linkage_risk = kernel(_linkage_risk)
pattern_risk = kernel(_pattern_risk)


def _fitted_risk(own: Codes, seen: Codes, patterns: Ints, attributes: int, rule: int, rows: int) -> float:
    """`pattern_risk` with the mixture fitted to so many pairs of each pattern."""
    return pattern_risk(own, seen, mixture(patterns, attributes, rows), rule, rows)


fitted_risk = kernel(_fitted_risk)


def _read_all(frame: Frame, tallies: Tallies, who: int, readings: Floats) -> None:
    """The seven readings of one file, in the order of the registry names; those not chosen are left alone."""
    rows, attributes = tallies.codes.shape[1], tallies.codes.shape[2]
    if frame.chosen[0]:
        readings[0] = contingency_loss(tallies.gap[who], frame.divisor[0])
    if frame.chosen[1]:
        readings[1] = distance_loss(tallies.spread[who], frame.denominators, rows)
    if frame.chosen[2]:
        pairs, totals = tallies.pairs[who], tallies.totals[who]
        readings[2] = entropy_loss(pairs, totals, frame.shape, frame.known, frame.logs, frame.steps)
    if frame.chosen[3]:
        readings[3] = 100.0 * tallies.inside[who] / (rows * attributes)
    if frame.chosen[4]:
        readings[4] = linkage_risk(tallies.hits[who, 0], tallies.ties[who, 0], frame.rules[0], rows)
    if frame.chosen[5]:
        own, seen, counted = tallies.own[who], tallies.seen[who], tallies.patterns[who]
        readings[5] = fitted_risk(own, seen, counted, attributes, frame.rules[2], rows)
    if frame.chosen[6]:
        readings[6] = linkage_risk(tallies.hits[who, 1], tallies.ties[who, 1], frame.rules[1], rows)


read_all = kernel(_read_all)


def _amend_counts(frame: Frame, tallies: Tallies, who: int, row: int, new: Codes) -> None:
    """Tables, pairs, distances and disclosed values follow one record."""
    shape, old, mine = frame.shape, tallies.codes[who, row], frame.tuples[frame.members[row]]
    for table in range(len(shape.starts)):
        before = after = shape.starts[table]
        for j in range(len(new)):
            before += shape.strides[table, j] * old[j]
            after += shape.strides[table, j] * new[j]
        if before != after:
            tallies.gap[who] += 1 if tallies.gaps[who, before] <= 0 else -1
            tallies.gaps[who, before] -= 1
            tallies.gap[who] += 1 if tallies.gaps[who, after] >= 0 else -1
            tallies.gaps[who, after] += 1
    for j in range(len(new)):
        if old[j] != new[j]:
            before = shape.at[j] + old[j] * shape.wide[j] + mine[j]
            after = shape.at[j] + new[j] * shape.wide[j] + mine[j]
            tallies.pairs[who, before] -= 1
            tallies.pairs[who, after] += 1
            tallies.totals[who, shape.mark[j] + old[j]] -= 1
            tallies.totals[who, shape.mark[j] + new[j]] += 1
            tallies.spread[who, j] += frame.loss[after] - frame.loss[before]
            tallies.inside[who] += frame.near[after] - frame.near[before]


amend_counts = kernel(_amend_counts)


def _cost(frame: Frame, scheme: int, seeker: int, code: Codes) -> int:
    """Cost of linking an original tuple to a masked one; never above FAR."""
    total = 0
    for j in range(len(code)):
        step = frame.costs[scheme, frame.shape.at[j] + code[j] * frame.shape.wide[j] + frame.tuples[seeker, j]]
        total = max(total, step) if frame.widest[scheme] else min(FAR, total + step)
    return total


cost = kernel(_cost)


def _search_again(frame: Frame, tallies: Tallies, who: int, scheme: int, seeker: int) -> None:
    """Nearest masked records of one original tuple, looked for among all rows: its last one has left."""
    best, ties, hits = FAR, 0, 0
    for row in range(tallies.codes.shape[1]):
        far = cost(frame, scheme, seeker, tallies.codes[who, row])
        if far < best:
            best, ties, hits = far, 0, 0
        if far == best and far < FAR:
            ties += 1
            hits += frame.members[row] == seeker
    tallies.best[who, scheme, seeker] = best
    tallies.ties[who, scheme, seeker] = ties
    tallies.hits[who, scheme, seeker] = hits


search_again = kernel(_search_again)


def _amend_links(frame: Frame, tallies: Tallies, who: int, scheme: int, row: int, old: Codes) -> None:
    """Nearest masked records follow one record, whose new codes already stand in `tallies`.

    Whoever had the old tuple among its nearest loses a tie, or looks again when none is left; whoever is
    nearer to the new one has it as its only nearest.
    """
    new, mine = tallies.codes[who, row], frame.members[row]
    for seeker in range(len(frame.tuples)):
        before, after = cost(frame, scheme, seeker, old), cost(frame, scheme, seeker, new)
        best = tallies.best[who, scheme, seeker]
        if after < best:
            tallies.best[who, scheme, seeker] = after
            tallies.ties[who, scheme, seeker] = 1
            tallies.hits[who, scheme, seeker] = mine == seeker
            continue
        change = int(after == best and after < FAR) - int(before == best and before < FAR)
        if change:
            tallies.ties[who, scheme, seeker] += change
            if mine == seeker:
                tallies.hits[who, scheme, seeker] += change
            if tallies.ties[who, scheme, seeker] == 0:
                search_again(frame, tallies, who, scheme, seeker)


amend_links = kernel(_amend_links)


def _pattern(frame: Frame, seeker: int, code: Codes) -> int:
    found = 0
    for j in range(len(code)):
        cell = frame.shape.at[j] + code[j] * frame.shape.wide[j] + frame.tuples[seeker, j]
        found |= frame.agree[cell] << j
    return found


pattern = kernel(_pattern)


def _amend(frame: Frame, tallies: Tallies, who: int, row: int, new: Codes) -> None:
    """All tallies of one file follow one record that takes new codes (int32[p])."""
    old = tallies.codes[who, row].copy()
    amend_counts(frame, tallies, who, row, new)
    tallies.codes[who, row] = new
    if frame.chosen[5]:
        mine = frame.members[row]
        tallies.own[who, mine, pattern(frame, mine, old)] -= 1
        tallies.own[who, mine, pattern(frame, mine, new)] += 1
        for seeker in range(len(frame.tuples)):
            before, after = pattern(frame, seeker, old), pattern(frame, seeker, new)
            if before != after:
                tallies.seen[who, seeker, before] -= 1
                tallies.seen[who, seeker, after] += 1
                tallies.patterns[who, before] -= frame.counts[seeker]
                tallies.patterns[who, after] += frame.counts[seeker]
    for scheme in range(2):
        if frame.chosen[4 + 2 * scheme] and frame.widest[scheme] == ALONE:
            mine = frame.members[row]
            change = int(cost(frame, scheme, mine, new) == 0) - int(cost(frame, scheme, mine, old) == 0)
            tallies.hits[who, scheme, mine] += change
        elif frame.chosen[4 + 2 * scheme]:
            amend_links(frame, tallies, who, scheme, row, old)


amend = kernel(_amend)

# -- Counts of one file against another: tables of several orders, and pairs of original and masked category.
#
# Codes are int32[n, p] and never negative. A table is named by its strides: the cell of a record is
# ``start + Σ_j stride[j] · code[j]``, with stride 0 for attributes outside the table.


def _table_gaps(original: Codes, masked: Codes, strides: Ints, starts: Ints, gaps: Codes) -> int:
    """Masked minus original count of every cell of every table, and the sum of their sizes.

    →        Σ |count − count'| over all cells of all tables

    `strides` int64[tables, p]; `starts` int64[tables]; `gaps` int32[cells].
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

    →       int32[mark[p]]: how often each masked category occurs

    `at` int64[p]; `wide` int64[p]; `mark` int64[p + 1].
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


def _sum_weighted(pairs: Codes, weights: Ints, bounds: Ints) -> Ints:
    """Σ pairs · weights within each block [bounds[j], bounds[j + 1])."""
    sums = np.zeros(len(bounds) - 1, dtype=np.int64)
    for block in range(len(bounds) - 1):
        for cell in range(bounds[block], bounds[block + 1]):
            sums[block] += pairs[cell] * weights[cell]
    return sums


sum_weighted = kernel(_sum_weighted)

# -- Columns with too many values to tally: listed once in order of value, counted for any classes in one pass.


class Listed(NamedTuple):
    """Which values the records of every distinct tuple hold, equal values side by side; empty: nothing listed."""

    row: Int32s  # int32[p]: the tuple
    value: Int32s  # int32[p]: the value, ascending
    records: Ints  # int64[p]: records of the tuple that hold it


class Held(NamedTuple):
    """What every class holds. n classes."""

    distinct: Ints  # int64[n]: different values
    most: Ints  # int64[n]: records that hold the commonest value
    squares: Ints  # int64[n]: Σ over records of how many of the class hold the same value
    running: Ints  # int64[n]: room
    last: Ints


def _count_listed(listed: Listed, of: Int32s, classes: int, held: Held) -> None:
    """Count the values of every class; of[t] is the class of tuple t. O(p + n), no sort."""
    running, last = held.running, held.last
    for i in range(classes):
        held.distinct[i] = held.most[i] = held.squares[i] = running[i] = 0
        last[i] = -1
    for place in range(listed.row.shape[0]):
        i, value, count = of[listed.row[place]], listed.value[place], listed.records[place]
        if last[i] != value:
            last[i] = value
            running[i] = 0
            held.distinct[i] += 1
        held.squares[i] += count * (2 * running[i] + count)
        running[i] += count
        held.most[i] = max(held.most[i], running[i])


count_listed = kernel(_count_listed)


def _squares_together(listed: Listed, of: Int32s, chosen: Flags) -> int:
    """Σ over records of the chosen classes, taken as one class, of how many hold the same value."""
    total, running, last = 0, 0, -1
    for place in range(listed.row.shape[0]):
        if chosen[of[listed.row[place]]]:
            running = 0 if listed.value[place] != last else running
            last = listed.value[place]
            total += listed.records[place] * (2 * running + listed.records[place])
            running += listed.records[place]
    return total


squares_together = kernel(_squares_together)
