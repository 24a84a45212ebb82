"""Partitioners by size: CPU time, peak memory and growth of each, beside microagg1d where it is installed.

    python benchmarks/partitions.py                     all sizes, one core, about two minutes
    python benchmarks/partitions.py --largest 20000     a shorter one
    python benchmarks/partitions.py --million           also 1 M × 10 in blocks
    python benchmarks/partitions.py --json sizes.json  the same as JSON

Data are standard normal, p = 10, k = 5. Times are CPU seconds of this process after a warm-up; memory is what the
process grew by at its peak while the call ran, the input aside.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.annealing import sse
from crypsis.kernels.optimal_partitions import univariate_optimum
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav, mdav_by_tree
from crypsis.masking.partitioning import CBFS, VMDAV, Blocks, Univariate

P, K = 10, 5
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
Grouping = Callable[[NDArray[np.float64]], NDArray[np.int32]]


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


GROUPINGS: dict[str, tuple[Grouping, int]] = {  # and the most records each is asked for
    "mdav, plain passes": (lambda x: mdav(x, K, GENERIC, EUCLIDEAN), 100_000),
    "mdav, kd-tree": (lambda x: mdav_by_tree(x, K, GENERIC, EUCLIDEAN), 10**9),
    "v-mdav": (lambda x: VMDAV().partition(x, K, rng()), 20_000),
    "cbfs": (lambda x: CBFS().partition(x, K, rng()), 20_000),
    "univariate (first component)": (lambda x: Univariate().partition(x, K, rng()), 10**9),
    "blocks": (lambda x: Blocks().partition(x, K, rng()), 10**9),
}


class Peak:
    """The most memory this process held while the block ran, above what it held before, in MB."""

    def __enter__(self) -> Peak:
        self.before = self.most = self._now()
        self._done = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watch.join()
        self.megabytes = max(self.most, self._now()) - self.before

    def _look(self) -> None:
        while not self._done.wait(0.005):
            self.most = max(self.most, self._now())

    @staticmethod
    def _now() -> float:
        statm = Path("/proc/self/statm")
        if statm.exists():
            return int(statm.read_text().split()[1]) * resource.getpagesize() / 2**20
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, peak megabytes and the result."""
    with Peak() as peak:
        start = time.process_time()
        result = work()
        seconds = time.process_time() - start
    return seconds, peak.megabytes, result


def climb(names: list[str], sizes: list[int]) -> list[dict[str, Any]]:
    """One row per partitioner and size."""
    rows = []
    for name in names:
        group, most = GROUPINGS[name]
        group(np.random.default_rng(1).standard_normal((400, P)))
        for n in sizes:
            if n > most:
                continue
            points = np.random.default_rng(n).standard_normal((n, P))
            seconds, megabytes, labels = timed(lambda group=group, points=points: group(points))
            loss = 100 * sse(points, labels) / sse(points, np.zeros(n, dtype=np.int32))
            rows.append({"partitioner": name, "n": n, "seconds": seconds, "megabytes": megabytes, "loss": loss})
            print(f"{name:30} {n:>9,} {seconds:10.4f} s {megabytes:8.1f} MB {loss:8.4f} %", flush=True)
    return rows


def growth(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Exponent of n in the time of each partitioner: slope of log time over log n from 5 000 records on."""
    exponents = {}
    for name in GROUPINGS:
        own = [row for row in rows if row["partitioner"] == name and row["n"] >= 5_000]
        steps = [(math.log(row["n"]), math.log(row["seconds"])) for row in own]
        if len(steps) > 1:
            exponents[name] = float(np.polyfit(*zip(*steps, strict=True), 1)[0])
            print(f"{name:30} time grows as n^{exponents[name]:.2f}")
    return exponents


def against_microagg1d(n: int) -> dict[str, float]:
    """The univariate optimum beside microagg1d's default and its exact method, on the same sorted numbers."""
    values = np.sort(np.random.default_rng(3).standard_normal(n))
    univariate_optimum(values[:100], K)
    seconds, _, labels = timed(lambda: univariate_optimum(values, K))
    found = {"n": float(n), "crypsis seconds": seconds, "crypsis SSE": sse(values[:, None], labels)}
    try:
        from microagg1d import univariate_microaggregation
    except ImportError:
        print("microagg1d is not installed (pip install microagg1d): no comparison", file=sys.stderr)
        return found
    for method in ("auto", "wilber"):
        univariate_microaggregation(values[:1_000], K, method=method)
        seconds, _, theirs = timed(lambda method=method: univariate_microaggregation(values, K, method=method))
        found[f"microagg1d {method} seconds"] = seconds
        found[f"microagg1d {method} SSE"] = sse(values[:, None], theirs.astype(np.int32))
    for name, value in found.items():
        print(f"univariate, {name:28} {value:.9g}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="largest size")
    parser.add_argument("--million", action="store_true", help="also 1 000 000 records in blocks")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    rows = climb(list(GROUPINGS), [n for n in SIZES if n <= chosen.largest])
    exponents = growth(rows)
    line = against_microagg1d(1_000_000)
    if chosen.million:
        rows += climb(["blocks"], [1_000_000])
    if chosen.json:
        chosen.json.write_text(json.dumps({"sizes": rows, "growth": exponents, "univariate": line}, indent=1))


if __name__ == "__main__":
    main()
