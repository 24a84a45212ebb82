"""Which cell of a masked file to change, and to what: where risk or loss sits."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.compile import kernel
from crypsis.kernels.ledger_types import Frame, MaskingTrial, Tallies

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


def _aim(
    frame: Frame, tallies: Tallies, trial: MaskingTrial, who: int, changes: Ints, draws: Floats, aimed: float
) -> None:
    """Some of the changes of one file, in place, are aimed at where the weightier side sits, as the file stands now.

    changes  int64[k, 3]: row, attribute, new code
    draws    float64[k, 3 + candidates], uniform in [0, 1): aimed or not, which side, category, then candidate rows,
             of which an aimed change takes the first that carries the weightier side; if none does, it stays as it is
    aimed    share of aimed changes: where risk weighs more, a rightly linked record moves to a near category; where
             loss does, a changed cell goes back to its original or, if ordered, one step towards it
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
                found = not frame.chosen[4] or linked(frame, tallies, who, row)
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
