"""The pieces under the pages: forms, editing, ties between columns, reports in a frame, jobs."""

from __future__ import annotations

import gzip
import os
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats.contingency import association

from browsing import ended
from crypsis.errors import PlanError, TableError
from crypsis.measures.utility import column_estimates
from crypsis.plan import Plan
from crypsis.plan.sections import Running
from crypsis.privacy import KAnonymity, LDiversity
from crypsis.studio import jobs
from crypsis.studio import session as sessions
from crypsis.studio.associations import cramers_v, most_changed_association
from crypsis.studio.attacked_person import SolutionAttack
from crypsis.studio.forms import answers, form_entries, number
from crypsis.studio.pages.data import MOST_ORDERED, entry, grid, settle_columns_on_page
from crypsis.studio.pages.explore import MOST_MARKS, describe_estimates
from crypsis.studio.pages.goal import apply_goal_page
from crypsis.studio.pages.home import safe_upload_name, sweep_uploads
from crypsis.studio.responses import respond_with_report
from crypsis.studio.session import Session
from crypsis.table.example import example
from crypsis.table.table import Table
from crypsis.text.cards import number_rows
from crypsis.text.reports import integer_text, percent_text

PLAN = """
[data]
source = "people.csv"
[columns]
age = { role = "quasi", kind = "numeric" }
sex = { role = "quasi", kind = "nominal" }
income = { role = "confidential", kind = "numeric" }
[[require]]
model = "k-anonymity"
k = 7
[run]
seed = 5
"""


def test_a_form_has_every_field_with_its_bounds() -> None:
    made = {entry.name: entry for entry in form_entries(LDiversity, {"l": 3}, ["income"])}
    assert made["l"].value == 3
    assert (made["l"].low, made["l"].high) == (1.0, 1_000_000.0)
    assert made["kind"].choices == ("distinct", "entropy", "recursive")
    assert made["confidential"].choices == ("income",)


def test_a_text_that_is_checked_is_a_field_and_stays_in_the_plan() -> None:
    (budget,) = [entry for entry in form_entries(Running, {"budget": "30s"}, ()) if entry.name == "budget"]
    assert (budget.sort, budget.value) == ("text", "30s")
    document = tomllib.loads(PLAN) | {"run": {"seed": 5, "budget": "30s"}}
    changed, _ = apply_goal_page(document, {"run.budget": ["30s"], "do": ["save"]}, [])
    assert changed["run"] == {"seed": 5, "budget": "30s"}


def test_answers_leave_defaults_out() -> None:
    default = KAnonymity.model_fields["k"].default
    assert answers(KAnonymity, {"r.k": [str(default)]}, "r") == {}
    assert answers(KAnonymity, {"r.k": ["9"], "r.quasi_identifiers": ["age"]}, "r") == {
        "k": 9,
        "quasi_identifiers": ["age"],
    }
    assert answers(Running, {"run.budget": [""]}, "run", ("seed",)) == {}
    assert number("2.5") == 2.5
    assert number("much") == "much"  # the plan will say what is wrong with it


def test_editing_keeps_what_the_form_does_not_show() -> None:
    document = tomllib.loads(PLAN)
    form = {"require.count": ["1"], "require-0.model": ["k-anonymity"], "require-0.k": ["9"], "do": ["add:scenario"]}
    changed, _ = apply_goal_page(document, form, ["age", "sex"])
    assert changed["require"] == [{"model": "k-anonymity", "k": 9}]
    assert changed["run"]["seed"] == 5
    assert changed["scenario"] == [{"name": "intruder 1", "knows": ["age", "sex"]}]
    assert Plan.understand(changed)[1] == []


