"""How much of the quanta of a search is breeding, which is not mapped over threads: CPU seconds by the serial engine.

    python benchmarks/breeding.py [--rows 2000] [--seconds 6]

Every search whose strategy proposes children of parents, on invented people; searches whose chains walk map their
walks. Kernels are compiled before, by half as many seconds that are not counted. About a minute of CPU.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from crypsis.engines import Serial
from crypsis.errors import CrypsisError
from crypsis.evolution.problem import Streams
from crypsis.measures import CellLoss, RecordLinkage
from crypsis.measures.objective import Objective
from crypsis.searches import searches
from crypsis.searches.search import Search
from crypsis.table.example import example
from crypsis.table.table import Table


def shares(
    search: Search, table: Table, objective: Objective | None, seconds: float
) -> tuple[int, float, float] | None:
    """Quanta, their CPU seconds, and those of breeding; None for a search that does not breed or not on this table."""
    try:
        problem = search.pose(table, objective, np.random.default_rng(0))
    except CrypsisError:
        return None
    kind: Any = type(problem.strategy)
    plain = getattr(kind, "propose", None)
    if plain is None or getattr(problem.strategy, "operators", ()) == () or hasattr(kind, "work"):
        return None
    spent = [0.0]

    def timed(self: Any, state: Any, streams: Streams) -> Any:
        began = time.process_time()
        children = plain(self, state, streams)
        spent[0] += time.process_time() - began
        return children

    state = problem.strategy.begin(problem, np.random.default_rng(1), Serial())
    kind.propose = timed
    quanta, began = 0, time.process_time()
    while time.process_time() - began < seconds:
        state, quanta = problem.strategy.advance(problem, state, Serial()), quanta + 1
    took = time.process_time() - began
    kind.propose = plain
    return quanta, took, spent[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=6.0, help="CPU seconds of each search")
    given = parser.parse_args()
    table = example(given.rows, seed=1)
    objective = Objective(table, {"loss": CellLoss(), "risk": RecordLinkage()})
    print(f"{'search':32}{'quanta':>8}{'seconds':>9}{'breeding':>10}")
    for name in sorted(searches):
        for guide in (None, objective):
            search = searches.build(name)
            if shares(search, table, guide, given.seconds / 2) is None:
                continue
            quanta, took, bred = shares(search, table, guide, given.seconds) or (0, 1.0, 0.0)
            title = name + (" by the measures" if guide else "")
            print(f"{title:32}{quanta:8}{took:9.2f}{100 * bred / took:9.1f} %", flush=True)


if __name__ == "__main__":
    sys.exit(main())
