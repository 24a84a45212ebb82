"""The archive theorems: only minimal members, one per box, bounded size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crypsis.evolution import Frontier
from naive import dominance as naive

rows = arrays(np.float64, st.tuples(st.integers(1, 30), st.just(2)), elements=st.floats(-20, 20, width=16))
sides = st.tuples(st.sampled_from([0.5, 1.0, 5.0]), st.sampled_from([1.0, 3.0]))


def filled(scores, boxes=()):
    return Frontier(boxes=boxes).offer_all((np.array([i]), tuple(row)) for i, row in enumerate(scores))


def test_plain_front_by_hand():
    front = filled(np.array([[1, 4], [3, 3], [2, 2], [2, 2], [4, 1], [np.inf, 0]], dtype=float))
    assert [int(g[0]) for g in front.genomes] == [0, 2, 4]
    assert front.hypervolume([5, 5]) == pytest.approx(4 * 1 + 3 * 2 + 1 * 1)


def test_a_better_newcomer_takes_over_its_own_box():
    # Step 5 looks the box up after step 3 emptied it; the other order would turn the newcomer away.
    front = filled(np.array([[0.9, 0.9], [0.8, 0.8], [0.7, 0.95]]), boxes=(1.0, 1.0))
    assert front.scores.tolist() == [[0.8, 0.8]]


def test_boxes_of_a_maximised_index_are_its_floor():
    front = Frontier(boxes=(5.0, 100.0))
    index = np.array([14.9, 250.0])
    assert (-front.box(-index)).tolist() == [2.0, 2.0]


@settings(max_examples=60, deadline=None)
@given(rows)
def test_plain_front_holds_every_minimal_score_once(scores):
    front = filled(scores)
    expected = {tuple(scores[i]) for i in naive.minimal(scores.tolist())}
    assert sorted(map(tuple, front.scores)) == sorted(expected)


@settings(max_examples=60, deadline=None)
@given(rows, sides)
def test_box_archive_theorems(scores, boxes):
    front = filled(scores, boxes)
    box = front.box(front.scores)
    seen = front.box(scores)
    for i, row in enumerate(front.scores):
        assert not any(
            naive.box_dominates(other, row, other_box, box[i]) for other, other_box in zip(scores, seen, strict=True)
        ), "theorem 1: only minimal members"
    assert len({tuple(b) for b in box}) == len(box), "one per box"
    per_axis = [math.floor((scores[:, j].max() - scores[:, j].min()) / boxes[j]) + 2 for j in range(2)]
    assert len(front) <= min(per_axis), "theorem 2: bounded size"


def test_an_empty_front_has_no_volume():
    assert Frontier().hypervolume([1.0, 1.0]) == 0.0
