from __future__ import annotations

import json

import numpy as np
import pytest

from crypsis.errors import PlanError, TableError
from crypsis.measures import measures
from crypsis.measures.assess import assess
from crypsis.measures.numeric_loss import SquaredErrorRatio
from crypsis.table.table import Table


def people(seed: int, n: int = 60) -> Table:
    rng = np.random.default_rng(seed)
    return Table.from_columns(
        {"age": rng.integers(18, 90, n), "pay": rng.integers(1, 99, n), "town": rng.choice(list("abc"), n)},
        {"age": "quasi", "pay": "quasi", "town": "quasi"},
    )


def masked_people() -> tuple[Table, Table]:
    original = people(0)
    return original, original.with_columns({"age": np.round(original.column("age"), -1)})


def test_every_measure_is_read_or_says_why_not() -> None:
    original, masked = masked_people()
    result = assess(original, masked)
    assert {reading.measure for reading in result.readings} | set(result.skipped) == set(measures)
    assert {"sse", "sse-ratio", "il1s", "moments", "pil", "interval-disclosure", "record-linkage"} <= {
        reading.measure for reading in result.readings
    }
    assert all(reading.definition and reading.unit and reading.scope and reading.missing for reading in result.readings)


def test_scores_are_means_of_the_readings_in_per_cent() -> None:
    original, masked = masked_people()
    result = assess(original, masked, ["sse", "sse-ratio", "record-linkage", "interval-disclosure"])
    loss = result["sse-ratio"].value
    risk = (result["record-linkage"].value + result["interval-disclosure"].value) / 2
    assert result.information_loss == pytest.approx(loss)
    assert result.disclosure_risk == pytest.approx(risk)
    assert result.mean_score == pytest.approx((loss + risk) / 2)
    assert result.max_score == pytest.approx(max(loss, risk))
    only = assess(original, masked, ["sse"])
    assert (only.information_loss, only.disclosure_risk, only.mean_score, only.max_score) == (None,) * 4
    with pytest.raises(KeyError):
        only["pil"]


def test_json_and_text() -> None:
    original, masked = masked_people()
    result = assess(original, masked, control=people(1))
    plain = json.loads(json.dumps(result.to_dict()))
    linkage = next(item for item in plain["readings"] if item["measure"] == "record-linkage")
    assert linkage["control"] is not None
    assert linkage["scope"] == ["age", "pay", "town"]
    text = str(result)
    assert "record-linkage ↓" in text
    assert "disclosure risk" in text
    assert "outsiders" in text


def test_settings_families_and_refusals() -> None:
    original, masked = masked_people()
    given = assess(original, masked, {"loss": SquaredErrorRatio(columns=("pay",))})
    assert given.readings[0].value == 0
    categories = assess(original.drop(["age", "pay"]), masked.drop(["age", "pay"]), ["sse", "record-linkage"])
    assert "numeric" in categories.skipped["sse"]
    lost = assess(original, masked.drop(["pay"]), ["sse"])
    assert "no column 'pay'" in lost.skipped["sse"]
    with pytest.raises(TableError, match="rows"):
        assess(original, masked.take(np.arange(5)))
    with pytest.raises(PlanError, match="no measure called"):
        assess(original, masked, ["record-linkages"])


def test_a_measure_without_meaning_after_the_masking_is_left_out() -> None:
    original, masked = masked_people()

    class OnlyRecoding(SquaredErrorRatio):
        valid_for = frozenset({"recoding"})

    result = assess(original, masked, {"only": OnlyRecoding()}, family="perturbation")
    assert "no meaning after perturbation" in result.skipped["only"]
