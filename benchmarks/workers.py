"""What two workers bring, family by family: the same work in this process, in two threads and in two processes.

    python benchmarks/scale.py workers [--only GA GOMM …] [--longer 2]

Each work runs to a fixed end, so that its bits can be compared; a first round warms workers and kernels. Wall time on
a machine with nothing else to do, two minutes in all; `--longer` multiplies the work.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

from trials import Design, PartitionerSubject, run_design

import crypsis
from crypsis.engines import Engine, Processes, Serial, Threads
from crypsis.evolution import Budget, evolve
from crypsis.masking.partitioning import Blocks
from crypsis.searches.hybrid_microaggregation import TwoStep
from crypsis.searches.search import Search
from crypsis.table.table import Table

Work = Callable[[Engine, float], Any]
SMALL = 0.05
"""The share of a work that warms an engine."""


def numbers(rows: int, columns: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Normal numbers."""
    return np.random.default_rng(0).standard_normal((rows, columns))


def searched(search: Search, table: Table, generations: int, guided: bool = True) -> Work:
    """Generations of a search; its last state as bytes. Guided, candidates are decoded and measured in full."""

    def work(engine: Engine, share: float) -> bytes:
        chance = np.random.default_rng(0)
        objective = crypsis.Objective(table, {"loss": crypsis.CellLoss(), "risk": crypsis.RecordLinkage()})
        problem = search.pose(table, objective if guided else None, chance)
        budget = Budget(generations=max(1, round(share * generations)))
        return [state.to_bytes() for state in evolve(problem, chance, budget, engine)][-1]

    return work


def designed(engine: Engine, share: float) -> Any:
    """Runs of the genetic algorithm of 2006, as a sensitivity analysis makes them."""
    levels = {"mutation_rate": [0.1, 0.2], "population": [20, 40]}
    subject = PartitionerSubject("genetic", numbers(50, 2), 3, {"epochs": max(10, round(5_000 * share))})
    return run_design(Design.of(levels, 4, seed=1), subject, None, engine).values.tobytes()


def two_step(share: float) -> TwoStep:
    """The hybrid of 2007 with a share of twice its epochs."""
    return TwoStep(epochs=max(10, round(20_000 * share)))


def works() -> dict[str, Work]:
    """A work of every family."""
    people, few = crypsis.example(1000), numbers(1000, 10)
    names = [f"x{j}" for j in range(10)]
    table = Table.from_columns({n: few[:, j] for j, n in enumerate(names)}, roles=dict.fromkeys(names, "quasi"))
    return {
        "GA 2006, 16 runs of 50 × 2": designed,
        "two-step 2007, 1 000 × 10": lambda engine, share: (
            TwoStep(epochs=max(10, round(20_000 * share)))
            .run(few, 3, np.random.default_rng(0), engine)
            .labels.tobytes()
        ),
        "GOMM 2014, 1 000 × 10": searched(crypsis.GommSearch(k=3), table, 10, guided=False),
        "masking 2012, example": searched(crypsis.CategoricalMaskingSearch(), people, 4),
        "PBG-EA 2009, example": searched(crypsis.PbgEaSearch(method="pbg"), people, 8),
        "partition, example": searched(crypsis.MemeticSearch(k=5), people, 40),
        "blocks, 100 000 × 10": lambda engine, share: (
            Blocks().run(numbers(round(100_000 * share), 10), 5, np.random.default_rng(0), engine).tobytes()
        ),
    }


def workers(only: list[str], longer: float) -> None:
    """Print the wall time of each work in one process, and how many times faster two workers are."""
    print(f"{'work':32}{'alone, s':>10}{'2 threads':>11}{'2 processes':>13}  bits")
    with Threads(2) as threads, Processes(2) as processes:
        for name, work in works().items():
            if only and not any(word in name for word in only):
                continue
            taken, found = [], []
            for engine in (Serial(), threads, processes):
                work(engine, SMALL)
                began = time.perf_counter()
                found.append(work(engine, longer))
                taken.append(time.perf_counter() - began)
            ratios = [taken[0] / each for each in taken[1:]]
            bits = "same" if all(each == found[0] for each in found) else "DIFFERENT"
            print(f"{name:32}{taken[0]:10.2f}{ratios[0]:11.2f}{ratios[1]:13.2f}  {bits}", flush=True)
