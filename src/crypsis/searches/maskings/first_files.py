"""Where the first population comes from: files handed in, or methods that make them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.masking import MaskingMethod, Microaggregation
from crypsis.searches.maskings.constraints import Constraints
from crypsis.table.table import Table

Codes = NDArray[np.signedinteger[Any]]


class FirstFiles(Protocol):
    """Files of the first population, made in order."""

    def __len__(self) -> int: ...

    def make(self, place: int, rng: Generator) -> Codes:
        """One file in codes; chance comes from `rng` alone."""


@dataclass(frozen=True, eq=False)
class GivenFiles:
    """Masked files of the user's own."""

    codes: Sequence[Codes] = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def make(self, place: int, rng: Generator) -> Codes:
        """The file as it was given."""
        return self.codes[place]


@dataclass(frozen=True, eq=False)
class MethodFiles:
    """One file by each method; a record that would hold a forbidden combination keeps its original categories.

    Microaggregations that differ in what a group's values become share their groups of records.
    """

    constraints: Constraints = field(repr=False)
    methods: Sequence[MaskingMethod]
    _latest: list[tuple[MaskingMethod, list[NDArray[np.int32]]]] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.methods)

    def make(self, place: int, rng: Generator) -> Codes:
        """The file of one method."""
        encoding = self.constraints.encoding
        codes = encoding.encode(self._masked(self.methods[place], rng))
        broken = self.constraints.broken(codes)
        codes[broken] = encoding.context.codes[broken]
        return codes

    def _masked(self, method: MaskingMethod, rng: Generator) -> Table:
        table = self.constraints.encoding.table
        if not isinstance(method, Microaggregation):
            return method.apply(table, rng)
        alike = method.model_copy(update={"numbers": "mean", "categories": "typical"})
        if not self._latest or self._latest[0][0] != alike:
            self._latest[:] = [(alike, method.partitions(table, rng))]
        return method.aggregated(table, self._latest[0][1])
