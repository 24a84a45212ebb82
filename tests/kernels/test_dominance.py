from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crypsis.kernels import dominance
from naive import dominance as naive

rows = arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.integers(0, 4).map(float))


def test_three_points_by_hand():
    scores = np.array([[1.0, 4.0], [2.0, 2.0], [3.0, 3.0]])
    assert dominance.fronts(scores).tolist() == [0, 0, 1]
    assert dominance.burdens(scores).tolist() == [0.0, 0.0, 1.0]
    stay, enters = dominance.update(scores[:2], scores[:2], scores[2], scores[2])
    assert stay.all()
    assert not enters


@settings(max_examples=60, deadline=None)
@given(rows)
def test_fronts_and_burdens_equal_their_definition(scores):
    assert dominance.fronts(scores).tolist() == naive.fronts(scores.tolist())
    assert dominance.burdens(scores).tolist() == naive.burdens(scores.tolist())


@settings(max_examples=60, deadline=None)
@given(rows)
def test_undominated_rows_are_the_minimal_ones_each_once(scores):
    kept = dominance.undominated(scores, np.lexsort(scores.T[::-1]))
    once = {tuple(scores[i]): i for i in reversed(naive.minimal(scores.tolist()))}
    assert np.flatnonzero(kept).tolist() == sorted(once.values())
