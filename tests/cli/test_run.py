"""From a file to a release on the command line, with exit codes a pipeline can trust."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.test_commands import crypsis
from crypsis.cli.front import show_front
from crypsis.measures.objective import Complaint, Evaluation
from crypsis.run import Front, Run, Solution
from run.runs import PLAN, begun, bits, finished, folder_with

COMMAND = [sys.executable, "-c", "from crypsis.cli import main; main()"]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with(tmp_path_factory.mktemp("job"))


@pytest.fixture(scope="module")
def run(plan: Path) -> Path:
    answer = crypsis("run", plan, "--quiet")
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    assert "memetic" in answer.stdout
    return plan.parent / "plan-run"


def test_init_check_and_run_without_a_single_edit(tmp_path: Path) -> None:
    data = folder_with(tmp_path / "job", rows=80).parent / "people.csv"
    plan = tmp_path / "plan.toml"
    assert crypsis("init", data, "-o", plan, "--k", 3).returncode == 0
    answer = crypsis("check", plan)
    assert answer.returncode == 0, answer.stdout
    assert "sound" in answer.stdout
    answer = crypsis("run", plan, "--budget", "1 generation", "--quiet", "--json")
    assert answer.returncode == 0, answer.stderr
    content = json.loads(answer.stdout)
    assert content["finished"]
    assert content["front"]
    assert {solution["title"] for solution in content["baselines"]} >= {"untouched", "plain MDAV"}


def test_a_run_says_in_the_end_how_far_it_came(plan: Path, tmp_path: Path) -> None:
    answer = crypsis("run", plan, "--out", tmp_path / "run", "--budget", "1 generation", "--json")
    assert answer.returncode == 0, answer.stderr
    found = Run.open(tmp_path / "run")
    done = sum(max(step.generation for step in found.store.history(search)) for search in range(3))
    told = rf"\[ *\d+\.\d s, 100 %\] finished: {done} generations, {len(found.front.everything)} solutions measured"
    told += r"(; \d+\.\d s of compiling not charged)?"
    assert re.fullmatch(told, answer.stderr.splitlines()[-1]), answer.stderr
    found.close()


@pytest.mark.parametrize("lost, words", [(1, "1 more solution would be"), (2, "2 more solutions would be")])
def test_solutions_out_of_reach_are_counted(lost: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    missed = (Complaint("limit", "k", 5, 2),)
    beyond = (
        Solution(n, 0, "memetic", "aggregation", "", {}, Evaluation({"loss": n, "risk": 9.0 - n}, complaints=missed))
        for n in range(lost)
    )
    show_front(Front(tuple(beyond)), ())
    assert words in capsys.readouterr().out


def test_looking_at_a_front(run: Path) -> None:
    assert "plain MDAV" in crypsis("front", run).stdout
    few = json.loads(crypsis("front", run, "--where", "k >= 6", "--json").stdout)
    assert all(solution["figures"]["k"] >= 6 for solution in few["front"])
    everything = json.loads(crypsis("front", run, "--all", "--json").stdout)
    assert len(everything["front"]) == everything["measured"]
    weighed = json.loads(
        crypsis("front", run, "--all", "--json", "--importance", "age=5", "--importance", "sex=0").stdout
    )
    assert {s["number"] for s in weighed["front"]} == {s["number"] for s in everything["front"]}
    assert weighed["front"] != everything["front"]
    wrong = crypsis("front", run, "--importance", "age=much")
    assert (wrong.returncode, wrong.stderr.strip()) == (2, "crypsis: --importance age=much: write a number from 0 to 5")
    bad = crypsis("front", run, "--where", "lss < 3")
    assert bad.returncode == 2
    assert "did you mean 'loss'" in bad.stderr


def test_a_solution_in_words_and_two_side_by_side(run: Path) -> None:
    answer = crypsis("show", run)
    assert answer.returncode == 0, answer.stderr
    for words in ("what happened", "greatest loss", "classes by size", "may be released"):
        assert words in answer.stdout
    assert "may not be released: k-anonymity requires" in crypsis("show", run, 1).stdout
    answer = crypsis("show", run, 2, "faithful")
    assert answer.returncode == 0, answer.stderr
    assert "class-risk" in answer.stdout
    assert len(json.loads(crypsis("show", run, 2, 3, "--json").stdout)["solutions"]) == 2
    assert crypsis("show", run, "999999").returncode == 2


def test_a_release_from_a_run(run: Path, tmp_path: Path) -> None:
    answer = crypsis("release", run, "-o", tmp_path / "release")
    assert answer.returncode == 0, answer.stderr
    assert crypsis("verify", tmp_path / "release").returncode == 0
    refused = crypsis("release", run, "--pick", 1, "-o", tmp_path / "second")
    assert refused.returncode == 1
    assert "may not be released" in refused.stderr
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"memetic"', '"memteic"', "did you mean 'memetic'?"),
        ("4 generations", "4 parsecs", "unknown unit"),
        ('model = "k-anonymity"\nk = 3', 'model = "k-anonymity"\nk = 3000', "3000"),
        ('source = "people.csv"', 'source = "peple.csv"', "peple.csv"),
    ],
)
def test_broken_plans_exit_2_with_every_sentence(old: str, new: str, words: str, plan: Path) -> None:
    broken = plan.with_name("broken.toml")
    broken.write_text(PLAN.replace(old, new))
    checked = crypsis("check", broken)
    assert checked.returncode == 2
    assert words in checked.stdout
    before = set(plan.parent.iterdir())
    answer = crypsis("run", broken, "--quiet")
    if "3000" not in words:
        assert answer.returncode == 2
        assert words in answer.stderr
    assert "Traceback" not in answer.stderr
    for folder in set(plan.parent.iterdir()) - before:
        assert folder.name.startswith("broken-run")


def test_the_schema_is_json() -> None:
    answer = crypsis("check", "--schema")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["title"] == "Crypsis plan"
    neither = crypsis("check")
    assert neither.returncode == 2
    assert "crypsis check --schema" in neither.stderr


def test_resume_and_its_refusals(run: Path, tmp_path: Path) -> None:
    assert crypsis("resume", run, "--quiet").returncode == 0
    assert crypsis("resume", tmp_path, "--quiet").returncode == 2
    assert crypsis("resume", run, "--budget", "soon", "--quiet").returncode == 2


def ended(process: subprocess.Popen[bytes]) -> int:
    return process.wait(timeout=120)


def wait_for(folder: Path, solutions: int) -> None:
    """Until the run has stored so many solutions."""
    for _ in range(6000):
        if (folder / "run.db").exists() and (folder / "lock.toml").exists():
            try:
                if len(Run.open(folder).solutions) >= solutions:
                    return
            except Exception:  # noqa: BLE001, S110 (the store may be a moment old)
                pass
        time.sleep(0.05)
    raise AssertionError("the run did not get going")


LONG = PLAN.replace("4 generations", "10 minutes")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_front_and_exits_3(sent: signal.Signals, tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", LONG, rows=80)
    process = subprocess.Popen(
        [*COMMAND, "run", str(plan), "--quiet", "-o", str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # in the background it may be ignored
    )
    wait_for(tmp_path / "run", 5)
    second = crypsis("resume", tmp_path / "run", "--quiet")
    assert second.returncode == 2
    assert "another process is running" in second.stderr
    process.send_signal(sent)
    assert ended(process) == 3
    assert b"continue with: crypsis resume" in (process.stdout.read() if process.stdout else b"")
    assert len(Run.open(tmp_path / "run").front) >= 1


def test_a_killed_run_resumes_to_the_same_bits(tmp_path: Path) -> None:
    plan = folder_with(tmp_path / "job", PLAN.replace("4 generations", "30 generations"), rows=80)
    whole = bits(finished(begun(plan, tmp_path / "whole")))
    folder = tmp_path / "killed"
    for stored in (2, 9, 14):
        command = ["resume", str(folder)] if folder.exists() else ["run", str(plan), "-o", str(folder)]
        process = subprocess.Popen(
            [*COMMAND, *command, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(folder, stored)
        os.kill(process.pid, signal.SIGKILL)
        ended(process)
    assert bits(finished(Run.resume(folder))) == whole


def test_the_clock_of_a_command_starts_with_its_process(plan: Path, tmp_path: Path) -> None:
    began, words = time.monotonic(), ["run", str(plan), "--out", str(tmp_path / "run"), "--budget", "1 generation"]
    answer = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    wall = time.monotonic() - began
    assert answer.returncode == 0, answer.stderr
    found = Run.open(tmp_path / "run")
    charged = found.store.read_note("elapsed", 0.0)
    found.close()
    assert 0.3 < charged <= wall, "interpreter start and imports alone take longer than that"