def test_what_matters_in_columns_and_edit_rules_are_edited() -> None:
    document = tomllib.loads(PLAN)
    form = {
        "column.count": ["2"],
        "column-0.column": ["age"],
        "column-0.importance": ["3"],
        "column-0.at_most": ["20"],
        "column-0.linked": [""],
        "column-1.column": ["sex"],
        "column-1.importance": ["1"],
        "column-1.at_most": [""],
        "column-1.lock": ["1"],
        "column-1.linked": [""],
        "rule.count": ["0"],
        "new.rule": ["age >= 16"],
        "do": ["add:rule"],
    }
    changed, message = apply_goal_page(document, form, ["age", "sex"])
    assert changed["columns"]["age"] == {"role": "quasi", "kind": "numeric", "importance": 3, "at_most": 20}
    assert changed["columns"]["sex"] == {"role": "quasi", "kind": "nominal", "lock": True}
    assert changed["columns"]["income"] == document["columns"]["income"], "what the form does not show stays"
    assert changed["rule"] == [{"holds": "age >= 16"}]
    assert message == "Added the rule."
    assert Plan.understand(changed)[1] == []
    form |= {"rule.count": ["1"], "rule-0.holds": ["age >= 18"], "rule-0.at_most": ["2"], "rule-0.name": ["adults"]}
    form |= {"column-1.importance": ["1"], "column-0.at_most": [""], "do": ["save"]}
    del form["column-1.lock"]
    again, _ = apply_goal_page(changed, form, ["age", "sex"])
    assert again["rule"] == [{"holds": "age >= 18", "name": "adults", "at_most": 2}]
    assert again["columns"]["age"] == {"role": "quasi", "kind": "numeric", "importance": 3}
    assert again["columns"]["sex"] == {"role": "quasi", "kind": "nominal"}
    gone, _ = apply_goal_page(again, form | {"do": ["drop:rule:0"]}, ["age", "sex"])
    assert "rule" not in gone
    kept, _ = apply_goal_page(again, {"do": ["save"]}, ["age", "sex"])
    assert (kept["rule"], kept["columns"]) == (again["rule"], again["columns"]), "a form without them changes neither"
    with pytest.raises(PlanError, match="write the rule"):
        apply_goal_page(document, {"do": ["add:rule"]}, [])


def test_a_changed_role_keeps_what_still_has_a_meaning() -> None:
    before = {"role": "quasi", "importance": 3, "lock": True, "linked": "zip", "at_most": 9, "because": "public"}
    kept = entry({"role": ["quasi"], "kind": ["nominal"]}, before)
    assert kept == {"role": "quasi", "kind": "nominal", "importance": 3, "at_most": 9, "lock": True, "linked": "zip"}
    assert entry({"role": ["other"]}, before) == {"role": "other", "because": "public"}
    assert entry({"role": ["identifier"]}, before) == {"role": "identifier"}


def test_demands_against_one_intruder() -> None:
    document = tomllib.loads(PLAN) | {"scenario": [{"name": "neighbour", "knows": ["age"]}]}
    form = {"scenario.count": ["1"], "scenario-0.name": ["neighbour"], "scenario-0.knows": ["age", "sex"]}
    added, message = apply_goal_page(
        document, {**form, "do": ["add:scenario-0-require"], "new.scenario-0-require": ["l-diversity"]}, ["age", "sex"]
    )
    assert added["scenario"] == [{"name": "neighbour", "knows": ["age", "sex"], "require": [{"model": "l-diversity"}]}]
    assert "l-diversity" in message
    row = {"scenario-0-require.count": ["1"], "scenario-0-require-0.model": ["l-diversity"]}
    changed, _ = apply_goal_page(added, {**form, **row, "scenario-0-require-0.l": ["4"]}, ["age", "sex"])
    assert changed["scenario"][0]["require"] == [{"model": "l-diversity", "l": 4}]
    assert [model.quasi_identifiers for model in Plan.parse(changed).models()] == [("age", "sex")]
    dropped, _ = apply_goal_page(changed, {**form, **row, "do": ["drop:scenario-0-require:0"]}, ["age", "sex"])
    assert "require" not in dropped["scenario"][0]


def test_the_plans_order_of_searches_and_written_defaults_stay() -> None:
    document = tomllib.loads(PLAN) | {"search": [{"name": "memetic"}, {"name": "pbg-ea"}]}
    document["release"] = {"format": "csv"}
    form = {
        "search": ["pbg-ea", "categorical-masking", "memetic"],
        "release.format": ["csv"],
        "release.suppression": ["1%"],
    }
    changed, _ = apply_goal_page(document, form, ["age"])
    assert [item["name"] for item in changed["search"]] == ["memetic", "pbg-ea", "categorical-masking"]
    assert changed["release"] == {"format": "csv"}


def test_a_browser_gets_few_marks() -> None:
    assert MOST_MARKS * 3 <= 5000  # a point may be drawn, joined by the line and named
    assert MOST_ORDERED <= 200


def test_the_studio_weighs_little_and_draws_for_itself() -> None:
    """Every script, style and image, compressed; no drawing library is imported or sent."""
    folder = Path(sessions.__file__).parent
    weight = {path.name: len(gzip.compress(path.read_bytes())) for path in (folder / "static").iterdir()}
    assert sum(weight.values()) < 40_000, weight
    for path in (*folder.rglob("*.py"), *folder.rglob("*.js")):
        assert "vega" not in path.read_text(encoding="utf-8").lower(), path.name
        assert not {"vl_convert", "crypsis.charts"} & set(path.read_text(encoding="utf-8").split()), path.name


