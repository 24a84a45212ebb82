from __future__ import annotations

import numpy as np
import pytest

from crypsis.evolution.frontier import rank_frontier_contributions


def test_by_hand() -> None:
    """Reference (4.04, 4.04): the corner (1, 1) covers 3.04², the ends add the strips left and below of it."""
    names = ["a", "b", "a", "c", "c"]
    scores = np.array([[0.0, 4.0], [1.0, 1.0], [4.0, 0.0], [2.0, 2.0], [3.0, 3.0]])
    found = {each.name: each for each in rank_frontier_contributions(names, scores)}
    whole = 3.04**2 + 0.04 * 1.0 * 2
    assert (found["a"].offered, found["a"].points) == (2, 2)
    assert found["a"].lost == pytest.approx(100 * (0.08 / whole))
    assert found["b"].lost == pytest.approx(100 * (1 - (2.04**2 + 2 * 0.04 * 2.0) / whole))
    assert (found["c"].points, found["c"].lost) == (0, 0.0)
    assert next(each.name for each in rank_frontier_contributions(names, scores)) == "b"


def test_nothing_contributes_nothing() -> None:
    assert rank_frontier_contributions([], np.empty((0, 2))) == []


def test_one_point_is_all_there_is() -> None:
    (only,) = rank_frontier_contributions(["a"], np.array([[3.0, 2.0]]))
    assert (only.points, only.lost) == (1, 100.0)
