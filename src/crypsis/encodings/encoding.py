"""The interface of an encoding: a genome has what a search found, and decoding only applies it."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from numpy.typing import NDArray

from crypsis.table.table import Table

Genome = NDArray[Any]

KEPT_CELLS = 8_000_000
"""Cells of decoded tables that an encoding keeps: at most some 60 megabytes, unless two tables have more."""


@dataclass(frozen=True)
class Description:
    """A solution in one sentence and some figures.

    facts  figures by name: effective k, number of classes, levels
    """

    message: str
    facts: Mapping[str, float | int | str] = field(default_factory=dict)


def blanked_cells(original: Table, masked: Table, names: Iterable[str]) -> dict[str, int]:
    """Count the cells of each column that a masking blanked.

    Parameters
    ----------
    original, masked : Table
        Row by row the same records.
    names : iterable of str

    Returns
    -------
    dict of str to int
    """
    return {name: int((masked.missing(name) & ~original.missing(name) & masked.kept).sum()) for name in names}


class Encoding(Protocol):
    """Genomes of one kind for one table; built in milliseconds, without a population and without scores."""

    def decode(self, genome: Genome) -> Table:
        """Decode a genome into a masked table.

        Raises
        ------
        SearchError
            If the genome belongs to another table.
        """

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe a genome and the table it decodes into.

        masked  the table it decodes into
        """


class RememberingEncoding(Encoding):
    """An encoding that keeps the tables it decoded last, so that who scores, measures and releases decodes once."""

    table: Table

    @abstractmethod
    def apply(self, genome: Genome) -> Table:
        """Work out the masked table of a genome; `decode` asks for it once."""

    def decode(self, genome: Genome) -> Table:
        key = hashlib.blake2b(genome.tobytes(), digest_size=16).digest()
        masked = self._decoded.get(key)
        if masked is None:
            masked = self._decoded[key] = self.apply(genome)
            most = max(2, KEPT_CELLS // max(1, len(self.table) * len(self.table.names)))
            for oldest in list(self._decoded)[:-most]:
                self._decoded.pop(oldest, None)
        return masked

    @cached_property
    def _decoded(self) -> dict[bytes, Table]:
        """The last tables by a digest of their genomes, oldest first."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_decoded"}  # workers keep their own
