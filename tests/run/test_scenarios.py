"""A plan whose intruders know different columns: what a run finds, what it shows beside it, and what is released."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import crypsis
from crypsis.errors import ReleaseRefused
from crypsis.plan import Plan
from crypsis.plan.checking import check_before_run
from crypsis.release import verify
from crypsis.run import Run
from crypsis.table.files import write_table
from crypsis.text import uncovered_attackers_text

HOME, WORK = ("age", "sex", "district", "marital"), ("education", "occupation", "hours")
PLAN = """
[data]
source = "people.csv"
[columns]
person = {{ role = "identifier" }}
age = {{ role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }}
sex = {{ role = "quasi", hierarchy = "merge:1" }}
district = {{ role = "quasi" }}
marital = {{ role = "quasi" }}
education = {{ role = "quasi" }}
occupation = {{ role = "quasi" }}
hours = {{ role = "quasi", kind = "numeric" }}
income = {{ role = "confidential", because = "known to nobody outside" }}
diagnosis = {{ role = "confidential", because = "known to nobody outside" }}
[[scenario]]
name = "neighbour"
knows = ["age", "sex", "district", "marital"]
because = "the register of residents has no column on work"
require = [{{ model = "k-anonymity", k = 4 }}]
[[scenario]]
name = "colleague"
knows = ["education", "occupation", "hours"]
{reason}
require = [{{ model = "k-anonymity", k = 4 }}]
[[search]]
name = "mixed-grouping"
k = 4
largest_k = 20
population = 8
[[search]]
name = "composite"
k = 4
k_values = 2
[[waive]]
finding = "singling-out"
column = "income"
because = "known to nobody outside"
[run]
budget = "6 generations"
seed = 3
"""
REASON = 'because = "staff lists hold no address"'


def planned(folder: Path, reason: str) -> Path:
    write_table(crypsis.example(150, seed=4), folder / "people.csv")
    (folder / "plan.toml").write_text(PLAN.format(reason=reason))
    return folder / "plan.toml"


def finished(path: Path) -> Run:
    opened = Run.start(Plan.read(path), path.parent / "run", home=path.parent)
    for _ in opened.proceed():
        pass
    return opened


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("scenarios")
    return finished(planned(folder, REASON))


def test_grouping_holds_the_least_loss_and_the_all_knowing_risk_stands_beside_it(run: Run) -> None:
    best = run.front.pick("faithful")
    assert best.title == "mixed-grouping"
    assert best.figure("k.scenarios") >= 4
    assert best.figure("k") < 4
    assert best.figure("all-knowing") > best.figure("risk")
    expected = crypsis.ClassRisk().against(run.original).read(run.decode(best))
    assert best.figure("all-knowing") == pytest.approx(expected)
    assert "all-knowing" in run.front.frame.columns
    assert run.front.where("all-knowing < 101")
    assert f"{best.figure('all-knowing'):.1f} %" in uncovered_attackers_text(best.evaluation.figures)
    together = min(s.figure("loss") for s in run.front.everything if s.title == "composite" and s.feasible)
    assert best.figure("loss") < together, "masking the scenarios apart loses less than masking them together"


def test_a_release_names_its_scenarios_and_whom_they_do_not_cover(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    run.release("faithful", folder)
    found = verify(folder)
    assert found.sound, found.problems
    assert [v.scenario for v in found.verdicts] == ["neighbour", "colleague"]
    written = pl.read_csv(folder / "public" / "data.csv")
    for columns in (HOME, WORK):
        assert written.group_by(columns).len()["len"].min() >= 4
    assert written.group_by([*HOME, *WORK]).len()["len"].min() < 4
    outside = json.loads((folder / "public" / "report.json").read_text(encoding="utf-8"))
    assert any("against the scenario 'neighbour'" in each and "marital" in each for each in outside["guarantees"])
    page = (folder / "public" / "report.html").read_text(encoding="utf-8")
    assert "An intruder who knows them all is not covered" in page
    inside = json.loads((folder / "internal" / "report.json").read_text(encoding="utf-8"))
    assert {each["name"]: each["because"] for each in inside["scenarios"]} == {
        "neighbour": "the register of residents has no column on work",
        "colleague": "staff lists hold no address",
        "every quasi-identifier": "",
    }


def test_a_forged_scenario_is_found(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    run.release("faithful", folder)
    path = folder / "public" / "report.json"
    path.write_text(path.read_text(encoding="utf-8").replace("neighbour", "anybody"), encoding="utf-8")
    assert not verify(folder).sound


def test_without_a_reason_nothing_is_released_by_scenarios_alone(tmp_path: Path) -> None:
    path = planned(tmp_path, "")
    found = check_before_run(path, estimate=False)
    assert "no release before 'colleague' says why" in " ".join(found.stops)
    assert "no demand covers an intruder" in " ".join(found.notes)
    tied = path.with_name("tied.toml")
    tied.write_text(path.read_text() + '[[rule]]\nholds = "hours <= age"\n')
    assert "rule[1]: it ties" in " ".join(check_before_run(tied, estimate=False).notes)
    with finished(path) as opened:
        with pytest.raises(ReleaseRefused, match="no demand of the plan covers an intruder who knows all 7"):
            opened.release("faithful", tmp_path / "release")
        whole = next(
            (s for s in opened.front.everything if s.title == "composite" and s.feasible and s.figure("k") >= 4), None
        )
        assert whole is not None
        opened.release(whole.number, tmp_path / "whole")  # k holds over all, so that no reason is needed
    assert verify(tmp_path / "whole").sound


def test_a_demand_on_some_columns_alone_releases_nothing(tmp_path: Path) -> None:
    table = crypsis.example(80)
    search, model = crypsis.MixedGroupingSearch(k=3), crypsis.KAnonymity(k=3, quasi_identifiers=HOME)
    run = crypsis.evolve(table, search, [model], budget="2 generations", seed=1)
    with run, pytest.raises(ReleaseRefused, match=r"say in an entry of scenario=\[…\] that requires k-anonymity why"):
        run.release("faithful", tmp_path / "release")
