"""Compile the kernels of the usual searches ahead of the first run, on a few invented people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crypsis.engines import Serial
from crypsis.plan.catalogue import searches
from crypsis.table.example import example

WARMED = ("lattice", "local-recoding", "partition")
"""Searches whose kernels are compiled, the longest first: a run that starts meanwhile needs the later ones sooner."""
ROWS = 60


def warm_up() -> Iterator[str]:
    """Let each usual search take one step, and yield its name when its kernels are compiled.

    Yields
    ------
    str
        Name of a search.
    """
    table = example(ROWS, seed=1)
    for name in WARMED:
        search = searches.build(name)
        encoding = search.encoding(table)
        problem = search.problem(encoding, None, np.random.default_rng(0))
        state = problem.strategy.begin(problem, np.random.default_rng(0), Serial())
        state = problem.strategy.advance(problem, state, Serial())
        for genome in state.frontier.genomes[:1]:
            encoding.decode(problem.expressed(genome))
        yield name