def test_dates_are_shown_as_dates() -> None:
    """A mean is a day, a spread is in days, and no day is added up."""
    table = Table.from_columns({"seen": [float(17_800 + n) for n in range(60)]}, roles={"seen": "quasi"})
    dated = table.with_columns({}, attributes={"seen": table.attribute("seen").but(dates="date")})
    (found,) = column_estimates(dated, dated, ["seen"])
    shown = {each["name"]: each["change"] for each in describe_estimates(found)["figures"]}
    assert shown["mean"] == "2018-10-26 → 2018-10-26"
    assert shown["sd"].endswith("days")
    assert "total" not in shown
    assert number_rows([found])[0][3] == "–"
    groups = [each.group for each in SolutionAttack(dated, dated).hardest_groups()]
    assert "over 2018-11-09" in groups


def test_a_small_file_is_waited_for_and_a_large_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = list[float]()
    (tmp_path / "people.csv").write_text("age\n1\n")
    reading = sessions.FileReading(tmp_path / "people.csv", tmp_path / "plan.toml")
    monkeypatch.setattr(reading, "wait", waited.append)
    reading.wait_briefly()
    assert waited == [sessions.WAIT]
    monkeypatch.setattr(sessions, "SMALL", 3)
    reading.wait_briefly()
    assert waited == [sessions.WAIT]


def test_figures_for_the_eye() -> None:
    assert [percent_text(value) for value in (0.0, 0.01, 0.723, 27.68, None)] == ["0.0", "<0.1", "0.7", "27.7", "–"]
    assert integer_text(1234567.0) == "1\u202f234\u202f567"


def test_a_rulebook_becomes_demands() -> None:
    changed, message = apply_goal_page(tomllib.loads(PLAN), {"do": ["rulebook"], "rulebook": ["public-use"]}, ["age"])
    assert {item["model"] for item in changed["require"]} == {"k-anonymity", "l-diversity"}
    assert changed["limit"] == [{"measure": "record-linkage", "at_most": 20}]
    assert "Public-use file" in message


def test_a_rulebook_loosens_nothing_that_the_plan_demands() -> None:
    """Fewer suppressed records, a larger k and a smaller limit than the rulebook's stay."""
    form = {
        "do": ["rulebook"],
        "rulebook": ["public-use"],
        "require.count": ["1"],
        "require-0.model": ["k-anonymity"],
        "require-0.k": ["50"],
        "limit.count": ["1"],
        "limit-0.measure": ["record-linkage"],
        "limit-0.at_most": ["3"],
        "release.suppression": ["0.5%"],
    }
    changed, _ = apply_goal_page(tomllib.loads(PLAN), form, ["age"])
    assert [item.get("k") for item in changed["require"]] == [50, None]
    assert changed["limit"] == [{"measure": "record-linkage", "at_most": 3}]
    assert changed["release"]["suppression"] == "0.5%"


def test_ties_by_cramers_v() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 4000)
    b = np.where(rng.random(4000) < 0.6, a, rng.integers(0, 4, 4000))
    plain = association(np.histogram2d(a, b, bins=4)[0].astype(int), method="cramer")
    assert cramers_v(a, b) == pytest.approx(plain, abs=0.01)
    assert cramers_v(a, a) == pytest.approx(1.0, abs=1e-3)
    assert cramers_v(a, rng.integers(0, 4, 4000)) < 0.05
    assert cramers_v(a, np.zeros(4000, dtype=np.int64)) == 0.0


def test_an_untouched_table_moves_no_association() -> None:
    table = example(200)
    most = most_changed_association(table, table)
    assert most is not None
    assert most.before == most.after


def test_an_attacked_person_is_found_guessed_missed_or_left_out() -> None:
    """Ages 20, 30, 40, 60; the file publishes 20, 35, 35 and leaves the last out."""
    table = Table.from_columns({"age": [20.0, 30.0, 40.0, 60.0]}, roles={"age": "quasi"})
    masked = table.with_columns({"age": np.array([20.0, 35.0, 35.0, 60.0])}).without(np.arange(4) == 3)
    attack = SolutionAttack(table, masked)
    assert attack.credits.tolist() == [1.0, 0.5, 0.5, 0.0]
    assert attack.found == 50.0
    assert attack.person_by_rank(0) == 0
    assert [(attack.attack(row).fate, attack.attack(row).ties) for row in range(4)] == [
        ("found", 1),
        ("guessed", 2),
        ("guessed", 2),
        ("left out", 2),
    ]
    assert [row for row, _ in attack.attack(2).nearest] == [2, 1, 0]  # among equals the person's own first
    swapped = table.with_columns({"age": np.array([40.0, 30.0, 20.0, 60.0])})
    person = SolutionAttack(table, swapped).attack(0)
    assert (person.fate, person.nearest[0][0], person.own[0] if person.own else None) == ("missed", 2, 3)


