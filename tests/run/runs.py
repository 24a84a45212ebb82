"""Small runs for tests, and what two runs must have in common to be the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crypsis.plan import Plan
from crypsis.run import Run
from crypsis.table.example import example
from crypsis.table.files import write_table

PLAN = """
[data]
source = "people.csv"
[columns]
person = { role = "identifier" }
age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10,20" }
hours = { role = "quasi", kind = "numeric", hierarchy = "intervals:10,20" }
sex = { role = "quasi", hierarchy = "merge:1" }
income = { role = "confidential", because = "known to nobody outside" }
diagnosis = { role = "confidential", because = "known to nobody outside" }
district = { role = "other", because = "known to nobody outside" }
education = { role = "other", because = "known to nobody outside" }
marital = { role = "other", because = "known to nobody outside" }
occupation = { role = "other", because = "known to nobody outside" }
[[require]]
model = "k-anonymity"
k = 3
[[search]]
name = "memetic"
k = 3
k_values = 4
steps = 20
[[search]]
name = "gomm"
k = 3
population = 10
missing = "mean"
memory = 8
[[search]]
name = "local-recoding"
k = 3
k_values = 2
nodes = 64
[[waive]]
finding = "singling-out"
column = "income"
because = "known to nobody outside"
[run]
budget = "4 generations"
seed = 11
points = 6
"""


def folder_with(path: Path, plan: str = PLAN, rows: int = 150) -> Path:
    """A folder with people.csv and plan.toml; the plan's path."""
    path.mkdir(exist_ok=True)
    if not (path / "people.csv").exists():
        write_table(example(rows, seed=4), path / "people.csv")
    (path / "plan.toml").write_text(plan)
    return path / "plan.toml"


def begun(plan: Path, folder: Path, **settings: Any) -> Run:
    return Run.start(Plan.read(plan), folder, home=plan.parent, text=plan.read_text(), **settings)


def finished(run: Run) -> Run:
    for _ in run.proceed():
        pass
    return run


def bits(run: Run) -> list[tuple[Any, ...]]:
    """Every solution to the last bit: number, search, key, genome, content."""
    rows = [run.store.solution(number) for number, _, _ in run.store.contents()]
    return [(row.id, row.search, row.key, row.genome.tobytes(), dict(row.content)) for row in rows]
