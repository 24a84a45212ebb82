"""The strictest k and l within a suppression allowance, and bits of a word, from their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.classes import (
    CandidateSets,
    agree_in_classes,
    attainable_diversity,
    attainable_size,
    bits,
    cross_candidates,
    find_alone,
    list_class_members,
    refine_classes,
    slots_for,
)
from naive.equivalence_classes import crossed, group_by


def strictest_size(sizes: list[int], allowance: int) -> int:
    """The largest size of a class below which no more than `allowance` records stand; 0 without any class."""
    held = [size for size in sizes if size]
    return max((k for k in held if sum(size for size in held if size < k) <= allowance), default=0)


def strictest_diversity(sizes: list[int], distinct: list[int], k: int, allowance: int) -> int:
    """The largest l, no higher than any surviving class attains, that costs no more than `allowance` records."""

    def cost(least: int) -> int:
        return sum(size for size, held in zip(sizes, distinct, strict=True) if size < k or held < least)

    highest = max((held for size, held in zip(sizes, distinct, strict=True) if size >= k), default=0)
    return max((least for least in range(highest + 1) if cost(least) <= allowance), default=0)


def test_sizes_by_hand() -> None:
    """Classes of 2, 3 and 7: two records pay for k = 3, five for k = 7; the largest always stays."""
    sizes = np.array([3, 0, 7, 2])
    assert [attainable_size(sizes, allowance) for allowance in (0, 1, 2, 4, 5, 99)] == [2, 2, 3, 3, 7, 7]
    assert [attainable_size(np.array([5, 1, 1]), allowance) for allowance in (0, 1, 2)] == [1, 1, 5]
    assert attainable_size(np.array([0, 0]), 5) == 0


@pytest.mark.parametrize("allowance", [0, 1021, 1022, 2044, 2045, 3067, 3068, 4092, 9999])
def test_sizes_around_a_thousand(allowance: int) -> None:
    """Small classes are tallied and large ones sorted: nothing happens where the two meet."""
    for sizes in ([1022, 1023, 1024], [1023, 1022], [1021, 1022, 1022], [1024, 1023, 1023, 1025, 1022], [5000, 3000]):
        assert attainable_size(np.array(sizes), allowance) == strictest_size(sizes, allowance)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=8),
    st.integers(0, 5),
    st.integers(0, 25),
)
def test_size_and_diversity_equal_their_definition(classes: list[tuple[int, int]], k: int, allowance: int) -> None:
    sizes, distinct = [size for size, _ in classes], [held for _, held in classes]
    assert attainable_size(np.array(sizes), allowance) == strictest_size(sizes, allowance)
    found = attainable_diversity(np.array(sizes), np.array(distinct), k, allowance)
    assert found == strictest_diversity(sizes, distinct, k, allowance)


def test_diversity_by_hand() -> None:
    """k = 3 costs the class of two; l = 2 costs four more, l = 3 another five; the last class stays."""
    sizes, distinct = np.array([4, 2, 5, 6]), np.array([1, 4, 2, 3])
    found = [attainable_diversity(sizes, distinct, 3, allowance) for allowance in (1, 2, 5, 6, 10, 11, 99)]
    assert found == [0, 1, 1, 2, 2, 3, 3]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_bits_are_counted(word: int) -> None:
    with np.errstate(over="ignore"):
        assert bits(np.uint64(word)) == word.bit_count()


def test_every_single_bit_and_all_of_them_count() -> None:
    with np.errstate(over="ignore"):
        assert [int(bits(np.uint64(1 << place))) for place in range(64)] == [1] * 64
        assert bits(np.uint64(2**64 - 1)) == 64


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2**31 - 1) | st.integers(0, 3)] * 2), min_size=1, max_size=40))
def test_classes_by_one_column_more_are_those_of_equal_pairs(rows: list[tuple[int, int]]) -> None:
    of, code = np.array(rows, dtype=np.int32).T.copy()
    keys, held = np.empty(slots_for(len(rows)), dtype=np.uint64), np.empty(slots_for(len(rows)), dtype=np.int64)
    finer, expected = np.empty(len(rows), dtype=np.int32), group_by(rows)
    count = refine_classes(of, int(of.max()) + 1, code, int(code.max()) + 1, keys, held, finer)
    assert [np.flatnonzero(finer == each).tolist() for each in range(count)] == list(expected.values())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 2), st.booleans()), min_size=1, max_size=30))
def test_classes_of_one_value_and_records_that_are_alone(rows: list[tuple[int, int, bool]]) -> None:
    of, values, marked = (np.array(each) for each in zip(*rows, strict=True))
    classes = group_by(of.tolist()).values()
    one = [each for each in classes if len({rows[place][1] for place in each} - {-1}) == 1]
    sizes = np.bincount(of, minlength=5)
    for least, fewest in ((1, 1), (2, 1), (1, 2)):
        listed = list_class_members(of, sizes, sizes >= least)
        assert [part.tolist() for part in np.split(listed.rows, listed.starts[1:-1]) if part.size] == [
            np.flatnonzero(of == each).tolist() for each in range(5) if sizes[each] >= least
        ]
        known = [sum(rows[place][1] != -1 for place in each) for each in one]
        enough = [each for each, held in zip(one, known, strict=True) if held >= fewest and len(each) >= least]
        agreeing = sum(rows[place][2] for each in enough for place in each)
        assert agree_in_classes(listed, values.astype(np.int32), marked, fewest) == agreeing
    records = 1 + (values > 1)  # a row that stands for two records is not alone
    alone, asked = np.empty(len(rows), dtype=np.bool_), np.arange(len(rows))
    find_alone(of.astype(np.int32), records, asked, marked, np.empty(5, dtype=np.int64), alone)
    lonely = {each[0] for each in classes if len(each) == 1 and records[each[0]] == 1}
    assert np.flatnonzero(alone).tolist() == [place for place in sorted(lonely) if rows[place][2]]


@given(st.integers(0, 100_000), st.integers(1, 4), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_crossed_candidates_are_those_of_the_definition(seed: int, releases: int, k: int) -> None:
    """Each person is near one to three classes of each release, of one to four records with one of five keys."""
    rng, people = np.random.default_rng(seed), 6
    sizes = rng.integers(1, 5, (releases, 4))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    keys, own, values = rng.integers(0, 5, starts[-1]), rng.integers(0, 5, people), rng.integers(0, 3, (2, 5))
    near = [[np.sort(rng.permutation(4)[: rng.integers(1, 4)]) + 4 * r for _ in range(people)] for r in range(releases)]
    ends = np.cumsum([[len(each) for each in side] for side in near]).reshape(releases, people)
    first = np.concatenate([[0], ends[:-1, -1]])[:, None]
    sets = CandidateSets(
        keys, starts, np.concatenate([each for side in near for each in side]), np.concatenate([first, ends], axis=1)
    )
    few, fixed, room = np.empty(people, bool), np.empty((people, 2), bool), np.zeros((2, 5), np.int64)
    cross_candidates(sets, own, values, k, room, few, fixed)
    assert not room.any()
    for person in range(people):
        held = [np.concatenate([keys[starts[c] : starts[c + 1]] for c in side[person]]).tolist() for side in near]
        assert (few[person], fixed[person].tolist()) == crossed(held, own[person], k, values.tolist())
