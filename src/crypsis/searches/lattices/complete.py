"""The strategy of a search whose first population is its whole answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crypsis.evolution import Child, State, Streams
from crypsis.evolution.selection import FitnessFunction
from crypsis.evolution.strategies import Generations


@dataclass(frozen=True)
class Complete(Generations):
    """The strategy of a search that has nothing left to find: no children, nobody dies."""

    fitness: FitnessFunction
    operators: tuple[str, ...] = ()

    def propose(self, state: State, streams: Streams) -> list[Child]:
        """No children; see `Breeding.propose`."""
        return []

    def absorb(self, state: State, children: Sequence[Child], scores: NDArray[np.float64]) -> State:
        """The same population; see `Breeding.absorb`."""
        return replace(state, generation=state.generation + 1)
