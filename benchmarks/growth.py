"""How the stages of a run grow: CPU seconds at 10³, 10⁴ and 10⁵ rows and 5, 15 and 30 quasi-identifiers.

    python benchmarks/growth.py [--stages init check run] [--rows 1000 10000 100000] [--columns 5 15 30] [--budget 10]
                                [--json F] [--svg F]

A file of invented people is read, its plan is drafted, checked, and run for the budget by the serial engine, each table
in a process of its own. Printed are CPU seconds, compiling not counted, of: the commands init and check; reading and
binding the table; of every search its first point (all steps up to it), one quantum and one measuring after it; every
baseline; the first releasable point; decoding and releasing what is chosen; and the exponent of the last tenfold step,
where 1 is linear. Kernels are compiled before, on a small table of the same columns. --json keeps figures of other
tables and stages that the file holds, so that a curve may be taken in parts; --stages alone, with nothing after it,
draws what is there. About 5 minutes of CPU; --rows 1000000 takes as long again.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from cpu_clock import count_cpu

ROWS, COLUMNS, STAGES = (10**3, 10**4, 10**5), (5, 15, 30), ("init", "check", "run")
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
    """CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "crypsis", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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


def searched(plan_file: Path, budget: float, folder: Path, note: Callable[[str, float], None]) -> None:
    """Run a plan, decode and release what is chosen, and note what each stage took."""
    count_cpu()
    from crypsis.engines import Serial
    from crypsis.errors import CrypsisError
    from crypsis.plan import Plan
    from crypsis.run import Run
    from crypsis.run.clock import charged_now

    def timed(stage: str, work: Callable[[], Any]) -> Any:
        began = charged_now()
        made = work()
        note(stage, charged_now() - began)
        return made

    plan, began = Plan.read(plan_file), charged_now()
    table = timed("reading", lambda: plan.table(folder))
    timed("binding", lambda: plan.objective(table))
    with Run.start(plan, folder / "run", Serial(), home=folder, seed=1, budget=f"{budget:g}s", table=table) as run:
        spent: dict[tuple[str, str], list[float]] = defaultdict(list)
        open_, seen, last, releasable = dict[str, float](), set[str](), charged_now(), False
        for step in run.proceed():
            now = charged_now()
            took, last, name = now - last, now, step.title
            if step.found.points and not releasable:
                note(RELEASABLE, now - began)
                releasable = True
            open_[name] = open_.get(name, 0.0) + took
            if step.what == "baseline":
                note(f"baseline {name}", open_.pop(name))
            elif step.what == "measured":
                spent["measuring" if name in seen else "first point", name].append(open_.pop(name))
                seen.add(name)
            elif step.what == "generation" and name in seen:
                spent["quantum", name].append(open_.pop(name))
        for (what, name), seconds in spent.items():
            note(f"{what} {name}", sum(seconds) / len(seconds))
        note("run", charged_now() - began)
        if not any(solution.feasible for solution in run.solutions):
            return
        chosen = run.choose().number
        timed("decoding", lambda: run.decode(chosen))
        try:
            timed("releasing", lambda: run.release(chosen, folder / "release"))
        except CrypsisError as error:
            print(f"not released: {error}", file=sys.stderr)


def apart(rows: int, columns: int, budget: float, asked: list[str]) -> list[dict[str, Any]]:
    """The same in a process of its own."""
    here = [sys.executable, __file__, "--here", str(rows), str(columns), f"{budget:g}", *asked]
    made = subprocess.run(here, capture_output=True, text=True)
    if made.returncode:
        print(f"{rows:>10,}{columns:>4}  {made.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return []
    return list(json.loads(made.stdout))


def exponents(found: list[dict[str, Any]]) -> None:
    """Print how every stage grew from the last but one number of rows to the last."""
    curves: dict[tuple[int, str], dict[int, float]] = defaultdict(dict)
    for row in found:
        curves[row["columns"], row["stage"]][row["rows"]] = row["seconds"]
    for (columns, stage), curve in sorted(curves.items()):
        *_, less, more = [0, 0, *sorted(curve)]
        if less and stage != "run" and min(curve[less], curve[more]) > 0:
            steep = math.log(curve[more] / curve[less]) / math.log(more / less)
            print(f"{columns:>4}  {stage:40}{less:>10,} to {more:>10,} rows: exponent {steep:5.2f}")


KINDS = ("first point", "quantum", "measuring", "baseline")
"""Stages that every search, or every baseline, has."""


def chart(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The curves as a Vega-Lite specification, both axes logarithmic, one panel for each kind of stage and width."""
    values = []
    for row in found:
        kind = next((kind for kind in KINDS if row["stage"].startswith(f"{kind} ")), "the run")
        if row["stage"] != "run":
            curve = row["stage"].removeprefix(f"{kind} ")
            values.append({**row, "kind": kind, "curve": curve, "seconds": max(row["seconds"], 1e-3)})
    encoding: dict[str, Any] = {
        name: {
            "field": field, "type": "quantitative", "title": title, "scale": {"type": "log"},
            "axis": {"tickCount": 4, "format": shown},
        }
        for name, field, title, shown in (("x", "rows", "records", "~s"), ("y", "seconds", "CPU seconds", "~g"))
    }  # fmt: skip
    encoding |= {"color": {"field": "curve", "title": None, "scale": {"scheme": "tableau20"}}}
    facet = {
        "row": {"field": "kind", "title": None},
        "column": {"field": "columns", "title": "quasi-identifiers"},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": values},
        "facet": facet,
        "spec": {"width": 180, "height": 120, "mark": {"type": "line", "point": True}, "encoding": encoding},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    exponents(found)
    if given.svg:
        import vl_convert

        given.svg.write_text(vl_convert.vegalite_to_svg(chart(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
