"""Kill a run at random moments, resume it each time, and demand the front of a run that was never killed.

python scripts/kill_and_resume.py [--kills 20] [--rows 300] [--generations 40]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from crypsis.plan import Plan
from crypsis.run import Run
from crypsis.run.store import Store
from crypsis.table.example import example
from crypsis.table.files import write_table

PLAN = """
[data]
source = "people.csv"
[columns]
person = {{ role = "identifier" }}
age = {{ role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }}
hours = {{ role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }}
sex = {{ role = "quasi", hierarchy = "merge:1" }}
income = {{ role = "confidential" }}
[[require]]
model = "k-anonymity"
k = 5
[[search]]
name = "partition"
[[search]]
name = "grouping"
population = 30
missing = "mean"
[[search]]
name = "local-recoding"
nodes = 256
[run]
budget = "{generations} generations"
seed = 1
"""


def child(plan: Path, folder: Path) -> int:
    """Start or resume the run in a process of its own (forked, so that nothing is imported again); its number."""
    number = os.fork()
    if number == 0:
        begun = (folder / "run.db").exists()
        text = plan.read_text(encoding="utf-8")
        run = Run.resume(folder) if begun else Run.start(Plan.read(plan), folder, home=plan.parent, text=text)
        for _ in run.proceed():
            pass
        os._exit(0)
    return number


def ended(number: int) -> int:
    """How a child ended: 0 by itself, else the signal that ended it."""
    return os.WTERMSIG(status) if os.WIFSIGNALED(status := os.waitpid(number, 0)[1]) else 0


def content(folder: Path) -> list[tuple[int, bytes, bytes, str]]:
    """Everything a run found, to the last bit; read from its store, as threads of a frame library survive no fork."""
    with Store(folder / "run.db") as store:
        rows = [store.solution(number) for number, _, _ in store.contents()]
    return [(row.id, row.key, row.genome.tobytes(), repr(sorted(row.content.items()))) for row in rows]


def write_people(rows: int, path: Path) -> None:
    number = os.fork()
    if number == 0:
        write_table(example(rows), path)
        os._exit(0)
    ended(number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--generations", type=int, default=40)
    chosen = parser.parse_args()
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_people(chosen.rows, folder / "people.csv")
        plan = folder / "plan.toml"
        plan.write_text(PLAN.format(generations=chosen.generations))
        for attempt in ("first", "whole"):  # the first may have to compile
            began = time.monotonic()
            ended(child(plan, folder / attempt))
            took = time.monotonic() - began
        whole, same, inside = content(folder / "whole"), 0, 0
        sys.stdout.write(f"never killed: {took:.1f} s, {len(whole)} solutions\n")
        for kill in range(chosen.kills):
            run = folder / f"run-{kill}"
            number = child(plan, run)
            time.sleep(chance.uniform(0.0, took))
            os.kill(number, signal.SIGKILL)
            inside += ended(number) == signal.SIGKILL
            stored = len(content(run)) if (run / "run.db").exists() else 0
            ended(child(plan, run))
            alike = content(run) == whole
            same += alike
            sys.stdout.write(
                f"kill {kill + 1}: {stored} solutions stored, then {'the same' if alike else 'DIFFERENT'}\n"
            )
        sys.stdout.write(
            f"{same} of {chosen.kills} fronts are the same to the bit; {inside} kills met a running process\n"
        )
    return 0 if same == chosen.kills else 1


if __name__ == "__main__":
    sys.exit(main())
