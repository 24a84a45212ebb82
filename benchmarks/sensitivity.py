"""What the genetic paper's own grid costs: an even slice of its 12 100 runs, and the time of the whole by that pace.

    python benchmarks/sensitivity.py [--records 11] [--attributes 2] [--epochs 10000] [--slice 44] [--json]

11 mutation rates × 11 crossover rates × 10 population sizes × 10 runs, groups of k = 3, CPU seconds of one core. Up to
20 records the optimum is known and runs that reach it end there, with the same records. The analysis (ANOVA, Tukey and
Scheffé for three factors) is timed on made-up responses of the full size.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

from trials import Design, PartitionerSubject, Results, attempt
from variance import analyse

from crypsis.searches.partitions.lower_bound import optimal_partition

GRID = Design.of(
    {
        "mutation_rate": [round(0.1 * step, 1) for step in range(11)],
        "crossover_rate": [round(0.1 * step, 1) for step in range(11)],
        "population": list(range(10, 101, 10)),
    },
    replicates=10,
)


def pace(records: int, attributes: int, epochs: int, slice_: int) -> float:
    """Mean CPU seconds of a run, over trials drawn so that every population size has its share."""
    values = np.random.default_rng(records).uniform(-1e4, 1e4, (records, attributes))
    points = (values - values.mean(axis=0)) / values.std(axis=0)
    least = optimal_partition(points, 3)[1] if records <= 20 else -math.inf
    subject = PartitionerSubject("genetic", points, 3, {"epochs": epochs}, least)
    attempt(PartitionerSubject("genetic", points, 3, {"epochs": 1}), GRID.trial(0))
    rng, sizes = np.random.default_rng(0), GRID.places[:, 2]
    chosen = [int(rng.choice(np.flatnonzero(sizes == place % 10))) for place in range(slice_)]
    return float(np.mean([attempt(subject, GRID.trial(index))["seconds"] for index in chosen]))


def analysis() -> float:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(GRID.size, 2)) + GRID.places[:, :1]
    results = Results(GRID, ("SSE", "convergence epoch"), values, np.zeros(GRID.size), {})
    started = time.process_time()
    analyse(results)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=11)
    parser.add_argument("--attributes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=10_000)
    parser.add_argument("--slice", type=int, default=40, help="runs to time, a multiple of 10")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    one = pace(asked.records, asked.attributes, asked.epochs, asked.slice)
    told = {
        "data": f"{asked.records}x{asked.attributes}",
        "epochs": asked.epochs,
        "runs timed": asked.slice,
        "seconds per run": round(one, 4),
        "runs of the whole grid": GRID.size,
        "hours of one core": round(one * GRID.size / 3600, 2),
        "analysis, seconds": round(analysis(), 2),
    }
    print(json.dumps(told) if asked.json else "\n".join(f"{name:>24}  {value}" for name, value in told.items()))


if __name__ == "__main__":
    main()
