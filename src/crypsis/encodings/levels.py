"""A node of a generalisation lattice as a genome: int16[columns], the level of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.masking.generalisation import Generalisation, generalise
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from crypsis.text import node_text


@dataclass(frozen=True, eq=False)
class LevelEncoding(RememberingEncoding):
    """One level per column; classes that fail the rule of the method are suppressed.

    lattice  the columns that are generalised and their hierarchies
    method  the rule of suppression over the lattice's columns; its levels are not used
    """

    table: Table = field(repr=False)
    lattice: Lattice
    method: Generalisation

    def apply(self, genome: Genome) -> Table:
        """Generalise the table to a node and suppress by the rule of the method."""
        return self.method.suppressed(self.generalised(genome))

    def generalised(self, genome: Genome) -> Table:
        """Generalise the table to a node without suppression."""
        levels = [int(level) for level in genome]
        self.lattice.check(levels)
        return generalise(self.table, self.lattice, levels, self._leaves.__getitem__)

    @cached_property
    def _leaves(self) -> Mapping[str, NDArray[np.int32]]:
        """Leaf codes of every column."""
        return {name: self.table.leaf_codes(name) for name in self.lattice.names}

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe the level of each column and what is suppressed."""
        suppressed = int((~masked.kept).sum() - (~self.table.kept).sum())
        message = node_text(self.lattice, [int(level) for level in genome])
        if suppressed:
            which = "smallest classes first" if self.method.rule == "by-size" else "the classes that failed"
            message += f"; {suppressed} record{'s' * (suppressed > 1)} suppressed: {which} (rule {self.method.rule})"
        facts: dict[str, float | int | str] = {"suppressed": suppressed, "rule": self.method.rule}
        facts |= {f"level of {name}": int(level) for name, level in zip(self.lattice.names, genome, strict=True)}
        return Description(message, facts)


def levels_key(genome: Genome) -> bytes:
    """Key of a genome: its levels."""
    return np.asarray(genome, dtype=np.int16).tobytes()
