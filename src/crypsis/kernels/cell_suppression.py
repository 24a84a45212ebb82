"""Single cells hidden until every record has k records alike: lines of tuples, greedy cover, and ruin and recreation.

Records with equal values are one tuple. A *pattern* is a set of columns, and a *line* of a pattern holds the tuples
that are equal in all other columns. A record whose cells of a pattern are hidden is alike with every tuple of its line.

PERSONS_TARGET    every tuple needs k records that are alike with it, its own included
PERSONS_WILDCARD  or every record of the tuple hides a pattern whose line has k records; matches that need hidden cells
                  of both records are not counted, so that what is found is never too little
BOTH_TARGET       every tuple needs k records that are alike with it, and every record a line of k records
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.annealing import ROUNDING, accept, draw, integer_below
from crypsis.kernels.arrays import Codes, Flags, Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel

PERSONS_TARGET, PERSONS_WILDCARD, BOTH_TARGET = 0, 1, 2
"""What is demanded."""
SAMPLE = 40
"""Records with hidden cells that are looked at for one more hidden cell, in one step."""
SCANNED = 500
"""Records that are looked at for those to ruin, in one trial."""
COOLER = 0.8
"""Factor between the least gains per weight that are taken in successive passes of the first cover."""
SKIPPED = 12
"""One option in so many is passed over at random, so that two repairs differ."""
ROOM = 256
"""Changes that one step may make beside k."""
_32 = np.uint64(32)


class CellLines(NamedTuple):
    """Tuples, patterns and lines."""

    codes: Codes  # int32[T, m]: the columns that may be hidden, a missing cell being a value of its own
    size: Ints  # int64[T]: records of each tuple
    mask: Ints  # int64[P]: columns of each pattern as bits, ascending; the first is empty, the last has all columns
    weight: Floats  # float64[P], float64[m]: what hiding a pattern, or a column, costs
    cell: Floats
    line: Int32s  # int32[T, P]: the line of a tuple
    first: Ints  # int64[P + 1]: the first line of each pattern
    start: Ints  # int64[L + 1], int32[…]: tuples of each line
    member: Int32s
    held: Ints  # int64[L]: records of each line
    own: Int32s  # int32[T]: the pattern of the cells that a tuple lacks from the start
    least: Floats  # float64[T]: weight that every record of a tuple must hide, whatever the others do


class CellHoles(NamedTuple):
    """Which records hide which patterns, and what follows."""

    alike: Ints  # int64[T]: records alike with the tuple
    live: Ints  # int64[L]: tuples of a line that need more records alike
    free: Ints  # int64[T]: records that hide nothing
    good: Ints  # int64[T]: records whose own line has k records
    tuple_of: Int32s  # int32[n], int32[n]: tuple and pattern of the records that hide something
    pattern: Int32s
    used: Ints  # int64[4]: how many those are, entries of `changes`, entries of `pending`; k
    cost: Floats  # float64[1]: weight of all hidden cells
    changes: Int32s  # int32[…, 4]: 1 or −1, tuple, pattern, place; what was done since the last decision
    pending: Int32s  # int32[T]: tuples that may have fallen below k
    waiting: Flags  # bool[T]: whether a tuple is among them
    demand: int  # what is demanded


def _needs_records(lines: CellLines, holes: CellHoles, t: int) -> bool:
    """Whether a tuple needs more records alike with it."""
    if holes.alike[t] >= holes.used[3]:
        return False
    return not (holes.demand == PERSONS_WILDCARD and holes.good[t] >= lines.size[t])


needs_records = kernel(_needs_records)


def _is_bare(lines: CellLines, holes: CellHoles, t: int) -> bool:
    """Whether a record of the tuple hides too little for itself."""
    return holes.demand == BOTH_TARGET and holes.good[t] < lines.size[t]


is_bare = kernel(_is_bare)


def _note(lines: CellLines, holes: CellHoles, t: int, before: bool) -> None:
    """Tell the lines of a tuple that it began to need records, or no longer does; one that falls short is pending."""
    after = needs_records(lines, holes, t)
    if before != after:
        by = 1 if after else -1
        for s in range(lines.line.shape[1]):
            holes.live[lines.line[t, s]] += by
    if not holes.waiting[t] and (after or is_bare(lines, holes, t)):
        holes.waiting[t] = True
        holes.pending[holes.used[2]] = t
        holes.used[2] += 1


note = kernel(_note)


def _cover(lines: CellLines, holes: CellHoles, u: int, s: int, by: int) -> None:
    """Count a record of tuple u that hides pattern s for the other tuples of its line."""
    at = lines.line[u, s]
    for place in range(lines.start[at], lines.start[at + 1]):
        t = lines.member[place]
        if t != u:
            before = needs_records(lines, holes, t)
            holes.alike[t] += by
            note(lines, holes, t, before)


cover = kernel(_cover)


def _change(lines: CellLines, holes: CellHoles, u: int, s: int, by: int) -> None:
    """A record of tuple u hides pattern s from now on (by = 1), or no longer (−1)."""
    bare = lines.own[u]
    if bare > 0:
        cover(lines, holes, u, bare, -by)
    cover(lines, holes, u, s, by)
    holes.free[u] -= by
    holes.cost[0] += by * (lines.weight[s] - lines.weight[bare])
    k, before = holes.used[3], needs_records(lines, holes, u)
    holes.good[u] += by * (int(lines.held[lines.line[u, s]] >= k) - int(lines.held[lines.line[u, bare]] >= k))
    note(lines, holes, u, before)


change = kernel(_change)


def _log_change(holes: CellHoles, by: int, u: int, s: int, place: int) -> None:
    """Remember a change."""
    row = holes.used[1]
    holes.changes[row, 0], holes.changes[row, 1], holes.changes[row, 2], holes.changes[row, 3] = by, u, s, place
    holes.used[1] += 1


log_change = kernel(_log_change)


def _hide(lines: CellLines, holes: CellHoles, u: int, s: int) -> None:
    """Hide pattern s in a free record of tuple u."""
    place = holes.used[0]
    holes.tuple_of[place], holes.pattern[place] = u, s
    holes.used[0] += 1
    log_change(holes, 1, u, s, place)
    change(lines, holes, u, s, 1)


hide = kernel(_hide)


def _restore(lines: CellLines, holes: CellHoles, place: int) -> None:
    """Show what the record at a place hides; the last one takes its place."""
    u, s = holes.tuple_of[place], holes.pattern[place]
    holes.used[0] -= 1
    last = holes.used[0]
    holes.tuple_of[place], holes.pattern[place] = holes.tuple_of[last], holes.pattern[last]
    log_change(holes, -1, u, s, place)
    change(lines, holes, u, s, -1)


restore = kernel(_restore)


def _undo(lines: CellLines, holes: CellHoles) -> None:
    """Take back every change since the last decision, the last one first."""
    for row in range(holes.used[1] - 1, -1, -1):
        by, u, s, place = holes.changes[row, 0], holes.changes[row, 1], holes.changes[row, 2], holes.changes[row, 3]
        if by > 0:
            holes.used[0] -= 1
        else:
            last = holes.used[0]
            holes.tuple_of[last], holes.pattern[last] = holes.tuple_of[place], holes.pattern[place]
            holes.tuple_of[place], holes.pattern[place] = u, s
            holes.used[0] += 1
        change(lines, holes, u, s, -by)
    holes.used[1] = 0


undo = kernel(_undo)


def _forget_pending(holes: CellHoles) -> None:
    """Empty the list of tuples that may be short."""
    for row in range(holes.used[2]):
        holes.waiting[holes.pending[row]] = False
    holes.used[2] = 0


forget_pending = kernel(_forget_pending)


def _find_pattern(lines: CellLines, mask: int) -> int:
    """The number of a pattern by its columns; −1 where it is not offered."""
    low, high = 0, lines.mask.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if lines.mask[middle] < mask:
            low = middle + 1
        else:
            high = middle
    return low if lines.mask[low] == mask else -1


find_pattern = kernel(_find_pattern)


def _find_provider(lines: CellLines, holes: CellHoles, at: int, s: int, t: int, random_state: Words) -> int:
    """A tuple of a line with a free record that would be new to tuple t (−1: to some tuple); one in no need first."""
    begin, length = lines.start[at], lines.start[at + 1] - lines.start[at]
    offset, found = integer_below(draw(random_state) >> _32, length), -1
    for step in range(length):
        place = step + offset
        u = lines.member[begin + (place - length if place >= length else place)]
        bare = lines.own[u]
        if u == t or holes.free[u] == 0 or bare == s or (lines.mask[s] & lines.mask[bare]) != lines.mask[bare]:
            continue
        if bare > 0 and t >= 0 and lines.line[u, bare] == lines.line[t, bare]:
            continue
        if holes.demand == BOTH_TARGET and lines.held[at] < holes.used[3] and holes.good[u] < lines.size[u]:
            continue
        if not needs_records(lines, holes, u):
            return int(u)
        if found < 0:
            found = int(u)
    return found


find_provider = kernel(_find_provider)


def _extend(lines: CellLines, holes: CellHoles, t: int, place: int) -> tuple[int, float]:
    """The least pattern with which the record at a place would be alike with t, and what it costs more; −1 for none."""
    u, s = holes.tuple_of[place], holes.pattern[place]
    if u == t or lines.line[u, s] == lines.line[t, s]:
        return -1, 0.0
    mask, more = lines.mask[s], 0.0
    for c in range(lines.codes.shape[1]):
        if lines.codes[u, c] != lines.codes[t, c] and not (mask >> c) & 1:
            mask |= 1 << c
            more += lines.cell[c]
    wider = find_pattern(lines, mask)
    if wider < 0:
        wider = lines.mask.shape[0] - 1
        more = lines.weight[wider] - lines.weight[s]
    if lines.line[u, wider] != lines.line[t, wider]:
        return -1, 0.0
    return wider, more


extend = kernel(_extend)


def _best_extension(
    lines: CellLines, holes: CellHoles, t: int, every: bool, random_state: Words
) -> tuple[int, int, float]:
    """Among some or all records that hide something: the place, the wider pattern and the least cost that reach t."""
    used = holes.used[0]
    best, wider, least = -1, -1, np.inf
    if used == 0:
        return best, wider, least
    looked = used if every else min(used, SAMPLE)
    place = integer_below(draw(random_state) >> _32, used)
    for _ in range(looked):
        place = place + 1 if place + 1 < used else 0
        if not every:
            place = integer_below(draw(random_state) >> _32, used)
        s, more = extend(lines, holes, t, place)
        if s >= 0 and more < least:
            best, wider, least = place, s, more
    return best, wider, least


best_extension = kernel(_best_extension)


def _best_cover_of_own(lines: CellLines, holes: CellHoles, t: int, random_state: Words) -> int:
    """The pattern for a bare record of tuple t whose line has k records and most tuples in need for the weight."""
    best: int = lines.mask.shape[0] - 1
    ratio, needy = 0.0, needs_records(lines, holes, t)
    for s in range(1, lines.mask.shape[0]):
        at, bare = lines.line[t, s], lines.mask[lines.own[t]]
        if lines.held[at] < holes.used[3] or (lines.mask[s] & bare) != bare:
            continue
        gain = (1.0 + holes.live[at] - int(needy)) / (lines.weight[s] - lines.weight[lines.own[t]])
        if gain > ratio and integer_below(draw(random_state) >> _32, SKIPPED) > 0:
            best, ratio = s, gain
    return best


best_cover_of_own = kernel(_best_cover_of_own)


def _repair(lines: CellLines, holes: CellHoles, t: int, tried: Flags, random_state: Words) -> bool:
    """Hide cells until tuple t is short no longer, each time where most short tuples gain for the weight."""
    patterns = lines.mask.shape[0]
    while is_bare(lines, holes, t):
        if holes.used[1] + ROOM > holes.changes.shape[0] or lines.held[lines.line[t, patterns - 1]] < holes.used[3]:
            return False
        s = best_cover_of_own(lines, holes, t, random_state)
        hide(lines, holes, t, s)
    while needs_records(lines, holes, t):
        if holes.used[1] + holes.used[3] + ROOM > holes.changes.shape[0]:
            return False
        tried[:] = False
        done = False
        extension, wider, more = best_extension(lines, holes, t, False, random_state)
        while not done:
            best, ratio, whole = -1, 0.0, False
            for s in range(1, patterns):
                if tried[s] or integer_below(draw(random_state) >> _32, SKIPPED) == 0:
                    continue
                at, weight = lines.line[t, s], lines.weight[s]
                if holes.live[at] > ratio * weight:
                    best, ratio, whole = s, holes.live[at] / weight, False
                if (
                    holes.demand == PERSONS_WILDCARD
                    and lines.held[at] >= holes.used[3]
                    and holes.free[t] + holes.good[t] >= lines.size[t]
                ):
                    if (lines.mask[s] & lines.mask[lines.own[t]]) != lines.mask[lines.own[t]] or holes.free[t] == 0:
                        continue
                    gain = holes.used[3] - holes.alike[t] + (holes.live[at] - 1) * holes.free[t]
                    if gain > ratio * weight * holes.free[t]:
                        best, ratio, whole = s, gain / (weight * holes.free[t]), True
            if extension >= 0 and (best < 0 or ratio * more < 1.0):
                u = holes.tuple_of[extension]
                restore(lines, holes, extension)
                hide(lines, holes, u, wider)
                done = True
            elif best < 0:
                left = False
                for s in range(1, patterns):
                    left = left or not tried[s]
                if left:
                    continue
                extension, wider, more = best_extension(lines, holes, t, True, random_state)
                if extension < 0:
                    return False
            elif whole:
                for _ in range(holes.free[t]):
                    hide(lines, holes, t, best)
                done = True
            else:
                u = find_provider(lines, holes, lines.line[t, best], best, t, random_state)
                if u >= 0:
                    hide(lines, holes, u, best)
                    done = True
                else:
                    tried[best] = True
    return True


repair = kernel(_repair)


def _can_show(lines: CellLines, holes: CellHoles, u: int, s: int, less: int) -> bool:
    """Whether a record of tuple u may hide pattern `less` instead of s, of which it is a part."""
    k, at, narrow = holes.used[3], lines.line[u, s], lines.line[u, less]
    needed = holes.demand == BOTH_TARGET or (holes.demand == PERSONS_WILDCARD and holes.alike[u] < k)
    if needed and lines.held[at] >= k and lines.held[narrow] < k:
        return False
    for place in range(lines.start[at], lines.start[at + 1]):
        t = lines.member[place]
        spared = holes.demand == PERSONS_WILDCARD and holes.good[t] >= lines.size[t]
        if t != u and lines.line[t, less] != narrow and holes.alike[t] <= k and not spared:
            return False
    return True


can_show = kernel(_can_show)


def _prune(lines: CellLines, holes: CellHoles, place: int) -> bool:
    """Show cells of the record at a place that nobody needs hidden; whether it hides nothing any more."""
    u, s = holes.tuple_of[place], holes.pattern[place]
    bare = lines.own[u]
    if can_show(lines, holes, u, s, bare):
        restore(lines, holes, place)
        return True
    narrowed = True
    while narrowed:
        narrowed = False
        for c in range(lines.codes.shape[1]):
            bit = 1 << c
            if lines.mask[s] & bit and not lines.mask[bare] & bit:
                less = find_pattern(lines, lines.mask[s] ^ bit)
                if less > 0 and can_show(lines, holes, u, s, less):
                    restore(lines, holes, place)
                    hide(lines, holes, u, less)
                    last = holes.used[0] - 1
                    s, place, narrowed = less, last, True
                    break
    return False


prune = kernel(_prune)


def _begin_cover(lines: CellLines, holes: CellHoles) -> None:
    """Count what is alike before anything is hidden."""
    tuples = lines.size.shape[0]
    for t in range(tuples):
        holes.alike[t] = holes.free[t] = lines.size[t]
        holes.good[t] = lines.size[t] if lines.held[lines.line[t, lines.own[t]]] >= holes.used[3] else 0
    for t in range(tuples):
        note(lines, holes, t, False)
    for t in range(tuples):
        if lines.own[t] > 0:
            cover(lines, holes, t, lines.own[t], lines.size[t])


begin_cover = kernel(_begin_cover)


def _lightest_cover_of_own(lines: CellLines, holes: CellHoles, t: int) -> int:
    """The lightest pattern for a bare record of tuple t whose line has k records; of equal ones that with most need."""
    best: int = lines.mask.shape[0] - 1
    weight, needs = np.inf, -1
    for s in range(1, lines.mask.shape[0]):
        at, bare = lines.line[t, s], lines.mask[lines.own[t]]
        if lines.held[at] < holes.used[3] or (lines.mask[s] & bare) != bare:
            continue
        if lines.weight[s] < weight or (lines.weight[s] == weight and holes.live[at] > needs):
            best, weight, needs = s, lines.weight[s], holes.live[at]
    return best


lightest_cover_of_own = kernel(_lightest_cover_of_own)


def _cover_greedily(lines: CellLines, holes: CellHoles, random_state: Words) -> bool:
    """Hide cells, the greatest gain per weight first, until no tuple is short; whether that can be reached."""
    patterns, k = lines.mask.shape[0], holes.used[3]
    least, most = np.inf, 0.0
    for s in range(1, patterns):
        least = min(least, lines.weight[s])
        for at in range(lines.first[s], lines.first[s + 1]):
            most = max(most, holes.live[at] / lines.weight[s])
    if holes.demand == BOTH_TARGET:
        for t in range(lines.size.shape[0]):
            while is_bare(lines, holes, t):
                if lines.held[lines.line[t, patterns - 1]] < k:
                    return False
                hide(lines, holes, t, lightest_cover_of_own(lines, holes, t))
                holes.used[1] = 0
    ratio = most
    while ratio * lines.weight[patterns - 1] >= 1.0:
        holes.used[1] = 0
        if holes.demand == PERSONS_WILDCARD:
            for t in range(lines.size.shape[0]):
                if needs_records(lines, holes, t) and holes.free[t] == lines.size[t]:
                    for s in range(1, patterns):
                        at, cost = lines.line[t, s], lines.weight[s] * holes.free[t]
                        if lines.held[at] < k or (lines.mask[s] & lines.mask[lines.own[t]]) != lines.mask[lines.own[t]]:
                            continue
                        if k - holes.alike[t] + (holes.live[at] - 1) * holes.free[t] >= ratio * cost:
                            for _ in range(holes.free[t]):
                                hide(lines, holes, t, s)
                            break
                    holes.used[1] = 0
        for s in range(1, patterns):
            for at in range(lines.first[s], lines.first[s + 1]):
                while holes.live[at] >= ratio * lines.weight[s] and holes.live[at] > 0:
                    u = find_provider(lines, holes, at, s, -1, random_state)
                    if u < 0 or lines.own[u] > 0:
                        break
                    if holes.live[at] == 1 and needs_records(lines, holes, u):
                        break
                    hide(lines, holes, u, s)
                    holes.used[1] = 0
        ratio *= COOLER
    tried = np.zeros(patterns, np.bool_)
    for t in range(lines.size.shape[0]):
        holes.used[1] = 0
        if not repair(lines, holes, t, tried, random_state):
            return False
    forget_pending(holes)
    return True


cover_greedily = kernel(_cover_greedily)


def _prune_all(lines: CellLines, holes: CellHoles, order: Ints) -> None:
    """Show what nobody needs hidden, in every record; `order` int64[…]: patterns by falling weight."""
    for s in order:
        place = 0
        while place < holes.used[0]:
            holes.used[1] = 0
            if holes.pattern[place] != s or not prune(lines, holes, place):
                place += 1
    holes.used[1] = 0
    forget_pending(holes)


prune_all = kernel(_prune_all)


def _find_excess(lines: CellLines, holes: CellHoles, random_state: Words) -> int:
    """The place of a record that hides more than it must, drawn at random; −1 where none was met."""
    for _ in range(SCANNED):
        place = integer_below(draw(random_state) >> _32, holes.used[0])
        u = holes.tuple_of[place]
        if lines.weight[holes.pattern[place]] - lines.weight[lines.own[u]] > lines.least[u] * (1.0 + ROUNDING):
            return place
    return -1


find_excess = kernel(_find_excess)


def _draw_member(lines: CellLines, at: int, random_state: Words) -> int:
    """A tuple of a line, drawn at random."""
    return int(
        lines.member[lines.start[at] + integer_below(draw(random_state) >> _32, lines.start[at + 1] - lines.start[at])]
    )


draw_member = kernel(_draw_member)


def _recreate(
    lines: CellLines, holes: CellHoles, needy: Ints, trials: int, temperature: float, random_state: Words
) -> None:
    """Ruin and recreation: some records near one tuple show their cells again, what falls short is repaired.

    `needy` int64[…]: tuples that had fewer than k before anything was hidden; one is drawn for every trial.
    """
    tried = np.zeros(lines.mask.shape[0], np.bool_)
    for _ in range(trials):
        used = holes.used[0]
        if used == 0:
            return
        before, holes.used[1] = holes.cost[0], 0
        forget_pending(holes)
        t = needy[integer_below(draw(random_state) >> _32, needy.shape[0])]
        wanted = 1 + integer_below(draw(random_state) >> _32, 6)
        place = find_excess(lines, holes, random_state)
        if place >= 0:
            t = draw_member(lines, lines.line[holes.tuple_of[place], holes.pattern[place]], random_state)
            place -= 1
        else:
            place = integer_below(draw(random_state) >> _32, used)
        for _ in range(min(used, SCANNED)):
            place = place + 1 if place + 1 < holes.used[0] else 0
            s = holes.pattern[place]
            if lines.line[holes.tuple_of[place], s] == lines.line[t, s]:
                restore(lines, holes, place)
                wanted -= 1
                if wanted == 0 or holes.used[0] == 0:
                    break
        possible = True
        while possible and holes.used[2] > 0:
            row = integer_below(draw(random_state) >> _32, holes.used[2])
            short = holes.pending[row]
            holes.used[2] -= 1
            holes.pending[row] = holes.pending[holes.used[2]]
            holes.waiting[short] = False
            possible = repair(lines, holes, short, tried, random_state)
        place = min(used, holes.used[0]) - 8
        place = max(place, 0)
        while place < holes.used[0] and holes.used[1] + ROOM < holes.changes.shape[0]:
            if not prune(lines, holes, place):
                place += 1
            if place > holes.used[0]:
                break
        if not possible or not accept(holes.cost[0] - before, temperature, random_state):
            undo(lines, holes)
    holes.used[1] = 0
    forget_pending(holes)


recreate = kernel(_recreate)


def _are_alike(codes: Codes, masks: Ints, i: int, j: int, mask: int) -> bool:
    """Whether two records differ in no cell that both show, if record i hides `mask`; a missing cell is hidden."""
    hidden = mask | masks[j]
    for c in range(codes.shape[1]):
        if codes[i, c] != codes[j, c] and not (hidden >> c) & 1 and codes[i, c] >= 0 and codes[j, c] >= 0:
            return False
    return True


are_alike = kernel(_are_alike)


def _show_superfluous(codes: Codes, masks: Ints, cell: Floats, k: int) -> None:
    """Show cells that no record needs hidden when a hidden cell of either record equals every value.

    `codes` int32[n, known], `masks` int64[n]: hidden columns as bits, changed in place; `cell` float64[m].
    """
    n = codes.shape[0]
    found = np.full(n, -1, np.int64)
    order = np.argsort(-cell)
    for i in range(n):
        for c in order:
            if not (masks[i] >> c) & 1:
                continue
            less = masks[i] & ~(1 << c)
            fine, own = True, 0
            for j in range(n):
                if not are_alike(codes, masks, i, j, masks[i]):
                    continue
                if are_alike(codes, masks, i, j, less):
                    own += 1
                    continue
                if found[j] < 0:
                    found[j] = 0
                    for other in range(n):
                        found[j] += int(are_alike(codes, masks, j, other, masks[j]))
                if found[j] <= k:
                    fine = False
                    break
            if fine and own >= k:
                for j in range(n):
                    if found[j] > 0 and are_alike(codes, masks, i, j, masks[i]):
                        found[j] -= int(not are_alike(codes, masks, i, j, less))
                masks[i] = less
                found[i] = own


show_superfluous = kernel(_show_superfluous)
