"""Tours: by hand on a line, and no 2-opt or or-opt move left anywhere."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypsis.kernels import tsp
from crypsis.searches.partitions.space import nearest_neighbours_to_partition
from naive import tsp as naive


def length(points: NDArray[np.float64], order: NDArray[np.int32]) -> float:
    return float(np.sqrt(np.square(np.diff(points[order], axis=0)).sum(axis=1)).sum())


def all_others(points: NDArray[np.float64]) -> NDArray[np.int32]:
    return nearest_neighbours_to_partition(points, len(points) - 1)[1]


def test_on_a_line_the_tour_is_the_order_of_the_line() -> None:
    points = np.array([[3.0], [0.0], [5.0], [1.0], [4.0], [2.0]])
    order = tsp.build_tour(points, all_others(points), 2)
    assert order.tolist() == [2, 4, 0, 5, 3, 1]


def test_the_chain_goes_to_the_nearest_unvisited_and_past_the_end_of_its_list() -> None:
    """From 0 the only neighbour listed is 1, from 1 it is 0: the rest is found by looking at all."""
    points = np.array([[0.0], [1.0], [10.0], [12.0]])
    order = tsp.nearest_neighbour_tour(points, np.array([[1], [0], [3], [2]], np.int32), 0)
    assert order.tolist() == [0, 1, 2, 3]


def test_a_crossing_is_undone() -> None:
    """The square 0 1 2 3 visited crosswise is longer by twice the diagonal's excess."""
    points = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    order = np.arange(4, dtype=np.int32)
    place = order.copy()
    assert tsp.two_opt(tsp.Route(points, all_others(points), order, place), 0)
    assert length(points, order) == pytest.approx(3)
    assert np.array_equal(order[place], np.arange(4))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 30), distinct=st.sampled_from([2, 6, 10**6]), reach=st.integers(1, 9)
)
def test_a_tour_visits_everyone_and_is_never_longer_than_its_chain(
    seed: int, n: int, distinct: int, reach: int
) -> None:
    points = np.random.default_rng(seed).integers(0, distinct, (n, 2)).astype(np.float64)
    neighbours = nearest_neighbours_to_partition(points, min(reach, n - 1))[1]
    chain = tsp.nearest_neighbour_tour(points, neighbours, n // 2)
    order = tsp.build_tour(points, neighbours, n // 2)
    assert sorted(order.tolist()) == list(range(n))
    assert length(points, order) <= length(points, chain) * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 14))
def test_no_reversal_shortens_a_finished_tour(seed: int, n: int) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 2))
    order = tsp.build_tour(points, all_others(points), 0)
    found = length(points, order)
    for first in range(n):
        for last in range(first + 1, n):
            turned = np.concatenate((order[:first], order[first : last + 1][::-1], order[last + 1 :]))
            # A stretch that reaches an end of the tour frees one edge and costs one: outside what 2-opt looks at.
            if first > 0 and last < n - 1:
                assert length(points, turned) >= found * (1 - 1e-6)


def placed(order: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.argsort(order).astype(np.int32)


def test_edges_by_hand() -> None:
    """(0, 0) and (3, 4) lie 5 apart; before the first and behind the last record of a tour nothing is paid."""
    points, order = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 1.0]]), np.array([1, 0, 2], np.int32)
    assert tsp.distance(points, 0, 1) == 5.0
    route = tsp.Route(points, all_others(points), order, placed(order))
    assert [tsp.edge_length(route, i, j) for i, j in ((0, 1), (1, 0), (2, 0))] == [5.0, 5.0, 1.0]
    assert [tsp.edge_length(route, i, j) for i, j in ((-1, 0), (0, -1), (3, 2), (2, 3))] == [0.0] * 4


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.data())
def test_stretches_are_turned_and_carried_as_a_list_would_be(n: int, data: st.DataObject) -> None:
    start = np.array(data.draw(st.permutations(range(n))), np.int32)
    first = data.draw(st.integers(0, n - 1))
    last = data.draw(st.integers(first, n - 1))
    order, place, records = start.copy(), placed(start), start.tolist()
    part, rest = records[first : last + 1], records[:first] + records[last + 1 :]
    nowhere = np.zeros((n, 1)), np.zeros((n, 0), np.int32)
    tsp.reverse(tsp.Route(*nowhere, order, place), first, last)
    assert order.tolist() == records[:first] + part[::-1] + records[last + 1 :]
    assert place.tolist() == placed(order).tolist()
    behind = data.draw(st.sampled_from([*range(-1, first), *range(last + 1, n)]))
    order, place = start.copy(), placed(start)
    tsp.move_stretch(tsp.Route(*nowhere, order, place), first, last, behind)
    at = behind + 1 if behind < first else behind - len(part) + 1
    assert order.tolist() == rest[:at] + part + rest[at:]
    assert place.tolist() == placed(order).tolist()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), reach=st.integers(1, 11), grid=st.booleans())
def test_moves_and_tours_equal_their_twins(seed: int, n: int, reach: int, grid: bool) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, 2)).astype(np.float64) if grid else rng.standard_normal((n, 2))
    neighbours = nearest_neighbours_to_partition(points, min(reach, n - 1))[1]
    plain = points.tolist(), neighbours.tolist()
    start = rng.permutation(n).astype(np.int32)
    for move, twin in ((tsp.two_opt, naive.two_opt), (tsp.or_opt, naive.or_opt)):
        for a in range(n):
            order, place = start.copy(), placed(start)
            expected = twin(*plain, start.tolist(), a)
            assert move(tsp.Route(points, neighbours, order, place), a) == (expected is not None)
            assert order.tolist() == (expected or start.tolist())
            assert place.tolist() == placed(order).tolist()
    assert tsp.nearest_neighbour_tour(points, neighbours, n // 2).tolist() == naive.chain(*plain, n // 2)
    assert tsp.build_tour(points, neighbours, n // 2).tolist() == naive.tour(*plain, n // 2)


def exact_length(points: NDArray[np.float64], order: NDArray[np.int32]) -> Decimal:
    """The length of a tour to 400 digits: what is summed here is not rounded away."""
    with localcontext() as context:
        context.prec = 400
        rows = [[Decimal(float(value)) for value in points[record]] for record in order]
        pairs = pairwise(rows)
        return sum(
            (sum(((a - b) ** 2 for a, b in zip(*pair, strict=True)), Decimal(0)).sqrt() for pair in pairs), Decimal(0)
        )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 14), orders=st.integers(0, 16))
@example(seed=41, n=12, orders=7)
def test_every_move_shortens_the_tour_whatever_the_orders_of_magnitude(seed: int, n: int, orders: int) -> None:
    """Dense clouds far apart: a gain that is only rounding would be found in both directions, without end."""
    rng = np.random.default_rng(seed)
    clouds = rng.standard_normal((3, 2)) * 10.0 ** rng.integers(0, 3, (3, 1))
    points = clouds[rng.integers(3, size=n)] + rng.standard_normal((n, 2)) * 10.0**-orders
    order = rng.permutation(n).astype(np.int32)
    route = tsp.Route(points, all_others(points), order, placed(order))
    for _ in range(60):
        for move in (tsp.two_opt, tsp.or_opt):
            before = exact_length(points, order)
            if move(route, int(rng.integers(n))):
                assert exact_length(points, order) < before
