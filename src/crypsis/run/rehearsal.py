"""A rehearsal: every usual search takes a step on a few invented people, so that its kernels are compiled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crypsis.engines import Serial
from crypsis.plan.catalogue import searches
from crypsis.table.example import example

REHEARSED = ("lattice", "local-recoding", "partition")
"""What compiles longest first: a run that began a moment ago and has it last finds it done."""
ROWS = 60


def rehearse() -> Iterator[str]:
    """Compile for each search in turn; its name when that is done."""
    table = example(ROWS, seed=1)
    for name in REHEARSED:
        search = searches.build(name)
        encoding = search.encoding(table)
        problem = search.problem(encoding, None, np.random.default_rng(0))
        state = problem.strategy.begin(problem, np.random.default_rng(0), Serial())
        state = problem.strategy.advance(problem, state, Serial())
        for genome in state.frontier.genomes[:1]:
            encoding.decode(problem.expressed(genome))
        yield name
