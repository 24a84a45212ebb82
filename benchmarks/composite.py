"""Growth of the search `composite` with the table: loss by CPU seconds. Fronts are compared in `equal_risk.py`.

    python benchmarks/composite.py [--rows 1000 10000 100000 1000000] [--cpu 60] [--starts halving mdav lattice …]

One k = 5 walks on the built-in example of more and more records; printed is loss by CPU seconds, compiling and the
making of the table not counted, and the longest quantum so far. Linkage is not measured.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

import crypsis
from crypsis.evolution import Budget, evolve
from crypsis.searches.search import searches
from crypsis.table.table import Table

K = 5


def growth(rows: Sequence[int], cpu: float, starts: Sequence[str]) -> None:
    """Loss of groups of k = 5 by CPU seconds, for more and more records and every start."""
    small = crypsis.example(100)
    for begun in starts:
        for _ in evolve(posed(small, begun), np.random.default_rng(0), Budget(generations=3)):
            pass  # compiles
    print(f"{'records':>9} {'start':>15} {'CPU s':>8} {'quanta':>7} {'cell loss %':>12} {'longest quantum s':>18}")
    for n, begun in product(rows, starts):
        table, start, longest, shown = crypsis.example(n), time.process_time(), 0.0, 0.0
        last = start
        for quantum, state in enumerate(evolve(posed(table, begun), np.random.default_rng(1), Budget(seconds=1e9))):
            now = time.process_time()
            longest, last = max(longest, now - last if quantum else 0.0), now
            if len(state.scores) and (now - start >= 2 * shown or now - start > cpu):
                shown = now - start
                print(
                    f"{n:9d} {begun:>15} {shown:8.2f} {quantum:7d} {state.scores[0, 0]:12.3f} {longest:18.3f}",
                    flush=True,
                )
            if now - start > cpu:
                break


def posed(table: Table, start: str) -> Any:
    """One k of the search alone, minimising its own figures."""
    search = searches.build("composite", k=K, k_values=1, try_ancestors=False, start=start)
    return search.pose(table, None, np.random.default_rng(0))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--cpu", type=float, default=60.0)
    parser.add_argument("--starts", nargs="+", default=["best"])
    given = parser.parse_args()
    growth(given.rows, given.cpu, given.starts)


if __name__ == "__main__":
    main()
