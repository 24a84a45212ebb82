"""Rulebooks: every rule kept and broken, unknown things fail, waivers need a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crypsis.errors import PlanError
from crypsis.measures.measure import Reading
from crypsis.privacy import KAnonymity, LDiversity, TCloseness
from crypsis.rulebook import (
    Evidence,
    Rulebook,
    check_planned,
    check_rulebook,
    read_rulebook,
    refusals,
    shipped_names,
)
from crypsis.table.table import Table


def table(sizes: tuple[int, ...] = (6, 6), spread: int = 3) -> Table:
    """Classes of the given sizes by one quasi-identifier, with `spread` confidential values taking turns."""
    place = [f"p{number}" for number, size in enumerate(sizes) for _ in range(size)]
    illness = [f"i{row % spread}" for row in range(len(place))]
    return Table.from_columns(
        {"place": place, "illness": illness, "hours": [float(row) for row in range(len(place))]},
        roles={"place": "quasi", "illness": "confidential"},
    )


def risk(value: float, measure: str = "record-linkage") -> Reading:
    return Reading(measure, value, "%", "low", "risk", "…")


def book(**rule: object) -> Rulebook:
    return Rulebook.model_validate({"name": "test", "title": "Test", "rule": [{"id": "r", **rule}]})


def column(**values: list[object]) -> Evidence:
    return Evidence(Table.from_columns(values))


K5 = {"demand": "model", "model": "k-anonymity", "settings": {"k": 5}}
CASES = [
    (K5, Evidence(table()), Evidence(table((6, 4)))),
    (K5, Evidence(table()), Evidence(table(), family="perturbation")),
    (
        {"demand": "model", "model": "l-diversity", "settings": {"l": 3}},
        Evidence(table()),
        Evidence(table((6, 6), spread=2)),
    ),
    ({"demand": "model", "model": "t-closeness", "settings": {"t": 0.2}}, Evidence(table()), Evidence(table((9, 1)))),
    ({"demand": "class-size", "at_least": 6}, Evidence(table()), Evidence(table((7, 5)))),
    ({"demand": "audit"}, Evidence(table(), waived=[]), Evidence(table(), waived=["singling-out"])),
    ({"demand": "audit"}, Evidence(table(), waived=[]), Evidence(table())),
    ({"demand": "singled-out", "at_most": 12}, Evidence(table((6, 6))), Evidence(table((6, 7)))),
    ({"demand": "singled-out"}, Evidence(table().drop(["hours"])), Evidence(table())),
    (
        {"demand": "audit", "kinds": ["filled"], "at_most": 1},
        Evidence(table(), waived=["filled", "dependence", "dependence"]),
        Evidence(table(), waived=["filled", "filled"]),
    ),
    (
        {"demand": "risk", "measure": "record-linkage", "at_most": 5},
        Evidence(table(), risks=[risk(5.0)]),
        Evidence(table(), risks=[risk(1.0), risk(5.1)]),
    ),
    (
        {"demand": "risk", "measure": "record-linkage", "at_most": 5},
        Evidence(table(), risks=[risk(0.0)]),
        Evidence(table(), risks=None),
    ),
    (
        {"demand": "risk", "measure": "record-linkage", "at_most": 5},
        Evidence(table(), risks=[risk(0.0)]),
        Evidence(table(), risks=[risk(0.0, "interval-disclosure")]),
    ),
    ({"demand": "suppression", "at_most": 25}, Evidence(table(), suppressed=4), Evidence(table(), suppressed=5)),
    ({"demand": "rows", "at_least": 12}, Evidence(table()), Evidence(table((6, 5)))),
    (
        {"demand": "columns", "never": ["*surname*", "ssn"]},
        Evidence(table()),
        Evidence(Table.from_columns({"Surname_2": [1, 2]})),
    ),
    ({"demand": "identifiers"}, Evidence(table()), Evidence(Table.from_columns({"x": ["a", "b", "c"]}))),
    (
        {"demand": "identifiers"},
        Evidence(table()),
        Evidence(Table.from_columns({"x": [1, 1]}, roles={"x": "identifier"})),
    ),
    ({"demand": "order"}, Evidence(table()), Evidence(table(), order="kept")),
    ({"demand": "forms"}, Evidence(table()), column(reach=["ann@a.org", "bob@b.org"])),
    ({"demand": "forms"}, column(x=[1.0, 2.0, 3.0] * 9), column(x=[float(n) for n in range(27)])),
    ({"demand": "dates"}, column(seen=["2019", "2020"]), column(seen=["2019-03", "2020-01"])),
    ({"demand": "dates"}, column(seen=["2019", "2020"]), column(seen=["24.12.2019", "6.1.2020"])),
    ({"demand": "ages"}, column(age=[20.0, 89.0, 90.0]), column(age=[20.0, 90.0, 91.0])),
    ({"demand": "ages"}, column(age=["20-39", "40-89", "90+"]), column(age=["20-39", "80-92", "93-99"])),
    ({"demand": "ages"}, column(birth_year=[1990.0, 2001.0]), column(birth_year=[1890.0, 2001.0])),
    ({"demand": "postcodes"}, column(zip=["123**", "000**", "456"]), column(zip=["1234*", "000**"])),
    (
        {"demand": "postcodes", "restricted": ["036"]},
        column(zip=["123", "000"]),
        column(zip=["123", "036"]),
    ),
    ({"demand": "postcodes", "restricted": ["036"]}, column(zip=[123.0, 350.0]), column(zip=[123.0, 36.0])),
    ({"demand": "postcodes"}, column(zip=[123.0, 350.0]), column(zip=[1234.0, 35001.0])),
    ({"demand": "cells", "at_least": 4}, Evidence(table()), Evidence(table((6, 3)))),
    ({"demand": "cells", "at_least": 2, "ways": 2}, Evidence(table()), Evidence(table((6, 4)))),
    ({"demand": "cells", "at_least": 6, "columns": ["place"]}, Evidence(table()), Evidence(table((6, 5)))),
]


def test_the_eighteen_identifiers() -> None:
    """Each breaks its own rule; the file without them keeps every one."""
    rules = read_rulebook("hipaa-safe-harbor")
    people = [float(20 + n % 30) for n in range(60)]
    clean = {"sex": ["f", "m"] * 30, "age": people, "state": ["VT", "NH"] * 30, "admitted": ["2019", "2020"] * 30}

    def broken(**more: list[object]) -> set[str]:
        found = check_rulebook(rules, Evidence(Table.from_columns(clean | more)))
        return {each.id for each in found if not each.holds}

    assert broken() == set()
    for name in ("name", "patient_name"):
        assert broken(**{name: ["x", "y"] * 30}) == {"a-names"}
    for name in ("street", "city", "county", "home_address"):
        assert broken(**{name: ["x", "y"] * 30}) == {"b-places"}
    assert broken(zip=["05401", "03755"] * 30) == broken(zip=["054", "036"] * 30) == {"b-postcodes"}
    assert broken(zip=["054", "000"] * 30) == set()
    assert broken(discharge=["2019-01-02", "2019-03-04"] * 30) == {"c-dates"}
    assert broken(age_at_death=[91.0, 93.0, 95.0] * 20) == {"c-ages"}
    numbers = "phone fax email ssn mrn beneficiary account_no licence_no vehicle device_serial url ip voice_print"
    for name in numbers.split():
        assert broken(**{name: ["x", "y"] * 30}) == {"d-to-p-contacts-and-numbers"}
    assert broken(reach=["555-123-4567", "555-987-6543"] * 30) == {"d-to-p-values"}
    assert broken(face_image=["x", "y"] * 30) == {"q-pictures"}
    assert broken(code=[f"c{n}" for n in range(60)]) == {"r-other-unique"}


@pytest.mark.parametrize(("rule", "good", "bad"), CASES)
def test_every_rule_is_kept_by_one_file_and_broken_by_another(
    rule: dict[str, object], good: Evidence, bad: Evidence
) -> None:
    (kept,) = check_rulebook(book(**rule), good)
    (broken,) = check_rulebook(book(**rule), bad)
    assert kept.holds, kept
    assert not broken.holds, broken
    assert broken.found
    assert refusals([kept, broken]) == [f"rule r: {broken.statement} is demanded, found: {broken.found}"]


def test_a_rule_of_other_families_is_not_asked() -> None:
    (result,) = check_rulebook(book(**K5, families=["recoding"]), Evidence(table((1, 1)), family="perturbation"))
    assert result.holds
    assert "does not apply" in result.found


def test_diversity_asks_nothing_where_nothing_is_confidential() -> None:
    plain = Table.from_columns({"place": ["a", "a"]}, roles={"place": "quasi"})
    assert check_rulebook(book(demand="model", model="l-diversity"), Evidence(plain))[0].holds


def test_missing_values_are_no_small_cell() -> None:
    few = Table.from_columns({"place": ["a"] * 11 + [None]})
    assert check_rulebook(book(demand="cells", at_least=11), Evidence(few))[0].holds


def test_a_waiver_keeps_the_failure_and_gives_its_reason() -> None:
    rules = book(demand="rows", at_least=100)
    (result,) = check_rulebook(rules, Evidence(table()), {"r": "agreed with the data board"})
    assert not result.holds
    assert result.passed
    assert result.waived == "agreed with the data board"
    (kept,) = check_rulebook(book(demand="rows", at_least=1), Evidence(table()), {"r": "agreed with the data board"})
    assert kept.waived == "", "a rule that holds needs no waiver"


@pytest.mark.parametrize(
    ("waivers", "words"),
    [({"k": "some reason"}, "no rule 'k'"), ({"r": " "}, "needs a reason"), ({"r": "ok"}, "reason")],
)
def test_a_waiver_needs_a_rule_and_a_reason(waivers: dict[str, str], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        check_rulebook(book(demand="order"), Evidence(table(), order="kept"), waivers)


def test_some_rules_cannot_be_waived() -> None:
    with pytest.raises(PlanError, match="cannot be waived"):
        check_rulebook(book(demand="order", waivable=False), Evidence(table()), {"r": "a very good reason"})


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_rulebooks_can_be_read_and_kept(name: str) -> None:
    rules = read_rulebook(name)
    assert rules.name == name
    assert rules.title
    assert rules.about
    large = table((60, 60)).drop(["hours"])  # they number the records
    results = check_rulebook(rules, Evidence(large, risks=[risk(1.0)], waived=[]))
    assert all(result.holds for result in results), results
    assert not all(result.holds for result in check_rulebook(rules, Evidence(table((2, 1)), risks=None)))


def test_there_are_four_shipped_rulebooks() -> None:
    assert set(shipped_names()) >= {"public-use", "licensed", "cell-threshold-11", "risk-limit-0.05"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = 'x'\n[[rule]]\nid = 'a'\ndemand = 'order'\n[[rule]]\nid = 'a'\ndemand = 'order'", "share the id a"),
        ("title = 'x'\n[[rule]]\nid = 'a'\ndemand = 'ordre'", "demand"),
        ("title = 'x'\n[[rule]]\nid = 'a'\ndemand = 'rows'\natleast = 3", "at_least"),
        ("title = 'x'\n[[rule]]\nid = 'a'\ndemand = 'model'\nmodel = 'k-anonimity'", "did you mean 'k-anonymity'"),
        ("title = 'x'\n[[rule]]\nid = 'a'\ndemand = 'model'\nmodel = 'k-anonymity'\nsettings = { k = 1 }", "k"),
        ("title = 'x'\n[[rule]]\nid = 'a'\ndemand = 'risk'\nmeasure = 'sse'\nat_most = 5", "not risk"),
        ("title = 'x'\nrule = []", "rule"),
        ("title = ", "TOML"),
    ],
)
def test_a_broken_rulebook_gets_a_sentence(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlanError, match=words):
        read_rulebook(path)


def test_an_unknown_rulebook_names_those_there_are() -> None:
    with pytest.raises(PlanError, match=r"did you mean 'public-use'.*licensed"):
        read_rulebook("publicuse")


def test_a_rulebook_gives_the_models_a_plan_should_require() -> None:
    demanded = read_rulebook("public-use").requirements("recoding")
    assert demanded == [KAnonymity(k=5), LDiversity(l=2)]
    assert read_rulebook("public-use").requirements("perturbation") == []


def test_a_plan_is_held_against_what_it_promises() -> None:
    rules = read_rulebook("public-use")
    plan = {"columns": ["age", "sex"], "suppression": 0.01, "order": "shuffled"}
    good = check_planned(rules, models=[KAnonymity(k=6), LDiversity(l=2)], **plan)  # type: ignore[arg-type]
    assert {result.id for result in good} == {"k", "l", "suppression", "names", "order"}
    assert all(result.holds for result in good)
    bad = check_planned(
        rules,
        models=[KAnonymity(k=3), TCloseness(t=0.2)],
        columns=["age", "email"],
        suppression=0.2,
        order="kept",
        risk_limits={"record-linkage": 50.0},
        waivers={"order": "needed for the time series"},
    )
    assert {result.id for result in bad if not result.passed} == {"k", "l", "suppression", "names", "linkage"}
    assert "requires only 3" in next(result.found for result in bad if result.id == "k")
    assert "does not require l-diversity" in next(result.found for result in bad if result.id == "l")


def test_a_plan_that_only_perturbs_is_not_asked_for_classes() -> None:
    results = check_planned(
        read_rulebook("risk-limit-0.05"),
        models=[],
        columns=["age"],
        suppression=0,
        order="shuffled",
        risk_limits={"record-linkage": 4.0},
    )
    assert [(result.id, result.holds) for result in results] == [("linkage", True)]


def test_a_scenario_of_few_columns_does_not_stand_for_all() -> None:
    narrow = KAnonymity(k=9, quasi_identifiers=("age",))
    results = check_planned(
        read_rulebook("licensed"), models=[narrow], columns=["age"], suppression=0, order="shuffled"
    )
    assert not next(result.holds for result in results if result.id == "k")


def test_a_table_of_many_columns_is_counted_without_overflow() -> None:
    rng = np.random.default_rng(0)
    wide = Table.from_columns({f"c{place}": [f"v{v}" for v in rng.integers(0, 3, 300)] for place in range(12)})
    (result,) = check_rulebook(book(demand="cells", at_least=2, ways=2), Evidence(wide))
    assert result.holds
    assert "78 tables" in result.found


def test_a_rulebook_says_how_many_may_be_alone() -> None:
    assert book(demand="singled-out", at_most=20).allowed_alone == 20
    assert book(demand="rows", at_least=1).allowed_alone == 0, "nobody unless a rule says how many"
    rules = [{"id": f"r{most}", "demand": "singled-out", "at_most": most} for most in (30, 10, 20)]
    several = Rulebook.model_validate({"name": "test", "title": "Test", "rule": rules})
    assert several.allowed_alone == 10, "the strictest counts"
