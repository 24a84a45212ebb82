"""Roles by words of several languages, by the form of values and by the structure of the table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.table.files import read_table
from crypsis.table.frames import wrap
from crypsis.table.profile import Clue, common_values, profile, profile_name_subjects
from crypsis.table.role_questions import MOST_QUESTIONS, role_questions, separate
from crypsis.table.role_words import ROLE_OF, SUBJECTS
from crypsis.table.structure import count_unique_for_structure
from crypsis.table.table import Table
from crypsis.table.value_forms import are_postcodes, identifying_form, plain_value_form, value_subject
from naive.uniqueness import count_unique
from reference import reference

RNG = np.random.default_rng(2)
N = 200


def roles(columns: dict[str, object]) -> dict[str, str]:
    return {column.name: column.role for column in profile(wrap(pl.DataFrame(columns))).columns}


FLAG = ["yes", "no"] * (N // 2)


@pytest.mark.parametrize(
    ("names", "role"),
    [
        ("mage black hispanic employed geschlecht beruf geburt rb090 sexe sexo sesso geslacht idade leeftijd", "quasi"),
        ("familienstand estado_civil nationalité profissao codigo_postal Wohnort woonplaats citta los dob", "quasi"),
        ("smoker diabetes angina icd10 bmi sbp hba1c Krankheit santé enfermedad doenca salute ziekte", "confidential"),
        ("einkommen salaire ingresos rendimento reddito inkomen lwage faminc", "confidential"),
        ("religion partei opinion_politica arrested sexual_orientation exam_score", "confidential"),
    ],
)
def test_names_in_seven_languages_and_abbreviations(names: str, role: str) -> None:
    assert {name: roles({name: FLAG})[name] for name in names.split()} == dict.fromkeys(names.split(), role)


@pytest.mark.parametrize(
    "name", ["Unnamed: 0", *"mrn nhs pat_id persnr rb030 Nachname apellido cognome naam rownames row".split()]
)
def test_identifiers_by_name(name: str) -> None:
    assert roles({name: RNG.permutation(N) * 7 + 1000})[name] == "identifier"


@pytest.mark.parametrize("name", ["hh_id", "hhid", "db030", "ori_hid", "Haushalt", "hogar", "menage", "huishouden"])
def test_households_by_name(name: str) -> None:
    assert roles({name: RNG.permutation(np.arange(N) // 3)})[name] == "household"


def test_a_word_of_each_language_is_known_for_every_subject() -> None:
    languages = {"short", "english", "german", "french", "spanish", "portuguese", "italian", "dutch"}
    assert set(SUBJECTS) == set(ROLE_OF)
    assert all(set(words) == languages and all(words.values()) for words in SUBJECTS.values())
    every = [word for words in SUBJECTS.values() for text in words.values() for word in text.split()]
    assert [word for word in every if word != plain_value_form(word)] == []


def test_who_and_where_comes_before_what_and_that_before_how_somebody_lives() -> None:
    found = roles({"age_at_diagnosis": FLAG, "job_satisfaction": FLAG, "hospital": ["a", "b", "c", "d"] * 50})
    assert found == {"age_at_diagnosis": "quasi", "job_satisfaction": "confidential", "hospital": "undecided"}
    assert roles({"agency": FLAG})["agency"] != "quasi"


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["ann@a.org", "bob@b.de"], "e-mail addresses"),
        (["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"], "account numbers"),
        (["GB82 WEST 1234 5698 7654 33", "DE89370400440532013001"], ""),
        (["123-45-6789", "987-65-4321"], "social security numbers"),
        (["+44 20 7946 0958", "+49 30 901820"], "telephone numbers"),
        (["943 476 5919", "943 476 5919"], "numbers of the British health service"),
        (["12345678Z", "00000000T"], "Spanish identity numbers"),
        (["12345678A", "00000000B"], ""),
        (["756.9217.0769.85"], "Swiss insurance numbers"),
        (["2024-01-02", "2024-02-03"], ""),
        (["10-20", "30-40"], ""),
    ],
)
def test_values_that_name_or_reach_a_person(values: list[str], form: str) -> None:
    assert identifying_form(values) == form


@pytest.mark.parametrize(
    "values", ["m f", "Male Female", "männlich weiblich", "homme femme", "H M", "uomo donna", "M V"]
)
def test_sexes_in_any_coding(values: str) -> None:
    assert roles({"x": values.split() * (N // 2)})["x"] == "quasi"
    assert value_subject(values.split()) == ("sex", "sex")


def test_other_values_say_what_they_are() -> None:
    found = roles(
        {
            "a": ["married", "single", "divorced", "widowed"] * 50,
            "b": ["agree", "disagree"] * 100,
            "c": ["placebo", "treatment"] * 100,
            "d": (1900 + RNG.integers(30, 99, N)).tolist(),
            "e": [f"SW{n % 9}A {n % 7}AB" for n in range(N)],
            "f": RNG.choice(["red", "blue"], N).tolist(),
        }
    )
    assert found == dict.fromkeys("ade", "quasi") | {"b": "confidential", "c": "confidential", "f": "undecided"}
    assert are_postcodes(["1012 AB", "3511LX"])


def survey(households: int = 300) -> dict[str, object]:
    """A file like EU-SILC: persons in households, each with the weight of its region."""
    rng = np.random.default_rng(5)
    home = np.repeat(np.arange(1, households + 1), rng.integers(1, 6, households))
    region = rng.integers(0, 9, households)[home - 1]
    member = np.concatenate([np.arange(1, n + 1) for n in np.bincount(home)[1:]])
    return {
        "db030": home,
        "hsize": np.bincount(home)[home],
        "db040": np.array([f"region {n}" for n in range(9)])[region],
        "rb030": home * 100 + member,
        "age": rng.integers(0, 95, len(home)),
        "rb090": rng.choice(["male", "female"], len(home)),
        "pb220a": rng.choice(["AT", "EU", "Other"], len(home)),
        "py010n": rng.lognormal(9, 1, len(home)).round(2),
        "rb050": (493.0 + 7.37 * region),
    }


def test_a_survey_of_households_by_its_names() -> None:
    assert roles(survey()) == {
        "db030": "household",
        "hsize": "quasi",
        "db040": "quasi",
        "rb030": "identifier",
        "age": "quasi",
        "rb090": "quasi",
        "pb220a": "quasi",
        "py010n": "confidential",
        "rb050": "weight",
    }


def test_a_survey_of_households_by_its_structure() -> None:
    """Nothing is called by its name: the household, the person, the weight and the sex are found all the same."""
    renamed = {f"x{place}": values for place, values in enumerate(survey().values())}
    seen = {column.name: column for column in profile(wrap(pl.DataFrame(renamed))).columns}
    assert (seen["x0"].role, seen["x0"].reasons[0].clue) == ("household", Clue.HOUSEHOLD_STRUCTURE)
    assert (seen["x3"].role, seen["x3"].reasons[0].clue) == ("identifier", Clue.GROWING_NUMBER)
    assert (seen["x8"].role, seen["x8"].reasons[0].clue) == ("weight", Clue.WEIGHT_STRUCTURE)
    assert (seen["x5"].role, seen["x5"].reasons[0].clue) == ("quasi", Clue.VALUES)
    shuffled = pl.DataFrame(renamed).sample(fraction=1, shuffle=True, seed=1)
    assert {c.name: c.role for c in profile(wrap(shuffled)).columns}["x0"] != "household", "no member follows another"


def test_the_survey_of_the_world_bank() -> None:
    seen = {column.name: column.role for column in profile(read_table(reference("testdata.csv"))).columns}
    assert [seen[name] for name in ("ori_hid", "sampling_weight", "household_weights")] == [
        "household",
        "other",  # one value for all records
        "weight",
    ]
    assert {seen[name] for name in ("expend", "income", "savings")} == {"confidential"}
    kept = ("ori_hid", "sampling_weight", "expend", "income", "savings")
    assert {role for name, role in seen.items() if name not in kept} == {"quasi", "weight"}


def test_a_sorted_file_has_no_households() -> None:
    """Runs of equal values alone are no households: another column must be the same for each of them."""
    values = np.sort(RNG.integers(0, 80, N))
    assert roles({"x": values, "y": RNG.integers(0, 5, N)})["x"] != "household"


def test_columns_that_follow_from_others_have_their_role() -> None:
    age = RNG.integers(20, 60, N)
    wage = RNG.lognormal(3, 1, N)
    found = roles({"age": age, "wage": wage, "v1": age**2, "v2": np.log(wage), "v3": (age > 40) * 1, "v4": FLAG})
    assert found == {
        "age": "quasi",
        "wage": "confidential",
        "v1": "quasi",
        "v2": "confidential",
        "v3": "quasi",
        "v4": "undecided",
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.booleans()), min_size=1, max_size=25))
def test_uniqueness_equals_a_count_by_hand(rows: list[tuple[int, str, bool]]) -> None:
    table = wrap(pl.DataFrame(rows, schema={"age": pl.Int64, "sex": pl.String, "x": pl.Boolean}, orient="row"))
    assert count_unique_for_structure(table, ["age", "sex"]) == count_unique([row[:2] for row in rows])
    seen = {column.name: column for column in profile(table).columns}
    if seen["age"].role == seen["sex"].role == "quasi" and seen["x"].role == "undecided":
        assert seen["x"].adds == count_unique(rows) - count_unique([row[:2] for row in rows])
        assert seen["sex"].adds == count_unique([row[:2] for row in rows]) - count_unique([row[:1] for row in rows])


def test_a_common_value_is_one_of_three_records() -> None:
    table = wrap(pl.DataFrame({"x": ["a"] * 4 + ["b"] * 3 + ["c"] * 2 + ["d"], "y": [1.5] * 3 + [2.0] * 2 + [9.0] * 5}))
    assert common_values(table, "x") == ["a", "b"]
    assert common_values(table, "y") == ["9", "1.5"]
    assert common_values(table, "x", most=1) == ["a"]


def test_alike_columns_are_one_question_and_there_are_at_most_five() -> None:
    columns: dict[str, object] = {"sex": ["f", "m"] * (N // 2)}
    columns |= {f"z{n}q": RNG.integers(0, 2, N) for n in range(4)}
    columns |= {f"{word}": RNG.integers(0, 9, N) for word in ("alpha", "beta", "gamma")}
    columns |= {f"{word}": RNG.normal(size=N) for word in ("kilo", "lima", "mike")}
    table = wrap(pl.DataFrame(columns))
    seen = profile(table)
    asked = role_questions(seen, table)
    assert len(asked) <= MOST_QUESTIONS
    assert sorted(name for each in asked for name in each.names) == sorted(set(columns) - {"sex"})
    flags = next(each for each in asked if each.alike == "yes/no columns")
    assert flags.names == ("z0q", "z1q", "z2q", "z3q")
    assert sorted(flags.values) == ["0", "1"]
    assert [each.adds for each in asked] == sorted((each.adds for each in asked), reverse=True)
    assert asked[0].suggested == "quasi", (
        "amounts in which everybody is alone are masked unless somebody says otherwise"
    )
    assert [each.names for each in separate(flags, seen, table)] == [("z0q",), ("z1q",), ("z2q",), ("z3q",)]


def test_a_question_shows_no_rare_value() -> None:
    values = ["usual"] * (N - 2) + ["rare disease", "another"]
    table = wrap(pl.DataFrame({"sex": ["f", "m"] * (N // 2), "zq": values}))
    (asked,) = role_questions(profile(table), table)
    assert asked.values == ("usual",)


def test_nothing_is_asked_about_a_table_that_is_known() -> None:
    table = Table.from_columns({"age": [20, 30] * 20, "income": [100, 200] * 20})
    assert role_questions(profile(table), table) == []


def test_words_within_other_words_say_nothing() -> None:
    """No stratum is in an administrator, no earning in learning, and no race in frass."""
    for name in ("Database_administrator", "Machine_learning_specialist", "WetFrass"):
        assert list(profile_name_subjects(name)) == [], name
    assert next(profile_name_subjects("monthlyearnings")) == ("money", "earnings")


def test_a_weight_of_one_value_is_none_beside_the_real_one() -> None:
    frame = pl.DataFrame({"sampling_weight": [100.0] * 60, "household_weight": [50.5 + n % 7 for n in range(60)]})
    found = {column.name: column.role for column in profile(wrap(frame)).columns}
    assert found == {"sampling_weight": "other", "household_weight": "weight"}
