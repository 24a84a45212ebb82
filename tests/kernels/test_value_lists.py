"""Values listed once and counted for any classes, by hand and from the definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.ledger import Held, Listed, count_listed, squares_together

Entry = tuple[int, int, int]


def listed(entries: list[Entry]) -> Listed:
    """(value, tuple, records) in order of value."""
    value, row, records = (list(column) for column in zip(*sorted(entries), strict=True)) if entries else ([], [], [])
    return Listed(np.array(row, np.int32), np.array(value, np.int32), np.array(records, np.int64))


def counted(values: Listed, of: np.ndarray, classes: int) -> list[np.ndarray]:
    """Values, records of the commonest and squares of every class."""
    held = Held(*np.full((5, classes), 7, np.int64))
    count_listed(values, of, classes, held)
    return list(held[:3])


def test_by_hand() -> None:
    """Tuples 0 and 1 form class 0: value 5 thrice, value 8 once. Tuple 2 is class 2: value 5 twice; class 1 empty."""
    held = counted(listed([(5, 0, 1), (5, 1, 2), (5, 2, 2), (8, 1, 1)]), np.array([0, 0, 2], np.int32), 3)
    assert [each.tolist() for each in held] == [[2, 0, 1], [3, 0, 2], [9 + 1, 0, 4]]


def test_a_value_of_zero_counts_as_any_other() -> None:
    values, of = listed([(0, 0, 2), (1, 0, 1)]), np.zeros(1, np.int32)
    assert [counts.tolist() for counts in counted(values, of, 1)] == [[2], [2], [5]]
    assert squares_together(values, of, np.ones(1, np.bool_)) == 5


def test_nothing_listed() -> None:
    assert [counts.tolist() for counts in counted(listed([]), np.zeros(3, np.int32), 2)] == [[0, 0]] * 3
    assert squares_together(listed([]), np.zeros(3, np.int32), np.ones(2, np.bool_)) == 0


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 5)), st.integers(1, 4), max_size=16),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_counts_equal_their_definition(records: dict[tuple[int, int], int], of: list[int], chosen: list[bool]) -> None:
    values, classes = listed([(value, row, count) for (value, row), count in records.items()]), np.array(of, np.int32)
    counts: list[Counter[int]] = [Counter() for _ in range(3)]
    together: Counter[int] = Counter()
    for (value, row), count in records.items():
        counts[of[row]][value] += count
        if chosen[of[row]]:
            together[value] += count
    distinct, most, squares = (each.tolist() for each in counted(values, classes, 3))
    assert distinct == [len(count) for count in counts]
    assert most == [max(count.values(), default=0) for count in counts]
    assert squares == [sum(number**2 for number in count.values()) for count in counts]
    assert squares_together(values, classes, np.array(chosen)) == sum(number**2 for number in together.values())
