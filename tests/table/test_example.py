from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from crypsis.errors import TableError
from crypsis.table.attribute import Kind, Role
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.example import RARE, RETIREMENT, example
from crypsis.table.frames import to_frame


@pytest.fixture(scope="module")
def many() -> pl.DataFrame:
    frame = to_frame(example(8000, seed=3))
    assert isinstance(frame, pl.DataFrame)
    return frame.filter(pl.col("income") < 500_000)


def test_same_seed_same_people() -> None:
    assert example(300, 7).fingerprint() == example(300, 7).fingerprint()
    assert example(300, 7).fingerprint() != example(300, 8).fingerprint()


def test_same_people_in_another_process() -> None:
    script = "import sys; from crypsis.table.example import example; sys.stdout.write(example(200, 5).fingerprint())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == example(200, 5).fingerprint()


@pytest.mark.parametrize("n", [1, 2, 49, 50, 1000])
def test_any_size(n: int) -> None:
    assert example(n).rows == n


def test_nobody_is_refused() -> None:
    with pytest.raises(TableError, match="give 1 or more"):
        example(0)


def test_roles_kinds_and_hierarchies() -> None:
    table = example()
    assert table.names_by_role(Role.IDENTIFIER) == ["person"]
    assert table.quasi_identifiers == ["age", "sex", "district", "education", "marital", "occupation", "hours"]
    assert table.confidential == ["income", "diagnosis"]
    assert table.attribute("education").kind is Kind.ORDINAL
    assert table.attribute("education").categories[0] == "none"
    for name in table.quasi_identifiers:
        hierarchy = table.attribute(name).hierarchy
        assert hierarchy is not None
        assert hierarchy.labels[-1] == ("*",)
        assert np.array_equal(table.leaf_codes(name) < 0, table.codes([name])[:, 0] < 0)


def test_missing_values_are_few_but_there() -> None:
    table = example()
    for name in ("education", "occupation", "hours", "income"):
        assert 0.005 < np.mean(table.codes([name])[:, 0] < 0) < 0.08
    for name in ("person", "age", "sex", "district", "marital", "diagnosis"):
        assert np.all(table.codes([name])[:, 0] >= 0)


def test_rare_persons() -> None:
    frame = to_frame(example())
    for age, sex, district, *_ in RARE:
        assert (
            frame.filter((pl.col("age") == age) & (pl.col("sex") == sex) & (pl.col("district") == district)).height >= 1
        )
    assert frame.filter(pl.col("age") > 95).height == 1
    assert frame.filter(pl.col("diagnosis") == "Huntington disease").height == 1
    sizes = classes_of(example(), ["age", "sex", "district"]).sizes
    assert 0 < np.sum(sizes == 1) < 1000


def test_income_is_concave_in_age(many: pl.DataFrame) -> None:
    workers = many.drop_nulls().filter((pl.col("age") < RETIREMENT) & (pl.col("hours") > 0))
    square, slope, _ = np.polyfit(workers["age"].to_numpy(), np.log(workers["income"].to_numpy()), 2)
    assert square < 0 < slope
    peak = -slope / (2 * square)
    assert 40 < peak < 65


def test_income_rises_with_education_and_hours(many: pl.DataFrame) -> None:
    means = dict(many.drop_nulls("income").group_by("education").agg(pl.col("income").mean()).rows())
    order = ["none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate"]
    ladder = [means[level] for level in order]
    assert ladder == sorted(ladder)
    young = many.drop_nulls().filter(pl.col("age") < RETIREMENT)
    assert np.corrcoef(young["hours"], young["income"])[0, 1] > 0.2


def test_illness_and_widowhood_come_with_age(many: pl.DataFrame) -> None:
    def share(column: str, value: str, low: int, high: int) -> float:
        some = many.filter(pl.col("age").is_between(low, high))
        return float((some[column] == value).mean())  # type: ignore[arg-type]

    assert share("diagnosis", "none", 18, 35) > 0.6 > share("diagnosis", "none", 70, 95)
    assert share("diagnosis", "heart disease", 70, 95) > 4 * share("diagnosis", "heart disease", 18, 40)
    assert share("marital", "widowed", 75, 95) > 0.1 > share("marital", "widowed", 18, 50)
    assert share("marital", "single", 18, 25) > 0.6


def test_occupation_follows_education_and_districts_differ_in_pay(many: pl.DataFrame) -> None:
    physicians = many.filter(pl.col("occupation") == "physician")["education"].drop_nulls()
    assert (physicians.is_in(["master", "doctorate"])).mean() > 0.8  # type: ignore[operator]
    pay = dict(many.group_by("district").agg(pl.col("income").mean()).rows())
    assert pay["Harbour"] > 1.15 * pay["Deepwood"]
