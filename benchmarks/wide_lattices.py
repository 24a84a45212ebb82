"""Lattices nobody can enumerate, three objectives: PBG-EA, NSGA-II and a variant, by hypervolume over evaluations.

    python benchmarks/wide_lattices.py [--seeds 5] [--evaluations 500 1000 2000 4000] [--population 40]

Objectives, all at 1 % suppressed by size: the smallest class (k), the spread of privacy (s_k: Σ over records of the
size of their class) and the loss (glm). PBG-EA keeps one node per box of the three (its box dominance) and draws its
parents by strength; NSGA-II keeps the best of parents and children by rank and crowding; the variant keeps the boxes of
PBG-EA and draws parents where the archive is sparse. All undominated nodes a method met count in this comparison. The
variant was the default for a while and is no better from 1000 evaluations on, so the search uses PBG-EA as it is.
Hypervolume: per cent of the box between the worst and the best value of each objective, log of k and s_k. The data are
looked for in the folder CRYPSIS_DATA, else in ../shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import moocore
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from lattices import german, synthetic

from crypsis.evolution import Budget, evolve
from crypsis.evolution.selection import DominanceOrder
from crypsis.evolution.strategies import Archived
from crypsis.searches.pbg_ea import PbgEaSearch
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

INDICES: tuple[Literal["k"], Literal["s_k"], Literal["glm"]] = ("k", "s_k", "glm")
METHODS: dict[str, Literal["pbg", "nsga2"]] = {"PBG-EA": "pbg", "NSGA-II": "nsga2", "variant": "pbg"}


def volumes(table: Table, name: str, seed: int, marks: list[int], population: int) -> list[float]:
    """Hypervolume of all nodes met, at each number of evaluations."""
    method = METHODS[name]
    records, columns = len(table), len(Lattice.of(table).names)
    boxes = (1.0, records**2 / 1000, records * columns / 1000) if method != "nsga2" else ()
    settings: dict[str, Any] = {"indices": INDICES, "method": method, "population": population}
    search = PbgEaSearch(**settings, boxes=boxes)
    rng = np.random.default_rng(seed)
    problem = search.pose(table, None, rng)
    problem = replace(problem, remember=10**9)
    if name == "variant":
        problem = replace(problem, strategy=replace(cast(Archived, problem.strategy), order=DominanceOrder()))
    best = np.array([np.log(records), np.log(records**2), 1.0])
    worst = np.array([0.0, np.log(records), 0.0])
    found, at = [], 0
    for state in evolve(problem, rng, Budget(evaluations=marks[-1], generations=20 * marks[-1])):
        while at < len(marks) and (state.evaluations >= marks[at] or state.idle > 200):
            scores = -np.array(list(state.known.values()))
            scaled = np.stack(
                [np.log(scores[:, 0].clip(1)), np.log(scores[:, 1].clip(1)), scores[:, 2] / (records * columns)], 1
            )
            unit = ((best - scaled) / (best - worst)).clip(0, 1)
            found.append(100.0 * float(moocore.hypervolume(unit, ref=[1.0, 1.0, 1.0])))
            at += 1
        if at == len(marks):
            break
    return found


def main() -> None:
    """Print a table per lattice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, nargs="+", default=[500, 1000, 2000, 4000])
    parser.add_argument("--population", type=int, default=40)
    given = parser.parse_args()
    for title, table in (("German credit, 20 columns", german()), ("synthetic, 14 columns", synthetic())):
        print(
            f"{title}: {Lattice.of(table).size:.3g} nodes, {len(table)} records; hypervolume, mean (least) of "
            f"{given.seeds} seeds"
        )
        print(f"{'method':10}" + "".join(f"{mark:>18}" for mark in given.evaluations) + f"{'CPU s':>8}")
        for name in METHODS:
            started = time.process_time()
            rows = np.array(
                [volumes(table, name, seed, given.evaluations, given.population) for seed in range(given.seeds)]
            )
            spent = (time.process_time() - started) / given.seeds
            cells = "".join(f"{f'{column.mean():.3f} ({column.min():.3f})':>18}" for column in rows.T)
            print(f"{name:10}{cells}{spent:8.1f}", flush=True)


if __name__ == "__main__":
    main()
