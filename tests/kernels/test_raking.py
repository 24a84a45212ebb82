"""Raking of weights against its slow twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import raking
from crypsis.kernels.raking import Raking, rake
from naive import raking as naive


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000), cells=st.integers(1, 30), margins=st.integers(0, 3), numbers=st.integers(0, 2),
    agree=st.booleans(),
)  # fmt: skip
def test_weights_are_those_of_the_definition(seed: int, cells: int, margins: int, numbers: int, agree: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (margins, cells))
    values = rng.integers(-3, 4, (numbers, cells)) / 2
    goal = rng.random(cells) + 0.5
    totals = np.array([np.bincount(each, weights=goal, minlength=4) for each in codes]).reshape(margins, 4)
    if not agree and margins:
        totals[0] *= rng.random(4) + 0.5
    wanted, steepest = values @ goal, 2.0 / np.abs(values).max(axis=1, initial=1e-3)
    start = np.full(cells, goal.mean())
    asked = Raking(codes, totals, values, wanted, steepest)
    found = rake(start, asked, 12, 1e-6)
    slow = naive.rake(start, codes, totals, list(zip(values, wanted, steepest, strict=True)), 12, 1e-6)
    np.testing.assert_allclose(found, slow, rtol=1e-6)
    plain, tilt = start.copy(), raking.tilt
    try:
        raking.tilt = raking._tilt
        raking._rake(plain, asked, np.empty(4), 12, 1e-6)
    finally:
        raking.tilt = tilt
    np.testing.assert_allclose(plain, found, rtol=1e-9)
