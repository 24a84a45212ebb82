"""Averages over one or two persons: by hand, where they come from, and against a slow twin."""

from __future__ import annotations

import math
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.audits.arithmetic import small_averages
from crypsis.audits.published import Finding, FindingKind
from crypsis.masking import methods
from crypsis.release.published import flatten, order_published_rows
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import MaskingStep, Table
from crypsis.text import attack_decisions_text

QUASI = {"age": "quasi", "hours": "quasi"}


def test_a_refusal_of_averages_over_two_says_to_demand_three() -> None:
    finding = Finding(FindingKind.SMALL_AVERAGE, ("age",), 4, 0.4)
    assert "k = 3 or more" in attack_decisions_text([finding])


def people(n: int, seed: int, missing: float = 0.0) -> Table:
    rng = np.random.default_rng(seed)
    ages, hours = rng.integers(18, 90, n).astype(float), rng.normal(40, 10, n).round(1)
    hours[rng.random(n) < missing] = np.nan
    return Table.from_columns({"age": ages, "hours": hours, "income": rng.lognormal(10, 1, n)}, QUASI)


def marked(original: Table, masked: Table, least: int = 3) -> dict[str, int]:
    rows = order_published_rows(masked, "shuffled", np.random.default_rng(0))
    found = small_averages(flatten(masked, rows), original, rows, least)
    return {name: int(marks.sum()) for name, marks in found.items()}


def test_groups_of_two_give_each_other_away() -> None:
    table = people(30, 1)
    masked = methods.build("microaggregation", k=2).mask(table, np.random.default_rng(0))
    assert marked(table, masked) == {"age": 30, "hours": 30}
    assert marked(table, masked, least=2) == {"age": 0, "hours": 0}


def test_groups_of_three_do_not() -> None:
    table = people(30, 1)
    masked = methods.build("microaggregation", k=3).mask(table, np.random.default_rng(0))
    assert marked(table, masked) == {"age": 0, "hours": 0}


def test_columns_averaged_apart_are_found_one_by_one() -> None:
    original = Table.from_columns({"age": [20, 22, 40, 44, 46, 48], "hours": [1, 5, 9, 2, 6, 10]}, QUASI)
    masked = original.with_columns(
        {"age": np.array([21.0, 21, 44.5, 44.5, 44.5, 44.5]), "hours": np.array([1.5, 5.5, 9.5, 1.5, 5.5, 9.5])}
    )
    assert marked(original, masked) == {"age": 2, "hours": 6}


def test_the_only_known_value_of_a_group() -> None:
    original = Table.from_columns({"age": [20, 22, 24], "hours": [None, 38.0, None]}, QUASI)
    filled = crypsis.Microaggregation(k=3, missing="aggregate").mask(original, np.random.default_rng(0))
    assert marked(original, filled) == {"age": 0, "hours": 3}
    kept = crypsis.Microaggregation(k=3).mask(original, np.random.default_rng(0))
    assert marked(original, kept) == {"age": 0, "hours": 0}


def test_a_column_averaged_over_other_groups_is_not_accused_by_chance() -> None:
    """Two of the first class have an income, of which 15 is the mean; but it is published as the mean of five."""
    original = Table.from_columns(
        {"age": [20, 20, 20, 40, 40, 40], "income": [10.0, 20.0, None, 10.0, 20.0, 15.0]}, {"age": "quasi"}
    )
    ages = np.array([21.0, 21, 21, 41, 41, 41])
    apart = original.with_columns({"age": ages, "income": np.array([15.0, 15, np.nan, 15, 15, 15])})
    assert marked(original, apart) == {"age": 0, "income": 0}
    together = original.with_columns({"age": ages, "income": np.array([15.0, 15, 15, 16, 16, 16])})
    assert marked(original, together) == {"age": 0, "income": 3}


def test_columns_as_collected_noise_and_dates() -> None:
    table = people(30, 2)
    assert marked(table, table) == {}
    noisy = crypsis.Noise(amount=0.1).mask(table, np.random.default_rng(0))
    assert marked(table, noisy) == {"age": 0, "hours": 0}
    days = Table(
        (Attribute("born", Kind.NUMERIC, Role.QUASI_IDENTIFIER, dates="date"),), (np.array([10.0, 13, 20, 30, 41]),)
    )
    masked = days.with_columns({"born": np.array([12.0, 12, 30, 30, 30])})
    assert small_averages(masked, days, np.arange(5))["born"].tolist() == [True, True, False, False, False]


