from __future__ import annotations

import datetime as dt
import json
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.table.attribute import Role
from crypsis.table.example import example
from crypsis.table.files import read_table
from crypsis.table.frames import to_frame, wrap
from crypsis.table.inference import words_for_inference
from crypsis.table.profile import Clue, Reason, builder_profile_suggests, profile
from reference import reference


def people(n: int = 40) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "person_id": [f"P{place}" for place in range(n)],
            "fullName": [f"person {place}" for place in range(n)],
            "age": rng.integers(20, 70, n),
            "sex": rng.integers(1, 3, n),
            "zipCode": [f"{number:05d}" for number in rng.integers(10000, 99999, n)],
            "dateOfBirth": [dt.date(1980, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, n)],
            "visited": [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 90, n)],
            "education": rng.choice(["low", "high"], n),
            "INCOME": rng.normal(size=n),
            "diagnosis": rng.choice(["flu", "none"], n),
            "survey_weight": rng.random(n),
            "row": range(n),
            "remark": [f"text {place}" for place in range(n)],
            "colour": rng.choice(["red", "blue"], n),
            "same": ["x"] * n,
        }
    )


def test_suggested_roles_and_kinds_with_reasons() -> None:
    seen = {column.name: column for column in profile(wrap(people())).columns}
    roles = {name: column.role for name, column in seen.items()}
    assert roles == {
        "person_id": "identifier",
        "fullName": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "zipCode": "quasi",
        "dateOfBirth": "quasi",
        "visited": "quasi",
        "education": "quasi",
        "INCOME": "confidential",
        "diagnosis": "confidential",
        "survey_weight": "weight",
        "row": "identifier",
        "remark": "identifier",
        "colour": "undecided",
        "same": "other",
    }
    assert seen["sex"].kind == "nominal"
    assert [reason.clue for reason in seen["sex"].reasons] == [Clue.QUASI_NAME, Clue.CODES]
    assert seen["education"].reasons == (Reason(Clue.QUASI_NAME, word="education"), Reason(Clue.ORDER))
    assert seen["remark"].reasons == (Reason(Clue.DISTINCT_TEXT, values=40),)
    assert seen["colour"].reasons == (Reason(Clue.UNDECIDED),)
    assert seen["survey_weight"].reasons == (Reason(Clue.WEIGHT_NAME, word="weight"),)
    assert seen["dateOfBirth"].hierarchy == "dates:month,quarter,year"
    assert seen["zipCode"].hierarchy == "prefixes:4,3,2,1"
    assert seen["sex"].hierarchy == "merge:1"
    assert all(column.reasons for column in seen.values())


def test_a_column_in_which_many_stand_alone_is_suggested_to_be_masked() -> None:
    """One value in twenty may be held by one record; of fewer than twenty values nothing is said."""

    def role(alone: int, n: int, name: str = "x") -> str:
        values = [*(10.5 * place for place in range(1, alone + 1)), *([0.0] * (n - alone))]
        return profile(wrap(pl.DataFrame({name: values}))).columns[0].role

    assert [role(alone, 100) for alone in (5, 6)] == ["undecided", "quasi"]
    assert [role(alone, 100, "survey_weight") for alone in (5, 6)] == ["weight", "weight"]
    assert [role(alone, 100, "income") for alone in (5, 6)] == ["confidential", "confidential"]
    assert [role(15, n) for n in (19, 20)] == ["undecided", "quasi"]


def kinds(columns: dict[str, list[int]]) -> dict[str, str]:
    return {column.name: column.kind for column in profile(wrap(pl.DataFrame(columns))).columns}


def counted(*counts: int, start: int = 1) -> list[int]:
    return [value for value, count in enumerate(counts, start) for _ in range(count)]


def test_few_whole_numbers_are_codes_where_their_counts_have_several_peaks() -> None:
    columns = {
        "urbrur": counted(15, 85),  # two values
        "water": counted(20, 2, 40, 38),  # rare between common ones
        "walls": [*counted(40, 46), *[9] * 14],  # nothing between 2 and 9
        "cars": counted(30, 50, 15, 5, start=0),  # up and down once
        "persons": counted(40, 2, 58),  # the name says that they are counted
        "bands": [10, 20, 30, 40] * 25,  # multiples of ten
        "tail": [*counted(60, 30, 8), 7, 9],  # a thin tail has gaps by chance
        "noise": counted(24, 26, 25, 25),
    }
    wanted = dict.fromkeys(columns, "numeric") | dict.fromkeys(("urbrur", "water", "walls"), "nominal")
    assert kinds(columns) == wanted
    reasons = {c.name: c.reasons[-1] for c in profile(wrap(pl.DataFrame(columns))).columns}
    assert reasons["urbrur"] == Reason(Clue.TWO_NUMBERS)
    assert reasons["water"] == Reason(Clue.SEVERAL_PEAKS, values=4)
    assert kinds({"checks": counted(1851, 789, 953, 643, start=0)}) == {"checks": "numeric"}, "a shallow dip"
    assert kinds({"flag": [0, 1] * 5}) == {"flag": "numeric"}, "ten values say nothing"


@given(st.lists(st.integers(1, 200), min_size=3, max_size=10), st.integers(-3, 5))
def test_counts_that_rise_and_fall_once_are_no_codes(heights: list[int], start: int) -> None:
    top = len(heights) // 2
    once = [*sorted(heights[:top]), *sorted(heights[top:], reverse=True)]
    assert kinds({"x": counted(*once, start=start)}) == {"x": "numeric"}


