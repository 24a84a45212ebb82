"""Masked cells that other columns restore: by hand, planted at random, and none where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.audits.dependence import dependence, find_determining_dependence
from crypsis.audits.published import FindingKind, Published
from crypsis.masking import Microaggregation
from crypsis.table.attribute import Role
from crypsis.table.table import Table


def survey(rows: int = 400, seed: int = 0) -> Table:
    """A region, a weight computed by region, and a job that has nothing to do with either."""
    rng = np.random.default_rng(seed)
    region = rng.integers(0, 12, rows)
    columns = {
        "region": [f"r{n}" for n in region],
        "weight": (1.5 + region * 0.25).tolist(),
        "job": [f"j{n}" for n in rng.integers(0, 9, rows)],
    }
    return Table.from_columns(columns, {"region": "quasi", "weight": "weight", "job": "other"})


def hidden(table: Table, name: str, rows: np.ndarray) -> Table:
    column = table.column(name).copy()
    column[rows] = -1 if column.dtype == np.int32 else np.nan
    return table.with_columns({name: column})


def test_a_weight_computed_by_region_restores_the_region() -> None:
    original = survey()
    published = hidden(original, "region", np.arange(400) < 60)
    (found,) = dependence(Published(published, original))
    assert (found.kind, found.columns) == (FindingKind.DEPENDENCE, ("weight", "region"))
    assert found.share > 0.95
    (alone,) = dependence(Published(published))
    assert alone.columns == ("weight", "region"), "the published cells show it without the original"


def test_a_quasi_identifier_is_covered_by_its_classes() -> None:
    original = survey().with_roles({"weight": Role.QUASI_IDENTIFIER})
    assert dependence(Published(hidden(original, "region", np.arange(400) < 60), original)) == []


def test_a_number_in_the_same_order_restores_numbers() -> None:
    rng = np.random.default_rng(3)
    age = rng.permutation(np.linspace(18, 90, 300))
    original = Table.from_columns(
        {"age": age.tolist(), "born": (2026 - age + rng.normal(0, 0.2, 300)).tolist()},
        {"age": "quasi", "born": "confidential"},
    )
    published = original.with_columns({"age": np.round(age, -1)})
    (found,) = dependence(Published(published, original))
    assert found.columns == ("born", "age")


def test_two_columns_restore_what_neither_does_alone() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 6, 600), rng.integers(0, 6, 600)
    target = (a + b) % 6
    columns = {"town": [f"t{n}" for n in target], "a": [f"a{n}" for n in a], "b": [f"b{n}" for n in b]}
    original = Table.from_columns(columns, {"town": "quasi", "a": "other", "b": "other"})
    (found,) = dependence(Published(hidden(original, "town", np.arange(600) < 100), original))
    assert found.columns == ("a", "b", "town")


def test_small_groups_and_nearly_constant_columns_restore_by_chance_alone() -> None:
    """Four records a key and nine in ten people alike: two groups of three agree without any dependence."""
    rng = np.random.default_rng(7)
    columns = {
        "sex": np.where(rng.random(400) < 0.9, "f", "m").tolist(),
        "key": [f"k{n}" for n in rng.permutation(np.arange(400) // 4)],
    }
    original = Table.from_columns(columns, {"sex": "quasi", "key": "other"})
    assert dependence(Published(hidden(original, "sex", np.arange(400) < 200), original)) == []


def test_pairs_of_equal_amounts_that_agree_now_and_then_accuse_nobody() -> None:
    """Forty pairs of people with one income, which says little about the occupation: some pairs share it."""
    accused = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        income = rng.permutation(np.r_[np.repeat(np.arange(40), 2), np.arange(100, 320)])
        job = rng.integers(0, 10, 300) + 10 * (income % 2)
        columns = {"job": [f"j{n}" for n in job], "income": income.astype(float).tolist()}
        original = Table.from_columns(columns, {"job": "quasi", "income": "confidential"})
        accused += bool(dependence(Published(hidden(original, "job", np.arange(300) < 100), original)))
    assert accused == 0


def test_planted_dependences_are_found_and_independent_columns_are_not() -> None:
    """Bands fixed beforehand: at least 99 % of the plants, at most 2 % of the clean tables."""
    found = alarms = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows, towns = int(rng.integers(150, 500)), int(rng.integers(4, 20))
        town = rng.integers(0, towns, rows)
        columns = {
            "town": [f"t{n}" for n in town],
            "follows": [f"w{n}" for n in rng.permutation(towns)[town]],
            "free": [f"x{n}" for n in rng.integers(0, rng.integers(3, rows // 4), rows)],
        }
        original = Table.from_columns(columns, {"town": "quasi", "follows": "other", "free": "other"})
        published = hidden(original, "town", rng.random(rows) < rng.uniform(0.1, 0.5))
        keys = [each.columns[0] for each in dependence(Published(published, original))]
        found += "follows" in keys
        alarms += "free" in keys
    assert found >= 99
    assert alarms <= 2


@pytest.mark.parametrize("role", ["confidential", "other", "weight"])
def test_a_raw_file_shows_which_columns_determine_quasi_identifiers(role: str) -> None:
    rng = np.random.default_rng(1)
    born = rng.integers(1930, 2005, 500)
    columns = {"age": (2026 - born).tolist(), "born": born.tolist(), "pay": rng.normal(2000, 300, 500).tolist()}
    table = Table.from_columns(columns, {"age": "quasi", "born": role, "pay": "confidential"})
    assert find_determining_dependence(table) == {"born": ["age"]}


# -- what the intruder needs more than one glance for --


def averaged(table: Table, name: str, size: int) -> Table:
    """A column of numbers in which groups of near values are averaged."""
    column, order = table.column(name).copy(), np.argsort(table.column(name))
    for start in range(0, len(order), size):
        column[order[start : start + size]] = column[order[start : start + size]].mean()
    return table.with_columns({name: column})


def test_an_averaged_weight_still_restores_the_region_it_was_computed_from() -> None:
    rng = np.random.default_rng(1)
    region = rng.integers(0, 12, 600)
    columns = {"region": [f"r{n}" for n in region], "weight": (region * 10 + rng.random(600)).tolist()}
    original = Table.from_columns(columns, {"region": "quasi", "weight": "weight"})
    published = averaged(hidden(original, "region", np.arange(600) < 90), "weight", 5)
    (found,) = dependence(Published(published, original))
    assert (found.columns, found.by) == (("weight", "region"), 1)


@pytest.mark.parametrize("size", [5, 20])
def test_an_averaged_age_in_months_restores_the_age(size: int) -> None:
    rng = np.random.default_rng(2)
    age = rng.integers(18, 90, 600)
    columns = {"age": age.tolist(), "months": (age * 12 + rng.integers(0, 12, 600)).tolist()}
    original = Table.from_columns(columns, {"age": "quasi", "months": "confidential"})
    published = averaged(averaged(original, "age", 30), "months", size)
    assert [each.columns for each in dependence(Published(published, original))] == [("months", "age")]


def test_an_averaged_number_that_only_goes_with_a_column_restores_nothing() -> None:
    """Seven of ten with a high income are men: many groups of five are men alone, and nobody learns who is one."""
    rng = np.random.default_rng(4)
    income = rng.normal(2000, 500, 1000)
    columns = {
        "sex": np.where(rng.random(1000) < np.where(income > 2000, 0.7, 0.3), "m", "f").tolist(),
        "income": income.tolist(),
    }
    original = Table.from_columns(columns, {"sex": "quasi", "income": "confidential"})
    assert dependence(Published(averaged(hidden(original, "sex", np.arange(1000) < 300), "income", 5), original)) == []


def test_three_columns_restore_what_two_do_not() -> None:
    rng = np.random.default_rng(5)
    a, b, c = rng.integers(0, 3, (3, 900))
    columns = {"town": [f"t{n}" for n in (a + b + c) % 3]} | {
        name: x.tolist() for name, x in zip("abc", (a, b, c), strict=True)
    }
    original = Table.from_columns(columns, {"town": "quasi", "a": "other", "b": "other", "c": "confidential"})
    (found,) = dependence(Published(hidden(original, "town", np.arange(900) < 100), original))
    assert (found.columns, found.by) == (("a", "b", "c", "town"), 3)


def test_a_column_restores_a_value_together_with_what_is_published_of_it() -> None:
    """The province is published, and a number counts the towns of each province."""
    rng = np.random.default_rng(6)
    town = rng.integers(0, 24, 900)
    columns = {"town": [f"{'north south east west'.split()[n % 4]} {n}" for n in town], "number": (town // 4).tolist()}
    original = Table.from_columns(columns, {"town": "quasi", "number": "other"})
    labels = original.attribute("town").categories
    provinces = tuple(sorted({label.split()[0] for label in labels}))
    codes = np.array([provinces.index(label.split()[0]) for label in labels], dtype=np.int32)
    attribute = original.attribute("town").but(categories=provinces)
    published = original.with_columns({"town": codes[original.column("town")]}, attributes={"town": attribute})
    (found,) = dependence(Published(published, original))
    assert (found.columns, found.by) == (("number", "town", "town"), 2)


def test_a_quasi_identifier_takes_part_in_a_key() -> None:
    rng = np.random.default_rng(8)
    sex, town = rng.integers(0, 2, 800), rng.integers(0, 6, 800)
    columns = {"sex": sex.tolist(), "town": [f"t{n}" for n in town], "code": ((town + 3 * sex) % 6).tolist()}
    original = Table.from_columns(columns, {"sex": "quasi", "town": "quasi", "code": "other"})
    (found,) = dependence(Published(hidden(original, "town", np.arange(800) < 100), original))
    assert (found.columns, found.by) == (("code", "sex", "town"), 2)


def test_groups_of_similar_records_are_no_dependence() -> None:
    """Published groups agree in what they have in common anyway; a column that is independent of it adds nothing."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(200, 500))
        columns = {
            "age": rng.integers(18, 90, rows).tolist(),
            "town": [f"t{n}" for n in rng.integers(0, 8, rows)],
            "illness": [f"i{n}" for n in rng.integers(0, 4, rows)],
            "smokes": [f"s{n}" for n in rng.integers(0, 2, rows)],
        }
        roles = {"age": "quasi", "town": "quasi", "illness": "confidential", "smokes": "other"}
        original = Table.from_columns(columns, roles)
        alarms += bool(dependence(Published(Microaggregation(k=6).mask(original, rng), original)))
    assert alarms <= 1
