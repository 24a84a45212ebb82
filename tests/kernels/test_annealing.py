"""Annealing over partitions: changes of SSE by hand, and the compiled annealing against its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crypsis.kernels import annealing
from crypsis.kernels.annealing import sse
from crypsis.searches.partitions.space import PartitionAnnealer, PartitionSpace
from naive.annealing import Annealer, Bits, group_sse, lists, total_sse


def blocks(n: int, k: int) -> NDArray[np.int32]:
    """Labels by row order, k each, the last group taking the rest."""
    return np.minimum(np.arange(n) // k, n // k - 1).astype(np.int32)


def annealer(points: NDArray[np.float64], k: int, state: int = 12345) -> PartitionAnnealer:
    made = PartitionAnnealer(PartitionSpace(points, (k,)).context(k), k, np.array([state], np.uint64))
    made.load(blocks(len(points), k))
    return made


def exact(made: PartitionAnnealer) -> float:
    return sse(made.context.points, made.labels())


def test_a_swap_by_hand() -> None:
    """0, 10 | 1, 11 cost 50 each; after trading 10 for 1 the groups 0, 1 | 10, 11 cost 1/2 each."""
    made = annealer(np.array([[0.0], [10.0], [1.0], [11.0]]), 2)
    assert exact(made) == pytest.approx(100)
    assert annealing.judge_swap(made.groups, made.context.points, 1, 2) == pytest.approx(-99)


def test_entering_and_leaving_keep_the_centroid_and_the_member_list() -> None:
    made = annealer(np.array([[0.0], [2.0], [4.0], [10.0], [12.0]]), 2)
    assert made.groups.centroids[1, 0] == pytest.approx(26 / 3)
    annealing.leave(made.groups, made.context.points, 2)
    annealing.enter(made.groups, made.context.points, 2, 0)
    assert made.groups.sizes[:2].tolist() == [3, 2]
    assert made.groups.centroids[:2, 0] == pytest.approx([2, 11])
    assert sorted(made.groups.members[0, :3].tolist()) == [0, 1, 2]


def test_scattering_a_group_costs_what_its_members_bring_elsewhere() -> None:
    """0, 1 | 2, 3 | 20, 21, k = 2: 2 fills up the group of 0 and 1, so that 3 must go to 20 and 21."""
    points = np.array([[0.0], [1.0], [2.0], [3.0], [20.0], [21.0]])
    made = annealer(points, 2)
    before = exact(made)
    rise = annealing.dissolve_group(made.groups, made.context, 1, np.inf)
    groups = [[0, 1, 2], [4, 5, 3]]
    assert rise == pytest.approx(total_sse(points, groups) - before)
    annealing.undo_moves(made.groups, made.context.points, 0, 2)
    assert annealing.dissolve_group(made.groups, made.context, 1, rise) == np.inf
    assert exact(made) == pytest.approx(before)
    assert lists(made.labels()) == [[0, 1], [2, 3], [4, 5]]


def test_gathering_takes_only_what_groups_can_spare() -> None:
    points = np.array([[0.0], [1.0], [5.0], [6.0], [7.0], [12.0]])
    made = annealer(points, 2)
    made.load(np.array([0, 0, 0, 1, 1, 1], np.int32))
    rise = annealing.form_group(made.groups, made.context, 2, 2, 0)
    assert lists(made.labels()) == [[0, 1], [4, 5], [2, 3]]
    assert rise == pytest.approx(0.5 + 12.5 + 0.5 - group_sse(points, [0, 1, 2]) - group_sse(points, [3, 4, 5]))
    assert annealing.form_group(made.groups, made.context, 0, 3, 0) == np.inf


def test_the_generator_is_xorshift() -> None:
    random_state, plain = np.array([987654321], np.uint64), Bits(987654321)
    assert [int(annealing.draw(random_state)) for _ in range(50)] == [plain.draw() for _ in range(50)]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(8, 24), k=st.integers(2, 4), regroup_rate=st.sampled_from([0.02, 0.4]))
def test_the_compiled_annealing_is_its_plain_twin(seed: int, n: int, k: int, regroup_rate: float) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 3))
    made = annealer(points, k, seed + 1)
    start = made.labels()
    made.regroup_rate = regroup_rate
    value = made.anneal(300, 1.0, 0.05)
    twin = Annealer(points, made.context.neighbours, made.context.temperature_unit, start, k, seed + 1)
    assert np.array_equal(twin.anneal(300, 1.0, 0.05, regroup_rate), made.labels())
    assert value == pytest.approx(total_sse(points, lists(made.labels())))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 90),
    k=st.integers(2, 12),
    distinct=st.sampled_from([2, 5, 1000]),
    steps=st.sampled_from([0, 1, 700, 20_000]),
)
def test_sizes_stay_within_bounds_and_nothing_drifts(seed: int, n: int, k: int, distinct: int, steps: int) -> None:
    n = max(n, 2 * k)
    points = np.random.default_rng(seed).integers(0, distinct, (n, 2)).astype(np.float64)
    made = annealer(points, k, seed + 1)
    made.regroup_rate = 0.2
    value = made.anneal(steps, 2.0, 0.01)
    sizes = np.bincount(made.labels())
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert np.array_equal(sizes, made.groups.sizes[: made.groups.used[0]])
    assert value == pytest.approx(sse(points, made.labels()), rel=1e-9, abs=1e-9)
    after = made.resolve(3, 30, 500, 0.5, 0.05)
    assert after <= value * (1 + 1e-12) + 1e-12
    assert after == pytest.approx(sse(points, made.labels()), rel=1e-9, abs=1e-9)
    assert made.groups.free.all()


@pytest.mark.parametrize("seed", range(6))
def test_what_is_not_free_stays_as_it_is(seed: int) -> None:
    """Annealing a region swaps its records among its own groups; all others keep theirs, and the rest is theirs."""
    points = np.random.default_rng(seed).standard_normal((60, 2))
    made = annealer(points, 3, seed + 1)
    made.load((np.arange(60) // 4).astype(np.int32))
    freed = np.zeros(24, np.int32)
    pool = freed[: annealing.free_region(made.groups, made.context, 7 * seed, freed)]
    before, random_state = made.labels(), np.array([seed + 5], np.uint64)
    annealing.anneal(made.groups, made.context, pool, 400, 5.0, 1.0, 0.3, random_state)
    after = made.groups.labels
    inside, outside = np.isin(np.arange(60), pool), ~np.isin(np.arange(60), pool)
    was = {frozenset(np.flatnonzero(outside & (before == g)).tolist()) for g in set(before[outside])}
    assert {frozenset(np.flatnonzero(after == g).tolist()) for g in set(after[outside])} == was
    assert not set(after[inside]) & set(after[outside])
    assert lists(after[inside]) != lists(before[inside])
    members = [np.flatnonzero(after == g).tolist() for g in range(made.groups.used[0])]
    assert [sorted(made.groups.members[g, : len(rows)].tolist()) for g, rows in enumerate(members)] == members
    assert all(made.groups.members[after[row], made.groups.place[row]] == row for row in range(60))


def test_a_closed_slot_is_filled_with_the_last() -> None:
    made = annealer(2.0 * np.arange(8.0)[:, None], 2)
    for row in (0, 1):
        annealing.leave(made.groups, made.context.points, row)
        annealing.enter(made.groups, made.context.points, row, row + 1)
    annealing.close(made.groups, 0)
    assert made.groups.used[0] == 3
    assert made.groups.sizes[:4].tolist() == [2, 3, 3, 0]
    assert made.groups.labels.tolist() == [1, 2, 1, 1, 2, 2, 0, 0]
    assert made.groups.centroids[:3, 0] == pytest.approx([13, 10 / 3, 20 / 3])
    assert [int(made.groups.members[0, made.groups.place[row]]) for row in (6, 7)] == [6, 7]
    made.load(blocks(8, 2))
    for row in (6, 7):
        annealing.leave(made.groups, made.context.points, row)
        annealing.enter(made.groups, made.context.points, row, row - 5)
    annealing.close(made.groups, 3)
    assert made.groups.used[0] == 3
    assert made.groups.sizes[:4].tolist() == [2, 3, 3, 0]
    assert made.groups.labels.tolist() == [0, 0, 1, 1, 2, 2, 1, 2]


def test_squared_distances_and_trades_over_all_columns() -> None:
    points = np.random.default_rng(3).standard_normal((8, 7))
    made = annealer(points, 3)
    wide = made.context.points
    for i, j in ((0, 5), (2, 7), (4, 4)):
        assert annealing.squared_distance(wide, i, wide, j) == pytest.approx(np.square(points[i] - points[j]).sum())
    before = total_sse(points, [[0, 1, 2], [3, 4, 5, 6, 7]])
    traded = total_sse(points, [[0, 6, 2], [3, 4, 5, 1, 7]])
    assert annealing.judge_swap(made.groups, wide, 1, 6) == pytest.approx(traded - before)
    assert annealing.judge_swap(made.groups, wide, 6, 1) == pytest.approx(traded - before)


def test_settling_recomputes_the_groups_of_a_pool() -> None:
    points = np.array([[0.0], [2.0], [4.0], [10.0], [7.0], [8.0]])
    made = annealer(points, 2)
    made.groups.centroids[:3] = 99.0
    assert annealing.recompute_centroids(
        made.groups, made.context.points, np.array([2, 3, 0, 1], np.int32)
    ) == pytest.approx(2 + 18)
    assert made.groups.centroids[:3, 0].tolist() == [1.0, 7.0, 99.0]


def test_a_rise_is_borne_by_metropolis() -> None:
    """exp(−rise / temperature) against the generator's next number; what is even or hopeless draws none."""
    random_state, plain, asked = np.array([31], np.uint64), Bits(31), 0
    for rise in np.random.default_rng(0).random(200) * 4:
        expected = (plain.draw() // 2**11 + 0.5) / 2**53 < np.exp(-rise / 1.5)
        assert annealing.accept(float(rise), 1.5, random_state) == expected
        asked += expected
    assert 0 < asked < 200
    before = int(random_state[0])
    assert annealing.accept(-3.0, 1.5, random_state)
    assert annealing.accept(0.0, 1.5, random_state)
    assert annealing.accept(1e-10, 1.5, random_state)
    assert not annealing.accept(14 * 1.5, 1.5, random_state)
    assert not annealing.accept(np.inf, 1.5, random_state)
    assert annealing.accept(5e-8, 100.0, random_state)
    assert random_state[0] == before
    assert [annealing.integer_below(np.uint64(bits), 5) for bits in (0, 2**32 // 5, 2**32 // 5 + 1, 2**32 - 1)] == [
        0,
        0,
        1,
        4,
    ]


def test_a_region_consists_of_whole_groups_around_the_seed() -> None:
    points = np.random.default_rng(5).standard_normal((200, 2))
    made = annealer(points, 4)
    freed = np.zeros(40, np.int32)
    pool = freed[: annealing.free_region(made.groups, made.context, 17, freed)]
    labels = made.labels()
    assert 17 in pool
    assert len(set(pool.tolist())) == len(pool) > 40 - 2 * 4
    assert sorted(pool.tolist()) == np.flatnonzero(np.isin(labels, labels[pool])).tolist()
    assert np.array_equal(np.flatnonzero(made.groups.free), np.sort(pool))


@pytest.mark.parametrize("size", [20, 120])
def test_a_region_grows_from_the_nearest(size: int) -> None:
    """The seed's group, its neighbours' groups nearest first, then the neighbours of each record that came in."""
    points = np.random.default_rng(9).standard_normal((200, 2))
    made = annealer(points, 4)
    labels, wanted, turn = made.labels(), [], -1
    while len(wanted) + 7 <= size:
        centre = 3 if turn < 0 else wanted[turn]
        turn += 1
        for row in [centre, *made.context.neighbours[centre].tolist()]:
            if row not in wanted and len(wanted) + 7 <= size:
                wanted.extend(np.flatnonzero(labels == labels[row]).tolist())
    pool = np.zeros(size, np.int32)
    count = annealing.free_region(made.groups, made.context, 3, pool)
    assert count > size - 7
    assert set(pool[:count].tolist()) == set(wanted)
