"""A rehearsal: every usual search takes a step on a few invented people, so that its kernels are compiled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crypsis.engines import Serial
from crypsis.evolution.evolve import begin, step
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
        problem = search.pose(table, {}, np.random.default_rng(0))
        state = step(problem, begin(problem, np.random.default_rng(0), Serial()), Serial())
        for genome in state.frontier.genomes[:1]:
            problem.space.decode(genome)
        yield name
