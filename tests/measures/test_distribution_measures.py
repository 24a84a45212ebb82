"""Distance, vanished values and tails as measures: by hand, and against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.measures import DistributionDistance, TailChange, VanishedValues
from crypsis.measures.utility import Distributions
from crypsis.table.example import example
from crypsis.table.table import Table
from naive import utility as naive

pairs = st.lists(
    st.tuples(*(st.sampled_from("abcd") for _ in range(2)), *(st.integers(0, 6) for _ in range(2))),
    min_size=1,
    max_size=30,
)


def both(rows: list[tuple[str, str, int, int]]) -> tuple[Table, Table]:
    roles = {"town": "quasi", "rooms": "quasi"}
    before = Table.from_columns({"town": [r[0] for r in rows], "rooms": [float(r[2]) for r in rows]}, roles)
    after = Table.from_columns({"town": [r[1] for r in rows], "rooms": [float(r[3]) for r in rows]}, roles)
    return before, after


@given(pairs)
def test_measures_equal_their_slow_twins(rows: list[tuple[str, str, int, int]]) -> None:
    before, after = both(rows)
    towns = [r[0] for r in rows], [r[1] for r in rows]
    rooms = [r[2] for r in rows], [r[3] for r in rows]
    distance = DistributionDistance(columns=("town",)).against(before).read(after)
    assert distance == pytest.approx(naive.total_variation(*towns))
    gone = [100 * naive.vanished(*each)[1] / len(rows) for each in (towns, rooms)]
    assert VanishedValues().against(before).read(after) == pytest.approx(max(gone))
    assert VanishedValues(over="mean").against(before).read(after) == pytest.approx(sum(gone) / 2)
    assert VanishedValues().against(before).explain(after).counts == pytest.approx({"town": gone[0], "rooms": gone[1]})
    tail = TailChange(columns=("rooms",)).against(before).read(after)
    assert tail == pytest.approx(naive.tail_change(*rooms))


def test_values_of_few_whole_numbers_vanish_and_of_many_do_not() -> None:
    roles = {"roof": "quasi", "pay": "quasi"}
    original = Table.from_columns({"roof": [1, 2, 4, 9] * 10, "pay": [n + 0.5 for n in range(40)]}, roles)
    masked = original.with_columns({"roof": np.repeat([1.0, 3.0], 20), "pay": np.full(40, 20.0)})
    roof, pay = Distributions(original).harms(masked, ["roof", "pay"])
    assert (roof.vanished, roof.values, roof.vanished_records) == (3, 4, 30)
    assert (pay.vanished, pay.values) == (0, 40)
    assert VanishedValues().against(original).read(masked) == 75.0


def test_a_generalised_number_has_lost_no_value() -> None:
    people = example(80)
    from crypsis.masking import Generalisation

    masked = Generalisation(levels={"age": 2}).mask(people, np.random.default_rng(0))
    assert VanishedValues(columns=("age",)).against(people).read(masked) == 0.0


def test_nothing_is_lost_in_the_original_and_suppressed_records_are_left_out() -> None:
    people = example(100)
    for measure in (DistributionDistance(), VanishedValues(), TailChange()):
        assert measure.against(people).read(people) == 0.0
    original = Table.from_columns({"x": [float(n) for n in range(1, 101)]}, {"x": "quasi"})
    half = original.without(np.arange(100) % 2 == 0)
    assert TailChange().against(original).read(half) == pytest.approx(20.0), "2 and 3 of 50 where 5 of 100 were"
    towns = Table.from_columns({"town": ["a", "b"]}, {"town": "quasi"})
    assert "needs at least 1" in TailChange().obstacle(towns)
