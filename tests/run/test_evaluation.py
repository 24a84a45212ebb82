"""The common yardstick: scenarios, uses, limits, and figures that would mean nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crypsis.masking import Microaggregation, Pram
from crypsis.plan import Plan
from crypsis.run.evaluation import Yardstick
from crypsis.table.example import example

TABLE = example(120, seed=8)


def plan(**more: Any) -> Plan:
    columns = {a.name: {"role": a.role.value} for a in TABLE.attributes}
    base = {"data": {"source": "x.csv"}, "columns": columns, "require": [{"model": "k-anonymity", "k": 3}]}
    return Plan.parse({**base, **more})


MASKED = Microaggregation(k=3, missing="aggregate").mask(TABLE, np.random.default_rng(1))


def test_a_masked_table_under_one_intruder() -> None:
    measured = Yardstick(plan(), TABLE).measure(MASKED, "aggregation")
    assert measured.figures["k"] >= 3
    assert measured.figures["loss"] == measured.figures["cell-loss"] > 0
    assert measured.figures["risk"] == measured.figures["record-linkage"] < 100
    assert not measured.complaints
    assert measured.verdicts[0]["holds"]
    assert "record-linkage" in measured.intervals


def test_class_sizes_are_not_said_after_perturbation() -> None:
    swapped = Pram(theta=0.5, columns=("sex", "district")).mask(TABLE, np.random.default_rng(1))
    measured = Yardstick(plan(), TABLE).measure(swapped, "perturbation")
    assert measured.figures["k"] is None
    assert "equal values do not mean equal people" in measured.unsaid["k"]
    assert measured.figures["risk"] is not None
    assert any("cannot be judged" in complaint for complaint in measured.complaints)
    assert not measured.verdicts


def test_the_worst_intruder_counts() -> None:
    scenarios = [
        {"name": "neighbour", "knows": ["age", "sex"]},
        {
            "name": "employer",
            "knows": ["age", "sex", "occupation", "hours"],
            "require": [{"model": "k-anonymity", "k": 4}],
        },
    ]
    measured = Yardstick(plan(scenario=scenarios), TABLE).measure(MASKED, "aggregation")
    both = [measured.figures["risk.neighbour"], measured.figures["risk.employer"]]
    assert measured.figures["risk"] == max(both)
    assert len(measured.verdicts) == 2
    assert measured.verdicts[1]["required"] == 4


def test_uses_limit_or_steer() -> None:
    use = {"measure": "means-use", "columns": ["income"], "by": ["sex"], "tolerance": 1e-6}
    limited = Yardstick(plan(use=[use]), TABLE).measure(MASKED, "aggregation")
    assert any("means-use" in complaint for complaint in limited.complaints)
    steered = Yardstick(plan(use=[{**use, "tolerance": 50, "as": "objective"}]), TABLE)
    assert steered.axes == ("loss", "risk", "uses")
    figures = steered.measure(MASKED, "aggregation").figures
    assert figures["uses"] == pytest.approx(100 * figures["means-use"] / 50)
    told = Yardstick(plan(use=[{**use, "as": "report"}]), TABLE).measure(MASKED, "aggregation")
    assert not told.complaints


def test_limits_refuse_what_lies_beyond_them() -> None:
    limits = [{"measure": "risk", "at_most": 0.01}, {"measure": "entropy-loss", "at_most": 0.0}]
    measured = Yardstick(plan(limit=limits), TABLE).measure(MASKED, "aggregation")
    assert len(measured.complaints) == 2
    assert measured.figures["entropy-loss"] > 0


def test_suppression_beyond_the_plan_is_a_complaint() -> None:
    rows = np.zeros(len(MASKED), dtype=np.bool_)
    rows[:6] = True
    measured = Yardstick(plan(), TABLE).measure(MASKED.without(rows), "aggregation")
    assert measured.figures["suppressed"] == pytest.approx(5.0)
    assert any("left out" in complaint for complaint in measured.complaints)
