"""Costs of composite groups against their slow twin, and halving and surveys against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.composite import column_cost, dissimilarity, lower_median
from crypsis.kernels.halving import add_neighbours_in_order, add_neighbours_of_neighbours, find_cut, sort_by_line
from crypsis.masking.representatives import Representative
from crypsis.searches.composite.space import (
    cells_of_composite_space,
    halve_composite_space,
    make_composite_space_buffers,
)
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table
from naive import composite as naive

QUASI = Role.QUASI_IDENTIFIER


def tree(numeric: bool, torn: bool) -> Hierarchy:
    """Values 1, 2, 3, 7: two pairs under one root; or, torn, a pair and two groups without anything above."""
    torn_rows = [["1", "a"], ["2", "a"], ["3", "b"], ["7", "c"]]
    rows = torn_rows if torn else [["1", "a", "*"], ["2", "a", "*"], ["3", "b", "*"], ["7", "b", "*"]]
    return Hierarchy.from_rows(rows, np.array([1.0, 2, 3, 7]) if numeric else None)


def column(kind: Kind, codes: np.ndarray, torn: bool) -> Table:
    numeric = kind is Kind.NUMERIC
    attribute = Attribute("v", kind, QUASI, () if numeric else ("1", "2", "3", "7"), tree(numeric, torn))
    values = np.append(np.array([1.0, 2, 3, 7]), np.nan)[codes] if numeric else codes.astype(np.int32)
    return Table((attribute,), (values,))


TRUE = (Representative.COMMON_ANCESTOR, Representative.UNANIMOUS)
CATEGORIES = (Representative.TYPICAL, Representative.CHEAPEST, *TRUE)
WAYS = {
    Kind.NUMERIC: (Representative.MEDIAN, Representative.MEAN, *TRUE),
    Kind.ORDINAL: CATEGORIES,
    Kind.NOMINAL: CATEGORIES,
}


def test_the_lower_middle() -> None:
    assert lower_median(np.array([5.0, 1.0, 3.0, 9.0]), 4) == 3.0
    assert lower_median(np.array([2.0]), 1) == 2.0


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=40))
@settings(max_examples=100, deadline=None)
def test_the_middle_is_that_of_the_sorted_values(values: list[float]) -> None:
    assert lower_median(np.array(values), len(values)) == sorted(values)[(len(values) - 1) // 2]


@given(st.data(), st.sampled_from(list(Kind)), st.booleans(), st.floats(0.1, 3.0))
@settings(max_examples=200, deadline=None)
def test_column_cost_equals_its_twin(data: st.DataObject, kind: Kind, torn: bool, weight: float) -> None:
    codes = np.array([0, 3, *data.draw(st.lists(st.integers(-1, 3), min_size=1, max_size=12))])
    way = data.draw(st.sampled_from(WAYS[kind]))
    table = column(kind, codes, torn)
    cells = cells_of_composite_space(table, ("v",), (way,), (weight,))
    workspace = make_composite_space_buffers(cells, 2)
    members = np.array(data.draw(st.lists(st.integers(0, len(codes) - 1), min_size=1, max_size=9, unique=True)))
    found = column_cost(cells, 0, members.astype(np.int64), len(members), workspace)
    hierarchy, numeric = tree(kind is Kind.NUMERIC, torn), kind is Kind.NUMERIC
    labels: list[float | str] = [1.0, 2.0, 3.0, 7.0] if numeric else ["1", "2", "3", "7"]
    levels = [
        {label: hierarchy.labels[level][g] for label, g in zip(labels, groups, strict=True)}
        for level, groups in enumerate(hierarchy.groups)
    ]
    population = [None if code < 0 else labels[code] for code in codes]
    values = [population[i] for i in members]
    rank = labels if kind is Kind.ORDINAL else ()
    assert found == pytest.approx(weight * naive.column_cost(values, str(way), population, levels, rank))
    assert not workspace.tally.any()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_rows_are_sorted_by_their_keys(keys: list[int]) -> None:
    rows, line = np.arange(len(keys))[::-1].copy(), np.array(keys, dtype=float)[::-1].copy()
    sort_by_line(rows, line, len(keys))
    assert rows.tolist() == sorted(range(len(keys)), key=lambda i: (keys[i], i))


def test_a_cut_lies_between_unequal_keys_near_the_middle() -> None:
    assert find_cut(np.array([0.0, 0, 0, 0, 1, 1]), 6, 2) == 4
    assert find_cut(np.array([0.0, 1, 1, 1, 1, 1]), 6, 2) == 3  # the only unequal keys leave one record alone
    assert find_cut(np.array([0.0, 0, 1, 2]), 4, 2) == 2


@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(2, 6), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_halving_makes_groups_of_k_within_strata(seed: int, n: int, k: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    table = column(Kind.ORDINAL, rng.integers(-1, 4, n), torn=False)
    cells = cells_of_composite_space(table, ("v",), (Representative.TYPICAL,), (1.0,))
    strata = np.sort(rng.integers(0, parts, n)).astype(np.int32)
    strata = np.unique(strata, return_inverse=True)[1].astype(np.int32)
    labels, order = halve_composite_space(
        cells, strata, k, 1.5, np.array([7], np.uint64), make_composite_space_buffers(cells, k)
    )
    assert sorted(order.tolist()) == list(range(n))
    sizes = np.bincount(labels)
    for group in range(len(sizes)):
        held = np.unique(strata[labels == group])
        assert len(held) == 1
        assert k <= sizes[group] < 2 * k or (strata == held[0]).sum() == sizes[group] < 2 * k


@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_survey_lists_the_nearest_beside_each_record(seed: int, n: int, reach: int) -> None:
    rng = np.random.default_rng(seed)
    table = column(Kind.ORDINAL, rng.integers(-1, 4, n), torn=False)
    cells = cells_of_composite_space(table, ("v",), (Representative.TYPICAL,), (1.0,))
    order, strata = rng.permutation(n), np.zeros(n, np.int32)
    near, apart = np.repeat(np.arange(n, dtype=np.int32)[:, None], 3, axis=1), np.full((n, 3), np.inf)
    add_neighbours_in_order(cells, order, strata, reach, near, apart)
    gaps = [[dissimilarity(cells, i, j) for j in range(n)] for i in range(n)]
    for i in range(n):
        beside = sorted(naive.near_records(gaps, order.tolist(), reach, i).values())
        assert apart[i][np.isfinite(apart[i])].tolist() == pytest.approx(beside[:3])
        assert all(gaps[i][j] == gap for j, gap in zip(near[i], apart[i], strict=True) if np.isfinite(gap))


@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_near_records_of_near_records_are_looked_at_in_turn(seed: int, n: int, reach: int) -> None:
    """Against the definition: record after record, each with the lists as they are by then."""
    rng = np.random.default_rng(seed)
    table = Table.from_columns({"v": rng.random(n)}, {"v": "quasi"})
    cells = cells_of_composite_space(table, ("v",), (Representative.MEDIAN,), (1.0,))
    near, apart = np.repeat(np.arange(n, dtype=np.int32)[:, None], 3, axis=1), np.full((n, 3), np.inf)
    add_neighbours_in_order(cells, rng.permutation(n), np.zeros(n, np.int32), 1, near, apart)
    lists = [{int(j): float(gap) for j, gap in zip(near[i], apart[i], strict=True) if gap < np.inf} for i in range(n)]
    add_neighbours_of_neighbours(cells, 0, n, reach, near, apart)
    for i in range(n):
        for place in range(reach):
            known = sorted(lists[i], key=lambda j: lists[i][j])
            if place < len(known):
                for j in sorted(lists[known[place]], key=lambda j, fellow=known[place]: lists[fellow][j])[:reach]:
                    if j != i:
                        lists[i][j] = dissimilarity(cells, i, j)
            lists[i] = dict(sorted(lists[i].items(), key=lambda each: each[1])[:3])
        found = apart[i][np.isfinite(apart[i])]
        assert found.tolist() == pytest.approx(sorted(lists[i].values()))
        assert len(set(near[i][: len(found)].tolist())) == len(found)
        assert i not in near[i][: len(found)]
