"""What microaggregation and rank swapping leave: by hand, and against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.attacks.reversal import Means, Ranks, group_reversible_columns, reverse_swapping_by_ranks
from crypsis.masking import Microaggregation, RankSwapping
from crypsis.measures.categorical_risk import RankLinkage
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table
from naive.attacks import between_means, rank_gap

whole = st.integers(0, 12).map(float)


def column(values: list[float | None], name: str = "x") -> Table:
    return Table.from_columns({name: values}, roles={name: "quasi"})


def test_a_value_lies_in_the_group_of_a_neighbouring_mean_by_hand() -> None:
    """Means 2, 5 and 9: 4 with 2 and 5; 5, if held twice, with all; 1 and 20 at the ends; unknown, anywhere."""
    means = Means.read_release(column([2.0, 2, 5, 5, 9, 9]), ["x"])
    found = means.possible(column([4.0, 5, 1, 20, None]))
    assert found.tolist() == [
        [True, True, True, True, False, False],
        [True, True, True, True, True, True],
        [True, True, False, False, False, False],
        [False, False, False, False, True, True],
        [True] * 6,
    ]


@given(st.lists(whole, min_size=6, max_size=30), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_univariate_microaggregation_never_leaves_its_candidates(values: list[float], k: int) -> None:
    table = column(values)
    masked = Microaggregation(k=k, partitioner="univariate").mask(table, np.random.default_rng(0))
    means = Means.read_release(masked, ["x"])
    held = means.possible(table)
    shown = masked.column("x")
    assert held.diagonal().all(), "the own group is always a candidate"
    for person, value in enumerate(values):
        near = between_means(value, sorted(set(shown.tolist())))
        assert held[person].tolist() == [bool(mean in near) for mean in shown.tolist()]


@given(st.lists(whole, min_size=1, max_size=25), st.lists(whole, min_size=1, max_size=10))
@settings(max_examples=40, deadline=None)
def test_gaps_count_the_records_between(published: list[float], known: list[float]) -> None:
    gaps = Ranks.read_release(column(published), "x").gaps(column(known))
    for person, value in enumerate(known):
        for row, shown in enumerate(published):
            assert gaps[person, row] == pytest.approx(rank_gap(value, shown, published) / len(published))


@pytest.mark.parametrize("percent", [1.0, 5.0, 20.0])
def test_rank_swapping_never_leaves_its_window(percent: float) -> None:
    rng = np.random.default_rng(3)
    table = column(rng.integers(0, 40, 200).astype(float).tolist())
    masked = RankSwapping(percent=percent).mask(table, rng)
    assert Ranks.read_release(masked, "x").gaps(table).diagonal().max() <= percent / 100 + 1e-9


@pytest.mark.parametrize("window", [10.0, None])
def test_candidates_agree_with_the_measure_of_rank_linkage(window: float | None) -> None:
    """`RankLinkage` with ranks of records and the closest of the candidates, on ordinal columns."""
    rng = np.random.default_rng(5)
    levels = tuple("abcdefgh")
    attributes = tuple(Attribute(name, Kind.ORDINAL, Role.QUASI_IDENTIFIER, levels) for name in "xyz")
    table = Table(attributes, tuple(rng.integers(0, 8, 120).astype(np.int32) for _ in "xyz"))
    masked = RankSwapping(percent=10).mask(table, rng)
    gaps = [Ranks.read_release(masked, name).gaps(table) for name in "xyz"]
    inside = reverse_swapping_by_ranks(gaps, masked.kept, window)
    own = inside.diagonal() / inside.sum(axis=1)
    measure = RankLinkage(window=window, ranks="records", credit="nearest").against(table)
    assert 100 * own.mean() == pytest.approx(measure.read(masked))


def test_missing_values_stay_where_they_are() -> None:
    gaps = Ranks.read_release(column([1.0, None, 3]), "x").gaps(column([None, 3.0]))
    assert gaps.tolist() == [[1.0, 0.0, 1.0], [0.5, 1.0, 0.0]]


def test_columns_of_one_partition_are_recognised() -> None:
    rng = np.random.default_rng(1)
    names = ["a", "b", "c", "d"]
    table = Table.from_columns({n: rng.normal(size=200).tolist() for n in names}, roles=dict.fromkeys(names, "quasi"))
    masked = Microaggregation(k=4, groups=(("a", "b"), ("c",), ("d",))).mask(table, rng)
    assert group_reversible_columns(masked, names) == [("a", "b"), ("c",), ("d",)]
