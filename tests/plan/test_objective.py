"""The objective of a plan: scenarios, uses, limits, and figures that would mean nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crypsis.masking import Microaggregation, Pram
from crypsis.plan import Plan
from crypsis.table.example import example
from crypsis.text import complaint_text, omission_text_on_card

TABLE = example(120, seed=8)


def plan(**more: Any) -> Plan:
    columns = {a.name: {"role": a.role.value} for a in TABLE.attributes}
    base = {"data": {"source": "x.csv"}, "columns": columns, "require": [{"model": "k-anonymity", "k": 3}]}
    return Plan.parse({**base, **more})


MASKED = Microaggregation(k=3, missing="aggregate").mask(TABLE, np.random.default_rng(1))


def test_a_masked_table_under_one_intruder() -> None:
    measured = plan().objective(TABLE).evaluate(MASKED, "aggregation")
    assert measured.figures["k"] >= 3
    assert measured.figures["loss"] == measured.figures["information-loss"] > 0
    assert measured.figures["risk"] == measured.figures["class-risk"] < 100
    assert 0 < measured.figures["analyses"] <= 100
    assert not measured.complaints
    assert measured.verdicts[0]["holds"]
    assert "class-risk" not in measured.intervals, "it is exact"


def test_class_sizes_are_not_said_after_perturbation() -> None:
    swapped = Pram(theta=0.5, columns=("sex", "district")).mask(TABLE, np.random.default_rng(1))
    measured = plan().objective(TABLE).evaluate(swapped, "perturbation")
    assert measured.figures["k"] is None
    assert "equal values do not mean equal people" in omission_text_on_card(measured.omissions["k"])
    assert measured.figures["risk"] is not None
    assert [complaint.kind for complaint in measured.complaints] == ["no-model"]
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
    measured = plan(scenario=scenarios).objective(TABLE).evaluate(MASKED, "aggregation")
    both = [measured.figures["risk.neighbour"], measured.figures["risk.employer"]]
    assert measured.figures["risk"] == max(both)
    assert len(measured.verdicts) == 2
    assert measured.verdicts[1]["required"] == 4


def test_uses_limit_or_steer() -> None:
    use = {"measure": "means-use", "columns": ["income"], "by": ["sex"], "tolerance": 1e-6}
    limited = plan(use=[use]).objective(TABLE).evaluate(MASKED, "aggregation")
    assert [(c.kind, c.subject) for c in limited.complaints] == [("use", "means-use")]
    steered = plan(use=[{**use, "tolerance": 50, "as": "objective"}]).objective(TABLE)
    assert steered.axes == ("loss", "risk", "uses")
    figures = steered.evaluate(MASKED, "aggregation").figures
    assert figures["uses"] == pytest.approx(100 * figures["means-use"] / 50)
    told = plan(use=[{**use, "as": "report"}]).objective(TABLE).evaluate(MASKED, "aggregation")
    assert not told.complaints


def test_limits_refuse_what_lies_beyond_them() -> None:
    limits = [{"measure": "risk", "at_most": 0.01}, {"measure": "entropy-loss", "at_most": 0.0}]
    measured = plan(limit=limits).objective(TABLE).evaluate(MASKED, "aggregation")
    assert len(measured.complaints) == 2
    assert measured.figures["entropy-loss"] > 0


def test_suppression_beyond_the_plan_is_a_complaint() -> None:
    rows = np.zeros(len(MASKED), dtype=np.bool_)
    rows[:6] = True
    measured = plan().objective(TABLE).evaluate(MASKED.without(rows), "aggregation")
    assert measured.figures["suppressed"] == pytest.approx(5.0)
    assert any("are suppressed" in complaint_text(c, "aggregation") for c in measured.complaints)
