"""The interface of an encoding: a genome has what a search found, and decoding only applies it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from crypsis.table.table import Table

Genome = NDArray[Any]


@dataclass(frozen=True)
class Description:
    """A solution in one sentence and some figures.

    Parameters
    ----------
    message : str
        One sentence.
    facts : mapping of str to number or str
        Figures by name: effective k, number of classes, levels.
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
        The columns.

    Returns
    -------
    dict of str to int
    """
    return {name: int((masked.missing(name) & ~original.missing(name) & masked.kept).sum()) for name in names}


class Encoding(Protocol):
    """Genomes of one kind for one table; built in milliseconds, without a population and without scores."""

    def decode(self, genome: Genome) -> Table:
        """Decode a genome into a masked table.

        Parameters
        ----------
        genome : Genome
            The genome.

        Returns
        -------
        Table
        """

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe a genome and the table it decodes into.

        Parameters
        ----------
        genome : Genome
            The genome.
        masked : Table
            The table it decodes into.

        Returns
        -------
        Description
        """
