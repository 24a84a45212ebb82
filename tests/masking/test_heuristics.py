"""The partitioners: sizes, refusals in a sentence, and the mistakes seen in other programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.kernels.annealing import group_sizes, sse
from crypsis.kernels.optimal_partitions import path_optimum
from crypsis.masking import partitioning
from crypsis.masking.partitioning import MDAV, Blocks, Univariate, partitioners
from crypsis.masking.scaling import project_on_first_component

RNG = np.random.default_rng(0)
NAMES = ["mdav", "v-mdav", "cbfs", "univariate", "blocks"]
BOUNDED = ["mdav", "cbfs", "univariate", "blocks"]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 6), st.booleans(), st.integers(0, 2**32))
def test_every_group_is_large_enough(name: str, n: int, p: int, k: int, grid: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, p)).astype(float) if grid else rng.standard_normal((n, p))
    k = min(k, n)
    before = points.copy()
    labels = partitioners.build(name).partition(points, k, rng)
    sizes = group_sizes(labels)
    assert labels.dtype == np.int32
    assert sizes.min() >= k
    assert (points == before).all()
    if name in BOUNDED:
        assert sizes.max() <= max(2 * k - 1, 1)
    if n < 2 * k and k > 1:
        assert len(sizes) == 1
    if k == 1:
        assert labels.tolist() == list(range(n))


@pytest.mark.parametrize("name", NAMES)
def test_fewer_records_than_k_are_refused(name: str) -> None:
    with pytest.raises(TableError, match=r"3 records cannot form one group of k = 4; choose k of at most 3"):
        partitioners.build(name).partition(np.zeros((3, 2)), 4, RNG)
    with pytest.raises(TableError, match="0 records"):
        partitioners.build(name).partition(np.zeros((0, 2)), 2, RNG)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_missing_or_infinite_number_is_refused_by_position(name: str, bad: float) -> None:
    points = np.random.default_rng(1).standard_normal((20, 3))
    points[7, 1] = bad
    with pytest.raises(TableError, match="column position 1 "):
        partitioners.build(name).partition(points, 3, RNG)


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_partitioned_is_refused(name: str) -> None:
    partitioner = partitioners.build(name)
    with pytest.raises(TableError, match="at least one attribute"):
        partitioner.partition(np.zeros((5, 0)), 2, RNG)
    with pytest.raises(TableError, match="k = 0"):
        partitioner.partition(np.zeros((5, 1)), 0, RNG)
    with pytest.raises(TableError, match="span more than"):
        partitioner.partition(np.array([[1e308], [-1e308], [0], [1]]), 2, RNG)


@pytest.mark.parametrize("name", NAMES)
def test_a_shift_of_the_data_changes_no_group(name: str) -> None:
    points = np.round(np.random.default_rng(2).standard_normal((60, 3)) * 64)
    labels = partitioners.build(name).partition(points, 3, np.random.default_rng(5))
    shifted = partitioners.build(name).partition(points + 1e12, 3, np.random.default_rng(5))
    assert (labels == shifted).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_view_in_another_memory_order_is_the_same_table(name: str) -> None:
    points = np.random.default_rng(3).standard_normal((50, 3))
    turned = np.asfortranarray(points)
    one = partitioners.build(name).partition(points, 4, np.random.default_rng(5))
    assert (partitioners.build(name).partition(turned, 4, np.random.default_rng(5)) == one).all()


def test_mdav_finds_the_same_groups_through_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(4).standard_normal((300, 4))
    for settings_of in ({}, {"ending": "hybrid"}, {"metric": "manhattan"}):
        monkeypatch.setattr(partitioning, "TREE_FROM", 10**9)
        plain = MDAV(**settings_of).partition(points, 3, RNG)
        monkeypatch.setattr(partitioning, "TREE_FROM", 0)
        assert (MDAV(**settings_of).partition(points, 3, RNG) == plain).all()


def test_univariate_of_several_attributes_cuts_along_the_first_principal_component() -> None:
    rng = np.random.default_rng(5)
    points = rng.standard_normal((50, 1)) * np.array([[3.0, 2.0, -1.0]]) + 0.1 * rng.standard_normal((50, 3))
    labels = Univariate().partition(points, 3, RNG)
    order = np.argsort(project_on_first_component(points), kind="stable")
    assert (labels[order] == path_optimum(points[order], 3)).all()
    assert sse(points, labels) < 0.1 * sse(points, np.zeros(50, dtype=np.int32))


def test_settings_are_checked_in_a_sentence() -> None:
    with pytest.raises(PlanError, match="ending"):
        partitioners.build("mdav", ending="soft")
    with pytest.raises(PlanError, match="gamma"):
        partitioners.build("v-mdav", gamma=-1)
    with pytest.raises(PlanError, match="lower size instead"):
        partitioners.build("blocks", inner="blocks")
    with pytest.raises(PlanError, match="did you mean 'mdav'"):
        partitioners.build("blocks", inner="mdaw")
    assert Blocks(inner="cbfs").inner == "cbfs"
