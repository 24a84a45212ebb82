"""Who is on the front: every search on tasks of each kind, with what it contributes.

    python benchmarks/families.py [--seconds 30] [--seed 1] [--only numeric mixed …]

For each task all searches that apply run together, sharing the time; printed are the points each holds on the common
front, the hypervolume lost without it, and how many of its solutions may be released. A search that does not apply
says why. Reference data: the folder named by CRYPSIS_DATA, else ../shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass, field
from typing import Any

from models import DATA, adult

import crypsis
from crypsis.plan.catalogue import searches
from crypsis.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from crypsis.run.families import family_contributions
from crypsis.table.table import Table

SEARCHES = ("composite", "partition", "local-recoding", "lattice", "grouping", "masking", "mixed-masking")


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
    linked = [{"measure": "record-linkage", "at_most": 10.0}]
    grouped = {"grouping": {"recipe": "pareto", "k": 5, "largest_k": 100, "population": 60}}
    return {
        "numeric, k = 5": Task(census(600, 8), [*k5]),
        "numeric, linkage at most 10": Task(census(600, 8), [], {"limit": [{"measure": "risk", "at_most": 10.0}]}),
        "categories, k = 5": Task(categories(1000), [*k5]),
        "categories, linkage at most 5": Task(categories(500), [], {"limit": [{"measure": "risk", "at_most": 5.0}]}),
        "mixed, k = 5": Task(example, [*k5]),
        "mixed, l = 2": Task(example, [*k5, LDiversity(l=2, confidential=("diagnosis",))]),
        "mixed, t = 0.3": Task(example, [*k5, TCloseness(t=0.3, confidential=("diagnosis",))]),
        "mixed, linkage at most 10": Task(example, [], {"limit": [{"measure": "risk", "at_most": 10.0}]}),
        "mixed, two scenarios": Task(example, [], {"scenario": halves(example)}),
        "numeric, two scenarios": Task(census(600, 8), [], {"scenario": halves(census(600, 8))}),
        "numeric, the measures of GOMM, linkage at most 10": Task(
            census(600, 12), [], {"measures": papers, "limit": linked}, grouped
        ),
        "wide, k = 5": Task(census(600, 12), [*k5]),
    }


def shown(title: str, task: Task, seconds: float, seed: int) -> None:
    """Run all searches that apply and print what each contributes."""
    apply, left = [], {}
    for name in SEARCHES:
        settings = task.settings.get(name) or searches[name].first_settings(task.table, 5)
        obstacle = searches.build(name, **settings).obstacle(task.table)
        if obstacle:
            left[name] = obstacle
        else:
            apply.append(searches.build(name, **settings))
    with crypsis.evolve(task.table, apply, task.models, budget=f"{seconds:g}s", seed=seed, **task.sections) as run:
        found = {each.name: each for each in family_contributions(run.front)}
    print(f"\n{title} ({len(task.table)} records, {len(task.table.quasi_identifiers)} quasi-identifiers)")
    for name in SEARCHES:
        if name in left:
            print(f"  {name:16}does not apply: {left[name]}")
        elif name in found:
            each = found[name]
            print(f"  {name:16}{each.points:4d} points, {each.lost:6.2f} % lost without; {each.offered} releasable")
        else:
            print(f"  {name:16}nothing measured in this time")


def main() -> None:
    """Print the tasks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    for title, task in tasks().items():
        if not given.only or any(word in title for word in given.only):
            shown(title, task, given.seconds, given.seed)


if __name__ == "__main__":
    main()
