"""Designs, trials that can be stopped, and the tests against statsmodels, scikit-posthocs and worked numbers."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pictures import sensitivity_picture
from scipy import stats
from trials import Design, PartitionerSubject, Results, SearchSubject, run_design
from variance import analyse, anova, compare, critical_difference

from crypsis.engines import Processes
from crypsis.errors import PlanError, SearchError
from crypsis.table.table import Table


@dataclass(frozen=True)
class Slope:
    """A subject whose truth is known: `a` moves the result, `b` does nothing, `c` moves how soon it is found."""

    noise: float = 1.0

    @property
    def responses(self) -> tuple[str, ...]:
        return ("loss", "epoch")

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        if any(settings["a"] > 9 for settings in combinations):
            raise PlanError("a is at most 9")

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        rng = np.random.default_rng(seed)
        loss = (0.0 if settings["a"] in (1, 2) else 5.0) + self.noise * rng.normal()
        return float(loss), float(10 * settings["c"] + self.noise * rng.normal())

    def describe(self) -> dict[str, Any]:
        return {"slope": self.noise}


GRID = Design.of({"a": [0, 1, 2], "b": ["x", "y"], "c": [1, 2]}, replicates=6, seed=4)


def places(design: Design) -> dict[str, Any]:
    return {factor.name: design.places[:, number] for number, factor in enumerate(design.factors)}


# -- the design --


def test_a_design_has_every_combination_as_often_as_every_other() -> None:
    trials = [GRID.trial(index) for index in range(GRID.size)]
    assert GRID.size == 3 * 2 * 2 * 6
    counted = pd.Series([json.dumps(trial.settings) for trial in trials]).value_counts()
    assert len(counted) == GRID.combinations
    assert set(counted) == {6}
    assert len({trial.seed for trial in trials}) == GRID.size
    assert GRID.trial(17) == Design.from_dict(json.loads(json.dumps(GRID.to_dict()))).trial(17)


@pytest.mark.parametrize("levels", [{}, {"a": []}, {"a": [1, 1]}])
def test_a_design_that_is_none_is_refused(levels: dict[str, list[int]]) -> None:
    with pytest.raises(PlanError):
        Design.of(levels)


def test_settings_that_cannot_be_are_refused_before_the_first_run(tmp_path: Path) -> None:
    subject = PartitionerSubject("genetic", np.zeros((9, 2)), 3)
    with pytest.raises(PlanError, match="mutation_rate"):
        run_design(Design.of({"mutation_rate": [0.1, 7]}), subject, tmp_path / "t.jsonl")
    assert not (tmp_path / "t.jsonl").exists()


# -- trials --


def test_a_stopped_run_goes_on_to_the_same_trials(tmp_path: Path) -> None:
    whole = run_design(GRID, Slope())
    path = tmp_path / "trials.jsonl"
    part = run_design(GRID, Slope(), path, most=10)
    assert part.done == 10
    with pytest.raises(SearchError, match="10 of 72"):
        part.response("loss")
    with path.open("a") as file:
        file.write('{"trial": 40, "val')  # killed while writing
    assert np.array_equal(run_design(GRID, Slope(), path).values, whole.values)
    assert np.array_equal(Results.read(path).values, whole.values)
    assert len(path.read_text().splitlines()) == GRID.size + 1
    assert run_design(GRID, Slope(), path, most=1).complete  # nothing is run twice


def test_a_stopped_run_has_every_combination_equally_often(tmp_path: Path) -> None:
    path, each = tmp_path / "trials.jsonl", GRID.combinations
    with pytest.raises(SearchError, match="not every combination"):
        run_design(GRID, Slope(), path, most=each - 1).whole()
    part = run_design(GRID, Slope(), path, most=each + 2).whole()  # two runs of all, and one trial more
    assert (part.design.replicates, part.done) == (2, 2 * each)
    complete = run_design(GRID, Slope(), path)
    assert complete.whole().design == GRID
    for combination in range(each):
        assert part.values[2 * combination :][:2].tolist() == complete.values[6 * combination :][:2].tolist()


def test_another_design_or_subject_does_not_continue_the_file(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    run_design(GRID, Slope(), path, most=1)
    with pytest.raises(PlanError, match="another subject"):
        run_design(GRID, Slope(2.0), path)
    with pytest.raises(PlanError, match="another design"):
        run_design(Design.of({"a": [1], "b": ["x"], "c": [1]}), Slope(), path)
    path.write_text("no trials\n")
    with pytest.raises(PlanError, match="not a file of trials"):
        run_design(GRID, Slope(), path)


def test_processes_give_the_same_trials() -> None:
    points = np.random.default_rng(1).normal(size=(9, 2))
    design = Design.of({"population": [4, 6], "mutation_rate": [0.0, 0.2]}, replicates=2)
    subject = PartitionerSubject("genetic", points, 3, {"epochs": 20})
    here = run_design(design, subject)
    with Processes(workers=2) as engine:
        there = run_design(design, subject, engine=engine)
    assert np.array_equal(here.values, there.values)
    assert here.responses == ("SSE", "convergence epoch")


def test_any_partitioner_and_any_search_can_be_a_subject() -> None:
    points = np.random.default_rng(2).normal(size=(24, 2))
    gamma = run_design(Design.of({"gamma": [0.2, 1.1]}, replicates=1), PartitionerSubject("v-mdav", points, 3))
    assert gamma.responses == ("SSE",)
    table = Table.from_columns(
        {f"x{j}": points[:, j % 2].tolist() for j in range(3)}, {f"x{j}": "quasi" for j in range(3)}
    )
    found = run_design(
        Design.of({"population": [4, 8]}, replicates=2), SearchSubject("gomm", table, {"k": 3}, generations=2)
    )
    assert found.complete
    assert (found.values[:, 1] >= 0).all()


# -- analysis --


def test_worked_example_one_factor() -> None:
    """Three levels, two trials each: 1 3 | 2 4 | 9 11. SS between 76 = 2(9 + 4 + 25), within 6, F = 38 / 2 = 19."""
    values = np.array([1.0, 3.0, 2.0, 4.0, 9.0, 11.0])
    place = np.repeat(np.arange(3), 2)
    table = anova({"f": place}, "y", values)
    assert table.effect("f").sum_of_squares == pytest.approx(76)
    assert (table.residual_df, table.residual_mean_square) == (3, pytest.approx(2))
    effect = table.effect("f")
    assert (effect.df, effect.mean_square, effect.F) == (2, pytest.approx(38), pytest.approx(19))
    assert table.share("f") == pytest.approx(100 * 76 / 82)
    tukey = compare(table, "f", ("a", "b", "c"), place, values, "tukey")
    scheffe = compare(table, "f", ("a", "b", "c"), place, values, "scheffe")
    assert tukey.critical_difference == pytest.approx(5.9096 * 1.0, abs=1e-3)  # q(0.05; 3, 3) = 5.910, MSE / m = 1
    assert scheffe.critical_difference == pytest.approx(np.sqrt(2 * 9.5521 * 2), abs=1e-3)  # F(0.05; 2, 3) = 9.552
    assert tukey.best == ("a", "b")
    assert tukey.groups == (("a", "b"), ("c",))
    assert tukey.differ("a", "c")
    assert not tukey.differ("a", "b")


def test_tukey_agrees_with_statsmodels_in_the_one_way_case() -> None:
    multicomp = importlib.import_module("statsmodels.stats.multicomp")
    rng = np.random.default_rng(0)
    place = np.repeat(np.arange(5), 8)
    values = rng.normal(size=40) + place * 0.6
    table = anova({"f": place}, "y", values)
    ours = compare(table, "f", tuple(range(5)), place, values, "tukey")
    theirs = multicomp.pairwise_tukeyhsd(values, place)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    assert [ours.differ(i, j) for i, j in pairs] == theirs.reject.tolist()
    assert np.allclose([ours.p(i, j) for i, j in pairs], theirs.pvalues, atol=1e-3)
    half = (theirs.confint[:, 1] - theirs.confint[:, 0]) / 2
    assert np.allclose(half, ours.critical_difference, rtol=1e-3)


def test_both_tests_agree_with_scikit_posthocs() -> None:
    posthocs = importlib.import_module("scikit_posthocs")
    rng = np.random.default_rng(3)
    place = np.repeat(np.arange(4), 10)
    values = rng.normal(size=40) + place * 0.5
    frame = pd.DataFrame({"y": values, "f": place})
    table = anova({"f": place}, "y", values)
    for method, theirs in (
        ("tukey", posthocs.posthoc_tukey(frame, "y", "f")),
        ("scheffe", posthocs.posthoc_scheffe(frame, "y", "f")),
    ):
        ours = compare(table, "f", (0, 1, 2, 3), place, values, method)
        for i in range(4):
            for j in range(i + 1, 4):
                assert ours.p(i, j) == pytest.approx(float(theirs.loc[i, j]), abs=2e-3)
                assert ours.differ(i, j) == (ours.p(i, j) < 0.05)


def test_the_table_agrees_with_plain_sums_of_squares() -> None:
    values = run_design(GRID, Slope()).response("loss")
    table = anova(places(GRID), "loss", values)
    rest = float(((values - values.mean()) ** 2).sum())
    for name, place in places(GRID).items():
        groups = [values[place == level] for level in np.unique(place)]
        squares = sum(len(group) * (group.mean() - values.mean()) ** 2 for group in groups)
        assert table.effect(name).sum_of_squares == pytest.approx(squares)
        rest -= squares
    assert table.residual_sum_of_squares == pytest.approx(rest)
    assert table.residual_df == 72 - 1 - 2 - 1 - 1
    for effect in table.effects:
        assert effect.p == pytest.approx(float(stats.f.sf(effect.F, effect.df, table.residual_df)))


def test_the_four_steps_find_what_was_put_in() -> None:
    findings = analyse(run_design(GRID, Slope()))
    assert findings.result.significant() == ("a",)
    assert findings.result.best == {"a": (1, 2), "b": ("x", "y"), "c": (1, 2)}
    assert findings.speed is not None
    assert findings.speed.significant() == ("c",)
    assert findings.speed.anova.residual_df == 48 - 1 - 3  # a has lost a level
    assert findings.best == {"a": (1, 2), "b": ("x", "y"), "c": (1,)}
    told = json.loads(json.dumps(findings.to_dict()))
    assert told["best"]["c"] == [1]


def test_scheffe_is_never_the_sharper_test() -> None:
    for levels in (2, 3, 11):
        tukey, scheffe = (critical_difference(m, levels, 1.0, 100, 10) for m in ("tukey", "scheffe"))
        assert tukey <= scheffe * (1 + 1e-6)
        if levels == 2:
            assert tukey == pytest.approx(scheffe, rel=1e-4)


def test_runs_that_never_differ_and_factors_that_explain_everything() -> None:
    place = np.repeat(np.arange(2), 4)
    never = anova({"f": place}, "y", np.full(8, 6.83))
    assert never.effect("f").p == 1.0
    always = anova({"f": place}, "y", place.astype(float))
    assert always.effect("f").p == 0.0
    comparison = compare(always, "f", ("low", "high"), place, place.astype(float))
    assert comparison.best == ("low",)
    with pytest.raises(SearchError, match="degree of freedom"):
        anova({"f": np.arange(3)}, "y", np.arange(3.0))


def test_without_statsmodels_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *rest: Any) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(PlanError, match="pip install statsmodels"):
        anova({"f": np.repeat(np.arange(2), 3)}, "y", np.arange(6.0))


def test_the_picture_is_drawn() -> None:
    vl_convert = importlib.import_module("vl_convert")
    findings = analyse(run_design(GRID, Slope()))
    drawn = vl_convert.vegalite_to_svg(json.dumps(sensitivity_picture(findings, "what matters")))
    assert "what matters" in drawn
    assert len(drawn) < 100_000
    assert all(name in drawn for name in "abc")
