"""Classes whose records belong to few people: by hand, on a panel, and against a slow twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.audits import FindingKind, audit
from crypsis.audits.default_roles import assign_default_roles
from crypsis.audits.exposure import count_exposed_units, find_exposed_units
from crypsis.audits.household_inference import (
    columns_for_household_inference,
    count_inferable_household_records,
    infer_panel_household_size,
)
from crypsis.audits.published import Published
from crypsis.masking import Microaggregation
from crypsis.plan import draft
from crypsis.table.frames import wrap
from crypsis.table.profile import Clue, profile
from crypsis.table.table import Table
from crypsis.text import attack_finding_text


def panel(people: int = 60, years: int = 7) -> pl.DataFrame:
    """Everybody is asked every year; what a person is hardly changes."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(people), years)
    age = rng.integers(20, 60, people)[person] + np.tile(np.arange(years), people)
    return pl.DataFrame(
        {"pnr": 1000 + 7 * person, "age": age, "town": [f"t{n}" for n in rng.integers(0, 12, people)[person]]}
    )


def test_a_class_of_one_person_is_found() -> None:
    table = wrap(panel(), quasi_identifiers=["age", "town"], roles={"pnr": "household"})
    masked = Microaggregation(k=5).mask(table, np.random.default_rng(1))
    (found,) = find_exposed_units(Published(masked, table))
    assert (found.kind, found.columns, found.refuses) == (FindingKind.FEW_UNITS, ("pnr",), True)
    assert found.share > 0.5
    assert "are in a class whose records have fewer than three different values of it" in attack_finding_text(found)
    assert found in audit(masked, table).findings
    larger = Microaggregation(k=21).mask(table, np.random.default_rng(1))
    assert find_exposed_units(Published(larger, table)) == [], "seven records a person: 21 are three people"
    assert find_exposed_units(Published(masked)) == [], "nobody knows which records belong together"
    once = table.with_columns({"pnr": np.arange(len(table), dtype=float)})
    assert find_exposed_units(Published(masked, once)) == [], "everybody has one record"


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_units_of_classes_are_their_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 40))
    units = rng.integers(-1, 6, rows).astype(np.int32)
    labels = np.unique(rng.integers(0, 5, rows), return_inverse=True)[1]
    expected = []
    for group in range(labels.max() + 1):
        some = units[labels == group].tolist()
        expected.append(len(set(some) - {-1}) + some.count(-1))
    assert count_exposed_units(units, labels).tolist() == expected


def test_what_is_no_panel() -> None:
    assert count_inferable_household_records(wrap(panel()), "pnr") == 7
    assert count_inferable_household_records(wrap(panel()), "age") == 0
    for name, values in {
        "year": np.tile(np.arange(10.0), 30),  # fewer values than records of each
        "id": np.arange(300.0),  # one record each
        "few": np.repeat(np.arange(10.0), 3),  # too few to say anything
        "uneven": np.append(np.repeat(np.arange(60.0), 5), 3.0),
    }.items():
        assert count_inferable_household_records(Table.from_columns({name: values}), name) == 0, name


def test_the_safest_reading_of_a_panel(tmp_path: Path) -> None:
    frame = panel(people=80)
    table = wrap(frame)
    seen = assign_default_roles(profile(table), table)
    (number,) = (column for column in seen.columns if column.name == "pnr")
    assert (number.role, number.reasons[0].clue) == ("household", Clue.HOUSEHOLD_STRUCTURE)
    frame.write_csv(tmp_path / "panel.csv")
    text = draft(tmp_path / "panel.csv", tmp_path / "plan.toml", table, seen, 5)
    assert 'model = "person-k-anonymity"\nk = 5\n' in text
    assert "\nk = 35\n" not in text, "k is what was asked for"


def courses(alike: bool) -> Table:
    """Sixty teachers with one to nine courses each; what is asked is of the teacher, or of the course."""
    rng = np.random.default_rng(3)
    teacher = np.repeat(np.arange(60), rng.integers(1, 10, 60))
    who = teacher if alike else np.arange(len(teacher))
    columns = {
        "teacher": teacher,
        "age": rng.integers(25, 65, len(teacher))[who],
        "rank": rng.integers(0, 3, len(teacher))[who],
    }
    roles = {"teacher": "household", "age": "quasi", "rank": "quasi"}
    return Table.from_columns({name: values.tolist() for name, values in columns.items()}, roles)


def test_records_of_people_who_have_several_of_them() -> None:
    table = courses(alike=True)
    few = Microaggregation(k=5).mask(table, np.random.default_rng(0))
    assert [found.kind for found in find_exposed_units(Published(few, table))] == [FindingKind.FEW_UNITS]
    many = Microaggregation(k=19).mask(table, np.random.default_rng(0))
    assert find_exposed_units(Published(many, table)) == []


def test_an_identifier_of_many_records_each_is_nobody() -> None:
    clinics = np.repeat(np.arange(4), 80)
    table = Table.from_columns(
        {"clinic": clinics, "age": np.arange(320) % 50}, {"clinic": "identifier", "age": "quasi"}
    )
    assert columns_for_household_inference(table) == []


