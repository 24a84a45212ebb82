"""The clock, what steps are expected to take, and who comes next."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.evolution import Frontier
from crypsis.run import Run
from crypsis.run.clock import Clock, Moment, Pace, charged_now, command_start
from crypsis.run.schedule import Schedule, schedule_next_search
from crypsis.run.search_state import Gains, Outlook, relative_hypervolume_figure, search_state_hypervolume
from crypsis.table.example import example
from run.runs import begun, finished, folder_with


def test_compiling_is_not_charged_and_earlier_sessions_are() -> None:
    moments = iter([Moment(10.0, 2.0), Moment(15.0, 5.0), Moment(15.0, 5.0)])
    clock = Clock(7.0, now=lambda: next(moments))
    assert clock.elapsed == 7.0 + 5.0 - 3.0
    assert clock.compiling == 3.0
    assert command_start().time <= Moment.now().time


def test_a_step_that_compiles_is_not_expected_to_take_as_long_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [Moment(10.0, 2.0), Moment(25.0, 16.0)]
    monkeypatch.setattr(Moment, "now", classmethod(lambda cls: now.pop(0)))
    started = charged_now()
    assert charged_now() - started == pytest.approx(1.0), "15 s of wall time, 14 of them compiling"


def test_the_next_step_takes_as_long_as_the_longest_of_the_last() -> None:
    pace = Pace(1000)
    first = pace.estimate_step(("measure", "a"))
    assert 0 < first < Pace(1_000_000).estimate_step(("measure", "a"))
    for seconds in (9.0, 1.0, 2.0, 1.0, 1.0):
        pace.took(("measure", "a"), seconds)
    assert pace.estimate_step(("measure", "a")) == pytest.approx(2.3)
    assert pace.estimate_step(("measure", "b")) == 2.0, "another search: by those that are known"
    assert pace.estimate_step(("advance", "b")) < 0.1, "another kind of step: by its rate"


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=12))
def test_the_outlook_is_the_front_and_adds_up_to_its_volume(points: list[tuple[int, int]]) -> None:
    outlook = Outlook()
    total = sum(outlook.add(float(loss), float(risk), 1.0) for loss, risk in points)
    frontier = Frontier(scores=np.empty((0, 2))).offer_all(
        (np.array([place]), (float(loss), float(risk))) for place, (loss, risk) in enumerate(points)
    )
    assert outlook.front == sorted({tuple(row) for row in frontier.scores.tolist()})
    assert total == pytest.approx(
        search_state_hypervolume(
            [(relative_hypervolume_figure(loss), relative_hypervolume_figure(risk)) for loss, risk in outlook.front]
        )
    )
    assert outlook.volume == pytest.approx(search_state_hypervolume(outlook.front))
    assert search_state_hypervolume(outlook.front) == pytest.approx(frontier.hypervolume((100.0, 100.0)) / 1e4)


def test_the_scale_of_gains_is_one_of_ratios_with_the_same_ends() -> None:
    assert [relative_hypervolume_figure(0.0), relative_hypervolume_figure(100.0)] == pytest.approx([0.0, 100.0])
    halves = [
        relative_hypervolume_figure(2 * figure) - relative_hypervolume_figure(figure)
        for figure in (5.0, 10.0, 20.0, 40.0)
    ]
    assert max(halves) < 1.2 * min(halves), "half of it is worth about the same anywhere"


def test_who_was_not_measured_for_long_keeps_its_rate_and_is_overdue() -> None:
    """By its last measured stretches it gains most; what it did since then is not held against it."""
    long, short = Gains(), Gains()
    for each, gain in ((long, 0.5), (short, 0.1)):
        each.add_time(2.0)
        each.end_stretch(gain)
    long.add_time(0.5)
    assert not long.overdue
    long.add_time(2.5)
    assert long.overdue
    assert long.rate == pytest.approx(0.25)
    assert schedule_next_search([short, long], patience=0.1) == 1
    long.end_stretch(0.0)
    assert schedule_next_search([short, long], patience=0.1) == 0


def test_a_first_step_unlike_the_others_is_foreseen() -> None:
    pace = Pace(100, foreseen={("advance", "lattice 0"): 3.0})
    assert pace.estimate_step(("advance", "lattice 0")) == 3.0
    assert pace.estimate_step(("advance", "composite 1")) < 1.0
    pace.took(("advance", "lattice 0"), 0.1)
    assert pace.estimate_step(("advance", "lattice 0")) < 1.0
    table = example(200)
    nodes = crypsis.PbgEaSearch().candidates(table) or 0
    assert 0 < crypsis.PbgEaSearch().first_seconds(table, guided=False) < 1e-5 * nodes
    assert crypsis.PbgEaSearch().first_seconds(table, guided=True) == 0.0
    assert crypsis.PbgEaSearch(method="pbg").first_seconds(table, guided=False) == 0.0


def test_who_gains_most_for_its_time_comes_next_and_nobody_is_forgotten() -> None:
    one, two = Gains(), Gains()
    turns = []
    for _ in range(300):
        place = schedule_next_search([one, two])
        turns.append(place)
        each = (one, two)[place]
        each.add_time(0.1)
        each.end_stretch(0.01 if place else 0.001)
    assert turns[:30] == [0, 1] * 15, "all have had as much before gains count"
    assert 15 + 5 <= turns.count(0) <= 15 + 40


def test_a_search_that_gains_late_is_not_given_up_early() -> None:
    walk, quick = Gains(), Gains()
    for _ in range(14):
        quick.add_time(0.1)
        quick.end_stretch(0.001)
    for gain in (0.7, 0.0, 0.0, 0.0):
        walk.add_time(0.05)
        walk.end_stretch(gain)
    assert schedule_next_search([quick, walk]) == 1, "its gain does not count yet"
    assert schedule_next_search([quick, walk], patience=0.1) == 0, (
        "with less patience it does: nothing in its second half"
    )
    walk.add_time(0.2)
    walk.end_stretch(0.1)
    assert schedule_next_search([quick, walk], patience=0.1) == 1


def test_no_step_is_begun_that_would_end_too_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = folder_with(tmp_path / "job", rows=60)
    monkeypatch.setattr(Schedule, "_clock", Clock(0.0, Moment(0.0, 0.0), lambda: Moment(9.0, 0.0)))
    run = finished(begun(plan, tmp_path / "run", budget="9.01s"))
    assert run.finished
    assert [solution.title for solution in run.solutions] == ["plain MDAV"], (
        "the quickest that may be released, no more"
    )
    assert len(run.front.solutions) == 1


def test_a_budget_that_is_over_ends_with_one_point_that_may_be_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = folder_with(tmp_path / "job", rows=60)
    monkeypatch.setattr(Schedule, "_clock", Clock(0.0, Moment(0.0, 0.0), lambda: Moment(99.0, 0.0)))
    run = finished(begun(plan, tmp_path / "run", budget="2s"))
    assert len(run.solutions) == len(run.front.solutions) == 1


def test_a_quick_baseline_that_protects_comes_before_the_searches(tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job")
    steps = begun(plan, tmp_path / "run", budget="60s").proceed()
    first = next(step for step in steps if step.what != "making")  # in tasks where the machine is slow
    assert first.what == "baseline"
    assert first.found.points == 1
    steps.close()


def test_more_quanta_are_never_worse(tmp_path: Path) -> None:
    """For one seed the front after more quanta weakly dominates the front after fewer."""
    plan, volumes = folder_with(tmp_path / "job"), []
    run = begun(plan, tmp_path / "run", budget="1 generations")
    for generations in (1, 2, 4, 8):
        run.close()
        run = finished(Run.resume(tmp_path / "run", budget=f"{generations} generations"))
        volumes.append([(s.figure("loss"), s.figure("risk")) for s in run.front])
    for before, after in pairwise(volumes):
        assert all(any(a <= loss and b <= risk for a, b in after) for loss, risk in before)