def naive(published: Table, original: Table, rows: list[int], least: int) -> dict[str, list[bool]]:
    """Every record beside every other; averages are rounded where the published numbers are as round as the source."""
    found = {}
    quasi = published.codes(published.quasi_identifiers).tolist()
    for name in ("age", "hours", "income"):
        shown, true = published.column(name).tolist(), [original.column(name)[row] for row in rows]
        if all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(shown, true, strict=True)):
            continue
        digits = max(len(repr(float(v)).split(".")[1].rstrip("0")) for v in true if not math.isnan(v))
        rounded = all(math.isnan(cell) or round(cell, digits) == cell for cell in shown)
        marks = []
        written = {(str(key), str(cell)) for key, cell in zip(quasi, shown, strict=True)}
        constant = len(written) == len({key for key, _ in written})
        for i, cell in enumerate(shown):
            fellows = [
                [j for j in range(len(rows)) if constant and quasi[j] == quasi[i]],
                [j for j in range(len(rows)) if shown[j] == cell],
            ]
            known = [[true[j] for j in some if not math.isnan(true[j])] for some in fellows]
            marks.append(
                any(
                    0 < len(some) < least
                    and any(
                        math.isclose(cell, round(of(some), digits) if rounded else of(some), rel_tol=1e-9)
                        for of in (mean, median)
                    )
                    for some in known
                )
            )
        found[name] = marks
    return found


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(6, 40),
    seed=st.integers(0, 2**32),
    k=st.integers(2, 4),
    least=st.integers(2, 5),
    aggregate=st.sampled_from(["mean", "median"]),
    missing=st.sampled_from(["keep", "aggregate"]),
    apart=st.booleans(),
    pay=st.booleans(),
)
def test_equal_to_every_record_beside_every_other(
    n: int, seed: int, k: int, least: int, aggregate: str, missing: str, apart: bool, pay: bool
) -> None:
    table = people(n, seed, missing=0.3)
    groups = (("age",), ("hours",)) if apart else ()
    method = methods.build("microaggregation", k=k, numbers=aggregate, missing=missing, groups=groups)
    masked = method.mask(table, np.random.default_rng(0))
    if pay:  # a column that is no quasi-identifier, averaged over groups of its own
        means = np.sort(table.column("income"))[: n // 2 * 2].reshape(-1, 2).mean(axis=1).repeat(2)
        income = table.column("income").copy()
        income[np.argsort(table.column("income"))[: len(means)]] = means
        masked = masked.with_columns({"income": income})
    rows = np.random.default_rng(seed).permutation(n)
    found = small_averages(masked.take(rows), table, rows, least)
    assert {name: marks.tolist() for name, marks in found.items()} == naive(
        masked.take(rows), table, rows.tolist(), least
    )


@pytest.mark.parametrize("least", [1, 3])
def test_an_empty_file_has_no_marks(least: int) -> None:
    table = people(8, 3)
    masked = methods.build("microaggregation", k=2).mask(table, np.random.default_rng(0))
    nobody = np.arange(0)
    assert small_averages(masked.take(nobody), table, nobody, least) == {}


def test_columns_masked_apart_are_judged_by_the_columns_masked_with_them() -> None:
    original = Table.from_columns({"age": [20, 30, 40, 50, 60, 70], "hours": [1, 2, 3, 1, 2, 3]}, QUASI)
    columns = {"age": np.array([30.0, 30, 30, 60, 60, 60]), "hours": np.array([2.0, 1, 2, 2, 1, 2])}
    masked = original.with_columns(columns)
    rows = np.arange(6)
    assert small_averages(masked, original, rows)["age"].any(), "alone in both, and its own number by chance"
    told = masked.masked_by(MaskingStep("grouping", "aggregation", together=(("age",), ("hours",))), original)
    assert not small_averages(told, original, rows)["age"].any()
    torn = masked.masked_by(MaskingStep("grouping", "aggregation", together=(("age", "hours"),)), original)
    assert small_averages(torn, original, rows)["age"].any()