def test_a_number_of_people_counts_however_many_records_each_has() -> None:
    """A panel of purchases: 30 people with 60 to 89 of them."""
    of = np.repeat(np.arange(30), 60 + np.arange(30))
    rng = np.random.default_rng(5)
    bought = {"price": rng.normal(8, 1, len(of)) + of, "brand": rng.integers(0, 4, len(of)).astype(float)}
    shown = Table.from_columns({"id": of * 1.0, **bought}, {"id": "quasi", "price": "quasi"})
    assert columns_for_household_inference(shown) == ["id"]
    masked = Microaggregation(k=5).mask(shown, np.random.default_rng(0))
    assert FindingKind.FEW_UNITS in [found.kind for found in find_exposed_units(Published(masked, shown))]
    roles = {name: profile(Table.from_columns({name: of * 1.0, **bought})).roles[name] for name in NUMBERED}
    assert roles == NUMBERED


NUMBERED = {"id": "household", "Subject": "household", "region_id": "quasi"}


def unbalanced(name: str = "nr", shuffled: bool = False) -> Table:
    """Eighty people asked for one to eight years, their number published like any other column."""
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(80), rng.integers(2, 9, 80))
    columns = {
        name: 1000.0 + 7 * of,
        "year": np.concatenate([2000.0 + np.arange(n) for n in np.bincount(of)]),
        "born": rng.integers(1930, 2000, 80)[of].astype(float),
        "town": rng.integers(0, 9, 80)[of].astype(float),
    }
    rows = rng.permutation(len(of)) if shuffled else np.arange(len(of))
    return Table.from_columns({key: values[rows] for key, values in columns.items()}, dict.fromkeys(columns, "quasi"))


def test_people_are_recognised_by_structure_and_by_name_whatever_their_role() -> None:
    table = unbalanced()
    assert infer_panel_household_size(table, "nr") == 8
    assert columns_for_household_inference(table) == ["nr"]
    assert columns_for_household_inference(unbalanced("subject_nr", shuffled=True)) == ["subject_nr"]
    assert columns_for_household_inference(unbalanced(shuffled=True)) == [], "neither name nor order says it"
    masked = Microaggregation(k=5).mask(table, np.random.default_rng(0))
    (found,) = find_exposed_units(Published(masked, table))
    assert found.columns == ("nr",)
    assert find_exposed_units(Published(Microaggregation(k=17).mask(table, np.random.default_rng(0)), table)) == []


def test_the_safest_reading_of_an_unbalanced_panel() -> None:
    table = unbalanced("x1").with_roles(dict.fromkeys(("x1", "year", "born", "town"), "undecided"))
    seen = assign_default_roles(profile(table), table)
    assert {column.name: column.role for column in seen.columns}["x1"] == "household"


def test_towns_and_days_are_no_people() -> None:
    rng = np.random.default_rng(0)
    town = np.sort(rng.integers(0, 60, 300))
    columns = {"zip": 10000.0 + town, "state": (town // 10).astype(float), "age": rng.integers(18, 90, 300) * 1.0}
    assert columns_for_household_inference(Table.from_columns(columns, dict.fromkeys(columns, "quasi"))) == []
    day = np.repeat(np.arange(30.0), 10)
    grid = {"day": day, "hour": np.tile(np.arange(10.0), 30), "heat": rng.normal(0, 1, 300)}
    assert columns_for_household_inference(Table.from_columns(grid, dict.fromkeys(grid, "quasi"))) == []


def test_a_column_of_one_or_two_values_says_nothing_of_people() -> None:
    """A file of one study in two phases: left out, neither is what a class must have several of."""
    person = np.repeat(np.arange(40), 2)
    columns = {"person": person, "study": np.ones(80), "phase": np.tile([1.0, 2.0], 40), "age": person % 7 + 20.0}
    roles = {"person": "identifier", "study": "identifier", "phase": "identifier", "age": "quasi"}
    assert columns_for_household_inference(Table.from_columns(columns, roles)) == ["person"]


def test_a_status_that_is_left_out_joins_no_records() -> None:
    """An identifier of few values with many records each is a category; one named like people still counts."""
    status = {"hhcivil": [f"s{row % 6}" for row in range(600)], "age": [row % 40 for row in range(600)]}
    roles = {"hhcivil": "identifier", "age": "quasi"}
    assert columns_for_household_inference(Table.from_columns(status, roles)) == []
    cards = {"card": [f"c{row // 3}" for row in range(600)], "age": status["age"]}
    assert columns_for_household_inference(Table.from_columns(cards, {"card": "identifier", "age": "quasi"})) == [
        "card"
    ]
    few = {"patient": status["hhcivil"], "age": status["age"]}
    assert columns_for_household_inference(Table.from_columns(few, {"patient": "identifier"})) == ["patient"]


def test_a_panel_of_places_is_none_of_people() -> None:
    for name in ("state", "country", "province"):
        table = unbalanced(name)
        assert columns_for_household_inference(table) == [], name
    assert columns_for_household_inference(unbalanced("unit")) == ["unit"]
