"""Points that a second process measures: the same readings, and a run that goes on without it."""

from __future__ import annotations

import subprocess
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crypsis.encodings.encoding import Description
from crypsis.engines import engine
from crypsis.errors import EngineLost
from crypsis.evolution import Genome
from crypsis.measures.objective import Evaluation
from crypsis.run import Run
from crypsis.run.measuring_process import MeasuringProcess
from crypsis.run.schedule import Schedule
from crypsis.run.search_state import Measuring, SearchState
from run.runs import begun, finished, folder_with


def measuring_of(run: Run, search: int) -> Measuring:
    """How a run measures the points of a search."""
    family = run.plan.searches()[search].family
    return Measuring(run._decoded_tables.encodings[search], run.objective, family, run._decoded_tables.finish)


def content(read: tuple[Description, Evaluation]) -> tuple[Any, ...]:
    """What is stored of a reading."""
    description, evaluation = read
    return description.message, dict(description.facts), evaluation.figures, evaluation.complaints


class Recorded(MeasuringProcess):
    """A process that remembers what it was given, and of which pipes it consists."""

    all: list[Recorded]

    def __init__(self, measurings: dict[int, Measuring]) -> None:
        super().__init__(measurings)
        self.given: list[Future[Any]] = []
        Recorded.all.append(self)
        self._begun.result()  # from the first point on

    def measure(self, search: int, genome: Genome) -> Future[Any]:
        self.given.append(super().measure(search, genome))
        return self.given[-1]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> type[Recorded]:
    Recorded.all = []
    monkeypatch.setattr("crypsis.run.schedule.MeasuringProcess", Recorded)
    return Recorded


def run_on_two_cores(tmp_path: Path, budget: str = "5s") -> Run:
    """A finished run of a budget on the engine of two threads."""
    with engine("threads", 2) as place:
        return finished(begun(folder_with(tmp_path / "job"), tmp_path / "run", engine=place, budget=budget))


def test_another_process_reads_what_this_one_reads(tmp_path: Path) -> None:
    run = finished(begun(folder_with(tmp_path / "job"), tmp_path / "run"))
    rows = [run.store.solution(each.number) for each in run.solutions if not each.baseline]
    other = MeasuringProcess({search: measuring_of(run, search) for search in range(3)})
    try:
        theirs = [other.measure(row.search, row.genome) for row in rows]
        assert {row.search for row in rows} == {0, 1, 2}
        for row, reading in zip(rows, theirs, strict=True):
            assert content(reading.result()) == content(measuring_of(run, row.search)(row.genome))
        assert other.ready
        assert other.seconds > 0.0
        with pytest.raises(EngineLost, match="could not be measured"):
            other.measure(0, np.array([-7])).result()  # no genome of this search
        assert content(other.measure(rows[0].search, rows[0].genome).result())
    finally:
        other.close()
    assert other._worker.returncode is not None


def test_a_run_measures_beside_its_search_and_ends_the_process(tmp_path: Path, recorded: type[Recorded]) -> None:
    run = run_on_two_cores(tmp_path)
    [process] = recorded.all
    assert sum(each.done() and not each.cancelled() for each in process.given) > 0
    assert process._worker.returncode is not None
    measured = [each for each in run.solutions if not each.baseline]
    assert len({each.number for each in measured}) == len(measured)
    for each in measured[:6]:
        row = run.store.solution(each.number)
        description, evaluation = measuring_of(run, row.search)(row.genome)
        assert evaluation.figures == each.evaluation.figures
        assert description.message == each.message


def test_a_run_goes_on_when_the_process_is_killed(
    tmp_path: Path, recorded: type[Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    send, here = Schedule._send_points, list[SearchState]()

    def kill_first(schedule: Schedule, states: list[SearchState]) -> None:
        if any(each.due and schedule._sends(each) for each in states):
            recorded.all[0]._worker.kill()
        send(schedule, states)
        here.extend(states if schedule._beside is None else [])

    monkeypatch.setattr(Schedule, "_send_points", kill_first)
    run = run_on_two_cores(tmp_path)
    assert recorded.all[0].given, "points were sent"
    assert here, "and then measured here"
    assert run.finished
    assert any(not each.baseline for each in run.front)


def test_without_a_clock_or_a_second_core_no_process_is_started(tmp_path: Path, recorded: type[Recorded]) -> None:
    plan = folder_with(tmp_path / "job")
    with engine("threads", 2) as place:
        finished(begun(plan, tmp_path / "counted", engine=place, budget="1 generations"))
    with engine("threads", 1) as place:
        finished(begun(plan, tmp_path / "alone", engine=place, budget="3s"))
    assert not recorded.all


def test_what_cannot_be_sent_is_measured_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[object]()
    popen = subprocess.Popen
    monkeypatch.setattr(Measuring, "__reduce__", lambda self: (lambda: None, ()), raising=False)
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **b: started.append(a) or popen(*a, **b))
    run = run_on_two_cores(tmp_path, "3s")
    assert not started
    assert any(not each.baseline for each in run.front)


def test_the_process_ends_with_the_one_that_began_it(tmp_path: Path) -> None:
    run = finished(begun(folder_with(tmp_path / "job"), tmp_path / "run"))
    other = MeasuringProcess({0: measuring_of(run, 0)})
    other._begun.result()
    assert other._worker.stdin is not None
    other._worker.stdin.close()  # as when the first process is killed
    assert other._worker.wait(timeout=60) == 0
    other.close()
