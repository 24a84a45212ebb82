"""Compile the kernels of the usual searches ahead of the first run, on a few invented people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crypsis.engines import Serial
from crypsis.searches import searches
from crypsis.searches.offers import offers
from crypsis.table.example import example

ROWS, K = 60, 5


def warm_up() -> Iterator[str]:
    """Let each search of a first plan take one step, and yield its name when its kernels are compiled.

    The longest compilation comes first: a run that starts meanwhile needs the later ones sooner.

    Yields
    ------
    str
        Name of a search.
    """
    table = example(ROWS, seed=1)
    for offer in reversed(offers(table, K)):
        if offer.drawback:
            continue
        search = searches.build(offer.name, **offer.settings)
        encoding = search.encoding(table)
        problem = search.problem(encoding, None, np.random.default_rng(0))
        state = problem.strategy.begin(problem, np.random.default_rng(0), Serial())
        state = problem.strategy.advance(problem, state, Serial())
        for genome in state.frontier.genomes[:1]:
            encoding.decode(problem.expressed(genome))
        yield offer.name
