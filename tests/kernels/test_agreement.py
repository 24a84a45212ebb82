"""Nearest tuples and agreement patterns against loops over everything."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.linkage import FAR, leads, nearest, own_hits, own_patterns


@st.composite
def scenes(draw):
    """Original tuples, sorted masked tuples with counts and first rows, and random flat costs."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p = int(rng.integers(1, 5))
    wide, width = rng.integers(1, 5, p), rng.integers(1, 5, p)
    tuples = np.unique(rng.integers(0, wide, (20, p)), axis=0).astype(np.int32)
    crowd = np.unique(rng.integers(0, width, (int(rng.integers(1, 30)), p)), axis=0).astype(np.int32)
    counts = rng.integers(1, 5, len(crowd))
    first = rng.permutation(len(crowd)).astype(np.int64)
    at = np.concatenate([[0], np.cumsum(wide * width)]).astype(np.int64)
    costs = rng.integers(0, 4, at[-1])
    costs[rng.random(len(costs)) < 0.1] = FAR
    return tuples, crowd, counts, first, costs, at, wide.astype(np.int64)


def test_leads_by_hand():
    crowd = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 0], [2, 0, 0]], dtype=np.int32)
    lead, leap = leads(crowd)
    assert lead.tolist() == [0, 2, 1, 0, 0]
    assert leap.tolist() == [[3, 2, 1], [3, 2, 2], [3, 3, 3], [4, 4, 4]]
    assert lead.dtype == leap.dtype == np.int32


@settings(max_examples=60, deadline=None)
@given(scenes(), st.booleans())
def test_nearest_equals_a_look_at_everybody(scene, widest):
    tuples, crowd, counts, first, costs, at, wide = scene
    best, ties, lowest = nearest(tuples, crowd, counts, first, costs, at, wide, widest)
    for a, seeker in enumerate(tuples):
        totals = []
        for candidate in crowd:
            steps = [int(costs[at[j] + candidate[j] * wide[j] + seeker[j]]) for j in range(len(seeker))]
            totals.append(FAR if max(steps) >= FAR else max(steps) if widest else sum(steps))
        least = min(totals)
        places = [place for place, total in enumerate(totals) if total == least and least < FAR]
        assert best[a] == least
        assert ties[a] == sum(counts[place] for place in places)
        assert lowest[a] == min((first[place] for place in places), default=-1)
    assert best.dtype == ties.dtype == lowest.dtype == np.int64


def test_nobody_to_link_to():
    best, ties, lowest = nearest(
        np.zeros((1, 1), dtype=np.int32), np.empty((0, 1), dtype=np.int32), np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64), np.array([0, 1]), np.array([1]), False,
    )  # fmt: skip
    assert (best[0], ties[0], lowest[0]) == (FAR, 0, -1)


@settings(max_examples=60, deadline=None)
@given(scenes(), st.booleans(), st.integers(0, 2**32))
def test_own_records_are_found_as_by_a_look_at_each(scene, widest, seed):
    """Hits: own masked records at the least cost, if there is one. Patterns: in which attributes they agree."""
    tuples, crowd, counts, first, costs, at, wide = scene
    rng = np.random.default_rng(seed)
    members, masked = rng.integers(0, len(tuples), 15), crowd[rng.integers(0, len(crowd), 15)]
    kept, agree = rng.random(15) < 0.8, (costs == 0).astype(np.int64)
    best, _, _ = nearest(tuples, crowd, counts, first, costs, at, wide, widest)
    hits, own = np.zeros(len(tuples), dtype=np.int64), np.zeros((len(tuples), 2 ** len(wide)), dtype=np.int64)
    for row in np.flatnonzero(kept):
        cells = [at[j] + masked[row, j] * wide[j] + tuples[members[row], j] for j in range(len(wide))]
        steps = [int(costs[cell]) for cell in cells]
        total = max(steps) if widest or max(steps) >= FAR else sum(steps)
        hits[members[row]] += total == best[members[row]] < FAR
        own[members[row], sum(2**j * int(agree[cell]) for j, cell in enumerate(cells))] += 1
    both = own_hits(tuples, members, masked, kept, best, costs, at, wide)
    assert both[widest].tolist() == hits.tolist()
    assert both[0].dtype == both[1].dtype == np.int64
    got = own_patterns(tuples, members, masked, kept, agree, at, wide)
    assert got.dtype == np.int32
    assert got.tolist() == own.tolist()


def test_own_records_by_hand():
    """Two ranks and two names; record 0 keeps (0, 0), record 1 goes from (0, 0) to (1, 0) at cost 1, 2 is not kept."""
    tuples, members = np.array([[0, 0], [1, 1]], dtype=np.int32), np.array([0, 0, 1])
    masked = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int32)
    costs, at, wide = np.array([0, 1, 1, 0, 0, FAR, FAR, 0]), np.array([0, 4, 8]), np.array([2, 2])
    kept = np.array([True, True, False])
    for best, sums in ((0, [1, 0]), (1, [1, 0]), (FAR, [0, 0])):
        summed, widest = own_hits(tuples, members, masked, kept, np.full(2, best), costs, at, wide)
        assert summed.tolist() == widest.tolist() == sums
    agree = (costs == 0).astype(np.int64)
    assert own_patterns(tuples, members, masked, kept, agree, at, wide).tolist() == [[0, 0, 1, 1], [0, 0, 0, 0]]
