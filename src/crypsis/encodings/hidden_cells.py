"""Hidden cells as a genome: uint8[…], one bit for every record and column."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.errors import SearchError
from crypsis.masking.cell_suppression import hide_cells
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class HiddenCellEncoding(RememberingEncoding):
    """Cells of some columns that are published or not."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # columns whose cells may be hidden

    def encode(self, hidden: NDArray[np.bool_]) -> Genome:
        """Encode bool[n, columns]: which cells are hidden."""
        return np.packbits(hidden)

    def hidden(self, genome: Genome) -> NDArray[np.bool_]:
        """bool[n, columns]: which cells a genome hides."""
        cells = len(self.table) * len(self.names)
        if genome.dtype != np.uint8 or genome.shape != ((cells + 7) // 8,):
            raise SearchError("a stored solution belongs to another table; start the run again in a new folder")
        return np.unpackbits(genome, count=cells).astype(np.bool_).reshape(len(self.table), len(self.names))

    def apply(self, genome: Genome) -> Table:
        """Blank what a genome hides."""
        return hide_cells(self.table, self.names, self.hidden(genome))

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe how many cells are hidden, by column."""
        hidden = self.hidden(genome)
        counts = {name: int(count) for name, count in zip(self.names, hidden.sum(axis=0), strict=True) if count}
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        cells, records = int(hidden.sum()), int(hidden.any(axis=1).sum())
        message = f"{cells} cells of {records} records hidden: {listed}" if cells else "no cell hidden"
        return Description(message, {"hidden_cells": cells})
