"""The search over a ladder of group sizes: every rung is a lineage of its own."""

from __future__ import annotations

import numpy as np

from crypsis.engines import Serial
from crypsis.kernels.squares import sse
from crypsis.masking.heuristics import MDAV
from crypsis.searches.partitions.partition_search import Partition
from crypsis.table.example import example


def test_every_rung_stays_and_becomes_tighter_than_mdav() -> None:
    search = Partition(k=3, rungs=4, largest_k=20, steps=50)
    encoding = search.encoding(example(120, seed=2))
    problem = search.problem(encoding, None, np.random.default_rng(0))
    state = problem.strategy.begin(problem, np.random.default_rng(1), Serial())
    for _ in range(12):
        state = problem.strategy.advance(problem, state, Serial())
    points, ladder = encoding.points, search.ladder(120)
    assert [int(genome[-1]) for genome in state.genomes] == list(ladder)
    for genome, k in zip(state.genomes, ladder, strict=True):
        plain = sse(points, MDAV().partition(points, k, np.random.default_rng(0)))
        assert np.bincount(genome[:-1]).min() >= k
        assert sse(points, genome[:-1]) < plain


def test_in_blocks_every_rung_stays_and_becomes_tighter() -> None:
    search = Partition(k=3, rungs=3, largest_k=12, blocks="always", breedings=3)
    problem = search.pose(example(400, seed=2), None, np.random.default_rng(0))
    state = problem.strategy.begin(problem, np.random.default_rng(1), Serial())
    first = state.scores[:, 0].copy()
    for _ in range(4):
        state = problem.strategy.advance(problem, state, Serial())
    assert [int(genome[-1]) for genome in state.genomes] == list(search.ladder(400))
    assert all(np.bincount(genome[:-1]).min() >= int(genome[-1]) for genome in state.genomes)
    assert (state.scores[:, 0] < first).all(), "exchanges between near groups made each rung tighter"
