"""What an analyst keeps, in words: what users of a file may read of it holds no value of few people."""

from __future__ import annotations

import json

import numpy as np

import crypsis
from crypsis.measures.utility import AnalysesKept, EstimateChange, utility_card
from crypsis.report.content import _answers
from crypsis.table.table import Table
from crypsis.text import utility_card_facts
from crypsis.text.cards import analyses_text, category_rows, change_text, number_rows


def skewed() -> tuple[Table, Table]:
    """A number whose total is that of one person, and a town of nine people."""
    rng = np.random.default_rng(0)
    n = 300
    pay = rng.exponential(100, n)
    pay[0] = 87654321.5
    columns = {
        "age": rng.normal(40, 9, n),
        "pay": pay,
        "town": ["Rarewell"] * 9 + ["Often"] * 200 + ["Usual"] * (n - 209),
    }
    original = Table.from_columns(columns, {"age": "quasi", "pay": "confidential", "town": "quasi"})
    codes = np.where(original.column("town") == 1, original.column("town"), 0).astype(np.int32)
    return original, original.with_columns({"age": np.full(n, 40.0), "town": codes})


def test_public_facts_hold_no_figure_of_few_people() -> None:
    original, masked = skewed()
    facts = json.loads(json.dumps(utility_card_facts(utility_card(original, masked, general=()))))
    outside = _answers(facts)
    by_name = {each["name"]: each for each in outside["estimates"]}
    assert {each["figure"] for each in by_name["age"]["figures"]} == {"mean", "sd", "total"}
    assert by_name["pay"]["figures"] == []
    assert "Rarewell" not in json.dumps(outside)
    assert "876543" not in json.dumps(outside)
    assert "87654321.5" not in json.dumps(facts), "nor is the value of one person anywhere else"
    assert {each["figure"] for each in by_name["town"]["figures"]} <= {"Often", "Usual"}
    assert outside["analyses"]["drawn"] == facts["analyses"]["drawn"] > 0
    assert all("→" not in sentence for sentence in outside["analyses"]["public"])


def test_ruin_vanished_values_and_figures_are_shown_before_and_after() -> None:
    original, masked = skewed()
    card = utility_card(original, masked, general=())
    rows = {row[0]: row for row in number_rows(card.estimates)}
    assert rows["age"][2].endswith("→ 0*"), "its standard deviation is gone"
    gone = {row[0]: row[2] for row in category_rows(card.estimates)}
    assert "vanished" in gone["town"]
    assert ("age", "constant") in {(ruin.column, ruin.harm) for ruin in card.ruins}


def test_the_sentence_never_rounds_up_to_all() -> None:
    inside = EstimateChange("total", "total of a", "", 1.0, 1.0, 0.0, True, 1.0)
    model = [EstimateChange("regression", "regression", f"x{i}", 1.0, 3.0, 9.0, i > 0, 0.0) for i in range(10)]
    kept = AnalysesKept((inside, *model))
    assert kept.kept == 1.9
    assert analyses_text(kept, {"plain MDAV": kept}) == (
        "of 2 analyses drawn at random 1 keep their answer; plain MDAV: 1"
    )
    assert change_text(model[0]) == "regression, coefficient of x0: 1 → 3 (9.0 standard errors)"
    assert change_text(model[0], figures=False) == "regression, coefficient of x0: 9.0 standard errors away"


def test_a_report_draws_other_analyses_than_a_search() -> None:
    original = crypsis.example(300, seed=1)
    card = utility_card(original, original, general=())
    assert card.analyses is not None
    search = crypsis.Analyses(original, 200, 1)
    assert [a.title for a in search.analyses] != list(dict.fromkeys(row.analysis for row in card.analyses.rows))
