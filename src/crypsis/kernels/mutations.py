"""Which cell of a masked file to change, and to what: where risk or loss sits."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Codes, Flags, Floats, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.ledger import Frame, MaskingTrial, Tallies, amend, read_all

BALANCED = 0.02
"""Loss and risk closer than this share weigh the same: either may be aimed at."""


def _is_linked(frame: Frame, tallies: Tallies, who: int, row: int) -> bool:
    """Whether the record's own masked version is among its nearest, i.e. the intruder may find it."""
    mine, total = frame.members[row], 0
    for j in range(tallies.codes.shape[2]):
        cell = frame.shape.at[j] + tallies.codes[who, row, j] * frame.shape.wide[j] + frame.tuples[mine, j]
        total += frame.costs[0, cell]
    return bool(total == tallies.best[who, 0, mine])


is_linked = kernel(_is_linked)


def _aim(
    frame: Frame, tallies: Tallies, trial: MaskingTrial, who: int, changes: Ints, draws: Floats, aimed: float
) -> None:
    """Some of the changes of one file, in place, are aimed at where the weightier side sits, as the file stands now.

    `changes` int64[k, 3]; `draws` float64[k, 3 + candidates].
    """
    now, goal = tallies.codes[who], trial.goals[who]
    rows, attributes = now.shape
    loss, risk = goal[1] * trial.pairs[who, 0], goal[2] * trial.pairs[who, 1]
    even = goal[0] == 0.0 or abs(loss - risk) <= BALANCED * max(loss, risk)
    for place in range(len(draws)):
        draw = draws[place]
        if draw[0] >= aimed:
            continue
        risky = draw[1] < 0.5 if even else risk > loss
        j, row, found = changes[place, 1], 0, False
        for candidate in range(3, len(draw)):
            if found:
                break
            row = int(draw[candidate] * rows)
            if risky:
                found = not frame.chosen[4] or is_linked(frame, tallies, who, row)
                continue
            for turn in range(attributes):
                column = (changes[place, 1] + turn) % attributes
                if not found and now[row, column] != frame.tuples[frame.members[row], column]:
                    j, found = column, True
        if not found:
            continue
        size, here, home = trial.sizes[j], now[row, j], frame.tuples[frame.members[row], j]
        upward = draw[2] < 0.5
        if size < 2:
            code = here
        elif not risky and home < size and here < size:
            code = home if upward or not trial.ordinal[j] else here + np.sign(home - here)
        elif trial.ordinal[j] and here < size:
            code = here + 1 if (upward and here + 1 < size) or here == 0 else here - 1
        else:
            code = int(draw[2] * (size - (here < size)))
            code += here < size and code >= here
        changes[place, 0], changes[place, 1], changes[place, 2] = row, j, code


aim = kernel(_aim)

# -- Changes of masked files on trial: what a file is worth, which of two is kept, and single changes in turn.


def _halves(readings: Floats, chosen: Flags) -> tuple[float, float]:
    """Mean of the chosen losses, mean of the chosen risks."""
    loss, risk, losses, risks = 0.0, 0.0, 0, 0
    for place in range(len(readings)):
        if chosen[place] and place < 3:
            loss += readings[place]
            losses += 1
        elif chosen[place]:
            risk += readings[place]
            risks += 1
    return (loss / losses if losses else 0.0), (risk / risks if risks else 0.0)


halves = kernel(_halves)


def _fitness(loss: float, risk: float, goal: Floats) -> float:
    """goal[0] times the greater of goal[1] · loss and goal[2] · risk, plus goal[3] times their mean."""
    loss, risk = goal[1] * loss, goal[2] * risk
    return float(goal[0] * max(loss, risk) + goal[3] * ((loss + risk) / 2.0))


fitness = kernel(_fitness)


def _is_preferred(loss: float, risk: float, pair: Floats, goal: Floats, neutral: bool) -> bool:
    """Whether a file of this loss and risk is kept rather than one of the pair's.

    `neutral`: keep it also where both are worth the same and the sum of loss and risk is no greater.
    """
    now, before = fitness(loss, risk, goal), fitness(pair[0], pair[1], goal)
    return bool(now < before or (neutral and now == before and loss + risk <= pair[0] + pair[1]))


is_preferred = kernel(_is_preferred)


def _follow(frame: Frame, tallies: Tallies, who: int, codes: Codes) -> None:
    """All tallies of one file follow every record in which it differs from codes (int32[n, p])."""
    for row in range(len(codes)):
        changed = False
        for j in range(codes.shape[1]):
            changed = changed or codes[row, j] != tallies.codes[who, row, j]
        if changed:
            amend(frame, tallies, who, row, codes[row])


follow = kernel(_follow)


def _attempts(
    frame: Frame, tallies: Tallies, trial: MaskingTrial, who: int, changes: Ints, neutral: bool
) -> tuple[int, int, int, float, float]:
    """Single cells of one file changed in turn, each kept if the file is `preferred`, else taken back.

    →        how many were tried, how many kept, the last one tried (−1: none was), and loss and risk with it

    `changes` int64[k, 3].
    """
    tried, kept, last, loss, risk = 0, 0, -1, np.nan, np.nan
    pair, goal = trial.pairs[who], trial.goals[who]
    fresh = trial.readings[who].copy()
    for place in range(len(changes)):
        row, attribute = changes[place, 0], changes[place, 1]
        old = tallies.codes[who, row].copy()
        new = old.copy()
        new[attribute] = changes[place, 2]
        cell = 0
        for j in range(len(new)):
            cell += trial.strides[j] * new[j]
        if new[attribute] == old[attribute] or (len(trial.allowed) and not trial.allowed[cell]):
            continue
        tried, last = tried + 1, place
        amend(frame, tallies, who, row, new)
        read_all(frame, tallies, who, fresh)
        loss, risk = halves(fresh, frame.chosen)
        if is_preferred(loss, risk, pair, goal, neutral):
            trial.readings[who], pair[0], pair[1] = fresh, loss, risk
            kept += 1
        else:
            amend(frame, tallies, who, row, old)
    return tried, kept, last, loss, risk


attempts = kernel(_attempts)
