"""Analyses drawn at random: the answers of statsmodels, what is inside an interval, and what is never drawn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.measures.utility.analyses import (
    SAMPLE,
    Analyses,
    AnalysesChanged,
    AnalystColumns,
    AnalystFile,
    draw_analyses,
)
from crypsis.measures.utility.estimates import least_squares_estimates, logistic_estimates
from crypsis.table.attribute import Role
from crypsis.table.table import Table
from naive import analyses as naive

ROLES = {"wage": "quasi", "age": "quasi", "visits": "confidential", "town": "quasi", "sex": "other"}


def people(seed: int = 0, n: int = 400, missing: float = 0.05) -> Table:
    """Numbers and categories that depend on each other, with missing cells."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    sex = rng.integers(0, 2, n)
    town = rng.choice(["a", "b", "c"], n, p=[0.6, 0.25, 0.15])
    wage = np.round(np.exp(7 + 0.01 * age + 0.3 * sex + 0.4 * rng.standard_normal(n)), 1)
    visits = np.where(rng.random(n) < 0.5, 0, rng.poisson(1 + age / 20)).astype(float)
    for column in (age, wage):
        column[rng.random(n) < missing] = np.nan
    blank = rng.random(n) < missing
    columns = {
        "wage": [None if np.isnan(v) else float(v) for v in wage],
        "age": [None if np.isnan(v) else float(v) for v in age],
        "visits": [float(v) for v in visits],
        "town": [None if gone else str(v) for v, gone in zip(town, blank, strict=True)],
        "sex": ["f" if v else "m" for v in sex],
    }
    return Table.from_columns(columns, ROLES)


def cells(table: Table) -> dict[str, list[float | str | None]]:
    """The published records of a table as lists of cells."""
    found = {}
    for name in table.names:
        column = table.column(name)[table.kept].tolist()
        if table.holds_numbers(name):
            found[name] = [None if v != v else v for v in column]
        else:
            labels = table.labels(name)
            found[name] = [None if code < 0 else labels[code] for code in column]
    return found


def masking(table: Table, seed: int) -> Table:
    """Numbers with noise, some categories changed, some records suppressed."""
    rng = np.random.default_rng(seed)
    town = table.column("town").copy()
    moved = (rng.random(table.rows) < 0.1) & (town >= 0)
    town[moved] = rng.integers(0, 3, int(moved.sum()))
    wage = table.column("wage") * np.exp(0.1 * rng.standard_normal(table.rows))
    return table.with_columns({"town": town, "wage": wage}).without(rng.random(table.rows) < 0.05)


def levels(asked: Analyses) -> Mapping[str, tuple[str, ...]]:
    numbers = asked.columns.numbers
    return {name: group.labels for name, group in asked.columns.groups.items() if name not in numbers}


@pytest.mark.parametrize("seed", range(6))
def test_every_answer_is_that_of_plain_loops_and_statsmodels(seed: int) -> None:
    original = people(seed)
    masked = masking(original, seed)
    asked = Analyses(original, 60, seed)
    before, after = cells(original), cells(masked)
    groups = levels(asked)
    expected = []
    for analysis in asked.analyses:
        grouping = [analysis.by] if analysis.kind == "mean" else [analysis.by or "sex", analysis.target]
        if analysis.kind in ("mean", "share", "logistic") and not {*grouping} <= set(groups):
            continue  # groups of a number of few values
        old = naive.answer(analysis, before, groups, before)
        new = naive.answer(analysis, after, groups, before)
        skip = 1 if analysis.models else 0
        for term, first, last in zip(analysis.terms, old[skip:], new[skip:], strict=True):
            expected.append((analysis.title, term, first, last))
    found = {(row.analysis, row.term): row for row in asked.compare(masked).rows}
    assert len(expected) > 60
    assert {"regression", "logistic", "mean", "total"} <= {found[title, term].kind for title, term, _, _ in expected}
    for title, term, first, last in expected:
        row = found[title, term]
        inside, overlap = naive.overlap(first, last)
        shown = np.tanh([first[0], last[0]]) if row.kind == "correlation" else (first[0], last[0])
        assert row.original == pytest.approx(shown[0], rel=1e-6, abs=1e-9), (title, term)
        assert row.released == pytest.approx(shown[1], rel=1e-5, abs=1e-7), (title, term)
        assert row.off == pytest.approx(abs(last[0] - first[0]) / first[1], rel=1e-4, abs=1e-5), (title, term)
        assert row.inside == inside
        assert row.overlap == pytest.approx(overlap, abs=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(60, 300))
