"""`crypsis run` with a grouping plan: what it says, and what a kill and the number of processes leave unchanged."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from cli.test_commands import crypsis
from cli.test_run import COMMAND, ended
from crypsis.engines import engine
from crypsis.evolution import State
from crypsis.run import Run
from crypsis.run.store import Store
from run.runs import begun, bits, finished, folder_with

PLAN = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric" }
hours = { role = "quasi", kind = "numeric" }
income = { role = "quasi", kind = "numeric" }
[[require]]
model = "k-anonymity"
k = 3
[[search]]
name = "gomm"
k = 3
largest_k = 30
population = 40
disable_operators = true
disable_after = 3
disable_window = 2
missing = "mean"
memory = 8
[run]
budget = "25 generations"
seed = 7
points = 12
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("job"), PLAN, rows=80)


@pytest.fixture(scope="module")
def whole(plan: Path) -> Run:
    return finished(begun(plan, plan.parent / "whole"))


def last_state(folder: Path) -> bytes:
    with Store(folder / "run.db") as store:
        return store.state(0) or b""


def wait_for_generation(folder: Path, generation: int, process: subprocess.Popen[bytes]) -> int:
    """Until the store holds this generation of the search, or the run ended on its own; the generation found."""
    for _ in range(2400):
        if (folder / "run.db").exists() and (folder / "lock.toml").exists():
            state = last_state(folder)
            reached = State.from_bytes(state).generation if state else -1
            if reached >= generation or process.poll() is not None:
                return reached
        time.sleep(0.02)
    raise AssertionError("the run did not get going")


def test_killed_twice_it_ends_with_the_bits_of_a_run_never_stopped(plan: Path, whole: Run, tmp_path: Path) -> None:
    folder, reached = tmp_path / "killed", []
    for generation in (2, 12):
        command = ["resume", str(folder)] if folder.exists() else ["run", str(plan), "-o", str(folder)]
        process = subprocess.Popen(
            [*COMMAND, *command, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        reached.append(wait_for_generation(folder, generation, process))
        os.kill(process.pid, signal.SIGKILL)
        ended(process)
    assert 2 <= reached[0] < 25, "killed on its way"
    assert bits(finished(Run.resume(folder))) == bits(whole)
    assert last_state(folder) == last_state(whole.folder)


def test_two_processes_give_the_bits_of_one(plan: Path, whole: Run, tmp_path: Path) -> None:
    with engine("processes", workers=2) as both:
        two = finished(begun(plan, tmp_path / "two", engine=both))
    assert bits(two) == bits(whole)
    assert last_state(two.folder) == last_state(whole.folder)


def test_a_grouping_is_told_in_words(whole: Run) -> None:
    front = crypsis("front", whole.folder, "--all")
    assert front.returncode == 0, front.stderr
    assert "age, hours and income averaged together" in front.stdout
    number = next(each.number for each in whole.solutions if each.title == "gomm" and each.feasible)
    shown = crypsis("show", whole.folder, number)
    assert "effective k is" in shown.stdout
    assert "no record is unique" in shown.stdout
