"""Where the first population comes from: files handed in, or methods that make them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.masking import MaskingMethod
from crypsis.searches.maskings.constraints import Constraints

Codes = NDArray[np.int32]


class FirstFiles(Protocol):
    """Files of the first population, made in order."""

    def __len__(self) -> int: ...

    def make(self, place: int, rng: Generator) -> Codes:
        """int32[n, p]: one file; chance comes from `rng` alone."""


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
    """One file by each method; a record that would hold a forbidden combination keeps its original categories."""

    constraints: Constraints = field(repr=False)
    methods: Sequence[MaskingMethod]

    def __len__(self) -> int:
        return len(self.methods)

    def make(self, place: int, rng: Generator) -> Codes:
        """The file of one method."""
        encoding = self.constraints.encoding
        codes = encoding.encode(self.methods[place].apply(encoding.table, rng))
        broken = self.constraints.broken(codes)
        return np.where(broken[:, None], encoding.context.codes, codes)