def test_the_file_itself_keeps_every_answer_and_the_order_of_rows_changes_nothing(seed: int, n: int) -> None:
    original = people(seed, n)
    asked = Analyses(original, 40, seed)
    same = asked.compare(original)
    assert same.inside == 100.0
    assert same.overlap == pytest.approx(1.0, abs=1e-6)
    assert same.kept == same.analyses == same.kept_whole
    assert same.worst() == ()
    masked = masking(original, seed)
    order = np.random.default_rng(seed).permutation(n)
    one, other = asked.compare(masked), Analyses(original.take(order), 40, seed).compare(masked.take(order))
    assert [row.analysis for row in one.rows] == [row.analysis for row in other.rows]
    for first, last in zip(one.rows, other.rows, strict=True):
        assert (first.released is None) == (last.released is None)
        assert first.overlap == pytest.approx(last.overlap, abs=1e-6)


def test_a_column_that_became_constant_loses_its_analyses() -> None:
    original = people()
    asked = Analyses(original, 120, 4)
    masked = original.with_columns({"wage": np.full(original.rows, 1500.0)})
    found = asked.compare(masked)
    about = [row for row in found.rows if row.term == "wage" or (row.kind == "correlation" and "wage" in row.analysis)]
    assert len(about) > 5
    assert all(row.released is None and row.overlap == 0.0 and not row.inside for row in about)
    untouched = [row for row in found.rows if "wage" not in row.analysis]
    assert untouched
    assert all(row.inside for row in untouched)
    assert found.inside < 100.0
    assert found.worst(3)[0].off == np.inf


def test_a_number_published_in_groups_is_read_as_their_middle_and_a_category_by_its_label() -> None:
    table = crypsis.example(400, seed=3)
    recoded = crypsis.Generalisation(levels={"age": 1, "education": 1}, columns=("age", "education")).mask(
        table, np.random.default_rng(0)
    )
    columns = AnalystColumns.of(table, table.names)
    file = AnalystFile(columns, recoded)
    ages = table.column("age")
    present = ~np.isnan(ages)
    ages, present = ages[recoded.kept], present[recoded.kept]
    assert np.abs(file.number("age")[present] - ages[present]).max() < 10
    assert len(np.unique(file.number("age")[present])) < len(np.unique(ages[present])) / 2
    wanted = set(columns.groups["education"].labels)
    shown = [recoded.labels("education")[code] if code >= 0 else "" for code in recoded.column("education")]
    shown = [label for label, kept in zip(shown, recoded.kept, strict=True) if kept]
    assert [code >= 0 for code in file.codes("education")] == [label in wanted for label in shown]


def test_names_of_few_people_are_never_drawn_nor_are_columns_nobody_gets() -> None:
    rng = np.random.default_rng(1)
    n = 300
    rare = ["rare"] * 19 + ["often"] * 150 + ["usual"] * (n - 169)
    columns = {
        "name": [f"p{i}" for i in range(n)],
        "home": rng.integers(0, 4, n).tolist(),
        "open": rng.integers(0, 4, n).tolist(),
        "illness": rare,
        "many": [f"v{i % 30}" for i in range(n)],
        "flat": [3.0] * n,
        "hole": [1.0 * i if i % 3 == 0 else None for i in range(n)],
        "pay": rng.normal(0, 1, n).tolist(),
        "age": rng.normal(40, 9, n).tolist(),
    }
    hidden = {"name": "identifier", "home": "household", "open": "undecided"}
    asked = Analyses(Table.from_columns(columns, dict.fromkeys(columns, "other") | hidden), 300, 1)
    titles = " ".join([a.title + " " + " ".join(a.terms) for a in asked.analyses])
    for never in ("name", "home", "open", "rare", "many", "flat", "hole"):
        assert never not in titles.split(" ")
        assert f"{never}," not in titles
    assert "often" in titles


def test_a_mean_of_few_records_is_not_drawn() -> None:
    n = 100
    columns = {"sex": ["f", "m"] * 50, "pay": [float(i) if i % 2 or i < 30 else None for i in range(n)]}
    asked = Analyses(Table.from_columns(columns), 100, 2, columns=("sex", "pay"))
    titles = {a.title for a in asked.analyses}
    assert "mean of pay where sex is m" in titles
    assert "mean of pay where sex is f" not in titles  # 15 records


def test_the_search_and_the_report_never_share_their_draw() -> None:
    original = people(2)
    search, again, report = (Analyses(original, 50, 1, stream=s) for s in ("search", "search", "report"))
    assert [a.title for a in search.analyses] == [a.title for a in again.analyses]
    assert [a.title for a in search.analyses] != [a.title for a in report.analyses]
    other = Analyses(original, 50, 2)
    assert [a.title for a in search.analyses] != [a.title for a in other.analyses]


def test_reading_twice_gives_the_same() -> None:
    original = people(5)
    asked, masked = Analyses(original, 50, 1), masking(original, 3)
    assert asked.compare(masked) == asked.compare(masked)


