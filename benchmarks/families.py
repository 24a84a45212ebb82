"""Who is on the front: every search on tasks of each kind, with what it contributes.

    python benchmarks/families.py --out FILE [--cpu 10] [--seed 1] [--only numeric mixed …]
    python benchmarks/families.py --out FILE --page

For each task all searches that apply run together, sharing the time; printed are the points each holds on the common
front, the hypervolume lost without it, and how many of its solutions may be released. A search that does not apply
says why. What is in FILE is not run again; --page puts all of it into docs/how-to/which-search.md as
one table, searches by tasks.

The budget is CPU seconds of a serial engine, on which load has no influence. Reference data: the folder named by
CRYPSIS_DATA, else ../shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cpu_clock import count_cpu
from models import DATA, adult
from page_tables import HOW_TO, replace_table

import crypsis
from crypsis.engines import Serial
from crypsis.evolution.frontier import rank_frontier_contributions
from crypsis.plan.sections import searches
from crypsis.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from crypsis.table.files import read_table
from crypsis.table.table import Table


class Method(NamedTuple):
    """A search with settings of its own, and the paper it is from."""

    label: str
    paper: str
    name: str
    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed


METHODS = (
    Method("composite", "", "composite"),
    Method("memetic", "", "memetic"),
    Method("ga-microaggregation", "GA 2006", "ga-microaggregation"),
    Method("hybrid-microaggregation", "hybrid 2007", "hybrid-microaggregation"),
    Method("local-recoding", "", "local-recoding"),
    Method("pbg-ea", "PBG 2009", "pbg-ea"),
    Method("categorical-masking", "masking 2012", "categorical-masking"),
    Method("mixed-masking", "masking 2012", "mixed-masking"),
    Method("mixed-grouping", "after GOMM 2014", "mixed-grouping"),
    Method("gomm", "GOMM 2014", "gomm"),
)


@dataclass
class Task:
    """A table, what is demanded of it, and further sections of a plan."""

    table: Table
    models: list[PrivacyModel]
    sections: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)


def census(rows: int, columns: int) -> Table:
    """Numbers of the Census table as quasi-identifiers."""
    with (DATA / "census.csv").open() as file:
        read = list(csv.reader(file))
    names = read[0][:columns]
    values = {name: [float(row[j]) for row in read[1 : 1 + rows]] for j, name in enumerate(names)}
    return Table.from_columns(values, dict.fromkeys(names, "quasi"))


def categories(rows: int) -> Table:
    """The categorical columns of Adult."""
    table = adult(rows)
    return table.drop(["age"])


def protected_in_2012() -> Table:
    """The columns of Adult that the paper of 2012 protects, 1000 records."""
    names = ("education", "marital-status", "occupation")
    trees = {name: DATA / "dgh" / f"adult_{name}.csv" for name in names}
    table = read_table(DATA / "adult_1000.csv", roles=dict.fromkeys(names, "quasi"), hierarchies=trees)
    return table.drop([name for name in table.names if name not in names])


def halves(table: Table) -> list[dict[str, Any]]:
    """Two intruders who know half of the quasi-identifiers each, k = 5 against both."""
    names, asked = table.quasi_identifiers, [{"model": "k-anonymity", "k": 5}]
    half = (len(names) + 1) // 2
    return [
        {"name": "neighbour", "knows": list(names[:half]), "require": asked},
        {"name": "colleague", "knows": list(names[half:]), "require": asked},
    ]


def tasks() -> dict[str, Task]:
    """A task of every kind."""
    example, k5 = crypsis.example(600), [KAnonymity(k=5)]
    papers = {"loss": ["sse-ratio"], "risk": ["interval-disclosure", "record-linkage"]}
    categorical = {
        "loss": ["contingency-loss", "distance-loss", "entropy-loss"],
        "risk": ["category-disclosure", "category-linkage", "probabilistic-linkage", "rank-linkage"],
    }
    masked = {
        "categorical-masking": {**searches["categorical-masking"].first_settings(example, 5), "highest_risk": 30.0}
    }
    linked = [{"measure": "record-linkage", "at_most": 10.0}]
    kept = [{"measure": "risk", "at_most": 10.0}, {"measure": "distribution-distance", "at_most": 5.0}]
    grouped = {"gomm": {"recipe": "pareto", "k": 5, "largest_k": 100, "population": 60}}
    return {
        "numeric, k = 5": Task(census(600, 8), [*k5]),
        "numeric, linkage at most 10": Task(census(600, 8), [], {"limit": [{"measure": "risk", "at_most": 10.0}]}),
        "categories, k = 5": Task(categories(1000), [*k5]),
        "categories, k = 5, one level per column": Task(
            categories(1000), [*k5], {"limit": [{"measure": "mixed-levels", "at_most": 0.0}]}
        ),
        "categories, linkage at most 5": Task(categories(500), [], {"limit": [{"measure": "risk", "at_most": 5.0}]}),
        "categories, the measures of 2012, risk at most 30": Task(
            protected_in_2012(), [], {"measures": categorical, "limit": [{"measure": "risk", "at_most": 30.0}]}, masked
        ),
        "mixed, k = 5": Task(example, [*k5]),
        "mixed, l = 2": Task(example, [*k5, LDiversity(l=2, confidential=("diagnosis",))]),
        "mixed, t = 0.3": Task(example, [*k5, TCloseness(t=0.3, confidential=("diagnosis",))]),
        "mixed, linkage at most 10": Task(example, [], {"limit": [{"measure": "risk", "at_most": 10.0}]}),
        "mixed, linkage at most 10, distributions within 5": Task(example, [], {"limit": kept}),
        "mixed, two scenarios": Task(example, [], {"scenario": halves(example)}),
        "numeric, two scenarios": Task(census(600, 8), [], {"scenario": halves(census(600, 8))}),
        "numeric, the measures of GOMM, linkage at most 10": Task(
            census(600, 12), [], {"measures": papers, "limit": linked}, grouped
        ),
        "wide, k = 5": Task(census(600, 12), [*k5]),
    }


def contributed(task: Task, cpu: float, seed: int) -> dict[str, Any]:
    """Points, hypervolume lost and releasable solutions of every method; or why it does not apply."""
    apply, found = [], dict[str, Any]()
    for method in METHODS:
        first = searches[method.name].first_settings(task.table, 5)
        settings = task.settings.get(method.name) or {**first, **method.settings}
        obstacle = searches.build(method.name, **settings).obstacle(task.table)
        if obstacle:
            found[method.label] = obstacle
        else:
            apply.append((method.label, searches.build(method.name, **settings)))
    chosen, budget = [search for _, search in apply], f"{cpu:g}s"
    with crypsis.evolve(task.table, chosen, task.models, budget, seed, engine=Serial(), **task.sections) as run:
        axes = run.front.axes
        own = [s for s in run.front.everything if not s.baseline]
    rows = [(apply[s.search][0], [s.figure(axis) for axis in axes]) for s in own if s.feasible]
    rows = [(label, row) for label, row in rows if None not in row]
    points = np.array([row for _, row in rows], dtype=np.float64).reshape(len(rows), len(axes))
    for each in rank_frontier_contributions([label for label, _ in rows], points):
        found[each.name] = [each.points, round(each.lost, 2), each.offered]
    tried = {apply[s.search][0] for s in own}
    return {label: found.get(label, [0, 0.0, 0] if label in tried else None) for label, *_ in METHODS}


def shown(title: str, found: dict[str, Any]) -> None:
    """Print what each method contributes to a task."""
    print(f"\n{title}")
    for label, *_ in METHODS:
        each = found[label]
        if each is None:
            print(f"  {label:24}nothing measured in this time")
        elif isinstance(each, str):
            print(f"  {label:24}does not apply: {each}")
        else:
            print(f"  {label:24}{each[0]:4d} points, {each[1]:6.2f} % lost without; {each[2]} releasable")


def tabulated(known: dict[str, dict[str, Any]]) -> list[str]:
    """All tasks as one table: points on the front and hypervolume lost without."""
    named = " | ".join(m.label + (f" ({m.paper})" if m.paper else "") for m in METHODS)
    lines = [f"| task | {named} |", "|---" * (len(METHODS) + 1) + "|"]
    for title, found in known.items():
        cells = []
        for label, *_ in METHODS:
            each = found[label]
            if each is None or isinstance(each, str):
                cells.append("–" if each else "not reached")
            else:
                cells.append(f"{each[0]} ({each[1]:.1f} %)" if each[0] else "0" if each[2] else "×")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Run the tasks that are not in the file, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cpu", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    known = json.loads(given.out.read_text()) if given.out.exists() else {}
    if given.page:
        replace_table(HOW_TO / "which-search.md", tabulated(known))
        return
    count_cpu()
    for title, task in tasks().items():
        if given.only and not any(word in title for word in given.only):
            continue
        if title not in known:
            known[title] = contributed(task, given.cpu, given.seed)
            given.out.write_text(json.dumps(known, indent=1) + "\n")
        shown(title, known[title])
    print(*tabulated(known), sep="\n")


if __name__ == "__main__":
    main()
