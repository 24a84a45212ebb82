"""Searches run in processes of their own: the studio starts them by the usual command and watches them.

The process is recorded next to the folder of the run, so that a later studio finds it.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from filelock import lock_descriptor

from crypsis.errors import SearchError
from crypsis.run.store import GUARD, STORE
from crypsis.table.files import write_atomically

PROGRAM = (sys.executable, "-c", "from crypsis.cli import program; program()")
PATIENCE = 20.0
"""Seconds a stopped search may take to write its state."""

_children: list[subprocess.Popen[bytes]] = []
_asking = threading.Lock()


@dataclass(frozen=True)
class Job:
    """A search that was started: its process, when that began, and the file of its messages."""

    pid: int
    born: str
    log: str
    stopped: bool = False  # whether it was asked to stop

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        _reap()
        return bool(self.born) and _born(self.pid) == self.born

    def complaint(self) -> str:
        """The last message of the process, without the name of the program."""
        try:
            lines = Path(self.log).read_text(encoding="utf-8").strip().splitlines()
        except OSError:
            return ""
        message = [line.removeprefix("crypsis: ") for line in lines if line.startswith("crypsis: ")]
        return message[-1] if message else ""


def record(folder: Path) -> Path:
    """The file that records the job of a run, next to its folder."""
    return folder.with_name(f".{folder.name}.job.json")


def recorded_job(folder: Path) -> Job | None:
    """The recorded job of a run: the process in which the studio started its search."""
    try:
        return Job(**json.loads(record(folder).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_running(folder: Path) -> bool:
    """Whether a search runs in the folder, started by the studio or elsewhere."""
    known = recorded_job(folder)
    return (known is not None and known.alive) or _is_locked(folder)


def start_job_command(plan: Path, folder: Path) -> list[str]:
    """The command by which the studio starts a run in a process of its own."""
    return ["run", str(plan), "--out", str(folder), "--quiet"]


def resume_job_command(folder: Path, budget: str | None = None) -> list[str]:
    """The command by which the studio continues a run in a process of its own."""
    return ["resume", str(folder), "--quiet", *(["--budget", budget] if budget else [])]


def job_command_as_typed(command: list[str]) -> str:
    """The usual command by which the studio starts a search, as a person types it."""
    return shlex.join(["crypsis", *(word for word in command if word != "--quiet")])


def start(folder: Path, command: list[str]) -> Job:
    """Start a search that does not end with the studio; refused while one runs in the folder."""
    if is_running(folder):
        raise SearchError(f"{folder.name}: a search is already running; wait for it or pause it")
    log = folder.with_name(f".{folder.name}.log")
    handle = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            [*PROGRAM, *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=handle, start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(handle)
    _children.append(process)
    started = Job(process.pid, _born(process.pid), str(log))
    write_atomically(record(folder), json.dumps(asdict(started)).encode(), replace=True)
    return started


def warm_up_in_job() -> None:
    """Compile kernels in a process of the studio while the first search compiles others in its own."""
    nothing = subprocess.DEVNULL
    command = [*PROGRAM, "doctor", "--compile"]
    _children.append(subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True))


def stop(folder: Path, patience: float = PATIENCE) -> None:
    """Ask a search to write its state and end; one that was started elsewhere is not stopped."""
    known = recorded_job(folder)
    if known is None or not known.alive:
        if _is_locked(folder):
            raise SearchError(f"{folder.name}: this search was started outside the studio; stop it there with Ctrl-C")
        return
    write_atomically(record(folder), json.dumps(asdict(replace(known, stopped=True))).encode(), replace=True)
    os.kill(known.pid, signal.SIGTERM)
    until = time.monotonic() + patience
    while known.alive and time.monotonic() < until:
        time.sleep(0.05)


def _reap() -> None:
    """Collect processes that ended, so that none counts as running."""
    for child in list(_children):
        if child.poll() is not None:
            _children.remove(child)


def _born(pid: int) -> str:
    """When a process began, since the number of a process is used again; empty if it ended."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        if stat.parent.parent.joinpath("self").exists():
            fields = stat.read_text().rpartition(")")[2].split()
            return "" if fields[0] in "ZX" else fields[19]
        message = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return message.stdout.strip()
    except OSError:
        return ""


def _is_locked(folder: Path) -> bool:
    """Whether a process has locked the folder."""
    if not (folder / STORE).exists() or not (folder / GUARD).exists():
        return False
    with _asking:  # the lock is taken for a moment: two who ask at once would meet each other
        handle = os.open(folder / GUARD, os.O_RDWR)
        try:
            return not lock_descriptor(handle, blocking=False)
        finally:
            os.close(handle)


# -- The status of a run from its store while the search writes it: a few counts, no solution is read.


@dataclass(frozen=True)
class RunStatus:
    """Counts, time and budget of a run."""

    solutions: int = 0
    elapsed: float = 0.0
    budget: str | None = None
    finished: bool = False
    steered: int = 0  # how often a search obeyed something


def job_run_status(folder: Path) -> RunStatus:
    """The status of a run that the studio watches; zeros while the process makes its folder."""
    try:
        with closing(sqlite3.connect(folder / STORE, timeout=5)) as store:
            notes = {key: json.loads(value) for key, value in store.execute("SELECT key, value FROM meta")}
            (solutions,) = store.execute("SELECT count(*) FROM solution").fetchone()
    except (sqlite3.Error, ValueError):
        return RunStatus()
    return RunStatus(
        int(solutions),
        float(notes.get("elapsed", 0.0)),
        notes.get("budget"),
        bool(notes.get("finished", False)),
        sum(len(note) for key, note in notes.items() if key.startswith("steered ")),
    )


# -- The state of a search in words, for every page.

Level = Literal["open", "good", "look", "stop"]
"""How news is shown: nothing known yet, as it should be, worth a look, or it stops the work."""


@dataclass(frozen=True)
class RunState:
    """How a search stands."""

    state: Literal["none", "running", "finished", "paused", "ended", "failed"]
    words: str
    level: Level
    status: RunStatus = RunStatus()


def run_state(folder: Path | None, status: RunStatus | None = None) -> RunState:
    """How the search in a folder stands: also that it was killed, or failed, and what can be done."""
    if folder is None:
        return RunState("none", "No search yet.", "open")
    going, known = is_running(folder), recorded_job(folder)
    complaint = known.complaint() if known is not None and not going else ""
    if not (folder / STORE).is_file():
        if going:
            return RunState("running", "The search is starting …", "open")
        return RunState("failed", complaint or "The search ended before it wrote anything.", "stop")
    seen = status or job_run_status(folder)
    solutions = "1 solution" if seen.solutions == 1 else f"{seen.solutions} solutions"
    figures = f"{solutions} measured in {seen.elapsed:.0f} s"
    if going:
        doing = "Pausing" if known is not None and known.stopped and known.alive else "Searching"
        return RunState("running", f"{doing}: {figures}", "open", seen)
    if complaint:
        return RunState("failed", complaint, "stop", seen)
    if seen.finished:
        return RunState("finished", f"Finished: {figures}.", "good", seen)
    if known is None or known.stopped:
        return RunState("paused", f"Paused: {figures}.", "look", seen)
    words = f"The search was killed or crashed: {figures}. Continue goes on from there; nothing measured is lost."
    return RunState("ended", words, "stop", seen)
