"""The longest steps of a run, by name: CPU seconds by the serial engine, compiling not counted.

    python benchmarks/quanta.py [ROWS or FILE …] [--budget 20] [--most 12] [--columns 0] [--json FILE]

A run of so many seconds of CPU on invented people of each size, by default 1 000, 10 000 and 120 000, or on a file,
with the cautious plan that init writes; --columns takes so many quasi-identifiers. Kernels are compiled before
by a run on a small table of the same columns. Takes three times the budgets: about 3 minutes of CPU by default.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clock import planned
from cpu_clock import count_cpu
from growth import people

ROWS = ("1000", "10000", "120000")
SMALL = 1200
"""Rows of the table on which kernels are compiled."""
GOAL = 0.2
"""CPU seconds that no step should take."""

Spent = dict[str, list[float]]


def made(rows: int, columns: int, folder: Path) -> Path:
    """A file of invented people: those of the example, or with so many quasi-identifiers."""
    from crypsis.table.example import example
    from crypsis.table.files import write_table

    file = folder / f"people-{rows}.csv"
    if columns:
        people(rows, columns).write_csv(file)
    else:
        write_table(example(rows), file)
    return file


def shortened(file: Path, folder: Path) -> Path:
    """The first lines of a file."""
    short = folder / f"short-{file.name}"
    with file.open(encoding="utf-8") as source:
        short.write_text("".join(line for _, line in zip(range(SMALL), source, strict=False)), encoding="utf-8")
    return short


def run(file: Path, folder: Path, budget: float) -> tuple[Spent, float, str]:
    """CPU seconds of each kind of step, when the first releasable point came, and what came before it."""
    from crypsis.engines import Serial
    from crypsis.plan import Plan
    from crypsis.run.clock import charged_now
    from crypsis.run.session import Run

    spent: Spent = defaultdict(list)

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        at = charged_now()
        yield
        spent[name].append(charged_now() - at)

    plan = Plan.read(planned(file, folder, "--cautious"))
    began = charged_now()
    with stage("read the table"):
        table = plan.table(folder)
    with stage("start (obstacles, objective, fingerprint, folder)"):
        running = Run.start(plan, folder / f"run {file.stem}", Serial(), table=table, seed=1, budget=f"{budget:g}s")
    first, before, last = float("nan"), "", charged_now()
    for step in running.proceed():
        now = charged_now()
        name = f"{step.what} {step.title}"
        spent[name + (" first" if name not in spent else "")].append(now - last)
        spent[name]
        if step.found.points and first != first:
            first, before = now - began, name
        last = now
    spent["end of the run"].append(charged_now() - last)
    running.close()
    return {name: seconds for name, seconds in spent.items() if seconds}, first, before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=ROWS, help="numbers of rows, or files")
    parser.add_argument("--budget", type=float, default=20.0, help="CPU seconds of each run")
    parser.add_argument("--most", type=int, default=12, help="kinds of steps that are printed")
    parser.add_argument("--columns", type=int, default=0, help="quasi-identifiers of wide tables")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    count_cpu()
    figures: list[dict[str, Any]] = []
    for text in given.tables:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = made(int(text), given.columns, folder) if text.isdigit() else Path(text)
            run(shortened(file, folder), folder, 8.0)  # compiles
            spent, first, before = run(file, folder, given.budget)
        print(f"\n{file.name}: first releasable point after {first:.2f} s of CPU, by {before}")
        print(f"{'step':52}{'times':>7}{'longest':>9}{'mean':>8}{'total':>8}")
        longest = sorted(spent.items(), key=lambda item: -max(item[1]))
        for step, seconds in longest[: given.most]:
            mark = " *" if max(seconds) > GOAL else ""
            mean = sum(seconds) / len(seconds)
            print(f"{step:52}{len(seconds):7}{max(seconds):9.3f}{mean:8.3f}{sum(seconds):8.2f}{mark}", flush=True)
        figures += [{"table": file.name, "step": step, "seconds": seconds} for step, seconds in longest]
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
