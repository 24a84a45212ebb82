"""Draw the front of the README: search on the built-in example, and the picture of what it found.

python docs/front.py [--rows 1000] [--budget 30s] [--out docs/images/front.png]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import vl_convert

from crypsis.charts import draw_front_svg
from crypsis.measures.objective import ANALYSES_KEPT
from crypsis.plan import Plan, draft
from crypsis.run import Run
from crypsis.run.choosing import Solution
from crypsis.run.front import Front
from crypsis.run.session import UNTOUCHED
from crypsis.table.example import example
from crypsis.table.files import read_table, write_table
from crypsis.table.profile import profile

HERE = Path(__file__).parent


def evolved(folder: Path, rows: int, budget: str) -> Front:
    """The front of a run on the example, k ≥ 5 demanded."""
    people, plan = folder / "people.csv", folder / "plan.toml"
    write_table(example(rows), people)
    collected = read_table(people)
    text = draft(people, plan, collected, profile(collected), 5)
    plan.write_text(text, encoding="utf-8")
    run = Run.start(Plan.read(plan), folder / "run", home=folder, text=text, budget=budget, seed=1)
    for _ in run.proceed():
        pass
    found = run.front
    run.close()
    return found


def name_point(solution: Solution) -> str:
    """The method, and how many analyses drawn at random keep their answer."""
    kept = solution.figure(ANALYSES_KEPT)
    return solution.title if kept is None or solution.title == UNTOUCHED else f"{solution.title}, {kept:.0f} % kept"


def points(found: Front) -> list[dict[str, object]]:
    default = found.default()
    rows = [
        {
            "name": f"default: {name_point(solution)}" if solution is default else solution.title,
            "family": solution.family,
            "kind": "chosen" if solution is default else "solution",
            "loss": min(solution.figure("loss") or 0.0, 100.0),
            "risk": solution.figure("risk"),
        }
        for solution in found
    ]
    plain = [
        {
            "name": name_point(solution),
            "family": solution.family,
            "kind": "baseline",
            "loss": min(solution.figure("loss") or 0.0, 100.0),
            "risk": solution.figure("risk"),
        }
        for solution in found.baselines
    ]
    return [*rows, *plain]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--out", type=Path, default=HERE / "images" / "front.png")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = evolved(Path(name), asked.rows, asked.budget)
    drawing = draw_front_svg(points(found), "information lost, %", "people found by the intruder, %")
    asked.out.write_bytes(vl_convert.svg_to_png(drawing, scale=2.0))
    sys.stdout.write(f"{asked.out}: {len(found)} solutions, {len(found.baselines)} baselines\n")


if __name__ == "__main__":
    main()
