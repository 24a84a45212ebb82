"""The utility card: what was harmed most first, with rules, uses and the whole file."""

from __future__ import annotations

import json

import numpy as np
import pytest

import crypsis
from crypsis.measures.utility import RuleHarm, UseResult, general_utility_of_card, utility_card
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import LOCAL, Table
from crypsis.text import opening_text, utility_card_facts
from crypsis.text.cards import general_text, use_text


def pair() -> tuple[Table, Table]:
    rng = np.random.default_rng(0)
    roles = {"town": "quasi", "age": "quasi", "pay": "confidential"}
    columns = {"town": rng.choice(["a", "b", "c"], 200).tolist(), "age": rng.integers(20, 70, 200).tolist()}
    original = Table.from_columns(columns | {"pay": rng.normal(0, 1, 200).tolist()}, roles)
    return original, original.with_columns({"town": np.zeros(200, dtype=np.int32)})


def test_what_is_harmed_most_opens_the_card_whatever_it_is() -> None:
    original, masked = pair()
    uses = [UseResult("wages", 90.0, 20.0, "regression-use"), UseResult("mild", 3.0, 20.0, "means-use")]
    rules = [RuleHarm("rule age >= 18", 190, 200), RuleHarm("rule kept", 0, 200)]
    card = utility_card(original, masked, uses=uses, rules=rules)
    assert [(harm.kind, harm.columns[0]) for harm in card.harms[:3]] == [
        ("constant", "town"), ("rule", "rule age >= 18"), ("use", "wages")
    ]  # fmt: skip
    assert {harm.columns[0] for harm in card.harms if harm.kind in ("rule", "use")} == {"rule age >= 18", "wages"}
    sizes = [harm.size for harm in card.harms]
    assert sizes == sorted(sizes, reverse=True)
    third, first, second = opening_text(card)[:3]
    assert first == "rule age >= 18: 190 records break it that kept it (95 %)"
    assert second == "use wages: changed by 90 %, at most 20 % wanted, which is exceeded"
    assert third == "town: one value is left of it"
    assert card.ruins[0].column == "town"


def test_the_public_part_holds_no_count_of_records_and_all_of_it_is_plain_data() -> None:
    original, masked = pair()
    facts = utility_card_facts(utility_card(original, masked, rules=[RuleHarm("rule age >= 18", 190, 200)]))
    assert all("records" not in sentence for sentence in facts["public"])
    assert json.loads(json.dumps(facts)) == facts
    assert facts["rules"] == [
        {"title": "rule age >= 18", "created": 190, "records": 200, "text": facts["rules"][0]["text"]}
    ]


def test_the_whole_file_is_compared_with_chance() -> None:
    original, masked = pair()
    scores = general_utility_of_card(original, masked)
    assert [score.model for score in scores] == ["pairs", "cart"]
    assert scores == utility_card(original, masked).general
    assert general_text(scores[0]).startswith("a model tells released from original records: ")
    same = general_utility_of_card(original, original)
    assert general_text(same[0]) == "a model cannot tell released from original records better than by chance"
    assert general_utility_of_card(original, original.without(np.ones(200, dtype=bool))) == ()


def test_a_use_says_what_its_analysis_gave() -> None:
    people = crypsis.example(300)
    masked = crypsis.Microaggregation(k=20).mask(people, np.random.default_rng(0))
    reading = crypsis.ClassifierUse(target="marital", columns=("age", "hours")).against(people).explain(masked)
    told = use_text(UseResult("model", reading.value, 50.0, "classifier-use", reading.counts))
    assert "area under the ROC curve 0." in told
    assert "held-out original records" in told
    slopes = crypsis.RegressionUse(target="income", columns=("age", "hours")).against(people).explain(masked)
    told = use_text(UseResult("wages", slopes.value, 50.0, "regression-use", slopes.counts))
    assert f"95 % intervals of 2 slopes overlap by {slopes.counts['mean overlap']:.2f} on average" in told
    assert slopes.value == pytest.approx(50 * (1 - slopes.counts["mean overlap"]))
    assert use_text(UseResult("wages", None, 5.0)) == "use wages: could not be measured"


def test_values_that_only_groups_stand_for_are_named() -> None:
    """Thirty a, thirty b, four c and two d; c and d are published as their group."""
    rows = [["a", "west", "*"], ["b", "west", "*"], ["c", "east", "*"], ["d", "east", "*"]]
    attribute = Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tuple("abcd"), crypsis.Hierarchy.from_rows(rows))
    codes = np.repeat(np.arange(4), [30, 30, 4, 2]).astype(np.int32)
    original = Table((attribute,), (codes,))
    grouped = original.with_columns({"town": np.where(codes > 1, 5, codes).astype(np.int32)}, levels={"town": LOCAL})
    card = utility_card(original, grouped, general=())
    assert (card.columns[0].merged, card.columns[0].merged_records, card.columns[0].vanished) == (2, 6, 0)
    assert utility_card_facts(card)["columns"][0]["vanished"] == "2 of 4 grouped"
    assert "town: 2 of 4 values are released only within groups, held by 6 records (9.1 %)" in opening_text(card)


def test_an_emptied_end_of_a_number_is_named_whatever_else_was_harmed() -> None:
    ages = np.repeat(np.arange(20.0, 60.0), 10)
    original = Table.from_columns({"age": ages, "x": ages[::-1].copy()}, {"age": "quasi", "x": "quasi"})
    masked = original.with_columns({"age": np.minimum(ages, 57.0), "x": ages[::-1] + 0.0})
    card = utility_card(original, masked, general=())
    assert opening_text(card)[-1] == "age: of 20 records above its 95 % point 0 are left"
    assert "records" not in "".join(utility_card_facts(card)["public"])
