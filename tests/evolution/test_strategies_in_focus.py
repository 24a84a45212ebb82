"""Parents of a steered search: those whose genomes are most like a solution of which more is wanted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crypsis.engines import Serial
from crypsis.evolution.focus import Focus
from crypsis.evolution.problem import Streams
from crypsis.evolution.strategies import SHARE_IN_FOCUS
from evolution.puzzle import WIDTH, problem

EVERYWHERE = Focus((0.0, 1000.0), (0.0, 1000.0))


@pytest.mark.parametrize("name", ["elitist", "archived"])
@pytest.mark.parametrize("focus", [None, EVERYWHERE])
def test_more_like_a_solution_is_bred_from_what_differs_least(name: str, focus: Focus | None) -> None:
    like = np.ones(WIDTH, dtype=np.int8)
    plain = problem(name)
    state = plain.strategy.begin(plain, np.random.default_rng(3), Serial())
    pool = [*state.genomes, *state.frontier.genomes] if name == "archived" else list(state.genomes)
    differ = np.array([float(np.mean(genome != like)) for genome in pool])
    steered = replace(plain.strategy, focus=focus, like=like)
    children = steered.propose(state, Streams(state.rng))
    parents = {parent for child in children for parent in child.parents}
    assert differ[sorted(parents)].max() <= np.sort(differ)[max(2, len(pool) // SHARE_IN_FOCUS) - 1]
    everywhere = {parent for child in plain.strategy.propose(state, Streams(state.rng)) for parent in child.parents}
    assert not parents >= everywhere
