"""A full factorial design: every combination of the levels of some settings, each tried several times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from crypsis.errors import PlanError, listing

MOST_TRIALS = 10_000_000


@dataclass(frozen=True)
class Factor:
    """A setting and the values to try.

    Raises
    ------
    PlanError
        If there is no level, or one is listed twice.
    """

    name: str
    levels: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.levels:
            raise PlanError(f"factor {self.name!r} has no level; give at least one value to try")
        if len(set(map(repr, self.levels))) < len(self.levels):
            raise PlanError(f"factor {self.name!r} lists a level twice: {listing(map(str, self.levels))}; give it once")


@dataclass(frozen=True)
class Trial:
    """One run of a design.

    index  its place in the design
    settings  values of the factors
    seed  determined by design and place alone
    """

    index: int
    settings: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Design:
    """A full factorial design: trials 0, 1, … by combination, the last factor changing fastest, replicates within.

    seed  determines the seeds of the trials

    Raises
    ------
    PlanError
        If there is no factor, two have the same name, or there are too many trials.
    """

    factors: tuple[Factor, ...]
    replicates: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        names = [factor.name for factor in self.factors]
        if not names or len(set(names)) < len(names):
            raise PlanError(f"a design needs one or more different factors; found: {listing(names) or 'none'}")
        if self.replicates < 1:
            raise PlanError(f"a design cannot have {self.replicates} replicates; give 1 or more")
        if self.size > MOST_TRIALS:
            raise PlanError(
                f"the design has {self.size} trials and at most {MOST_TRIALS} can be kept; give fewer levels or "
                f"replicates"
            )

    @classmethod
    def of(cls, levels: Mapping[str, Sequence[Any]], replicates: int = 10, seed: int = 0) -> Design:
        """Build a design.

        Parameters
        ----------
        levels : mapping of str to sequence
            Values to try by setting.
        replicates : int
            Trials per combination.
        seed : int
            Determines the seeds of the trials.

        Returns
        -------
        Design

        Examples
        --------
        >>> Design.of({"mutation_rate": [0.0, 0.1], "population": [10, 20]}, replicates=3).size
        12
        """
        return cls(tuple(Factor(name, tuple(values)) for name, values in levels.items()), replicates, seed)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(factor.name for factor in self.factors)

    @property
    def combinations(self) -> int:
        """Number of combinations."""
        return prod(len(factor.levels) for factor in self.factors)

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.combinations * self.replicates

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """int64[size, factors]: the level of each factor in each trial."""
        each = np.array(list(product(*(range(len(factor.levels)) for factor in self.factors))), dtype=np.int64)
        return np.repeat(each, self.replicates, axis=0)

    def settings(self) -> Iterator[dict[str, Any]]:
        """Every combination once."""
        for values in product(*(factor.levels for factor in self.factors)):
            yield dict(zip(self.names, values, strict=True))

    def trial(self, index: int) -> Trial:
        """The trial at a place."""
        levels = {f.name: f.levels[place] for f, place in zip(self.factors, self.places[index], strict=True)}
        seed = SeedSequence(self.seed, spawn_key=(index,)).generate_state(1, np.uint64)[0]
        return Trial(index, levels, int(seed) >> 1)

    def to_dict(self) -> dict[str, Any]:
        """The design as plain data."""
        return {
            "factors": {factor.name: list(factor.levels) for factor in self.factors},
            "replicates": self.replicates,
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Design:
        """The design from plain data."""
        return cls.of(content["factors"], content["replicates"], content["seed"])
