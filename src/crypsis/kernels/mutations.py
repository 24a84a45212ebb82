"""Which cell of a masked file to change, and to what: at random, or where risk or loss sits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel
from crypsis.kernels.ledger_types import Frame, Tallies, Trial

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BALANCED = 0.02
"""Loss and risk closer than this share weigh the same: either may be aimed at."""


def _linked(frame: Frame, tallies: Tallies, who: int, row: int) -> bool:
    """Whether the record's own masked version is among its nearest, i.e. the intruder may find it."""
    mine, total = frame.members[row], 0
    for j in range(tallies.codes.shape[2]):
        cell = frame.shape.at[j] + tallies.codes[who, row, j] * frame.shape.wide[j] + frame.tuples[mine, j]
        total += frame.costs[0, cell]
    return bool(total == tallies.best[who, 0, mine])


linked = kernel(_linked)


def _moves(frame: Frame, tallies: Tallies, trial: Trial, who: int, draws: Floats, aimed: float) -> Ints:
    """Single-cell changes for one file, chosen from how it stands now.

    draws  float64[k, 4 + candidates], uniform in [0, 1): aimed or not, which side, attribute, category, then
           candidate rows, of which an aimed change takes the first that carries the weightier side
    aimed  share of aimed changes: where risk weighs more, a rightly linked record moves to a near category; where
           loss does, a changed cell goes back to its original or, if ordered, one step towards it
    →      int64[k, 3]: row, attribute, new code (the old one where the attribute offers no other)
    """
    now, goal = tallies.codes[who], trial.goals[who]
    rows, attributes = now.shape
    loss, risk = goal[1] * trial.pairs[who, 0], goal[2] * trial.pairs[who, 1]
    even = goal[0] == 0.0 or abs(loss - risk) <= BALANCED * max(loss, risk)
    chosen = np.empty((len(draws), 3), dtype=np.int64)
    for place in range(len(draws)):
        draw = draws[place]
        aiming, risky = draw[0] < aimed, draw[1] < 0.5 if even else risk > loss
        j, row, found = int(draw[2] * attributes), int(draw[4] * rows), not aiming
        for candidate in range(4, len(draw)):
            if found:
                break
            row = int(draw[candidate] * rows)
            if risky:
                found = not frame.chosen[4] or linked(frame, tallies, who, row)
                continue
            for turn in range(attributes):
                column = (j + turn) % attributes
                if not found and now[row, column] != frame.tuples[frame.members[row], column]:
                    j, found = column, True
        size, here, home = trial.sizes[j], now[row, j], frame.tuples[frame.members[row], j]
        code, upward = here, draw[3] < 0.5
        if size < 2:
            code = here
        elif here >= size or not aiming or not found:
            code = int(draw[3] * (size - (here < size)))
            code += here < size and code >= here
        elif not risky and home < size:
            code = home if upward or not trial.ordinal[j] else here + np.sign(home - here)
        elif trial.ordinal[j]:
            code = here + 1 if (upward and here + 1 < size) or here == 0 else here - 1
        else:
            code = int(draw[3] * (size - 1))
            code += code >= here
        chosen[place, 0], chosen[place, 1], chosen[place, 2] = row, j, code
    return chosen


moves = kernel(_moves)
