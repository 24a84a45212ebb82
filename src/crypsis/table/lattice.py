"""The generalisation lattice: every combination of one level per quasi-identifier."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing, name_hierarchy
from crypsis.table.attribute import Attribute
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

Levels = tuple[int, ...]


@dataclass(frozen=True)
class Lattice:
    """All combinations of levels; nodes are numbered with the last attribute varying fastest."""

    attributes: tuple[Attribute, ...]  # the columns, each with a hierarchy

    def __post_init__(self) -> None:
        bare = [attribute.name for attribute in self.attributes if attribute.hierarchy is None]
        if bare:
            raise TableError(
                f"{listing(map(repr, bare))} {'has' if len(bare) == 1 else 'have'} no hierarchy, which a lattice needs "
                f"for every quasi-identifier; give one, e.g. {name_hierarchy(bare[0])}, or change the role"
            )
        if not self.attributes:
            raise TableError("a lattice needs at least one quasi-identifier; give a column the role 'quasi'")

    @classmethod
    def of(cls, table: Table, names: Iterable[str] = ()) -> Lattice:
        """Build the lattice of the named columns, or of every quasi-identifier."""
        chosen = list(names) or table.quasi_identifiers
        return cls(tuple(table.attribute(name) for name in chosen))

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The hierarchy of each attribute."""
        return tuple(a.hierarchy for a in self.attributes if a.hierarchy is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def heights(self) -> Levels:
        """The highest level of each attribute."""
        return tuple(hierarchy.height for hierarchy in self.hierarchies)

    @cached_property
    def size(self) -> int:
        """Number of nodes."""
        return prod(height + 1 for height in self.heights)

    @property
    def approximate_size(self) -> float:
        """Number of nodes as a float: the largest there is where hundreds of columns have more."""
        return min(prod(float(height + 1) for height in self.heights), sys.float_info.max)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Weight of each attribute's level in the number of a node."""
        return tuple(prod(h + 1 for h in self.heights[a + 1 :]) for a in range(len(self.heights)))

    @property
    def bottom(self) -> Levels:
        """The node that generalises nothing."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Levels:
        """The node that generalises every column to its highest level."""
        return self.heights

    def number(self, levels: Sequence[int]) -> int:
        """The number of the node with these levels; levels that are no node are refused."""
        self.check(levels)
        return sum(int(level) * place for level, place in zip(levels, self.places, strict=True))

    def levels(self, number: int) -> Levels:
        """The levels of the node with this number."""
        return tuple(number // place % (h + 1) for place, h in zip(self.places, self.heights, strict=True))

    def nodes(self) -> NDArray[np.int16]:
        """int16[size, columns]: the levels of every node, by number."""
        numbers = np.arange(self.size, dtype=np.int64)
        columns = [numbers // place % (h + 1) for place, h in zip(self.places, self.heights, strict=True)]
        return np.stack(columns, axis=1).astype(np.int16)

    def check(self, levels: Sequence[int]) -> None:
        """Refuse levels that are no node of the lattice."""
        if len(levels) != len(self.heights):
            raise TableError(
                f"{len(levels)} levels were given for {len(self.heights)} columns; give one for each of "
                f"{listing(self.names)}"
            )
        for name, level, height in zip(self.names, levels, self.heights, strict=True):
            if not 0 <= level <= height:
                raise TableError(
                    f"column {name!r} has no level {level}; its hierarchy has levels 0 (as collected) to {height}"
                )


@dataclass(frozen=True)
class LevelDescription:
    """What a column publishes at one level of its hierarchy."""

    column: str
    level: int
    groups: int  # number of groups; 1 hides the column
    width: float = 0.0  # common width of groups that are intervals, 0 if there is none
    unit: str = ""  # "year" where the column is an age or a number of years, else empty
    unchanged: bool = True  # whether the groups are the values themselves

    @property
    def hidden(self) -> bool:
        """Whether all values become one group."""
        return not self.unchanged and self.groups == 1


def datafly_steps_in_lattice(lattice: Lattice) -> list[dict[str, int]]:
    """Levels of the columns of a lattice, step by step: always the column with most values rises by one."""
    heights = dict(zip(lattice.names, lattice.heights, strict=True))
    hierarchies = dict(zip(lattice.names, lattice.hierarchies, strict=True))
    steps = [dict.fromkeys(lattice.names, 0)]
    while open_ := [name for name in lattice.names if steps[-1][name] < heights[name]]:
        name = max(open_, key=lambda each: len(hierarchies[each].labels[steps[-1][each]]))
        steps.append({**steps[-1], name: steps[-1][name] + 1})
    return steps
