"""Children that are killed at random moments of their work, and what must be true of the disk afterwards."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crypsis.errors import CrypsisError
from crypsis.run import Run
from crypsis.run.store import Store

ASIDE = 0.15
"""Share of the kills that fall anywhere after the fork; the others wait until the work has begun."""


def child(work: Callable[..., object], *given: object) -> int:
    """Carry something out in a forked process, silently; its number. Exit 0 done, 3 a sentence, 4 a crash."""
    number = os.fork()
    if number:
        return number
    code = 4
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        work(*given)
        code = 0
    except CrypsisError:
        code = 3
    finally:
        os._exit(code)


def ended(number: int) -> int:
    """How a child ended: its exit code, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def done(work: Callable[..., object], *given: object) -> int:
    return ended(child(work, *given))


def over(number: int) -> bool:
    """Whether a child has ended; it is still there to be asked how."""
    return os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def slain(number: int) -> bool:
    """Kill a child; whether that is what ended it."""
    os.kill(number, signal.SIGKILL)
    return ended(number) == -signal.SIGKILL


@dataclass
class Pace:
    """How long work lasts before anything is written and after; learnt from the children that are watched."""

    before: float = 0.1
    after: float = 0.5

    def whole(self, number: int, begun: Callable[[], bool]) -> None:
        """Learn from a child that is left alone."""
        self.before = self._until(number, begun)
        self.after = self._until(number, lambda: False)

    def moment(self, number: int, begun: Callable[[], bool], chance: random.Random, share: float = 1.0) -> None:
        """Wait for a random moment of a child's work, drawn from the time it is known to take.

        share   of the work that is still to be done
        """
        if chance.random() < ASIDE:
            self._until(number, lambda: False, chance.uniform(0.0, self.before + share * self.after))
            return
        self._until(number, begun)
        wanted = chance.uniform(0.0, share * self.after)
        spent = self._until(number, lambda: False, wanted)
        if over(number):  # faster than it was known to be
            self.after = 0.5 * (self.after + spent / share)
        elif wanted > 0.9 * share * self.after:  # perhaps slower
            self.after *= 1.1

    @staticmethod
    def _until(number: int, held: Callable[[], bool], most: float = 120.0) -> float:
        """Seconds until something holds, the child ends, or the time is over."""
        began = time.monotonic()
        while not (held() or over(number)) and (left := began + most - time.monotonic()) > 0:
            time.sleep(min(0.004, left))
        return time.monotonic() - began


# -- what must be true afterwards --


def content(folder: Path) -> list[tuple[int, bytes, bytes, str]]:
    """Everything a run found, to the last bit."""
    with Store(folder / "run.db") as store:
        rows = [store.solution(number) for number, _, _ in store.contents()]
    return [(row.id, row.key, row.genome.tobytes(), repr(sorted(row.content.items()))) for row in rows]


def generations(folder: Path) -> set[tuple[int, int]]:
    """(search, generation) that anybody can read in the store now."""
    if not (folder / "run.db").exists():
        return set()
    with Store(folder / "run.db") as store:
        return {(step.search, step.generation) for step in store.history()}


def further(folder: Path, before: int) -> bool:
    """Whether a run has gone beyond so many generations."""
    return len(generations(folder)) > before


def sound(folder: Path) -> bool:
    """Whether a run's folder is absent or whole: SQLite finds nothing wrong and plan and lock can be read."""
    if not folder.exists():
        return True
    with sqlite3.connect(folder / "run.db") as connection:
        if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            return False
    Run.open(folder).close()
    return True


def digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()


def aside(path: Path) -> bool:
    """Whether a half-made thing lies beside its name."""
    return any(path.parent.glob(f".{path.name}.*.part"))
