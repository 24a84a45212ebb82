"""The two genetic papers, table by table: counts, small tables, hybrids, and what a run costs.

    python benchmarks/genetic.py [--quick] [--only counts speed optimum heuristic hybrid] [--json]

Groups of k = 3, z-scores by the population deviation, seconds of one core. Census and EIA are looked for in the
folder CRYPSIS_DATA, else in ../shared/data beside the repository; without them the synthetic tables remain.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.kernels.annealing import sse
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.scaling import scale_to_z_scores
from crypsis.searches.ga_microaggregation import Genetic
from crypsis.searches.hybrid_microaggregation import Hybrid, OneStep, TwoStep
from crypsis.searches.partitions import lower_bound

K = 3
SECTORS = ("RES", "COM", "IND", "OTHR", "TOT")
EIA = [
    "UTILITYID",
    *(("OTHREVENUE" if s + t == "OTHRREVENUE" else s + t) for s in SECTORS for t in ("REVENUE", "SALES")),
]
PRINTED = {  # per cent below MDAV at K = 12, 18, 27: one-step, two-step
    "Scattered": {12: (-8, 9), 18: (-4, 8), 27: (0, 3)},
    "Clustered": {12: (37, 20), 18: (49, 40), 27: (67, 41)},
    "Census": {12: (-8, 4), 18: (-10, 4), 27: (-15, 1)},
    "EIA": {12: (-91, 13), 18: (-36, 14), 27: (-54, 9)},
}

Points = NDArray[np.float64]
Row = dict[str, Any]


def scattered(rng: Generator) -> Points:
    """1000 × 2 by simple random sampling from [−10000, 10000]."""
    return rng.uniform(-1e4, 1e4, (1000, 2))


def clustered(rng: Generator, shift: float = 1e7) -> Points:
    """As scattered, then groups of 3 to 5 records shifted together; the paper does not say how far.

    Up to ±10⁷ was chosen because MDAV then has about the SSE printed for it (3.57).
    """
    points = scattered(rng)
    first = 0
    while first < 1000:
        size = min(int(rng.integers(3, 6)), 1000 - first)
        points[first : first + size] += rng.uniform(-shift, shift, 2)
        first += size
    return points


def reference(name: str, columns: list[str] | None) -> Points | None:
    folder = os.environ.get("CRYPSIS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(folder) / name
    if not path.is_file():
        return None
    frame = pl.read_csv(path)
    return frame.select(columns or frame.columns).to_numpy().astype(np.float64)


def mdav_loss(points: Points) -> float:
    return sse(points, mdav(points, K, GENERIC, EUCLIDEAN))


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def counts(quick: bool) -> list[Row]:
    """Table I, μ and both probabilities."""
    rows: list[Row] = []
    for n in (10, 20, 30, 40, 50, 100, 500, 1000):
        rows.append({"n": n} | {f"a(n,{k})": lower_bound.count_representative_partitions(n, k) for k in (3, 4, 5)})
    for n in (11, 20, 30, 50):
        rows.append(
            {
                "n": n,
                "mu": lower_bound.paper_partition_bound(n, K),
                "partitions": lower_bound.count_partitions(n, K),
                "P_eq6": float(lower_bound.paper_bound_probability(n, K)),
                "P_true": float(lower_bound.probability_of_candidate_partition(n, K)),
            }
        )
    return rows


def speed(quick: bool) -> list[Row]:
    """10⁴ epochs on 27 records (13 attributes): the paper needed 2 s with 10 chromosomes."""
    points = scale_to_z_scores(np.random.default_rng(0).uniform(-1e4, 1e4, (27, 13)))
    Genetic(epochs=1).run(points, K, np.random.default_rng(1))
    rows: list[Row] = []
    for population in (10, 100):
        times = [
            cpu(lambda: Genetic(population=population).run(points, K, np.random.default_rng(1)))[0]  # noqa: B023
            for _ in range(3)
        ]
        rows.append({"chromosomes": population, "epochs": 10_000, "cpu_ms": round(1000 * min(times), 1)})
    return rows


def optimum(quick: bool) -> list[Row]:
    """n = 11: how often the optimum is hit (printed: around 90 %)."""
    rows: list[Row] = []
    runs, tables = (10, 2) if quick else (20, 5)
    for d in (2, 3, 5, 7, 10):
        for population in (10, 50, 100):
            hits, epochs = [], []
            for table in range(tables):
                points = scale_to_z_scores(np.random.default_rng([d, table]).uniform(-1e4, 1e4, (11, d)))
                best = lower_bound.optimal_partition(points, K)[1]
                for seed in range(runs if population < 100 else runs // 2):
                    found = Genetic(population=population).run(points, K, np.random.default_rng(seed))
                    hits.append(found.sse <= best * (1 + 1e-9))
                    epochs.append(found.convergence_epoch)
            rows.append(
                {
                    "data": f"11x{d}",
                    "M_r": 0.1,
                    "C_r": 0.5,
                    "epochs": 10_000,
                    "chromosomes": population,
                    "runs": len(hits),
                    "optimum_%": round(100 * mean(hits), 1),
                    "mean_convergence": round(mean(epochs)),
                }
            )
    return rows


def heuristic(quick: bool) -> list[Row]:
    """n = 20, 35, 50 below MDAV, n = 100 above it; without a place for the best in the population far above."""
    rows: list[Row] = []
    runs = 2 if quick else 5
    for n, epochs, printed in ((20, 10_000, 4.29), (35, 10_000, 3.13), (50, 100_000, 4.02), (100, 10_000, 15.37)):
        points = scale_to_z_scores(np.random.default_rng(n).uniform(-1e4, 1e4, (n, 2)))
        epochs = min(epochs, 20_000) if quick else epochs
        for keep_best in (True, False):
            algorithm = Genetic(population=50, epochs=epochs, crossover_rate=0.3, keep_best=keep_best)
            found = [algorithm.run(points, K, np.random.default_rng(seed)) for seed in range(runs if keep_best else 1)]
            rows.append(
                {
                    "data": f"{n}x2",
                    "M_r": 0.1,
                    "C_r": 0.3,
                    "epochs": epochs,
                    "chromosomes": 50,
                    "best_kept": keep_best,
                    "MDAV": round(mdav_loss(points), 2),
                    "GA_min": round(min(result.sse for result in found), 2),
                    "GA_mean": round(mean(result.sse for result in found), 2),
                    "printed_min": printed,
                    "mean_convergence": round(mean(result.convergence_epoch for result in found)),
                }
            )
    return rows


def hybrid(quick: bool) -> list[Row]:
    """Table 2 of the hybrid paper: 10 chromosomes, M_r 0.1, C_r 0.5, 10⁴ epochs; medians over the seeds."""
    sets: dict[str, Points | None] = {
        "Scattered": scattered(np.random.default_rng(0)),
        "Clustered": clustered(np.random.default_rng(0)),
        "Census": reference("census.csv", None),
        "EIA": reference("eia.csv", EIA),
    }
    rows: list[Row] = []
    for name, values in sets.items():
        if values is None:
            continue
        points = scale_to_z_scores(values)
        alone = mdav_loss(points)
        for size in (12, 18, 27):
            ways: list[tuple[Hybrid, int]] = [(OneStep(macrogroup=size), 0), (TwoStep(macrogroup=size), 1)]
            if size == 12:
                ways += [(OneStep(macrogroup=12, solver="exact"), 0), (TwoStep(macrogroup=12, solver="exact"), 1)]
            for way, column in ways:
                seeds = 1 if way.solver == "exact" or quick else 5
                seconds, found = cpu(lambda: [way.run(points, K, np.random.default_rng(seed)) for seed in range(seeds)])  # noqa: B023
                losses = [result.sse for result in found]
                rows.append(
                    {
                        "data": name,
                        "K": size,
                        "way": ("one-step", "two-step")[column],
                        "solver": way.solver,
                        "macrogroups": found[0].macrogroups,
                        "MDAV": round(alone, 2),
                        "SSE": round(median(losses), 2),
                        "min": round(min(losses), 2),
                        "max": round(max(losses), 2),
                        "below_MDAV_%": round(100 * (1 - mean(losses) / alone), 1),
                        "printed_%": PRINTED[name][size][column],
                        "cpu_s": round(seconds / seeds, 2),
                    }
                )
    return rows


SECTIONS = {"counts": counts, "speed": speed, "optimum": optimum, "heuristic": heuristic, "hybrid": hybrid}


def table(rows: list[Row]) -> str:
    """Rows of equal keys under one head; a new head where the keys change."""
    lines: list[str] = []
    head: list[str] = []
    for row in rows:
        if list(row) != head:
            head = list(row)
            lines.append("  ".join(f"{name:>12}" for name in head))
        lines.append(
            "  ".join(f"{value:>12.4g}" if isinstance(value, float) else f"{value!s:>12}" for value in row.values())
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs and epochs")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS), help="sections to run")
    parser.add_argument("--json", action="store_true", help="results as JSON on standard output")
    chosen = parser.parse_args()
    results: dict[str, list[Row]] = {}
    for name in chosen.only:
        results[name] = SECTIONS[name](chosen.quick)
        if not chosen.json:
            print(f"\n{name}: {(SECTIONS[name].__doc__ or '').strip()}\n{table(results[name])}", flush=True)
    if chosen.json:
        json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
