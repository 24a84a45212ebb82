"""A run: baselines first, one measured front, the same bits however often it was stopped."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import crypsis
from crypsis.engines import Serial, engine
from crypsis.errors import CrypsisError, PlanError, SearchError
from crypsis.masking.generalisation import Generalisation, datafly
from crypsis.measures.estimate_use import EstimateUse
from crypsis.measures.information_loss import InformationLoss
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.plan import Plan
from crypsis.privacy.anonymity import KAnonymity
from crypsis.run import Run
from crypsis.run.baselines import baselines
from crypsis.run.schedule import Writing
from crypsis.run.search_state import SearchState
from crypsis.run.store import FORMAT, lock_run_folder
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.example import example
from crypsis.table.files import write_table
from crypsis.table.lattice import Lattice, datafly_steps_in_lattice
from crypsis.tasks import complete
from run.runs import PLAN, begun, bits, finished, folder_with


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module")
def whole(plan: Path) -> Iterator[Run]:
    run = finished(begun(plan, plan.parent / "whole", engine=Serial()))
    yield run
    run.close()


def test_baselines_and_every_search_are_on_one_scale(whole: Run) -> None:
    titles = {solution.title for solution in whole.solutions}
    baselines = {"untouched", "plain MDAV", "plain recoding", "plain local recoding"}
    assert titles == baselines | {"memetic", "gomm", "local-recoding"}
    assert all(solution.figure("loss") is not None for solution in whole.solutions)
    untouched = whole.solutions[0]
    assert untouched.figure("loss") == 0.0
    assert not untouched.feasible
    assert whole.finished


def test_the_front_holds_what_may_be_released_and_nothing_beats(whole: Run) -> None:
    front = whole.front
    assert len(front) >= 2
    for solution in front:
        assert solution.feasible
        assert solution.figure("k") >= 3
        assert not any(
            other.feasible
            and other.figure("loss") <= solution.figure("loss")
            and other.figure("risk") < solution.figure("risk")
            for other in whole.solutions
        )
    assert front.frame.height == len(front)
    assert "<table>" in front._repr_html_()
    drawn = front.plot().to_dict()["data"]["values"]
    assert {"front", "baseline"} <= {point["standing"] for point in drawn}


def test_a_picked_table_is_the_one_that_was_measured(whole: Run) -> None:
    for pick in ("knee", 1, 2, 3, *(solution.number for solution in list(whole.front)[:3])):
        solution = whole.choose(pick)
        again = whole.objective.evaluate(whole.decode(solution), solution.family)
        assert dict(again.figures) == dict(solution.evaluation.figures)


def test_the_folder_is_the_owner_s_alone_and_the_seed_is_in_its_lock_only(whole: Run) -> None:
    assert stat.S_IMODE(whole.folder.stat().st_mode) == 0o700
    for path in whole.folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert whole.lock.seed == 11


def test_same_plan_and_seed_same_bits(plan: Path, whole: Run) -> None:
    assert bits(finished(begun(plan, plan.parent / "again"))) == bits(whole)


def test_another_seed_finds_other_solutions(plan: Path, whole: Run) -> None:
    assert bits(finished(begun(plan, plan.parent / "other", seed=12))) != bits(whole)


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_threads_and_processes_change_the_time_and_not_the_bits(name: str, plan: Path, whole: Run) -> None:
    with engine(name, 2) as workers:
        run = finished(begun(plan, plan.parent / name, engine=workers))
    assert bits(run) == bits(whole)


def test_a_run_without_an_engine_uses_threads_and_closes_them(plan: Path, whole: Run) -> None:
    run = begun(plan, plan.parent / "by default")
    names = {thread.name for _ in run.proceed() for thread in threading.enumerate()}
    assert any(name.startswith("crypsis") for name in names) == (len(os.sched_getaffinity(0)) > 1)
    assert not any(thread.name.startswith("crypsis") for thread in threading.enumerate())
    assert bits(run) == bits(whole)


@pytest.mark.parametrize("after", [0, 1, 4, 8, 13])
def test_a_stopped_run_goes_on_to_the_same_bits(after: int, plan: Path, whole: Run) -> None:
    folder = plan.parent / f"stopped-{after}"
    run = begun(plan, folder)
    steps = run.proceed()
    for _, _ in zip(range(after), steps, strict=False):
        pass
    steps.close()
    assert not run.finished
    run.close()
    assert bits(finished(Run.resume(folder))) == bits(whole)


@pytest.mark.parametrize("files", [1, 3, 5])
def test_a_run_stopped_within_its_first_population_goes_on_to_the_same_bits(
    files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masked files are made one by one; a stop between two of them loses none and changes nothing."""
    head, tail = PLAN[: PLAN.index("[[require]]")], PLAN[PLAN.index("[run]") :]
    search = (
        '[[search]]\nname = "categorical-masking"\nlargest_k = 2\ndepths = 1\nswappings = 1\nprams = 3\nbatch = 2\n'
    )
    plan = folder_with(tmp_path / "job", head + search + tail, rows=60)
    reference = bits(finished(begun(plan, tmp_path / "at once")))
    monkeypatch.setattr("crypsis.searches.categorical_masking.categorical_masking_search.PAIRS", 0)
    steps = begun(plan, tmp_path / "stopped").proceed()
    while (step := next(steps)).evaluations < files:
        assert step.generation == 0
    assert (step.generation, step.evaluations) == (0, files)
    steps.close()
    assert bits(finished(Run.resume(tmp_path / "stopped"))) == reference


