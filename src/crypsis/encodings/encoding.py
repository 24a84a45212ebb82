"""The contract of an encoding: a genome holds what took effort to find, and decoding only applies it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from crypsis.table.table import Table

Genome = NDArray[Any]


@dataclass(frozen=True)
class Description:
    """A solution for people.

    Parameters
    ----------
    message : str
        One sentence.
    facts : mapping of str to number or str
        Figures by name: effective k, number of classes, levels.
    """

    message: str
    facts: Mapping[str, float | int | str] = field(default_factory=dict)


class Encoding(Protocol):
    """Genomes of one kind over one table; built in milliseconds, without a population and without scores."""

    def decode(self, genome: Genome) -> Table:
        """The masked table a genome stands for."""

    def describe(self, genome: Genome, masked: Table) -> Description:
        """A genome and the table it decodes into, in words and figures."""
