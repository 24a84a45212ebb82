"""What a verdict says is part of the guarantee a custodian signs: every sentence, word for word."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.privacy.anonymity import SmallestClass, smallest_anonymity_class
from crypsis.privacy.model import find_records_failing_model, models
from crypsis.table.attribute import Role
from crypsis.table.table import Table

PEOPLE = Table.from_columns(
    {
        "zip": ["1", "1", "1", "2", "2", "2"],
        "ill": ["flu", "hiv", "cold", "flu", "hiv", "cold"],
        "member": ["yes", "no", "no", "yes", "no", "no"],
    },
    {"zip": "quasi", "ill": "confidential"},
)


@pytest.mark.parametrize(
    ("name", "settings", "statement"),
    [
        ("k-anonymity", {"k": 3}, "every record shares its values of zip with at least 3 records"),
        (
            "l-diversity",
            {"l": 3},
            "every class of records equal in zip holds at least 3 different values of each confidential column",
        ),
        (
            "l-diversity",
            {"l": 2.5, "kind": "entropy"},
            "the entropy of each confidential column in every class of records equal in zip is at least log 2.5",
        ),
        (
            "l-diversity",
            {"l": 3, "kind": "recursive", "c": 2.5},
            "in every class of records equal in zip the commonest confidential value occurs less than 2.5 times as "
            "often as all but the 2 commonest together",
        ),
        (
            "t-closeness",
            {"t": 0.2, "distance": "equal"},
            "the distribution of each confidential column in every class of records equal in zip lies within 0.2 of "
            "that in the table (earth mover's distance, equal)",
        ),
        (
            "beta-likeness",
            {"beta": 2, "kind": "basic"},
            "no class of records equal in zip raises the share of a confidential value by more than β = 2, relatively",
        ),
        (
            "beta-likeness",
            {"beta": 2, "kind": "enhanced"},
            "no class of records equal in zip raises the share of a confidential value by more than min(β = 2, -ln of "
            "its share), relatively",
        ),
        (
            "alpha-k-anonymity",
            {"k": 2, "alpha": 0.4},
            "every class of records equal in zip has at least 2 records and no confidential value makes up more than "
            "0.4 of it (a smaller class counts as 1)",
        ),
        (
            "delta-presence",
            {"least": 0.1, "most": 0.4},
            "in every class of the population equal in zip between 0.1 and 0.4 of the people are in the file (the "
            "number is how far the worst class lies outside)",
        ),
    ],
)
def test_the_statement_and_the_name(name: str, settings: dict[str, object], statement: str) -> None:
    verdict = models.build(name, **settings).judge(PEOPLE)
    assert (verdict.model, verdict.demand, verdict.holds) == (name, statement, True)
    assert verdict.columns == ("zip",)


def test_a_demand_on_some_columns_names_them_and_no_others() -> None:
    people = PEOPLE.with_roles({"member": Role.QUASI_IDENTIFIER})
    verdict = models.build("k-anonymity", k=2, quasi_identifiers=("member",)).judge(people)
    assert (verdict.columns, verdict.attained) == (("member",), 2)
    assert verdict.demand == "every record shares its values of member with at least 2 records"
    assert smallest_anonymity_class(people) == SmallestClass(("zip", "member"), 1)
    assert smallest_anonymity_class(people.without(np.ones(6, dtype=bool))) == SmallestClass(("zip", "member"), 0)
    assert smallest_anonymity_class(people.drop(["zip", "member"])) is None


def test_a_column_with_braces_is_a_name_like_any_other() -> None:
    table = Table.from_columns({"{columns}": ["a", "a"], "{0}": ["b", "b"]}, {"{columns}": "quasi", "{0}": "quasi"})
    verdict = models.build("k-anonymity", k=2).judge(table)
    assert verdict.demand == "every record shares its values of {columns}, {0} with at least 2 records"
    verdict = models.build("l-diversity", quasi_identifiers=("{0}",), confidential=("{columns}",)).judge(table)
    assert verdict.demand == "every class of records equal in {0} holds at least 2 different values of {columns}"


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("l-diversity", {}, "different values of each of ill, member"),
        ("l-diversity", {"kind": "entropy"}, "the entropy of each of ill, member in every class"),
        ("l-diversity", {"kind": "recursive"}, "the commonest value of ill, member occurs"),
        ("t-closeness", {"distance": "equal"}, "the distribution of each of ill, member in every class"),
        ("beta-likeness", {}, "the share of a value of ill, member by more"),
        ("alpha-k-anonymity", {}, "no value of ill, member makes up"),
    ],
)
def test_a_demand_on_some_confidential_columns_claims_nothing_of_the_others(
    name: str, settings: dict[str, object], said: str
) -> None:
    people = PEOPLE.with_roles({"member": Role.CONFIDENTIAL, "zip": Role.QUASI_IDENTIFIER})
    demand = models.build(name, confidential=("ill", "member"), **settings).judge(people).demand
    assert said in demand
    assert "confidential" not in demand
    of_one = models.build(name, confidential=("ill",), **settings).judge(people).demand
    assert said.replace("each of ill, member", "ill").replace("ill, member", "ill") in of_one


@pytest.mark.parametrize("name", ["alpha-k-anonymity", "t-closeness", "l-diversity", "beta-likeness"])
def test_a_confidential_column_that_is_not_there_is_named(name: str) -> None:
    obstacle = models.build(name, confidential=("wage",)).obstacle(PEOPLE)
    assert obstacle.startswith(f"{name}: there is no column 'wage'")


def test_one_record_is_a_record() -> None:
    one = PEOPLE.without(np.arange(6) > 0)
    assert models.build("t-closeness", t=0.1, distance="equal").judge(one).holds


def test_a_number_that_marks_members_marks_them_and_not_the_others() -> None:
    numbers = Table.from_columns({"zip": ["1", "1", "1"], "in": [1, 0, 0]}, {"zip": "quasi"})
    assert models.build("delta-presence", member="in", present="1").beliefs(numbers) == pytest.approx([1 / 3] * 3)


def test_room_for_rounding_grows_with_the_threshold_only() -> None:
    assert find_records_failing_model(np.array([1e6 - 5e-4, 1e6 - 2e-3]), 1e6, "at least").tolist() == [False, True]
    assert find_records_failing_model(np.array([0.1 + 1.5e-9]), 0.1, "at most").tolist() == [True]
