from __future__ import annotations

import numpy as np
import pytest

from crypsis.measures.generalisation_loss import ClassificationMetric
from crypsis.measures.information_loss import CellLoss
from crypsis.measures.measure import max_score_of_measures, mean_score_of_measures
from crypsis.measures.numeric_loss import SquaredError, SquaredErrorRatio
from crypsis.measures.objective import Objective
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.table.table import Table


def test_an_objective_reads_what_its_measures_read() -> None:
    """0, 0, 4, 4 published as 0, 0, 2, 4: SSE 1 on the scale of the deviation 2, a quarter of the SST."""
    original = Table.from_columns({"v": [0.0, 0, 4, 4]}, {"v": "quasi"})
    masked = original.with_columns({"v": np.array([0.0, 0, 2, 4])})
    measures = {"raw": SquaredError(), "share": SquaredErrorRatio(), "linkage": RecordLinkage()}
    objective = Objective(original, measures)
    linkage = RecordLinkage(columns=("v",)).against(original).read(masked)
    assert objective.score(masked) == ((1.0 + 25.0) / 2, linkage)
    figures = objective.evaluate(masked, "aggregation").figures
    assert (figures["raw"], figures["share"], figures["loss"]) == (1.0, 25.0, 13.0)
    assert figures["risk"] == figures["linkage"] == linkage


def test_which_columns_are_compared_and_why_none_can_be() -> None:
    table = Table.from_columns({"a": [1.0], "b": ["x"], "c": [2.0]}, {"b": "quasi", "c": "quasi"})
    assert CellLoss().choose_columns(table) == ("b", "c")
    assert CellLoss(columns=("a",)).choose_columns(table) == ("a",)
    assert CellLoss(columns=("b", "a")).obstacle(table) == CellLoss().obstacle(table) == ""
    absent = "there is no column 'aa' (did you mean 'a'?); columns: a, b, c"
    assert CellLoss(columns=("b", "aa", "zz")).obstacle(table) == absent
    assert ClassificationMetric(label="aa").obstacle(table) == absent


def test_a_reading_tells_what_its_measure_is() -> None:
    measure = RecordLinkage(ties="strict")
    told = measure.make_reading(3.0, ["a"], "m", {"n": 1}, interval=(1, 4), baseline=0.5, control=2.0, warning="w")
    assert (told.measure, told.unit, told.better, told.aim) == ("record-linkage", "%", "low", "risk")
    assert (told.definition, told.scope, told.missing, told.counts) == (measure.definition, ("a",), "m", {"n": 1})
    assert (told.value, told.interval, told.baseline, told.control, told.warning) == (3.0, (1, 4), 0.5, 2.0, "w")
    plain = SquaredError().make_reading(1.0, (), "m", {})
    assert (plain.unit, plain.aim) == ("squared scaled units", "loss")
    assert (plain.interval, plain.baseline, plain.control, plain.warning) == (None, None, None, "")


def test_scores_by_hand() -> None:
    """Losses 10 and 30, risks 40 and 80: means 20 and 60."""
    assert mean_score_of_measures([10, 30], [40, 80]) == pytest.approx(40)
    assert max_score_of_measures([10, 30], [40, 80]) == pytest.approx(60)
    assert max_score_of_measures([90], [40, 80]) == pytest.approx(90)
