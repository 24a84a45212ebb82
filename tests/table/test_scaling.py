"""Scales of columns: by hand, against plain formulas, far from zero and near the largest float."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.masking.scaling import scale_to_z_scores
from crypsis.table import precision as module
from crypsis.table.precision import Scales

NAN = math.nan


def test_the_examples_run() -> None:
    assert doctest.testmod(module).failed == 0


def test_by_hand() -> None:
    """2 and 6 with a hole; a constant; nothing at all."""
    values = np.array([[2.0, 5.0, NAN], [NAN, 5.0, NAN], [6.0, 5.0, NAN]])
    scales = Scales.of(values)
    assert scales.mean.tolist() == [4, 5, 0]
    assert scales.low.tolist() == [2, 5, 0]
    assert scales.deviation.tolist() == [2, 0, 0]
    assert scales.half_range.tolist() == [2, 0, 0]
    assert scales.inverse("z").tolist() == [0.5, 0, 0]
    assert scales.inverse("range").tolist() == [0.25, 0, 0]
    assert scales.inverse("none").tolist() == [1, 1, 1]
    shown = np.array([[8.0, 7.0, 1.0], [NAN, NAN, NAN]])
    assert scales.scale(shown, "z")[0].tolist() == [2, 0, 0]
    assert scales.scale(shown, "range")[0].tolist() == [1, 0, 0]
    assert scales.scale(shown, "none")[0].tolist() == [4, 2, 1]
    assert scales.in_unit_interval(shown)[0].tolist() == [1.5, 0, 0]
    for scaling in ("z", "range", "none"):
        assert np.isnan(scales.scale(shown, scaling)[1]).all()
    assert np.isnan(scales.in_unit_interval(shown)[1]).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-50, 50), st.booleans()), min_size=1, max_size=20),
    st.sampled_from([1.0, 0.1, 1e-9, 1e9]),
    st.sampled_from([0.0, 1e6]),
)
def test_equal_to_plain_formulas(cells: list[tuple[int, bool]], unit: float, shift: float) -> None:
    values = np.array([[NAN if lost else shift * unit + unit * number] for number, lost in cells])
    held = [cell for cell in values[:, 0].tolist() if not math.isnan(cell)]
    scales = Scales.of(values)
    mean = math.fsum(held) / max(len(held), 1)
    deviation = math.sqrt(math.fsum((cell - mean) ** 2 for cell in held) / max(len(held), 1))
    constant = len(set(held)) < 2
    assert scales.mean[0] == pytest.approx(mean, rel=1e-12, abs=1e-9 * unit)
    assert scales.low[0] == min(held, default=0)
    assert 2 * scales.half_range[0] == pytest.approx(max(held, default=0) - min(held, default=0), rel=1e-12)
    assert scales.deviation[0] == (0 if constant else pytest.approx(deviation, rel=1e-8))
    if not constant:
        z, unit_interval = scales.scale(values, "z")[:, 0], scales.in_unit_interval(values)[:, 0]
        assert np.nanstd(z) == pytest.approx(1, rel=1e-9)
        assert np.nanmean(z) == pytest.approx(0, abs=1e-8)
        assert (np.nanmin(unit_interval), np.nanmax(unit_interval)) == (0, 1)
        assert np.nanmax(scales.scale(values, "range")) - np.nanmin(scales.scale(values, "range")) == pytest.approx(1)


@pytest.mark.parametrize("power", [-500, 3, 990])
def test_a_power_of_two_changes_no_bit(power: int) -> None:
    values = np.random.default_rng(0).normal(3, 2, (40, 3))
    larger = values * 2.0**power
    assert np.array_equal(scale_to_z_scores(larger), scale_to_z_scores(values))
    for name in ("mean", "low", "deviation", "half_range"):
        assert np.array_equal(getattr(Scales.of(larger), name), getattr(Scales.of(values), name) * 2.0**power)


def test_a_range_beyond_the_largest_float() -> None:
    values = np.array([[-1.5e308], [0.5e308], [1.5e308], [1.5e308]])
    scales = Scales.of(values)
    assert scales.mean[0] == pytest.approx(0.5e308)
    assert np.isfinite(scales.deviation).all()
    assert scales.in_unit_interval(values)[:, 0] == pytest.approx([0, 2 / 3, 1, 1])
    assert scales.scale(values, "range")[:, 0] == pytest.approx([-2 / 3, 0, 1 / 3, 1 / 3])
    assert scales.scale(values, "z")[:, 0] == pytest.approx(scale_to_z_scores(values / 1e308)[:, 0])


def test_a_column_far_from_zero_keeps_its_digits() -> None:
    values = np.array([[0.0], [1.0], [2.0], [5.0]])
    assert Scales.of(values + 2.0**50).deviation[0] == Scales.of(values).deviation[0]


def test_scores_lie_row_by_row_in_memory() -> None:
    assert scale_to_z_scores(np.asfortranarray(np.arange(6.0).reshape(3, 2))).flags.c_contiguous
