from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.measures.objective import LimitDemand, Objective, excess_over_objective_limit, infeasible_objective_scores
from crypsis.table.table import Table

MEASURES = {"loss": crypsis.CellLoss(), "risk": crypsis.RecordLinkage()}
FIVE = Table.from_columns(
    {"age": [30.0, 30, 40, 40, 40], "sex": ["f", "f", "m", "m", "m"]}, {"age": "quasi", "sex": "quasi"}
)


def test_whoever_misses_less_comes_first() -> None:
    assert infeasible_objective_scores(0.1) < infeasible_objective_scores(0.2)
    assert min(infeasible_objective_scores(1e-12)) > 100.0
    assert (
        excess_over_objective_limit(4.9, 5)
        == 0.0
        < excess_over_objective_limit(5.1, 5)
        < excess_over_objective_limit(50, 5)
        < excess_over_objective_limit(np.inf, 5)
        == 1.0
    )
    assert excess_over_objective_limit(0.5, 0) == pytest.approx(1 / 3)


def test_a_missed_model_comes_after_any_loss_and_risk() -> None:
    plain = Objective(FIVE, MEASURES)
    assert Objective(FIVE, MEASURES, models=[crypsis.KAnonymity(k=2)]).score(FIVE) == plain.score(FIVE)
    three = Objective(FIVE, MEASURES, models=[crypsis.KAnonymity(k=3)])
    four = Objective(FIVE, MEASURES, models=[crypsis.KAnonymity(k=4)])
    assert plain.score(FIVE) < three.score(FIVE) < four.score(FIVE)
    assert three.shortfall(FIVE) == pytest.approx(2 / 5 / 3)


def test_classes_are_not_asked_after_a_perturbation() -> None:
    three = Objective(FIVE, MEASURES, models=[crypsis.KAnonymity(k=3)])
    assert three.score(FIVE, "perturbation") == Objective(FIVE, MEASURES).score(FIVE)


@pytest.mark.parametrize(
    ("limit", "missed"),
    [
        (LimitDemand("loss", 0.0), False),
        (LimitDemand("risk", 5.0), True),
        (LimitDemand("suppressed", 0.0), False),
        (LimitDemand("interval-disclosure", 1.0, crypsis.IntervalDisclosure()), True),
    ],
)
def test_limits_are_constraints_too(limit: LimitDemand, missed: bool) -> None:
    objective = Objective(FIVE, MEASURES, limits=[limit])
    assert (objective.shortfall(FIVE) > 0) == missed
    assert (min(objective.score(FIVE)) > 100) == missed
    assert bool(objective.evaluate(FIVE, "aggregation").complaints) == missed


def test_too_many_suppressed_records_are_a_shortfall() -> None:
    masked = FIVE.without(np.array([True, False, False, False, False]))
    assert Objective(FIVE, MEASURES, suppression=0.2).shortfall(masked) == 0
    assert Objective(FIVE, MEASURES, suppression=0.1).shortfall(masked) == pytest.approx(0.5)
