from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import dominance
from naive import dominance as naive


@st.composite
def rows(draw, most=12):
    """Scores on a coarse grid, so that rows tie and repeat."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(1, most)), draw(st.integers(1, 4))
    return rng.integers(0, draw(st.integers(1, 8)), shape).astype(float)


def pair(scores, boxes, first, second):
    return scores[first], scores[second], boxes[first], boxes[second]


def test_dominance_by_hand():
    """Nowhere worse and somewhere better; equals do not dominate each other, nor do rows each better somewhere."""
    row, others = np.array([1.0, 2.0]), np.array([[1.0, 3.0], [1.0, 2.0], [0.0, 3.0], [1.0, 1.0]])
    assert [dominance.dominates(row[None], 0, others, j) for j in range(4)] == [True, False, False, False]


def test_three_points_by_hand():
    scores = np.array([[1.0, 4.0], [2.0, 2.0], [3.0, 3.0]])
    assert dominance.fronts(scores).tolist() == [0, 0, 1]
    assert dominance.strengths(scores).tolist() == [0.0, 0.0, 1.0]
    stay, enters = dominance.admit(scores[:2], scores[:2], scores[2], scores[2])
    assert stay.all()
    assert not enters


def test_inside_a_box_by_hand():
    """Whoever is better throughout takes over the box; whoever is better somewhere only is not let in."""
    member, box = np.array([[1.5, 1.5]]), np.array([[2.0, 2.0]])
    for score, stays, enters in (([1.2, 1.4], False, True), ([1.2, 1.9], True, False), ([1.5, 1.5], True, False)):
        kept, let_in = dominance.admit(member, box, np.array(score), box[0])
        assert (kept.tolist(), let_in) == ([stays], enters)


def test_a_score_that_is_not_a_number_counts_as_infinite():
    scores = np.array([[np.nan, 0.0], [1.0, 1.0], [2.0, 2.0], [np.nan, np.nan], [3.0, 0.0]])
    assert dominance.fronts(scores).tolist() == [1, 0, 1, 2, 0]


def test_fronts_of_nobody_and_of_equals():
    assert dominance.fronts(np.empty((0, 2))).tolist() == []
    assert dominance.fronts(np.array([[2.0, 2.0], [1.0, 1.0]] * 3)).tolist() == [1, 0] * 3
    assert dominance.fronts(np.zeros((3, 2))).dtype == np.int32


@settings(max_examples=60, deadline=None)
@given(rows(), st.randoms(use_true_random=False), st.sampled_from([1.0, 2.0, 4.0]))
def test_one_step_of_the_archive_equals_its_definition(scores, random, side):
    """Members share no box and dominate nobody; who comes in throws out what it dominates, if no one bars it."""
    boxes = np.ceil(scores / side)
    members = [
        i
        for i in range(1, len(scores))
        if not any(naive.box_dominates(*pair(scores, boxes, j, i)) for j in range(1, len(scores)))
    ]
    members = list({tuple(boxes[i]): i for i in members}.values())
    random.shuffle(members)
    stay, enters = dominance.admit(scores[members], boxes[members], scores[0], boxes[0])
    assert stay.tolist() == [not naive.box_dominates(*pair(scores, boxes, 0, i)) for i in members]
    barred = [naive.box_dominates(*pair(scores, boxes, i, 0)) for i in members]
    shared = [kept and (boxes[i] == boxes[0]).all() for i, kept in zip(members, stay, strict=True)]
    assert stay.dtype == np.bool_
    assert enters == (not any(barred) and not any(shared))


@settings(max_examples=60, deadline=None)
@given(rows(most=30))
def test_fronts_and_burdens_equal_their_definition(scores):
    assert dominance.fronts(scores).tolist() == naive.fronts(scores.tolist())
    assert dominance.strengths(scores).tolist() == naive.strengths(scores.tolist())


@settings(max_examples=60, deadline=None)
@given(rows(most=40))
def test_undominated_rows_are_the_minimal_ones_each_once(scores):
    kept = dominance.find_undominated(scores, np.lexsort(scores.T[::-1]))
    once = {tuple(scores[i]): i for i in reversed(naive.minimal(scores.tolist()))}
    assert np.flatnonzero(kept).tolist() == sorted(once.values())
    assert kept.dtype == np.bool_
