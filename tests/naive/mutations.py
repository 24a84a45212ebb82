"""One aimed change of a cell from its definition: where risk or loss sits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Record = Sequence[int]


class Standing(NamedTuple):
    """How a masked file stands: its records, the originals, whom an intruder may find, what may be chosen."""

    now: Sequence[Record]
    home: Sequence[Record]
    found: Sequence[bool]
    sizes: Sequence[int]
    ordinal: Sequence[bool]


def weightier(loss: float, risk: float) -> str:
    """Which of two weighted means is the larger by more than two hundredths of it."""
    return "either" if abs(loss - risk) <= 0.02 * max(loss, risk) else "risk" if risk > loss else "loss"


def aimed_change(
    standing: Standing, side: str, change: tuple[int, int, int], draw: Sequence[float], aimed: float
) -> tuple[int, int, int]:
    """Row, attribute and new code, aimed or as it was; draw: aimed or not, side, category, then candidate rows."""
    now, home, width = standing.now, standing.home, len(standing.sizes)
    if side == "either":
        side = "risk" if draw[1] < 0.5 else "loss"
    candidates = [int(share * len(now)) for share in draw[3:]]
    fit = [r for r in candidates if (standing.found[r] if side == "risk" else tuple(now[r]) != tuple(home[r]))]
    if draw[0] >= aimed or not fit:
        return change
    row, column = fit[0], change[1]
    if side == "loss":
        turns = [(column + turn) % width for turn in range(width)]
        column = next(c for c in turns if now[row][c] != home[row][c])
    here, there, size = now[row][column], home[row][column], standing.sizes[column]
    others = [code for code in range(size) if code != here]
    if size < 2:
        code = here
    elif here >= size:
        code = others[int(draw[2] * len(others))]
    elif side == "loss" and there < size:
        step = here + (1 if there > here else -1)
        code = there if draw[2] < 0.5 or not standing.ordinal[column] else step
    elif standing.ordinal[column]:
        steps = [code for code in (here + 1, here - 1) if 0 <= code < size]
        code = steps[0] if draw[2] < 0.5 else steps[-1]
    else:
        code = others[int(draw[2] * len(others))]
    return row, column, code
