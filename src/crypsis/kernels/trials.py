"""Changes of masked files on trial: what a file is worth, which of two is kept, and single changes in turn."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Codes, Flags, Floats, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.ledger import amend, read_all
from crypsis.kernels.ledger_types import Frame, MaskingTrial, Tallies


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


def _preferred(loss: float, risk: float, pair: Floats, goal: Floats, neutral: bool) -> bool:
    """Whether a file of this loss and risk is kept rather than one of the pair's.

    neutral  keep it also where both are worth the same and the sum of loss and risk is no greater
    """
    now, before = fitness(loss, risk, goal), fitness(pair[0], pair[1], goal)
    return bool(now < before or (neutral and now == before and loss + risk <= pair[0] + pair[1]))


preferred = kernel(_preferred)


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

    changes  int64[k, 3]: row, attribute, new code; one that changes nothing or is not allowed is passed over
    →        how many were tried, how many kept, the last one tried (−1: none was), and loss and risk with it
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
        if preferred(loss, risk, pair, goal, neutral):
            trial.readings[who], pair[0], pair[1] = fresh, loss, risk
            kept += 1
        else:
            amend(frame, tallies, who, row, old)
    return tried, kept, last, loss, risk


attempts = kernel(_attempts)
