"""Information loss of the memetic partitioner against time, beside every other partitioner.

    python benchmarks/memetic.py [--seconds 1 10 60 | --steps 3000] [--seeds 5 5 2] [--k 3 5 10]
                                 [--data census eia water sklearn] [--json FILE] [--picture FILE.png]

z-scores by the population deviation, IL % = 100 SSE / SST, medians over the seeds, CPU seconds of one core without
compiling; on a busy machine give --steps, moves per record, and compare the CPU seconds. Only `crypsis.partition` is
measured: PYTHONPATH=…/src of an earlier checkout gives its figures by the same command. Census, EIA and water treatment
are looked for in the folder CRYPSIS_DATA, else in ../shared/data beside the repository; `sklearn` is the diabetes table
of scikit-learn, on which, as on water treatment, nothing was tuned.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import vl_convert
from numpy.typing import NDArray

import crypsis
from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import partitioners
from crypsis.searches.partitions.lower_bound import best_bound

Points = NDArray[np.float64]
Row = dict[str, Any]

EIA = [
    "UTILITYID",
    "RESREVENUE",
    "RESSALES",
    "COMREVENUE",
    "COMSALES",
    "INDREVENUE",
    "INDSALES",
    "OTHREVENUE",
    "OTHRSALES",
    "TOTREVENUE",
    "TOTSALES",
]
LIMITS = {  # seconds → at most, for k = 3, 5, 10
    "census": {1: (4.76, 7.38, 11.52), 10: (4.69, 7.31, 11.45), 60: (4.67, 7.27, 11.38)},
    "eia": {1: (0.353, 0.742, 1.96), 10: (0.3515, 0.732, 1.945), 60: (0.3500, 0.730, 1.937)},
}
SLOW = {"genetic": 200}
"""Partitioners that are hopeless beyond so many records: left out of the picture there."""


def z_scores(values: Points) -> Points:
    """Centred, by the population deviation; a constant column is 0."""
    deviation = values.std(axis=0)
    return np.ascontiguousarray((values - values.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0))


def table(name: str) -> Points:
    """A table by its short name, z-scaled."""
    if name == "sklearn":
        from sklearn.datasets import load_diabetes

        return z_scores(np.asarray(load_diabetes(scaled=False).data, np.float64))
    file = {"census": "census.csv", "eia": "eia.csv", "water": "water_treatment.csv"}[name]
    folder = os.environ.get("CRYPSIS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    frame = pl.read_csv(Path(folder) / file, infer_schema_length=None)
    frame = frame.select(EIA) if name == "eia" else frame.select(pl.selectors.numeric())
    return z_scores(frame.drop_nulls().to_numpy().astype(np.float64))


def labels(found: Any) -> NDArray[np.int32]:
    """Labels of a result, whatever version of `crypsis.partition` gave it."""
    return np.asarray(found, np.int32)


def loss(points: Points, value: float) -> float:
    return 100 * value / float(np.square(points).sum())


def measure(name: str, k: int, unit: str, budget: float, seeds: int) -> Row:
    """One budget in seconds or steps, each seed a run of its own."""
    points = table(name)
    mdav = loss(points, sse(points, labels(crypsis.partition(points, k, "mdav", scale=False))))
    losses, took = [], []
    for seed in range(seeds):
        begun = time.process_time()
        given: Any = {"steps": int(budget)} if unit == "steps" else {"seconds": budget}
        found = labels(crypsis.partition(points, k, seed=seed, scale=False, **given))
        took.append(time.process_time() - begun)
        losses.append(loss(points, sse(points, found)))
    lower, kind = best_bound(points, k, found)
    limits = LIMITS.get(name, {}).get(int(budget)) if unit == "seconds" else None
    bound = loss(points, lower)
    return {
        "data": name,
        "k": k,
        "budget": budget,
        "unit": unit,
        "seeds": seeds,
        "median": median(losses),
        "best": min(losses),
        "worst": max(losses),
        "limit": limits[(3, 5, 10).index(k)] if limits and k in (3, 5, 10) else None,
        "mdav": mdav,
        "below_mdav_percent": 100 * (1 - median(losses) / mdav),
        "bound": bound,
        "bound_kind": kind,
        "gap": 1 - bound / median(losses),
        "cpu": median(took),
    }


def tell(row: Row) -> None:
    limit = f"at most {row['limit']:<7g}" if row["limit"] else " " * 15
    print(
        f"{row['data']:8} k={row['k']:<3} {row['budget']:>5g} {row['unit']}  median {row['median']:.4f}  {limit} "
        f"best {row['best']:.4f} worst {row['worst']:.4f} of {row['seeds']}  "
        f"MDAV {row['mdav']:.4f} (−{row['below_mdav_percent']:.1f} %)  "
        f"{row['bound_kind']} {row['bound']:.4f}, gap {100 * row['gap']:.1f} %  cpu {row['cpu']:.1f} s",
        flush=True,
    )


def history(points: Points, k: int, budget: float) -> list[Row]:
    """(seconds, IL) after every quantum of one memetic search."""
    from crypsis.searches.partitions import Memetic

    begun = time.process_time()
    states = Memetic(seconds=budget).search(points, k, np.random.default_rng(0))
    found = [(time.process_time() - begun, float(state.best_scores[0])) for state in states]
    return [{"method": "memetic", "seconds": at, "loss": loss(points, value)} for at, value in found]


def curves(measured: Row) -> list[Row]:
    """(seconds, IL) of every registered partitioner; of the memetic one on its way."""
    name, k = measured["data"], measured["k"]
    points = table(name)
    rows = history(points, k, 10.0 * measured["cpu"] if measured["unit"] == "steps" else measured["budget"])
    for method in partitioners:
        if method == "memetic" or len(points) > SLOW.get(method, len(points)):
            continue
        partitioner = partitioners.build(method)
        begun = time.process_time()
        found = partitioner.partition(points, k, np.random.default_rng(0))
        rows.append(
            {
                "method": method,
                "seconds": time.process_time() - begun,
                "loss": loss(points, sse(points, found)),
            }
        )
    return [row | {"table": f"{name}, k = {k}", "seconds": max(row["seconds"], 1e-3)} for row in rows]


def picture(measured: list[Row], path: Path) -> Row:
    """Draw IL against time for every partitioner into a PNG file; returns the Vega-Lite specification."""
    for method in partitioners:  # compile before anything is timed
        partitioners.build(method).partition(
            np.random.default_rng(0).standard_normal((40, 3)), 3, np.random.default_rng(0)
        )
    longest = {(row["data"], row["k"]): row for row in sorted(measured, key=lambda row: row["budget"])}
    rows = [row for one in longest.values() for row in curves(one)]
    x = {"field": "seconds", "type": "quantitative", "scale": {"type": "log"}, "title": "CPU seconds"}
    scale = {"type": "log", "nice": False, "padding": 10}
    y = {"field": "loss", "type": "quantitative", "scale": scale, "title": "information loss, %"}
    colour = {"field": "method", "type": "nominal", "title": "partitioner"}
    line = {
        "transform": [{"filter": "datum.method == 'memetic'"}],
        "mark": {"type": "line", "interpolate": "step-after"},
        "encoding": {"x": x, "y": y, "color": colour},
    }
    points = {
        "transform": [{"filter": "datum.method != 'memetic'"}],
        "mark": {"type": "point", "filled": True, "size": 80},
        "encoding": {"x": x, "y": y, "color": colour, "shape": colour},
    }
    specification: Row = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "facet": {
            "field": "table",
            "type": "nominal",
            "title": None,
            "sort": [f"{name}, k = {k}" for name, k in longest],
        },
        "columns": len({k for _, k in longest}),
        "spec": {"width": 260, "height": 200, "layer": [line, points]},
        "resolve": {"scale": {"y": "independent"}},
    }
    path.write_bytes(vl_convert.vegalite_to_png(specification, scale=1.2))
    return specification


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0])
    parser.add_argument("--steps", type=int, nargs="+", help="moves per record instead of seconds")
    parser.add_argument("--seeds", type=int, nargs="+", default=[5], help="for each of the budgets; the last repeats")
    parser.add_argument("--data", nargs="+", default=["census", "eia"], choices=["census", "eia", "water", "sklearn"])
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--json", type=Path, help="write the rows to this file, anew after every one")
    parser.add_argument("--picture", type=Path, help="draw IL against time for every partitioner into this PNG file")
    asked = parser.parse_args()
    crypsis.partition(np.random.default_rng(0).standard_normal((100, 4)), 3, steps=1000, seed=0)
    rows: list[Row] = []
    unit, budgets = ("steps", asked.steps) if asked.steps else ("seconds", asked.seconds)
    for place, budget in enumerate(budgets):
        for name, k in itertools.product(asked.data, asked.k):
            rows.append(measure(name, k, unit, budget, asked.seeds[min(place, len(asked.seeds) - 1)]))
            tell(rows[-1])
            if asked.json:
                asked.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if asked.picture:
        picture(rows, asked.picture)


if __name__ == "__main__":
    main()
