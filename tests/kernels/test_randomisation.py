from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.randomisation import swap_partners, transitions
from naive import randomisation as naive


def test_swap_by_hand() -> None:
    # Window 2: position 0 may take 1 or 2. u = 0.9 takes 2. Then 1 takes 3 (2 is gone). 4 has nobody left.
    assert swap_partners(5, 2, np.array([0.9, 0.0, 0.0, 0.0, 0.0])).tolist() == [2, 3, 0, 1, 4]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 45), st.randoms(use_true_random=False))
def test_swap_equals_its_twin(n: int, window: int, random) -> None:  # type: ignore[no-untyped-def]
    uniforms = [random.random() for _ in range(n)]
    assert swap_partners(n, window, np.array(uniforms)).tolist() == naive.swap_partners(n, window, uniforms)


def test_no_code_moves_to_a_category_of_no_probability() -> None:
    """Category j is drawn from [running sum before it, running sum of it): at 0 and at ½ the later one."""
    cumulative = np.array([[0.0, 0.5, 1.0]] * 3)
    moved = transitions(np.array([0, 1, 2, -1], np.int32), cumulative, np.array([0.0, 0.5, 0.25, 0.0]))
    assert moved.tolist() == [1, 2, 1, -1]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5), st.integers(0, 30), st.integers(0, 2**32 - 1))
def test_transitions_equal_their_twin(size: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(size), size)
    codes = rng.integers(-1, size, n).astype(np.int32)
    uniforms = rng.random(n)
    cumulative = np.cumsum(matrix, axis=1)
    cumulative[:, -1] = 1.0
    expected = naive.transitions(codes.tolist(), matrix.tolist(), uniforms.tolist())
    assert transitions(codes, cumulative, uniforms).tolist() == expected
