"""How the stages of a run grow: seconds at 10³, 10⁴, 10⁵ and 10⁶ rows and 5, 15 and 30 quasi-identifiers.

    python benchmarks/growth.py [--stages init check run] [--rows 1000 10000] [--columns 5 15 30] [--budget 10]
                                [--json F] [--svg F]

A file of invented people is read, its plan is drafted, checked, and run for the budget, each table in a process of its
own. Printed are wall seconds of: the commands init and check; reading and binding the table; the first quantum and the
first measured point of every search, every baseline; the first releasable point; the whole run beside its budget.
Without check the draft is still made, since the run needs it. Kernels are compiled before, on a small table of the same
columns. --json keeps figures of other tables and stages that the file holds, so that a curve may be taken in parts;
--stages alone, with nothing after it, draws what is there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROWS, COLUMNS, STAGES = (10**3, 10**4, 10**5, 10**6), (5, 15, 30), ("init", "check", "run")
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
    done = subprocess.run([sys.executable, "-m", "crypsis", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return time.perf_counter() - began


def stages(rows: int, columns: int, budget: float, asked: list[str], folder: Path) -> list[dict[str, Any]]:
    """Seconds of the stages on one table; the run is in this process."""
    found: list[dict[str, Any]] = []

    def note(stage: str, seconds: float) -> None:
        found.append({"rows": rows, "columns": columns, "stage": stage, "seconds": seconds})

    folder.mkdir()
    file, plan = folder / "people.csv", folder / "plan.toml"
    people(rows, columns).write_csv(file)
    took = command("init", file, "--cautious", "-o", plan)
    if "init" in asked:
        note("init", took)
    if "check" in asked:
        note("check", command("check", plan))
    if "run" in asked:
        searched(plan, budget, folder, note)
    return found


def searched(plan: Path, budget: float, folder: Path, note: Callable[[str, float], None]) -> None:
    """Run a plan, and note when what first happened, and how long it took."""
    from crypsis.engines import engine
    from crypsis.plan import Plan
    from crypsis.run import Run

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


def apart(rows: int, columns: int, budget: float, asked: list[str]) -> list[dict[str, Any]]:
    """The same in a process of its own."""
    here = [sys.executable, __file__, "--here", str(rows), str(columns), f"{budget:g}", *asked]
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
    parser.add_argument("--stages", nargs="*", choices=STAGES, default=list(STAGES))
    parser.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    parser.add_argument("--columns", type=int, nargs="*", default=list(COLUMNS))
    parser.add_argument("--budget", type=float, default=10.0)
    parser.add_argument("--json", type=Path, help="figures, beside those of other tables and stages there")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--here", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        rows, columns, budget = int(given.here[0]), int(given.here[1]), float(given.here[2])
        with tempfile.TemporaryDirectory() as name:
            print(json.dumps(stages(rows, columns, budget, given.here[3:], Path(name) / "table")))
        return
    found: list[dict[str, Any]] = json.loads(given.json.read_text()) if given.json and given.json.exists() else []
    for columns in given.columns if given.stages else ():
        if "run" in given.stages:
            apart(SMALL, columns, 5.0, ["run"])  # compiles
        for rows in given.rows:
            made = apart(rows, columns, given.budget, given.stages)
            known = {(row["rows"], row["columns"], row["stage"]) for row in made}
            found = [row for row in found if (row["rows"], row["columns"], row["stage"]) not in known] + made
            if given.json:
                given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            for row in made:
                print(f"{rows:>10,}{columns:>4}  {row['stage']:40}{row['seconds']:9.3f}", flush=True)
    if given.svg:
        import vl_convert

        given.svg.write_text(vl_convert.vegalite_to_svg(chart(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