def test_a_stopped_run_shows_the_front_it_had_reached(plan: Path) -> None:
    run = begun(plan, plan.parent / "early")
    steps = run.proceed()
    for step in steps:
        if step.what == "generation":
            break
    steps.close()
    assert any(not solution.baseline for solution in run.solutions)


@pytest.mark.parametrize("after", [4, 7])
def test_points_shown_before_their_generation_is_whole_change_nothing(
    after: int, plan: Path, whole: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measuring as slow as on a million records: each point is shown at once, and a stop in between loses nothing."""
    monkeypatch.setattr("crypsis.run.schedule.SHOWN_AFTER", 0.0)
    seen: list[int] = []
    commit = Writing.commit

    def watched(writing: Writing, search: SearchState) -> None:
        shown = {row.id for row in search.fresh[: search.shown]}
        assert shown <= {number for number, _, _ in writing.store.contents()}
        seen.append(len(shown))
        commit(writing, search)

    monkeypatch.setattr(Writing, "commit", watched)
    run = begun(plan, plan.parent / f"shown-{after}")
    for count, _ in enumerate(run.proceed()):
        if count == after:
            break
    again = finished(Run.resume(run.folder))
    run.close()
    assert max(seen) > 1
    assert bits(again) == bits(whole)
    again.close()


LIMITED = """
[[limit]]
measure = "risk"
at_most = 8
"""


def test_a_baseline_keeps_the_limit_of_the_risk_by_the_size_of_its_classes() -> None:
    table = example(150, seed=4)
    plan = Plan.parse(tomllib.loads(PLAN + LIMITED))
    assert [each.name for each in baselines(plan, table) if each.safe] == ["MDAV within the limit of risk"]
    safe = next(each for each in baselines(plan, table) if each.safe)
    masked = complete(safe.make(table, np.random.default_rng(0)))
    assert equivalence_class_sizes(masked, masked.quasi_identifiers).min() >= 13
    assert RecordLinkage().against(table).read(masked) <= 8.0
    assert not any(each.safe for each in baselines(plan, table.take(np.arange(12)))), "too few records"
    assert [each.name for each in baselines(Plan.parse(tomllib.loads(PLAN)), table) if each.safe] == ["plain MDAV"]


@pytest.mark.parametrize(("k", "suppression"), [(2, 0.1), (3, 0.05), (25, 0.1), (60, 0.3)])
def test_plain_recoding_stops_at_the_first_step_that_keeps_k(k: int, suppression: float) -> None:
    table = example(120, seed=3)
    found = complete(datafly(table, k, suppression, np.random.default_rng(0)))
    for levels in datafly_steps_in_lattice(Lattice.of(table)):
        method = Generalisation(levels=levels, suppression=suppression, k=k)
        with suppress(CrypsisError):
            assert method.mask(table, np.random.default_rng(0)).fingerprint() == found.fingerprint()
            return
    pytest.fail("k holds at no step")


def test_baselines_of_a_large_table_are_made_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.run.baselines.WHOLE_UP_TO", 100)
    monkeypatch.setattr("crypsis.run.baselines.BLOCK", 40)
    table = example(150, seed=4)
    plain = next(each for each in baselines(Plan.parse(tomllib.loads(PLAN)), table) if each.name == "plain MDAV")
    assert plain.message.endswith("within blocks of 40 similar records")
    masked = complete(plain.make(table, np.random.default_rng(0)))
    assert equivalence_class_sizes(masked, masked.quasi_identifiers).min() >= 3


def test_searches_do_not_disturb_each_other(plan: Path, whole: Run) -> None:
    alone = PLAN[: PLAN.index('[[search]]\nname = "gomm"')] + PLAN[PLAN.index("[run]") :]
    folder = plan.parent / "alone"
    run = finished(begun(folder_with(folder, alone), folder / "run"))
    shared = [row[2:4] for row in bits(whole) if row[1] == 0]
    assert [row[2:4] for row in bits(run) if row[1] == 0] == shared


def test_a_larger_budget_goes_on_from_the_end(plan: Path) -> None:
    folder = plan.parent / "longer"
    finished(begun(plan, folder, budget="2 generations")).close()
    run = finished(Run.resume(folder, budget="4 generations"))
    assert {step.generation for step in run.store.history(0)} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("budget", ["12 evaluations", "0.5s"])
def test_budgets_of_every_kind_end(budget: str, plan: Path) -> None:
    assert finished(begun(plan, plan.parent / f"budget {budget}", budget=budget)).finished


def test_a_budget_of_almost_nothing_ends_with_a_releasable_point_and_is_resumed_with_more(
    plan: Path, whole: Run
) -> None:
    folder = plan.parent / "hasty"
    run = finished(begun(plan, folder, budget="0.001s"))
    assert run.finished
    assert any(each.feasible for each in run.solutions)  # it goes on until something may be released
    run.close()
    again = finished(Run.resume(folder, budget="4 generations"))
    assert again.store.state(0) == whole.store.state(0)  # the search ends in the same bits, whatever was measured first


def test_two_runs_do_not_share_a_folder(plan: Path, whole: Run) -> None:
    with pytest.raises(SearchError, match="already exists"):
        begun(plan, whole.folder)
    with lock_run_folder(whole.folder), pytest.raises(SearchError, match="another process is running"):
        finished(Run.resume(whole.folder))


def test_a_store_of_a_newer_version_is_left_alone(plan: Path) -> None:
    folder = plan.parent / "newer"
    begun(plan, folder).close()
    with sqlite3.connect(folder / "run.db") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    with pytest.raises(SearchError, match=f"format 99 and this version reads {FORMAT}"):
        Run.open(folder)


@pytest.mark.parametrize("name", ["run.db", "lock.toml"])
def test_damaged_parts_get_a_sentence(name: str, plan: Path) -> None:
    folder = plan.parent / f"damaged {name}"
    begun(plan, folder).close()
    for path in folder.glob(f"{name}*"):
        path.write_bytes(b"not what it was")
    with pytest.raises(SearchError, match="damaged"):
        Run.open(folder)
    with pytest.raises(SearchError, match="is no run"):
        Run.open(plan.parent / "nowhere")


def test_changed_data_and_changed_plans_are_refused(tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", rows=60)
    run = begun(plan, tmp_path / "run")
    (plan.parent / "people.csv").unlink()
    write_table(run.original.take(slice(0, 50)), plan.parent / "people.csv")  # type: ignore[arg-type]
    run.close()
    with pytest.raises(SearchError, match="the data changed"):
        finished(Run.resume(tmp_path / "run"))
    text = (tmp_path / "run" / "plan.toml").read_text()
    (tmp_path / "run" / "plan.toml").write_text(text.replace("k = 3\nk_values", "k = 4\nk_values"))
    with pytest.raises(SearchError, match="changed since the run began"):
        Run.open(tmp_path / "run")


def test_a_plan_without_searches_cannot_run(tmp_path: Path) -> None:
    text = PLAN[: PLAN.index("[[search]]")] + PLAN[PLAN.index("[run]") :]
    with pytest.raises(PlanError, match="no search is named"):
        begun(folder_with(tmp_path / "job", text, rows=60), tmp_path / "run")


def test_a_declared_use_steers_the_search() -> None:
    """Declared, an analysis keeps more of its intervals than undeclared, on the whole front; the printed loss stays."""
    table, use = crypsis.example(200), EstimateUse.read("mean income by sex + education")
    reader, found, losses = use.against(table), [], []
    for treated in ("report", "objective"):
        declared = {"measure": "estimate-use", "tolerance": 50, "as": treated} | use.model_dump(mode="json")
        with crypsis.evolve(table, "composite", KAnonymity(k=5), "4 generations", 3, use=[declared]) as run:
            made = [each for each in run.solutions if not each.baseline and each.feasible]
            found.append([reader.read(run.decode(each)) for each in made])
            plain = InformationLoss(columns=tuple(table.quasi_identifiers)).against(table)
            losses.append(abs(plain.read(run.decode(made[0])) - made[0].figure("loss")))
    assert np.mean(found[1]) < np.mean(found[0]) - 5
    assert min(found[1]) < min(found[0])
    assert max(losses) < 1e-9
