"""MDAV through a kd-tree gives MDAV's own groups: scattered, tied, duplicated, far away, in every setting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.neighbours import mdav_by_tree
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, GOMM, HYBRID, MANHATTAN, mdav
from reference import EIA_COLUMNS, numeric, standardised


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 700),
    st.integers(1, 6),
    st.integers(1, 8),
    st.sampled_from(["scattered", "binary", "grid", "duplicated", "clustered", "constant column"]),
    st.sampled_from([GENERIC, HYBRID, GOMM]),
    st.sampled_from([EUCLIDEAN, MANHATTAN]),
    st.integers(0, 2**32),
)
def test_same_groups_as_the_plain_passes(
    n: int, p: int, k: int, shape: str, ending: int, metric: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, p))
    if shape == "binary":
        points = (points > 0).astype(float)
    elif shape == "grid":
        points = np.round(points * 2)
    elif shape == "duplicated":
        points = points[rng.integers(0, max(n // 4, 1), n)]
    elif shape == "clustered":
        points = points * 0.01 + rng.integers(0, 3, (n, 1)) * 100.0
    elif shape == "constant column":
        points[:, 0] = 7.5
    k = min(k, n)
    assert (mdav_by_tree(points, k, ending, metric) == mdav(points, k, ending, metric)).all()


@pytest.mark.parametrize("k", [3, 10])
def test_same_groups_on_reference_data(k: int) -> None:
    points = np.ascontiguousarray(standardised(numeric("eia.csv", EIA_COLUMNS)))
    assert (mdav_by_tree(points, k, GENERIC, EUCLIDEAN) == mdav(points, k, GENERIC, EUCLIDEAN)).all()


def test_same_groups_far_from_the_origin() -> None:
    points = np.round(np.random.default_rng(0).standard_normal((500, 3)) * 64)
    near = mdav_by_tree(points, 4, GENERIC, EUCLIDEAN)
    assert (mdav_by_tree(points + 1e12, 4, GENERIC, EUCLIDEAN) == near).all()
