"""The clock: wall time of budgets, time of first points, hypervolume over time, threads against serial, deadlines.

python benchmarks/clock.py budgets FILE          wall time of runs of 2, 5, 10 and 30 s with the plan that init writes
python benchmarks/clock.py front FILE SECONDS    first releasable point, first of each search, hypervolume over time
python benchmarks/clock.py growth                budgets on 1 000, 10 000, 120 000 and 1 000 000 invented people
python benchmarks/clock.py threads FILE          seconds of the same quanta by threads and by the serial engine
python benchmarks/clock.py partition             partition(values, k=5, seconds) on 200 000 rows, and on an empty cache
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BUDGETS = (2, 5, 10, 30)
MOMENTS = (2, 5, 10, 30, 120)
ROWS = (1_000, 10_000, 120_000, 1_000_000)


def crypsis(*words: object, **environment: str) -> float:
    """Wall seconds of a command."""
    command = [sys.executable, "-c", "from crypsis.cli import main; main()", *map(str, words)]
    started = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return time.monotonic() - started


def planned(file: Path, folder: Path) -> Path:
    """The plan that init writes for a file."""
    plan = folder / f"{file.stem}.toml"
    crypsis("init", file.resolve(), "-o", plan)
    return plan


def budgets(file: Path, folder: Path) -> None:
    """Wall time of each budget, after one run that compiles."""
    plan = planned(file, folder)
    crypsis("run", plan, "--budget", "5s", "-o", folder / "warm", "--quiet")
    for seconds in BUDGETS:
        took = crypsis("run", plan, "--budget", f"{seconds}s", "-o", folder / f"run {seconds}", "--quiet")
        kept = took <= 1.05 * seconds + 0.3
        print(f"{file.name:24} budget {seconds:3} s  wall {took:7.2f} s  {'kept' if kept else 'NOT KEPT'}", flush=True)


def front(file: Path, seconds: float, folder: Path) -> None:
    """When the first points come, and the hypervolume over time."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

    plan, seen, moments = planned(file, folder), set[str](), list(MOMENTS)
    with engine() as place:
        run = Run.start(Plan.read(plan), folder / "front", place, home=folder, seed=1, budget=f"{seconds:g}s")
        volume = 0.0
        for step in run.proceed():
            while moments and step.seconds > moments[0]:
                print(f"hypervolume at {moments.pop(0):4} s: {volume:.4f}", flush=True)
            if step.found.points and "any" not in seen:
                seen.add("any")
                print(f"first releasable point after {step.seconds:.2f} s")
            if step.what == "measured" and step.title not in seen:
                seen.add(step.title)
                print(f"first point of {step.title} after {step.seconds:.2f} s")
            volume = step.found.hypervolume
        print(f"hypervolume at the end: {volume:.4f}; compiling not charged: {step.compiling:.1f} s")
        run.close()


def growth(folder: Path) -> None:
    """The budgets on tables of growing length."""
    from crypsis.table.example import example
    from crypsis.table.files import write_table

    for rows in ROWS:
        file = folder / f"people-{rows}.csv"
        write_table(example(rows), file)
        budgets(file, Path(tempfile.mkdtemp(dir=folder)))


def threads(file: Path, folder: Path) -> None:
    """The same generations by the serial engine and by threads."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

    plan = Plan.read(planned(file, folder))
    for number, choice in [*enumerate(plan.search), (-1, None)]:
        part = plan if choice is None else plan.model_copy(update={"search": (choice,)})
        took = {}
        for name in ("serial", "threads"):
            with engine(name) as place:
                run = Run.start(part, folder / f"{name}{number}", place, home=folder, seed=1, budget="6 generations")
                started = time.monotonic()
                for _ in run.proceed():
                    pass
                took[name] = time.monotonic() - started
                run.close()
        title = "whole run" if choice is None else choice.name
        ratio = took["serial"] / took["threads"]
        print(
            f"{title:16} serial {took['serial']:7.2f} s  threads {took['threads']:7.2f} s  {ratio:.2f} times",
            flush=True,
        )


def partition() -> None:
    """Deadlines of partition, and what a cold cache costs."""
    code = (
        "import time, numpy as np, crypsis; x = np.random.default_rng(0).standard_normal(({n}, 8));"
        "a = time.monotonic();"
        "found = crypsis.partition(x, k=5, seconds={s}, seed=1); took = time.monotonic() - a;"
        "mdav = crypsis.partition(x[:20000], k=5, method='mdav').sse if {n} <= 20000 else float('nan');"
        "print(f'{n} rows, {s} s: took {{took:.2f}} s, SSE {{found.sse:.1f}}, MDAV {{mdav:.1f}}')"
    )
    for n, s in ((200_000, 2), (200_000, 2), (200_000, 5), (4_000, 5)):
        subprocess.run([sys.executable, "-c", code.format(n=n, s=s)], check=True)
    with tempfile.TemporaryDirectory() as empty:
        print("with an empty cache (compiling is not counted):", flush=True)
        cold = {**os.environ, "NUMBA_CACHE_DIR": empty}
        subprocess.run([sys.executable, "-c", code.format(n=4_000, s=5)], check=True, env=cold)


def main() -> None:
    """Run the part that is named."""
    part, given = sys.argv[1], sys.argv[2:]
    np.set_printoptions(precision=4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if part == "budgets":
            budgets(Path(given[0]), folder)
        elif part == "front":
            front(Path(given[0]), float(given[1]), folder)
        elif part == "growth":
            growth(folder)
        elif part == "threads":
            threads(Path(given[0]), folder)
        elif part == "partition":
            partition()
        else:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
