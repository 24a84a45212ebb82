"""Children of masked files on trial: what is proposed on a parent, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crypsis.engines import Engine
from crypsis.evolution.problem import Scores
from crypsis.searches.maskings.constraints import Constraints

Codes = NDArray[np.signedinteger[Any]]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parent:
    """A file of the population: codes [n, p], their key, loss and risk, and its goal (see `kernels.fitness`)."""

    codes: Codes
    key: bytes
    scores: Floats
    goal: Floats


@dataclass(frozen=True, eq=False)
class Proposal:
    """What is tried on a parent: single changes in turn (int64[k, 3]: row, column, code), or a whole child."""

    parent: Parent
    changes: Ints | None = None
    codes: Codes | None = None


@dataclass(frozen=True, eq=False)
class Offspring:
    """A child with its scores, whether it takes its parent's place (then with its key), and how many were scored.

    Of changes in turn the child has all that were kept; where none was, the last one tried.
    """

    codes: Codes
    scores: Scores
    survives: bool
    tried: int = 1
    key: bytes = b""


class Trials(Protocol):
    """How children are scored and judged: by tallies that follow changes, or in full."""

    def score(self, codes: Codes, key: bytes) -> Scores:
        """Loss and risk of a file."""

    def aim(self, parent: Parent, changes: Ints, draws: Floats, share: float) -> None:
        """Aim a share of the changes at where risk or loss sits, in place."""

    def run(self, proposals: Sequence[Proposal], engine: Engine) -> list[Offspring | None]:
        """One child for each proposal; None where nothing could be tried."""


def rejected(
    parent: Parent, changes: Ints, last: int, scores: Scores, tried: int, constraints: Constraints
) -> Offspring | None:
    """The child with the last change tried, for the front to see; None if there is none or it breaks a model."""
    if last < 0:
        return None
    row, column, code = changes[last]
    codes = parent.codes.copy()
    codes[row, column] = code
    return Offspring(codes, scores, False, tried) if constraints.models_hold(codes) else None
