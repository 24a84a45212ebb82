"""Distributions before and after: by hand, and against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis
from crypsis.measures.utility import Distributions, Tail
from crypsis.table.table import Table
from naive import utility as naive


def towns(values: list[str | None]) -> Table:
    return Table.from_columns({"town": values}, roles={"town": "quasi"})


def test_a_hand_sized_column() -> None:
    original = towns(["a", "a", "a", "b", "b", "c", None, "d"])
    masked = original.with_columns({"town": original.column("town")[[0, 0, 0, 3, 3, 3, 3, 6]]})
    harm = Distributions(original).harm(masked, "town")
    # a 3→3, b 2→4, c 1→0, d 1→0, missing 1→1 of eight
    assert harm.distance == pytest.approx(25.0)
    assert (harm.values, harm.vanished, harm.vanished_records, harm.vanished_share) == (4, 2, 2, 25.0)
    assert (harm.filled, harm.blanked, harm.changed) == (1, 1, 1)
    assert harm.kolmogorov is None
    assert harm.tails == ()
    assert harm.moved == harm.distance


def test_tails_of_a_number() -> None:
    original = Table.from_columns({"age": list(range(1, 101))}, roles={"age": "quasi"})
    masked = original.with_columns({"age": np.clip(original.column("age"), 20, 80)})
    harm = Distributions(original).harm(masked, "age")
    assert harm.tails == (Tail(1.0, 1, 0), Tail(5.0, 5, 0), Tail(95.0, 5, 0), Tail(99.0, 1, 0))
    assert harm.kolmogorov == pytest.approx(20.0)
    assert harm.shifted == pytest.approx(16.0)  # 85 to 100 are above 80 by more than the 4.9 that are forgiven
    assert harm.moved == harm.shifted
    assert harm.emptied_share == 100.0
    half = original.with_columns({"age": np.where(original.column("age") > 97, 50.0, original.column("age"))})
    assert Distributions(original).harm(half, "age").emptied_share == pytest.approx(60.0)  # 98, 99, 100 of 96 to 100


def test_a_few_extreme_values_are_no_end_of_a_number() -> None:
    ages = [30.0] * 150 + [40.0] * 149 + [90.0]
    original = Table.from_columns({"age": ages}, roles={"age": "quasi"})
    masked = original.with_columns({"age": np.minimum(original.column("age"), 40.0)})
    harm = Distributions(original).harm(masked, "age")
    assert harm.emptied is not None
    assert harm.emptied_share == 0.0


def test_one_level_is_compared_at_that_level_and_local_groups_are_spread() -> None:
    original, masked = crypsis.example_pair("levels")
    for name in original.quasi_identifiers:
        if original.holds_numbers(name):
            continue
        harm = Distributions(original).harm(masked, name)
        assert harm.distance == 0.0, name
        assert harm.vanished == 0
    local = crypsis.LocalRecoding(k=5).mask(original, np.random.default_rng(0))
    harms = Distributions(original).harms(local, original.quasi_identifiers)
    assert [harm.name for harm in harms] == list(original.quasi_identifiers)
    assert all(0 <= harm.distance <= 100 for harm in harms)
    assert any(harm.merged for harm in harms)


def test_nothing_and_everything() -> None:
    original = crypsis.example(50)
    same = Distributions(original)
    for harm in same.harms(original, original.names):
        assert (harm.loss, harm.distance, harm.vanished, harm.changed, harm.filled, harm.blanked) == (0, 0, 0, 0, 0, 0)
    constant = towns(["a"] * 5)
    assert Distributions(constant).harm(constant, "town").distance == 0.0
    empty = towns([None] * 5)
    assert Distributions(empty).harm(empty, "town").values == 0


letters = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), min_size=1, max_size=40)


@given(letters)
def test_categories_equal_the_slow_twin(pairs: list[tuple[str, str]]) -> None:
    before: list[str | None] = [a for a, _ in pairs]
    after: list[str | None] = [b for _, b in pairs]
    harm = Distributions(towns(before)).harm(towns(after), "town")
    assert harm.distance == pytest.approx(naive.total_variation(before, after))
    assert (harm.vanished, harm.vanished_records) == naive.vanished(before, after)


numbers = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=40)


@given(numbers)
def test_numbers_equal_the_slow_twin(pairs: list[tuple[int, int]]) -> None:
    before, after = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    original = Table.from_columns({"x": np.array(before)}, roles={"x": "quasi"})
    masked = original.with_columns({"x": np.array(after)})
    assert Distributions(original).harm(masked, "x").kolmogorov == pytest.approx(naive.kolmogorov(before, after))
