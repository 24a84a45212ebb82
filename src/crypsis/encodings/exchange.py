"""Values exchanged between records as a genome: int32[n, p], whose value every record publishes in every column."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.errors import SearchError
from crypsis.table.table import Table
from crypsis.text import exchange_text


@dataclass(frozen=True, eq=False)
class ExchangeEncoding(RememberingEncoding):
    """Records that publish values of other records.

    names  columns in which values are exchanged
    """

    table: Table = field(repr=False)
    names: tuple[str, ...]

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """int32[n, p]: equal for equal values."""
        return self.table.codes(list(self.names))

    @property
    def collected(self) -> Genome:
        """The genome of the original: every record its own values."""
        rows = np.arange(len(self.table), dtype=np.int32)
        return np.repeat(rows[:, None], len(self.names), axis=1)

    def _checked(self, genome: Genome) -> Genome:
        if genome.shape != (len(self.table), len(self.names)):
            raise SearchError("a stored solution belongs to another table; start the run again in a new folder")
        return genome

    def apply(self, genome: Genome) -> Table:
        """Give every record the values of its donors."""
        donors = self._checked(genome)
        return self.table.with_columns(
            {name: self.table.column(name)[donors[:, j]] for j, name in enumerate(self.names)}
        )

    def key(self, genome: Genome) -> bytes:
        """Equal for genomes that publish the same values."""
        shown = np.take_along_axis(self.codes, self._checked(genome), axis=0)
        return hashlib.blake2b(np.ascontiguousarray(shown).tobytes(), digest_size=16).digest()

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe how many cells of each column show another value, and in which columns the values are the same."""
        shown = np.take_along_axis(self.codes, self._checked(genome), axis=0)
        changed = 100.0 * (shown != self.codes).mean(axis=0)
        kept = [np.array_equal(np.sort(shown[:, j]), np.sort(self.codes[:, j])) for j in range(len(self.names))]
        message = exchange_text(dict(zip(self.names, changed.tolist(), strict=True)), all(kept))
        return Description(message, {"changed_cells": float(changed.mean()), "columns_kept": int(sum(kept))})