def test_distances_to_one_person_agree_with_the_linkage_of_all() -> None:
    """What the page shows of one person is what the measure counts over all."""
    table = example(120)
    order = np.random.default_rng(2).permutation(120)
    names = tuple(table.quasi_identifiers)
    masked = table.with_columns({name: table.column(name)[order] for name in names[:2]}).without(
        np.arange(120) % 9 == 0
    )
    attack = SolutionAttack(table, masked)
    worth = {"found": 1.0, "missed": 0.0, "left out": 0.0}
    people = [attack.attack(row) for row in range(120)]
    assert [worth.get(each.fate, 1 / each.ties) for each in people] == pytest.approx(attack.credits.tolist())


def test_a_framed_report_has_no_inline_style() -> None:
    page = (
        '<meta http-equiv="Content-Security-Policy" content="x"><style>b { color: red }</style>'
        '<i style="width: 3%"></i><i style="width: 3%"></i>'
    )
    html, nonce = respond_with_report(page)
    assert ' style="' not in html
    assert f'<style nonce="{nonce}">' in html
    assert html.count('data-style="s0"') == 3
    assert '[data-style="s0"]{width: 3%}' in html
    assert "Content-Security-Policy" not in html


@pytest.mark.parametrize("given", ["../../people.csv", "..\\people.csv", "/etc/people.csv", "C:\\x\\people.csv", "../"])
def test_a_name_that_is_a_path_is_refused(given: str) -> None:
    with pytest.raises(TableError, match="contains a path"):
        safe_upload_name(given)


def test_a_name_keeps_what_is_harmless() -> None:
    assert safe_upload_name("Café people (2).csv") == "Café people _2_.csv"


@pytest.mark.parametrize("given", ["", "..", "people", ".csv"])
def test_a_name_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(TableError, match="must end in one of"):
        safe_upload_name(given)


def test_what_a_killed_studio_left_of_an_upload_goes_and_nothing_else(tmp_path: Path) -> None:
    old, fresh, whole = tmp_path / "uploads" / "1", tmp_path / "uploads" / "2", tmp_path / "uploads" / "3"
    for folder, name in ((old, f"a.csv{sessions.PART}"), (fresh, f"b.csv{sessions.PART}"), (whole, "c.csv")):
        folder.mkdir(parents=True)
        (folder / name).write_text("x")
        if folder != fresh:
            os.utime(folder / name, (0, 0))
    sweep_uploads(tmp_path)
    assert [old.exists(), fresh.exists(), whole.exists()] == [False, True, True]


def test_a_job_that_ended_is_not_alive(tmp_path: Path) -> None:
    job = jobs.start(tmp_path / "run", ["run", str(tmp_path / "missing.toml")])
    ended(job)
    assert not jobs.is_running(tmp_path / "run")
    assert jobs.recorded_job(tmp_path / "run") == job
    assert "there is no such file" in job.complaint()
    failed = jobs.run_state(tmp_path / "run")
    assert (failed.state, failed.level) == ("failed", "stop"), "a search that failed is never green"
    assert "there is no such file" in failed.words
    assert (
        jobs.job_command_as_typed(jobs.resume_job_command(Path("a run"), "5s")) == "crypsis resume 'a run' --budget 5s"
    )


def test_undecided_columns_are_settled_by_one_click(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30 + n % 9 for n in range(60)], "x7": [n % 4 for n in range(60)]})
    frame = frame.with_columns(note=pl.Series([f"case {n}" if n % 3 else "case" for n in range(60)]))
    frame.write_csv(tmp_path / "people.csv")
    session = Session(tmp_path / "people.csv", tmp_path / "plan.toml")
    session.reading.wait()
    assert grid(session)["undecided"] == ["x7"]
    document = session.document
    assert settle_columns_on_page(session, document["columns"]) == ["x7"]
    assert session.save(document) == []
    assert grid(session)["undecided"] == []
    assert session.plan.columns["x7"].role == "quasi"
    assert settle_columns_on_page(session, session.document["columns"]) == []
