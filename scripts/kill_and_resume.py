"""Kill a run at random moments, resume it each time, and demand the front of a run that was never killed.

python scripts/kill_and_resume.py [--kills 20] [--rows 300] [--generations 40]
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crypsis.run import Run
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


def crypsis(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from crypsis.cli import main; main()", *map(str, arguments), "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def content(folder: Path) -> list[tuple[int, bytes, bytes, str]]:
    """Everything a run found, to the last bit."""
    run = Run.open(folder)
    rows = [run.store.solution(number) for number, _, _ in run.store.contents()]
    run.close()
    return [(row.id, row.key, row.genome.tobytes(), repr(sorted(row.content.items()))) for row in rows]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--generations", type=int, default=40)
    chosen = parser.parse_args()
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(example(chosen.rows), folder / "people.csv")
        plan = folder / "plan.toml"
        plan.write_text(PLAN.format(generations=chosen.generations))
        for attempt in ("first", "whole"):  # the first may have to compile
            began = time.monotonic()
            crypsis("run", plan, "-o", folder / attempt).wait()
            took = time.monotonic() - began
        whole, same, inside = content(folder / "whole"), 0, 0
        sys.stdout.write(f"never killed: {took:.1f} s, {len(whole)} solutions\n")
        for kill in range(chosen.kills):
            run = folder / f"run-{kill}"
            process = crypsis("run", plan, "-o", run)
            time.sleep(chance.uniform(0.0, took))
            process.send_signal(signal.SIGKILL)
            inside += process.wait() == -signal.SIGKILL
            begun = (run / "lock.toml").exists() and (run / "run.db").exists()
            stored = len(content(run)) if begun else 0
            crypsis(*(("resume", run) if begun else ("run", plan, "-o", folder / f"anew-{kill}"))).wait()
            alike = content(run if begun else folder / f"anew-{kill}") == whole
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
