"""Estimates before and after: plain figures, their intervals, what users may read, and columns that are ruined."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.measures.utility import Distributions, Usefulness, column_estimates, utility_card
from crypsis.measures.utility.estimates import is_dominated_estimate
from crypsis.table.table import Table
from crypsis.text import ruin_text

NUMBERS = st.lists(st.one_of(st.none(), st.integers(-50, 500)), min_size=40, max_size=80)


@settings(max_examples=40, deadline=None)
@given(NUMBERS, st.integers(0, 2**31))
def test_figures_of_a_number_are_those_of_plain_python(cells: list[int | None], seed: int) -> None:
    held = [v for v in cells if v is not None]
    if len(set(held)) < 3:
        return
    original = Table.from_columns({"x": cells}, {"x": "quasi"})
    rng = np.random.default_rng(seed)
    masked = original.with_columns({"x": original.column("x") + rng.integers(0, 9, len(cells))})
    masked = masked.without(rng.random(len(cells)) < 0.2)
    after = [v for v, kept in zip(masked.column("x").tolist(), masked.kept, strict=True) if kept and v == v]
    [found] = column_estimates(original, masked, ["x"])
    released = int(masked.kept.sum())
    for title, before_, after_, error in (
        ("mean", statistics.fmean(held), statistics.fmean(after), statistics.stdev(held) / len(held) ** 0.5),
        ("sd", statistics.stdev(held), statistics.stdev(after), None),
        ("total", len(cells) * statistics.fmean(held), released * statistics.fmean(after), None),
        ("records present", len(held), len(after), None),
    ):
        figure = found.figure(title)
        assert figure is not None
        assert figure.before == pytest.approx(before_)
        assert figure.after == pytest.approx(after_)
        if error is not None:
            assert figure.error == pytest.approx(error)
            assert figure.inside == (abs(after_ - before_) <= 1.96 * error)
    share = 100 * sum(v > 0 for v in held) / len(held)
    above = found.figure("above 0, %")
    assert (above is None) == (share in (0, 100))
    if above is not None:
        assert above.before == pytest.approx(share)
        assert above.after == pytest.approx(100 * sum(v > 0 for v in after) / len(after))


def test_the_error_of_a_standard_deviation_is_that_of_many_samples() -> None:
    rng = np.random.default_rng(0)
    samples = rng.exponential(1.0, (2000, 500))
    table = Table.from_columns({"x": samples[0]}, {"x": "quasi"})
    figure = column_estimates(table, table, ["x"])[0].figure("sd")
    assert figure is not None
    assert figure.error is not None
    assert figure.error == pytest.approx(samples.std(axis=1, ddof=1).std(), rel=0.25)


def test_extremes_and_figures_of_few_people_are_not_open() -> None:
    rng = np.random.default_rng(1)
    n = 3000
    rich = rng.exponential(100, n)
    rich[0] = 1e9
    rare = np.zeros(n)
    rare[:10] = 5.0
    original = Table.from_columns({"plain": rng.normal(10, 2, n), "rich": rich, "rare": rare})
    plain, spoilt, few = column_estimates(original, original, ["plain", "rich", "rare"])
    public = {each.name: {f.figure for f in each.figures if f.public} for each in (plain, spoilt, few)}
    assert public["plain"] == {"mean", "sd", "total", "1 % point", "99 % point"}
    assert public["rich"] == {"1 % point", "99 % point"}
    assert not public["rare"] & {"mean", "total", "sd", "above 0, %"}
    small = Table.from_columns({"plain": rng.normal(10, 2, 400)})
    shown = {f.figure for f in column_estimates(small, small, ["plain"])[0].figures if f.public}
    assert shown == {"mean", "sd", "total"}  # fewer than 20 records lie beyond the 1 and 99 % points
    ends = [spoilt.figure("highest 20"), plain.figure("highest 20")]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0].before is None  # one record holds nearly all of it
    assert ends[1].before == pytest.approx(np.sort(original.column("plain"))[-20:].mean())
    assert is_dominated_estimate(np.array([1.0] * 19))
    assert not is_dominated_estimate(np.array([1.0] * 20))


def test_shares_of_values_and_those_that_vanished() -> None:
    town = ["a"] * 60 + ["b"] * 30 + ["c"] * 7 + ["d"] * 3
    original = Table.from_columns({"town": town}, {"town": "quasi"})
    codes = original.column("town").copy()
    codes[60:] = 0
    codes[97:] = 2
    [found] = column_estimates(original, original.with_columns({"town": codes}), ["town"])
    assert [(f.figure, f.before, f.after) for f in found.figures] == [("a", 60.0, 97.0), ("b", 30.0, 0.0)]
    assert found.figures[0].error == pytest.approx(100 * (0.6 * 0.4 / 100) ** 0.5)
    assert found.figures[0].inside is False
    assert found.vanished == ("b",)
    assert found.vanished_rare == 1
    assert found.grouped == 0.0


def test_a_value_in_a_published_group_is_neither_there_nor_gone() -> None:
    table = crypsis.example(400, seed=3)
    recoded = crypsis.Generalisation(levels={"education": 1}, columns=("education",)).mask(
        table, np.random.default_rng(0)
    )
    [found] = column_estimates(table, recoded, ["education"])
    assert found.grouped > 50
    assert found.vanished == ()
    assert any(each.after is None and each.inside is False for each in found.figures)


def test_a_column_that_became_constant_or_lost_a_fifth_of_its_total_is_ruined() -> None:
    rng = np.random.default_rng(2)
    n = 500
    visits = np.where(rng.random(n) < 0.9, 0.0, rng.poisson(5, n) + 1.0)
    balance = rng.normal(0, 1, n)
    original = Table.from_columns(
        {"visits": visits, "balance": balance - balance.mean(), "sex": ["f", "m"] * 250},
        {"visits": "quasi", "balance": "quasi", "sex": "quasi"},
    )
    halved = original.with_columns({"visits": visits * 0.7, "balance": original.column("balance") + 0.01})
    figures = Distributions(original).figures(halved, original.names)
    assert figures["visits"]["total"] == pytest.approx(30.0)
    assert figures["balance"]["total"] == pytest.approx(10.0 / balance.std())  # its total is 0
    assert figures["visits"]["constant"] == 0.0
    assert [(r.column, r.harm) for r in Usefulness(distance=100).ruins(figures)] == [("visits", "total")]
    assert Usefulness(total=40, distance=100).ruins(figures) == ()
    flat = original.with_columns({"visits": np.zeros(n), "sex": np.zeros(n, dtype=np.int32)})
    ruined = Distributions(original).figures(flat, original.names)
    harms = {(r.column, r.harm) for r in Usefulness(distance=100, vanished=100).ruins(ruined)}
    assert {("visits", "constant"), ("visits", "total"), ("sex", "constant")} <= harms
    kept = {r.harm for r in Usefulness(distance=100, vanished=100, constant=True).ruins(ruined)}
    assert "constant" not in kept
    assert "visits (one value left)" in ruin_text(Usefulness().ruins({"visits": ruined["visits"]}))
    text = ruin_text(Usefulness(constant=True).ruins({"visits": ruined["visits"]}))
    assert "its total changed by 100 %, at most 20 % allowed" in text
    same = Distributions(original).figures(original, original.names)
    assert all(each["total"] == each["constant"] == 0.0 for each in same.values())


def test_a_column_that_never_varied_is_not_ruined() -> None:
    original = Table.from_columns({"x": [3.0] * 30, "y": ["a"] * 30}, {"x": "quasi", "y": "quasi"})
    figures = Distributions(original).figures(original, ("x", "y"))
    assert [each["constant"] for each in figures.values()] == [0.0, 0.0]


def test_missing_cells_that_are_filled_do_not_move_a_total() -> None:
    cells = [1.0, 2.0, 3.0, None] * 25
    original = Table.from_columns({"x": cells}, {"x": "quasi"})
    filled = original.with_columns({"x": np.where(np.isnan(original.column("x")), 2.0, original.column("x"))})
    assert Distributions(original).figures(filled, ("x",))["x"]["total"] == pytest.approx(0.0)


def test_the_card_has_estimates_analyses_and_those_of_other_files() -> None:
    original = crypsis.example(300, seed=1)
    masked = crypsis.Microaggregation(k=5, missing="aggregate").mask(original, np.random.default_rng(1))
    coarse = crypsis.Microaggregation(k=60, missing="aggregate").mask(original, np.random.default_rng(1))
    card = utility_card(original, masked, general=(), analyses=50, beside={"coarse": coarse})
    published = [name for name in original.names if name != "person"]
    assert [each.name for each in card.estimates] == published
    assert card.analyses is not None
    assert card.analyses.analyses == 50
    assert card.beside["coarse"].inside < card.analyses.inside
    assert utility_card(original, masked, general=(), analyses=0).analyses is None
    assert utility_card(original, masked, general=(), analyses=50).analyses == card.analyses
