"""The kernels of calibration against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.representatives import (
    LabelChoices,
    LabelGaps,
    add_label_sums,
    exchange_values,
    relabel_groups,
    round_in_order,
)
from naive import calibration as naive


@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(2, 4), st.integers(1, 4), st.booleans())
@settings(max_examples=80, deadline=None)
def test_relabelling_equals_its_twin(seed: int, groups: int, levels: int, q: int, ordered: bool) -> None:
    rng = np.random.default_rng(seed)
    sums, targets = rng.normal(size=(groups, q)), rng.normal(size=(levels, q))
    weights, scores = rng.uniform(0.1, 2.0, levels), rng.normal(size=levels) if ordered else np.zeros(levels)
    choices = [
        {
            int(level): float(rng.integers(1, 5))
            for level in sorted(rng.choice(levels, rng.integers(1, levels + 1), False))
        }
        for _ in range(groups)
    ]
    labels = np.array([min(each) for each in choices])
    starts = np.cumsum([0, *map(len, choices)])
    held = LabelChoices(
        starts,
        np.array([level for each in choices for level in each]),
        np.array([n for e in choices for n in e.values()]),
    )
    scales = rng.choice([0.0, 1.0, 3.0], q)
    gaps = -targets
    add_label_sums(labels, sums, scales, gaps)
    sums, unscaled = sums * scales, sums
    expected_gaps = -targets
    np.add.at(expected_gaps, labels, sums)
    assert gaps == pytest.approx(expected_gaps)
    found, costs, turns = labels.copy(), np.array([0.05, 0.3 if ordered else 0.0]), rng.permutation(groups)
    told = LabelGaps(gaps, weights, scores @ gaps, scores, scales)
    changed = relabel_groups(found, held, told, unscaled, costs, turns)
    expected = naive.relabel(
        labels.tolist(), choices, sums, targets, weights, scores, (costs[0], costs[1]), turns.tolist()
    )
    assert found.tolist() == expected
    assert changed == int((found != labels).sum())
    afresh = -targets
    np.add.at(afresh, found, sums)
    assert told.levels == pytest.approx(afresh)
    assert told.line == pytest.approx(scores @ afresh)


@given(st.integers(0, 10_000), st.integers(2, 9), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_exchanging_equals_its_twin(seed: int, groups: int, f: int, q: int) -> None:
    rng = np.random.default_rng(seed)
    features, sums, targets = rng.normal(size=(groups, f)), rng.normal(size=(groups, q)), rng.normal(size=(f, q))
    values, pairs = rng.normal(size=groups), [tuple(rng.choice(groups, 2, replace=False).tolist()) for _ in range(12)]
    gaps, moved, found = features.T @ sums - targets, features.copy(), values.copy()
    one, other = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    exchange_values(found, moved, sums, gaps, one, other)
    assert found.tolist() == naive.exchange(values.tolist(), features, sums, targets, pairs)
    assert gaps == pytest.approx(moved.T @ sums - targets)
    assert naive.number_gap(moved, sums, targets) <= naive.number_gap(features, sums, targets) + 1e-9


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.integers(1, 9)), min_size=1, max_size=30),
    st.sampled_from([1.0, 0.1, 5.0]),
)
@settings(max_examples=80, deadline=None)
def test_rounding_goes_up_or_down_and_keeps_the_total(given_: list[tuple[float, int]], step: float) -> None:
    values, sizes = np.array([v for v, _ in given_]), np.array([float(s) for _, s in given_])
    rounded = values.copy()
    round_in_order(rounded, sizes, np.argsort(values, kind="stable"), step)
    assert np.abs(rounded - values).max() <= step * (1 + 1e-6)
    assert rounded / step == pytest.approx(np.round(rounded / step), abs=1e-6)
    assert abs(float(((rounded - values) * sizes).sum())) <= step * sizes.max() * (1 + 1e-6)
