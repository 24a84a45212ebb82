"""Columns with too many values to tally: listed once in order of value, counted for any classes in one pass."""

from __future__ import annotations

from typing import NamedTuple

from crypsis.kernels.arrays import Flags, Int32s, Ints
from crypsis.kernels.compile import kernel


class Listed(NamedTuple):
    """Which values the records of every distinct tuple hold, equal values side by side; empty: nothing listed.

    row      int32[p]: the tuple
    value    int32[p]: the value, ascending
    records  int64[p]: records of the tuple that hold it
    """

    row: Int32s
    value: Int32s
    records: Ints


class Held(NamedTuple):
    """What every class holds. n classes.

    distinct  int64[n]: different values
    most      int64[n]: records that hold the commonest value
    squares   int64[n]: Σ over records of how many of the class hold the same value
    running, last  int64[n]: room
    """

    distinct: Ints
    most: Ints
    squares: Ints
    running: Ints
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