def test_codes_of_a_survey_are_recognised() -> None:
    seen = {column.name: column.kind for column in profile(read_table(reference("testdata.csv"))).columns}
    codes = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "hhcivil")
    assert [seen[name] for name in codes] == ["nominal"] * len(codes)
    assert [seen[name] for name in ("age", "expend", "income", "savings")] == ["numeric"] * 4


def test_a_household_is_recognised_by_its_name_and_the_number_of_its_records() -> None:
    """Three records a value is a household; three values, or one record each, are not."""
    values = {
        "hid": np.arange(300) // 3,
        "hh_size": np.arange(300) % 3,
        "household": np.arange(300),
        "strata": np.arange(300) % 4,
    }
    roles = {column.name: column.role for column in profile(wrap(pl.DataFrame(values))).columns}
    assert roles == {"hid": "household", "hh_size": "quasi", "household": "identifier", "strata": "stratum"}


def test_every_suggested_hierarchy_can_be_built() -> None:
    for table in (wrap(people()), read_table(reference("adult.csv"))):
        seen = [column for column in profile(table).columns if column.hierarchy]
        assert len(seen) >= 6
        wrap(
            to_frame(table),
            kinds={column.name: column.kind for column in seen},
            hierarchies={column.name: column.hierarchy for column in seen},
        )


@pytest.mark.parametrize(
    ("low", "high", "whole", "spec"),
    [
        (0, 100, True, "intervals:5,10,20,40"),
        (17, 90, True, "intervals:5,10,20,40"),
        (0, 3, True, "intervals:1,2,4,8"),
        (0, 1, False, "intervals:0.05,0.10,0.20,0.40"),
        (0, 50_000, True, "intervals:5000,10000,20000,40000"),
        (0, 1e80, False, "intervals:5e78,10e78,20e78,40e78"),
        (0, 1e-60, False, "intervals:5e-62,10e-62,20e-62,40e-62"),
    ],
)
def test_interval_widths_are_round(low: float, high: float, whole: bool, spec: str) -> None:
    cells = [low, high, low, high] if whole else [low, high, (low + high) / 2 * 1.013]
    seen = profile(wrap(pl.DataFrame({"age": cells}, strict=False))).columns[0]
    first = seen.hierarchy.removeprefix("intervals:").split(",")
    expected = spec.removeprefix("intervals:").split(",")
    assert [float(width) for width in first] == [float(width) for width in expected]


def test_a_builder_for_every_kind_of_column_as_it_stands() -> None:
    """Also for a constant, and for numbers that look like codes but are numbers."""
    frame = people().with_columns(same=pl.lit(3), half=pl.lit(0.5))
    table = wrap(frame)
    for name in frame.columns:
        spec = builder_profile_suggests(table, name)
        hierarchy = wrap(frame, hierarchies={name: spec}).attribute(name).hierarchy
        assert hierarchy is not None
        assert len(hierarchy.labels[-1]) == 1
    assert builder_profile_suggests(table, "sex").startswith("intervals:")


def test_counts() -> None:
    table = wrap(pl.DataFrame({"age": [1, 1, 1, 2, 2, 3, None], "sex": [*"mfmfmf", "m"]}))
    seen = profile(table)
    age = seen.columns[0]
    assert (age.distinct, age.missing, age.rare, age.unique) == (3, 1, 2, 1)
    assert seen.quasi_identifiers == ("age", "sex")
    assert seen.k == 1
    assert seen.unique_records == 5
    assert seen.unique_share == pytest.approx(5 / 7)
    assert not seen.declared


def test_declared_roles_are_kept() -> None:
    seen = profile(wrap(people(), quasi_identifiers=["colour"], identifiers=["age"]))
    assert seen.declared
    assert seen.quasi_identifiers == ("colour",)
    assert {c.name: c.role for c in seen.columns}["age"] == "identifier"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "a", "b"])), min_size=1, max_size=20))
def test_exposure_equals_a_count_by_hand(rows: list[tuple[int | None, str | None]]) -> None:
    from collections import Counter

    padded = [*rows, (1, "a"), (2, "b")]
    table = wrap(pl.DataFrame(padded, schema={"x": pl.Int64, "y": pl.String}, orient="row"))
    found = profile(table.with_roles({"x": Role.QUASI_IDENTIFIER, "y": Role.QUASI_IDENTIFIER}))
    sizes = Counter(padded).values()
    assert (found.k, found.unique_records) == (min(sizes), sum(size == 1 for size in sizes))


def test_a_profile_is_json_and_holds_no_value() -> None:
    frame = people().with_columns(pl.lit("SECRET").alias("same"))
    text = json.dumps(asdict(profile(wrap(frame))))
    assert "SECRET" not in text
    assert "person 1" not in text


def test_no_quasi_identifier() -> None:
    seen = profile(wrap(pl.DataFrame({"u": [1.5, 2.5, 2.5]})))
    assert seen.quasi_identifiers == ()
    assert (seen.k, seen.unique_share) == (3, 0.0)


def test_example_is_recognised() -> None:
    table = example(400)
    bare = wrap(to_frame(table))
    assert {c.name: c.role for c in profile(bare).columns} == {a.name: a.role.value for a in table.attributes}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dateOfBirth_2", ["date", "of", "birth"]),
        ("ZIP", ["zip"]),
        ("native-country", ["native", "country"]),
        ("9", []),
    ],
)
def test_name_words(name: str, words: list[str]) -> None:
    assert words_for_inference(name) == words
