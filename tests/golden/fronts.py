"""Golden fronts: what each search found before its code was rearranged, to be found again by the same plan and seed.

python tests/golden/fronts.py FILE    write the fronts of this version to FILE as JSON
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import crypsis
from crypsis.plan.sections import searches

GLM = ("k", "glm")
"""The general loss metric by name, which the lattice search minimised by itself before."""
TASKS: dict[str, dict[str, Any]] = {
    "pbg-ea": {"search": {"name": "pbg-ea", "indices": GLM}, "generations": 10},
    "pbg-ea-pbg": {
        "search": {"name": "pbg-ea", "indices": GLM, "method": "pbg", "population": 12},
        "generations": 8,
    },
    "pbg-ea-nsga2": {
        "search": {"name": "pbg-ea", "indices": GLM, "method": "nsga2", "population": 12},
        "generations": 8,
    },
    "pbg-ea-demand": {"search": {"name": "pbg-ea", "k": 5, "loss": "glm"}, "generations": 5},
    "local-recoding": {"search": {"name": "local-recoding", "k": 5, "nodes": 1024}, "generations": 4},
    "gomm": {"search": {"name": "gomm", "k": 5, "missing": "mean", "population": 20}, "generations": 6},
    "gomm-paper": {
        "search": {"name": "gomm", "recipe": "paper", "k": 5, "missing": "mean", "population": 20},
        "generations": 6,
    },
    "categorical-masking": {"search": {"name": "categorical-masking"}, "generations": 12},
    "categorical-masking-complete": {"search": {"name": "categorical-masking"}, "generations": 6, "complete": True},
    "memetic": {
        "search": {
            "name": "memetic",
            "k": 5,
            "missing": "aggregate",
            "scaling": "range",
            "numbers": "vary",
            "categories": "vary",
        },
        "generations": 12,
    },
}
"""Name of the task → one search with its settings, and how many generations it gets."""
RECORDS, SEED = 400, 20_061
MEASURES = {"loss": ["cell-loss"], "risk": ["record-linkage"]}
"""Those by which the fronts were measured."""
FIGURES = ("loss", "risk", "k", "suppressed")


def front(task: str) -> list[list[Any]]:
    """[title, figures …] of every solution the search itself put on the front of its run, least loss first."""
    wanted = TASKS[task]
    search = searches.build(**wanted["search"])
    budget = f"{wanted['generations']} generations"
    table = crypsis.example(RECORDS)
    if wanted.get("complete"):
        table = table.take((table.codes(table.names) >= 0).all(axis=1))
    run = crypsis.evolve(table, search=search, budget=budget, seed=SEED, measures=MEASURES)
    return [[s.title, *(s.figure(name) for name in FIGURES)] for s in run.front.everything if not s.baseline]


def main() -> None:
    """Write the fronts of every task."""
    Path(sys.argv[1]).write_text(json.dumps({task: front(task) for task in TASKS}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
