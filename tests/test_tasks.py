"""Work in tasks: any number of tasks at a time and any engine give the result of doing them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.engines import Threads
from crypsis.masking import LocalRecoding
from crypsis.measures import CellLoss, RecordLinkage
from crypsis.measures import record_linkage as linkage
from crypsis.measures.objective import Objective
from crypsis.table.example import example
from crypsis.tasks import Tasks, Underway, complete, together


def doubled(numbers: list[int], size: int) -> Tasks[list[int]]:
    """Numbers times two, in batches; a batch with a negative one is left out."""
    found: list[int] = []
    for at in range(0, len(numbers), size):
        try:
            found += yield [lambda each=each: _twice(each) for each in numbers[at : at + size]]  # type: ignore[misc]
        except ValueError:
            continue
    return found


def _twice(number: int) -> int:
    if number < 0:
        raise ValueError("negative")
    return 2 * number


NUMBERS = st.lists(st.integers(-2, 9), max_size=12)


@given(NUMBERS, st.integers(1, 4), st.integers(1, 5))
def test_any_number_of_pieces_at_a_time(numbers: list[int], size: int, most: int) -> None:
    batches = [numbers[at : at + size] for at in range(0, len(numbers), size)]
    expected = [2 * each for batch in batches if min(batch) >= 0 for each in batch]
    work = Underway(doubled(numbers, size))
    with Threads(3) as threads:
        while not work.done:
            work.advance(threads, most)
    assert work.result == complete(doubled(numbers, size)) == expected


@given(st.lists(NUMBERS, max_size=4), st.integers(1, 3))
def test_works_side_by_side_do_not_disturb_each_other(several: list[list[int]], size: int) -> None:
    assert complete(together([doubled(each, size) for each in several])) == [
        complete(doubled(each, size)) for each in several
    ]


def test_an_error_that_work_does_not_handle_leaves_it() -> None:
    def broken() -> Tasks[None]:
        yield [lambda: 1 // 0]

    with pytest.raises(ZeroDivisionError):
        complete(together([broken(), broken()]))


def test_an_evaluation_in_tasks_has_the_figures_of_a_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = example(300, seed=2)
    masked = LocalRecoding(k=4).mask(table, np.random.default_rng(1))
    objective = Objective(table, {"loss": CellLoss(), "risk": RecordLinkage()})
    whole = objective.evaluate(masked, "recoding")
    monkeypatch.setattr(linkage, "LEAST_AT_ONCE", 7)
    monkeypatch.setattr(linkage, "CELLS_AT_ONCE", 0)
    again = masked.take(np.arange(300))  # another table: what was measured of the first is known
    work, steps = Underway(objective.evaluate_tasks(again, "recoding")), 0
    with Threads(2) as threads:
        while not work.done:
            work.advance(threads, 2)
            steps += 1
    assert work.result == whole
    assert steps > 300 // 7 // 2
