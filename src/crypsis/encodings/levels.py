"""A node of a generalisation lattice as a genome: int16[columns], the level of each column."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crypsis.encodings.encoding import Description, Genome
from crypsis.masking.generalisation import Generalisation, generalise
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class LevelEncoding:
    """One level per column; classes that fail the method's rule are suppressed.

    Parameters
    ----------
    table : Table
        The original.
    lattice : Lattice
        The columns that are generalised and their hierarchies.
    method : Generalisation
        The rule of suppression; its levels are replaced by the genome's.
    """

    table: Table = field(repr=False)
    lattice: Lattice
    method: Generalisation

    def decode(self, genome: Genome) -> Table:
        """The table at the node, suppressed by the method's rule."""
        levels = {name: int(level) for name, level in zip(self.lattice.names, genome, strict=True)}
        return self.method.model_copy(update={"levels": levels}).mask(self.table, np.random.default_rng(0))

    def generalised(self, genome: Genome) -> Table:
        """The table at the node, nothing suppressed."""
        return generalise(self.table, self.lattice, tuple(int(level) for level in genome))

    def least_class(self, masked: Table) -> int:
        """Size of the smallest class; 0 if nothing is left."""
        return int(classes_of(masked, self.lattice.names).sizes.min(initial=len(masked)))

    def describe(self, genome: Genome, masked: Table) -> Description:
        """The level of each column in words, and what is suppressed."""
        suppressed = int((~masked.kept).sum() - (~self.table.kept).sum())
        message = self.lattice.words([int(level) for level in genome])
        if suppressed:
            which = "smallest classes first" if self.method.rule == "by-size" else "the classes that failed"
            message += f"; {suppressed} record{'s' * (suppressed > 1)} suppressed: {which} (rule {self.method.rule})"
        facts: dict[str, float | int | str] = {"suppressed": suppressed, "rule": self.method.rule}
        facts |= {f"level of {name}": int(level) for name, level in zip(self.lattice.names, genome, strict=True)}
        return Description(message, facts)


def levels_key(genome: Genome) -> bytes:
    """The levels themselves."""
    return np.asarray(genome, dtype=np.int16).tobytes()
