"""The safest reading of columns nobody decided about, and of columns that would restore what is masked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from crypsis.audits.default_roles import assign_default_roles
from crypsis.audits.preview import group_records_for_preview, preview_restoring_columns, preview_weight_findings
from crypsis.table.attribute import Role
from crypsis.table.frames import wrap
from crypsis.table.profile import Clue, Reason, profile
from crypsis.table.table import Table

ROWS = 100


def settled(frame: pl.DataFrame) -> dict[str, str]:
    table = wrap(frame)
    return {column.name: column.role for column in assign_default_roles(profile(table), table).columns}


def clue(frame: pl.DataFrame, name: str) -> Clue:
    table = wrap(frame)
    (column,) = (each for each in assign_default_roles(profile(table), table).columns if each.name == name)
    return column.reasons[0].clue


def test_the_safest_reading_leaves_nothing_undecided() -> None:
    frame = pl.DataFrame(
        {"sex": ["f", "m"] * 20, "colour": ["red", "red", "blue", "blue"] * 10, "x7": [*range(10), *range(10)] * 2}
    )
    table = wrap(frame)
    seen = profile(table)
    columns = {column.name: column for column in assign_default_roles(seen, table).columns}
    assert [column.role for column in seen.columns] == ["quasi", "undecided", "undecided"]
    assert Role.UNDECIDED not in {column.role for column in columns.values()}
    assert (columns["colour"].role, columns["colour"].hierarchy) == ("quasi", "merge:1")
    assert columns["colour"].reasons[0] == Reason(Clue.PRECAUTION)
    assert columns["sex"] == seen.columns[0]


def test_text_that_names_people_is_left_out() -> None:
    text = [f"case {n}" for n in range(60)] + ["case 0"] * 40
    frame = pl.DataFrame(
        {"sex": ["f", "m"] * 50, "note": text, "diagnosis": text, "illness": ["a", "a", "b", "b"] * 25}
    )
    assert settled(frame) == {
        "sex": "quasi",
        "note": "identifier",
        "diagnosis": "identifier",
        "illness": "confidential",
    }


@pytest.mark.parametrize("rare", [400, 12])
def test_a_weight_that_restores_few_or_many_values_is_treated(rare: int) -> None:
    """Weights by household size go with nothing, but for some records that all live in one region."""
    rng = np.random.default_rng(3)
    region = rng.integers(0, 6, 400)
    weight = 100.0 / rng.integers(1, 6, 400)
    weight[:rare] = 500.0 + region[:rare]
    weight[: rare if rare < 400 else 0] = 500.0
    region[: rare if rare < 400 else 0] = 5
    frame = pl.DataFrame(
        {"region": [f"r{n}" for n in region], "age": rng.integers(18, 60, 400), "final_weight": weight}
    )
    table = wrap(frame)
    seen = assign_default_roles(profile(table), table)
    assert {column.name: column.role for column in seen.columns}["final_weight"] == "weight"
    roled = table.with_roles({column.name: Role(column.role) for column in seen.columns})
    assert preview_weight_findings(roled)
    raked = roled.attribute("final_weight").but(publish="raked")
    assert not preview_weight_findings(roled.with_columns({}, attributes={"final_weight": raked}))


def test_one_of_two_weights_is_masked_where_it_restores_a_value() -> None:
    """One weight can be treated; where there are two, both are masked as before."""
    rng = np.random.default_rng(3)
    region = rng.integers(0, 6, 400)
    frame = pl.DataFrame(
        {
            "region": [f"r{n}" for n in region],
            "age": rng.integers(18, 60, 400),
            "final_weight": 100.5 + region,
            "survey_weight": 10.5 + region,
        }
    )
    table = wrap(frame)
    seen = {column.name: column for column in assign_default_roles(profile(table), table).columns}
    for name in ("final_weight", "survey_weight"):
        assert (seen[name].role, seen[name].reasons[0]) == ("quasi", Reason(Clue.RESTORING, word="region"))
        assert seen[name].hierarchy


def test_a_weight_that_goes_with_nothing_stays_a_weight() -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "region": [f"r{n}" for n in rng.integers(0, 6, 400)],
            "age": rng.integers(18, 60, 400),
            "final_weight": 100.0 / rng.integers(1, 6, 400),
            "conviction": [f"d{n}" for n in rng.integers(0, 5, 400)],
        }
    )
    assert settled(frame)["final_weight"] == "weight"
    assert clue(frame, "conviction") is Clue.COMBINED, "five values tell the records of a group apart"


def test_a_weight_that_singles_people_out_is_treated() -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"age": rng.integers(18, 60, 400), "fnlwgt": rng.integers(10_000, 900_000, 400)})
    table = wrap(frame)
    weight = assign_default_roles(profile(table), table).columns[1]
    assert weight.role == "weight"


def test_a_confidential_column_that_determines_a_quasi_identifier_is_masked() -> None:
    rng = np.random.default_rng(5)
    sex = rng.integers(0, 2, 400)
    frame = pl.DataFrame({"sex": sex, "age": rng.integers(18, 60, 400), "treatment": [f"t{n}" for n in sex * 3]})
    assert settled(frame)["treatment"] == "quasi"


def test_a_confidential_column_that_tells_records_of_a_group_apart_is_masked() -> None:
    """Four records of each person: the party names nobody, but in a group of records it tells two persons apart."""
    rng = np.random.default_rng(6)
    person = np.repeat(np.arange(300), 4)
    frame = pl.DataFrame(
        {
            "town": [f"t{n}" for n in person],
            "age": 20 * rng.integers(1, 4, 1200),
            "party": [f"p{n}" for n in rng.integers(0, 4, 300)[person]],
            "offence": [f"v{n}" for n in rng.integers(0, 4, 1200)],
        }
    )
    table, quasi = wrap(frame), ("town", "age")
    roles = {name: Role.QUASI_IDENTIFIER if name in quasi else Role.CONFIDENTIAL for name in table.names}
    assert preview_restoring_columns(table.with_roles(roles)) == []
    assert clue(frame, "party") is Clue.RESTORING
    assert clue(frame, "offence") is Clue.COMBINED, "it restores nothing, but who knows an offence finds its record"


def test_groups_of_similar_records_have_their_size() -> None:
    codes = np.random.default_rng(7).integers(0, 9, (203, 3)).astype(np.int32)
    sizes = np.bincount(group_records_for_preview(codes, 5))
    assert sizes.min() >= 5
    assert sizes.max() <= 9
    assert (group_records_for_preview(np.zeros((30, 2), dtype=np.int32), 5) == 0).all()


def test_a_code_that_says_a_masked_value_does_not_stay_as_it_is() -> None:
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 80, 300)
    table = Table.from_columns({"age": ages.astype(float), "ref": [f"{age}/{n % 50}" for n, age in enumerate(ages)]})
    seen = profile(table)
    declared = replace(seen, columns=(seen.columns[0], replace(seen.columns[1], role="other")))
    assert assign_default_roles(declared, table).columns[1].role in ("quasi", "identifier")


def test_a_text_that_says_an_identifier_is_not_released_either() -> None:
    """Of a class of five records one says its own district, and with it who it is."""
    towns = [f"{first}{last}" for first in ("Ash", "Birch", "Cedar", "Elm", "Oak") for last in "ABCDEFGHIJKLMNOPQRST"]
    frame = pl.DataFrame({"municipality_name": towns, "district": towns, "region": ["north", "south"] * 50})
    table = wrap(frame)
    seen = {column.name: column for column in assign_default_roles(profile(table), table).columns}
    assert [seen[name].role for name in frame.columns] == ["identifier", "identifier", "quasi"]
    assert seen["district"].reasons[0] == Reason(Clue.SAYING, word="municipality_name")
