"""The plain function over arrays: scaling, labels in order, a typed result, refusals in sentences."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.errors import PlanError, TableError
from crypsis.kernels.annealing import sse
from crypsis.masking.scaling import scale_to_z_scores
from crypsis.searches.partitions.partition import partition
from searches.partitions.test_memetic import check


def test_plain_function_scales_and_labels_in_order() -> None:
    values = np.random.default_rng(4).standard_normal((60, 3)) * [1, 1000, 1e-3] + [0, 5, 1e6]
    found = partition(values, 3, seed=1)
    labels = found.labels
    check(values, labels, 3)
    assert np.array_equal(labels, partition(values, 3, seed=1))
    assert labels[0] == 0
    assert np.array_equal(np.unique(labels, return_index=True)[1], np.sort(np.unique(labels, return_index=True)[1]))
    assert np.array_equal(partition(values, 3, seed=1), partition(scale_to_z_scores(values), 3, seed=1, scale=False))
    assert found.sse == sse(scale_to_z_scores(values), labels)
    assert found.sse < sse(scale_to_z_scores(values), partition(values, 3, scale=False, seed=1).labels)
    assert scale_to_z_scores(np.array([[1.0, 7.0], [3.0, 7.0]])).tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert len(np.unique(partition(values[:, 0], 5, "univariate"))) > 5


def test_a_result_is_its_labels_wherever_an_array_is_wanted() -> None:
    found = partition([[0.0], [1.0], [10.0], [12.0]], 2, seed=1)
    assert np.bincount(found).tolist() == [2, 2]
    assert np.asarray(found, dtype=np.float64).tolist() == [0.0, 0.0, 1.0, 1.0]
    assert len(found) == 4
    with pytest.raises(AttributeError):
        found.sse = 0.0  # type: ignore[misc]


def test_sse_bound_and_gap_by_hand() -> None:
    """0, 1 | 10, 12 unscaled: SSE 1/2 + 2, which is the optimum; 0, 10 | 1, 12 and 0, 12 | 1, 10 cost more."""
    found = partition([[0.0], [1.0], [10.0], [12.0]], 2, scale=False)
    assert (found.sse, found.bound, found.bound_kind, found.gap) == (2.5, 2.5, "optimum", 0.0)
    points = np.random.default_rng(2).standard_normal((130, 2))
    rough = partition(points, 3, "cbfs", scale=False)
    assert rough.bound_kind == "nearest-neighbour bound"
    assert rough.gap == pytest.approx(1 - rough.bound / rough.sse)
    assert 0 < rough.bound < rough.sse


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_cannot_be_grouped_is_refused_with_its_column(bad: float) -> None:
    values = np.ones((10, 3))
    values[4, 1] = bad
    with pytest.raises(TableError, match="column number 1"):
        partition(values, 3)
    with pytest.raises(TableError, match="'income'"):
        partition(values, 3, names=["age", "income", "tax"])


def test_other_refusals_say_what_to_do() -> None:
    for k in (0, 5.5, "5", None, True):
        with pytest.raises(PlanError, match="k: the smallest group is a whole number of records"):
            partition([[1.0], [2.0], [3.0]], k=k)
    for seed in (-1, "x", 0.5):
        with pytest.raises(PlanError, match="seed: a seed is a whole number"):
            partition([[1.0], [2.0], [3.0]], k=2, seed=seed)
    with pytest.raises(TableError, match="not a number"):
        partition(np.array([1j, 2, 3]), k=2)
    with pytest.raises(TableError, match="choose k of at most 3"):
        partition(np.ones((3, 2)), 4)
    with pytest.raises(TableError, match="not a number"):
        partition([["a", "b"], ["c", "d"]], 2)
    with pytest.raises(PlanError, match="no partitioner called 'memetik'"):
        partition(np.ones((9, 2)), 3, "memetik")
    with pytest.raises(PlanError, match="'mdav' takes no seconds"):
        partition(np.ones((9, 2)), 3, "mdav", seconds=1)
    with pytest.raises(PlanError, match="'genetic' takes no steps"):
        partition(np.ones((9, 2)), 3, "genetic", steps=1)
    with pytest.raises(PlanError, match="initial_temperature"):
        partition(np.ones((9, 2)), 3, settings={"initial_temperature": -1})
