from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from crypsis.errors import PlanError, TableError
from crypsis.measures import measures
from crypsis.measures.assess import Assessment, assess
from crypsis.measures.measure import Reading
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
    assert "is needed" in result.skipped["table-use"], "a use without settings says which"
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
    with pytest.raises(KeyError, match="pil"):
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


def test_a_table_to_read_word_for_word() -> None:
    """Losses first, then risks, then scores, then notes; numbers stand to the right."""
    reading = partial(Reading, definition="d")
    result = Assessment(
        (
            reading("link", 12.345678, "%", "low", "risk", interval=(10.0, 1234.56), baseline=1.5, control=0.25),
            reading("far", 1000.0, "pairs", "high", "loss", warning="read with care"),
            reading("near", -999.4, "%", "low", "loss"),
            reading("fair", 3.0, "persons", "high", "privacy"),
        ),
        {"pil": "no numbers"},
    )
    assert str(result).splitlines() == [
        "measure   value  unit     95 % interval  guessing  outsiders",
        "───────  ──────  ───────  ─────────────  ────────  ─────────",
        "far ↑    1000.0  pairs",
        "near ↓   -999.4  %",
        "link ↓    12.35  %        10 – 1234.6    1.5       0.25",
        "fair ↑        3  persons",
        "",
        "information loss  -999.400 %",
        "disclosure risk     12.346 %",
        "mean score        -493.527 %",
        "max score           12.346 %",
        "",
        "far: read with care",
        "pil says nothing here: no numbers",
    ]
    quiet = Assessment((reading("near", 1.0, "records", "low", "loss"),), {})
    assert len(str(quiet).splitlines()) == 3, "no score and no note"
    assert (result["fair"].value, result["link"].value) == (3.0, 12.345678)


def test_plain_numbers_and_lists_for_json() -> None:
    shown = Reading("m", 1.0, "%", "low", "loss", "d", scope=("a", "b"), interval=(0.0, 2.0), counts={"records": 3})
    bare = Reading("n", 2.0, "%", "low", "risk", "d")
    plain = Assessment((shown, bare), {"x": "why"}).to_dict()
    assert plain["readings"][0] == {
        "measure": "m",
        "value": 1.0,
        "unit": "%",
        "better": "low",
        "aim": "loss",
        "definition": "d",
        "scope": ["a", "b"],
        "missing": "",
        "interval": [0.0, 2.0],
        "baseline": None,
        "control": None,
        "counts": {"records": 3},
        "warning": "",
    }
    assert (plain["readings"][1]["scope"], plain["readings"][1]["interval"]) == ([], None)
    scores = {name: plain[name] for name in ("information_loss", "disclosure_risk", "mean_score", "max_score")}
    assert scores == {"information_loss": 1.0, "disclosure_risk": 2.0, "mean_score": 1.5, "max_score": 2.0}
    assert plain["skipped"] == {"x": "why"}


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
    assert result.skipped["only"] == "the number has no meaning after perturbation; it is valid after recoding"
    for family, read in (("perturbation", False), ("recoding", True), (None, True)):
        result = assess(original, masked, ["discernibility"], family=family)
        assert [reading.measure for reading in result.readings] == (["discernibility"] if read else [])
    lost = assess(original, masked, ["discernibility"], family="perturbation").skipped["discernibility"]
    assert lost.endswith("valid after aggregation, recoding")
