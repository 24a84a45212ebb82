"""How the stages of a run grow: seconds at 10³, 10⁴, 10⁵ and 10⁶ rows and 5, 15 and 30 quasi-identifiers.

    python benchmarks/growth.py [--rows 1000 10000] [--columns 5 15 30] [--budget 30] [--json F] [--svg F]

Every table runs in a process of its own: a file of invented people is read, its plan is drafted, checked, and run for
the budget. Printed are wall seconds of: reading and binding the table; the draft that init writes; check; the first
quantum and the first measured point of every search; the first releasable point; the whole run beside its budget.
Kernels are compiled before, on a small table of the same columns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROWS, COLUMNS = (10**3, 10**4, 10**5, 10**6), (5, 15, 30)
SMALL = 400
"""Rows of the table on which kernels are compiled."""
RELEASABLE = "releasable point"


def people(rows: int, columns: int) -> pl.DataFrame:
    """Quasi-identifiers by turns: an age, a code of few values, a code of many, a number; all related."""
    rng = np.random.default_rng(rows + columns)
    trait, made = rng.standard_normal(rows), {}
    for place in range(columns):
        value = 0.6 * trait + 0.8 * rng.standard_normal(rows)
        kind = place % 4
        if kind == 0:
            made[f"age{place}"] = np.clip(45 + 18 * value, 0, 99).astype(int)
        elif kind == 1:
            made[f"sex{place}"] = np.where(value > 0, "a", "b")
        elif kind == 2:
            made[f"occupation{place}"] = [f"o{code}" for code in np.clip(8 + 4 * value, 0, 19).astype(int).tolist()]
        else:
            made[f"hours{place}"] = np.clip(38 + 9 * value, 1, 80).round(0).astype(int)
    made["income"] = np.exp(10 + 0.5 * trait + 0.4 * rng.standard_normal(rows)).round(2)
    return pl.DataFrame(made)


def command(*words: object) -> float:
    """Wall seconds of a command."""
    began = time.perf_counter()
    code = [sys.executable, "-c", "from crypsis.cli import program; program()", *map(str, words)]
    subprocess.run(code, check=True, capture_output=True)
    return time.perf_counter() - began


def stages(rows: int, columns: int, budget: float, folder: Path) -> list[dict[str, Any]]:
    """Seconds of the stages on one table; the run is in this process."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

    found: list[dict[str, Any]] = []

    def note(stage: str, seconds: float) -> None:
        found.append({"rows": rows, "columns": columns, "stage": stage, "seconds": seconds})

    folder.mkdir()
    file, plan = folder / "people.csv", folder / "plan.toml"
    people(rows, columns).write_csv(file)
    note("init", command("init", file, "--cautious", "-o", plan))
    note("check", command("check", plan))
    began = time.perf_counter()
    with (
        engine() as place,
        Run.start(Plan.read(plan), folder / "run", place, home=folder, seed=1, budget=f"{budget:g}s") as run,
    ):
        note("reading", time.perf_counter() - began)
        seen, last = set[str](), time.perf_counter()
        for step in run.proceed():
            now, stage = time.perf_counter(), f"{step.what} {step.title}"
            if stage not in seen:
                note(stage, now - last)
            if step.found.points and RELEASABLE not in seen:
                note(RELEASABLE, now - began)
            seen |= {stage, *([RELEASABLE] if step.found.points else [])}
            last = now
    note("run", time.perf_counter() - began)
    return found


def apart(rows: int, columns: int, budget: float) -> list[dict[str, Any]]:
    """The same in a process of its own, after one on few rows that compiles."""
    here = [sys.executable, __file__, "--here", str(rows), str(columns), f"{budget:g}"]
    made = subprocess.run(here, capture_output=True, text=True)
    if made.returncode:
        print(f"{rows:>10,}{columns:>4}  {made.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return []
    return list(json.loads(made.stdout))


def chart(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The curves as a Vega-Lite specification, both axes logarithmic, one panel for each number of columns."""
    encoding: dict[str, Any] = {
        axis: {"field": field, "type": "quantitative", "title": title, "scale": {"type": "log"}}
        for axis, field, title in (("x", "rows", "records"), ("y", "seconds", "seconds"))
    }
    encoding |= {"color": {"field": "stage", "scale": {"scheme": "tableau20"}}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": [{**row, "seconds": max(row["seconds"], 1e-3)} for row in found]},
        "facet": {"column": {"field": "columns", "title": "quasi-identifiers"}},
        "spec": {"width": 260, "height": 260, "mark": {"type": "line", "point": True}, "encoding": encoding},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    parser.add_argument("--columns", type=int, nargs="*", default=list(COLUMNS))
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--json", type=Path, help="figures; those of other tables that the file holds are kept")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--here", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        rows, columns, budget = int(given.here[0]), int(given.here[1]), float(given.here[2])
        with tempfile.TemporaryDirectory() as name:
            stages(SMALL, columns, 3.0, Path(name) / "small")
            print(json.dumps(stages(rows, columns, budget, Path(name) / "table")))
        return
    found: list[dict[str, Any]] = json.loads(given.json.read_text()) if given.json and given.json.exists() else []
    for columns in given.columns:
        for rows in given.rows:
            made = apart(rows, columns, given.budget)
            found = [row for row in found if (row["rows"], row["columns"]) != (rows, columns)] + made
            if given.json:
                given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            for row in made:
                print(f"{rows:>10,}{columns:>4}  {row['stage']:28}{row['seconds']:9.3f}", flush=True)
    if given.svg:
        import vl_convert

        given.svg.write_text(vl_convert.vegalite_to_svg(chart(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