def test_models_of_a_large_file_are_fitted_to_a_sample_that_is_told() -> None:
    rng = np.random.default_rng(0)
    n = SAMPLE + 500
    x, y = rng.standard_normal((2, n))
    table = Table.from_columns({"x": x, "y": x + y, "z": rng.standard_normal(n)})
    asked = Analyses(table, 30, 1, columns=("x", "y", "z"))
    found = asked.compare(table)
    assert found.sampled == SAMPLE
    assert found.inside == 100.0
    file = AnalystFile(asked.columns, table)
    assert len(file.design("x")[0]) == SAMPLE
    assert len(file.number("x")) == n
    assert AnalystFile(asked.columns, table.without(np.arange(n) < n // 2)).design("x")[0].shape[0] < SAMPLE


def test_terms_that_the_data_do_not_identify_have_no_estimate() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 1))
    y = x[:, 0] + rng.standard_normal(200)
    twice = np.concatenate([np.ones((200, 1)), x, x, rng.standard_normal((200, 1))], axis=1)
    found = least_squares_estimates(twice, y)
    assert np.isnan(found.value).tolist() == [False, True, True, False]
    sure = np.concatenate([np.ones((200, 1)), (y > 1)[:, None] * 1.0, x], axis=1)
    certain = logistic_estimates(sure, ((y > 1) | (rng.random(200) < 0.3)) * 1.0)
    assert np.isnan(certain.value).tolist() == [False, True, False]


def test_a_perfect_fit_has_no_interval_that_could_be_left() -> None:
    rng = np.random.default_rng(0)
    a, b = np.round(rng.normal(50, 9, (2, 200)))
    table = Table.from_columns({"a": a, "b": b, "sum": a + b, "c": rng.normal(0, 1, 200)})
    asked = Analyses(table, 200, 1, columns=table.names)
    shown = {(row.analysis, row.term) for row in asked.compare(table).rows}
    assert not any(title.startswith("regression of sum on a, b") for title, _ in shown)
    assert any(title.startswith("regression of c") for title, _ in shown)


def test_the_measure_is_the_share_that_changed_and_refuses_what_has_no_analysis() -> None:
    original = people(1)
    masked = masking(original, 1)
    measure = AnalysesChanged(count=50, seed=3)
    found = Analyses(original, 50, 3).compare(masked)
    reading = measure.against(original).explain(masked)
    assert reading.value == pytest.approx(100 - found.inside)
    assert 0 < reading.value < 100
    assert reading.counts["estimates"] == found.estimates
    assert reading.scope == original.names
    flat = Table.from_columns({"x": ["a"] * 50, "y": ["a", "b"] * 25})
    assert "no analysis can be drawn" in measure.obstacle(flat)
    assert measure.obstacle(original) == ""
    assert "wages" in AnalysesChanged(columns=("wages",)).obstacle(original)
    only = AnalysesChanged(columns=("age", "sex"), count=50)
    assert only.against(original).explain(masked).scope == ("age", "sex")
    assert only.against(original).read(original.with_columns({"wage": np.zeros(original.rows)})) == 0.0


def test_every_kind_is_drawn_where_a_table_allows_it() -> None:
    original = people(0)
    file = AnalystFile(AnalystColumns.of(original, original.names), original)
    kinds = {analysis.kind for analysis in draw_analyses(file, np.random.default_rng(0), 2000)}
    assert kinds == {"mean", "share", "above zero", "total", "quantile", "correlation", "regression", "logistic"}


def test_dates_have_no_total_and_no_share_above_zero() -> None:
    """No day is the first one: what counts from 0 is asked of amounts alone, the other analyses of dates too."""
    days = np.random.default_rng(0).integers(-9000, 9000, 200).astype("datetime64[D]")
    for others in ({"wage": np.random.default_rng(1).normal(0, 9, 200)}, {}):
        table = crypsis.wrap(pd.DataFrame({"born": days.astype("datetime64[s]"), "sex": ["f", "m"] * 100} | others))
        file = AnalystFile(AnalystColumns.of(table, table.names), table)
        drawn = {(analysis.kind, analysis.target) for analysis in draw_analyses(file, np.random.default_rng(0), 500)}
        asked = {name: {kind for kind, target in drawn if target == name} for name in table.names}
        assert asked["born"] >= {"mean", "quantile"}
        assert not asked["born"] & {"total", "above zero"}
        assert not others or asked["wage"] >= {"total", "above zero"}


def test_no_release_no_answers() -> None:
    original = people(0)
    found = Analyses(original, 30, 1).compare(original.without(np.ones(original.rows, dtype=bool)))
    assert found.inside == 0.0
    assert found.overlap == 0.0
    assert {attribute.role for attribute in original.attributes} == {
        Role(r) for r in ("quasi", "confidential", "other")
    }
