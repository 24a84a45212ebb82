"""What each search contributes, and what comes closest where nothing may be released."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import crypsis
from crypsis.cli.app import app
from crypsis.measures.objective import Complaint, Evaluation
from crypsis.run.choosing import Solution, choose_closest_solution, shortage_when_choosing
from crypsis.run.front import Front, family_contributions
from crypsis.text.reports import change_text_for_reports


def solution(number: int, title: str, loss: float, risk: float, *complaints: Complaint) -> Solution:
    figures = {"loss": loss, "risk": risk, "k": 5.0}
    return Solution(number, 0, title, "recoding", "words", {}, Evaluation(figures, complaints=complaints))


SHORT = Complaint("model", "t-closeness", 0.2, 0.4, "at most", 3, 9, ("age",))


def test_searches_without_releasable_solutions_are_listed() -> None:
    front = Front((solution(1, "a", 1, 9), solution(2, "b", 9, 1), solution(3, "c", 0, 0, SHORT)))
    found = {each.name: each for each in family_contributions(front)}
    assert (found["a"].points, found["b"].points, found["c"].points) == (1, 1, 0)
    assert found["c"].offered == 0


def test_the_closest_misses_least() -> None:
    near = Complaint("suppression", "", 1.0, 1.2)
    found = choose_closest_solution(
        [solution(1, "a", 1, 1, SHORT), solution(2, "b", 5, 5, near), solution(3, "c", 1, 1, SHORT, near)]
    )
    assert found is not None
    assert found.solution.number == 2
    assert change_text_for_reports(found.changes[0]) == "at most 1.2 % of the records suppressed (now 1 %)"
    assert choose_closest_solution([]) is None


@pytest.mark.parametrize(
    ("complaint", "share"),
    [
        (SHORT, 0.5),
        (Complaint("model", "k-anonymity", 10.0, 4.0, "at least"), 0.6),
        (Complaint("no-model"), 1.0),
        (Complaint("limit", "risk", 5.0, None), 1.0),
    ],
)
def test_how_far_a_demand_is_missed(complaint: Complaint, share: float) -> None:
    assert shortage_when_choosing(complaint) == pytest.approx(share)


def test_the_command_says_both(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    models = [crypsis.KAnonymity(k=3), crypsis.LDiversity(l=6.9, kind="entropy", confidential=("diagnosis",))]
    search = crypsis.LocalRecodingSearch(k=3, k_values=2, nodes=64)
    with crypsis.evolve(crypsis.example(80), search, models, budget="1 generations", seed=1, folder=folder):
        pass
    shown = CliRunner().invoke(app, ["front", str(folder)]).stdout
    assert "no solution that may be released" in shown
    assert "closest: no. " in shown
    assert "l-diversity demanded no higher than" in shown
    folder = tmp_path / "other"
    with crypsis.evolve(crypsis.example(80), search, models[:1], budget="1 generations", seed=1, folder=folder):
        pass
    shown = CliRunner().invoke(app, ["front", str(folder), "--families"]).stdout
    assert "local-recoding" in shown
    assert "hypervolume lost without it" in shown
