"""The lattice of generalisations: one level per quasi-identifier, and a name in words for every node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing
from crypsis.table.attribute import Attribute
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

Levels = tuple[int, ...]

_INTERVAL = re.compile(r"^\s*[\[(]?\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|,|\.\.|to)\s*(-?\d+(?:\.\d+)?)\s*([\])]?)\s*$")


@dataclass(frozen=True)
class Lattice:
    """All combinations of levels. Nodes are numbered with the last attribute running fastest."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        bare = [attribute.name for attribute in self.attributes if attribute.hierarchy is None]
        if bare:
            raise TableError(
                f"{listing(map(repr, bare))} {'has' if len(bare) == 1 else 'have'} no hierarchy, which a lattice needs "
                f'for every quasi-identifier; give one, e.g. hierarchy = "intervals:5,10,20", or change the role'
            )
        if not self.attributes:
            raise TableError("a lattice needs at least one quasi-identifier; give a column the role 'quasi'")

    @classmethod
    def of(cls, table: Table, names: Iterable[str] = ()) -> Lattice:
        """Over the named columns, or over every quasi-identifier."""
        chosen = list(names) or table.quasi_identifiers
        return cls(tuple(table.attribute(name) for name in chosen))

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        return tuple(a.hierarchy for a in self.attributes if a.hierarchy is not None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def heights(self) -> Levels:
        """The highest level of each attribute."""
        return tuple(hierarchy.height for hierarchy in self.hierarchies)

    @cached_property
    def size(self) -> int:
        """How many nodes there are; exact, however large."""
        return prod(height + 1 for height in self.heights)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Weight of each attribute's level in the number of a node."""
        return tuple(prod(h + 1 for h in self.heights[a + 1 :]) for a in range(len(self.heights)))

    @property
    def bottom(self) -> Levels:
        """Nothing generalised."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Levels:
        """Everything generalised to the last."""
        return self.heights

    def number(self, levels: Sequence[int]) -> int:
        self.check(levels)
        return sum(int(level) * place for level, place in zip(levels, self.places, strict=True))

    def levels(self, number: int) -> Levels:
        return tuple(number // place % (h + 1) for place, h in zip(self.places, self.heights, strict=True))

    def nodes(self) -> NDArray[np.int16]:
        """int16[size, s]: the levels of every node, in order of number."""
        numbers = np.arange(self.size, dtype=np.int64)
        columns = [numbers // place % (h + 1) for place, h in zip(self.places, self.heights, strict=True)]
        return np.stack(columns, axis=1).astype(np.int16)

    def check(self, levels: Sequence[int]) -> None:
        """Refuse a vector that is no node of this lattice."""
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

    def words(self, levels: Sequence[int]) -> str:
        """A node as a person would say it: 'age in 10-year bands, education in 3 groups, country hidden'."""
        self.check(levels)
        told = {a.name: describe(a, int(level)) for a, level in zip(self.attributes, levels, strict=True)}
        hidden = [name for name, words in told.items() if words == f"{name} hidden"]
        coarser = [words for name, words in told.items() if name not in hidden and words != f"{name} as collected"]
        if not hidden and not coarser:
            return "everything as collected"
        rest = len(told) - len(hidden) - len(coarser)
        if hidden:
            together = ", ".join(hidden[:-1]) + " and " if len(hidden) > 1 else ""
            coarser.append(f"{together}{hidden[-1]} hidden")
        return ", ".join(coarser) + (", the rest as collected" if rest else "")


def describe(attribute: Attribute, level: int) -> str:
    """One attribute at one level in words."""
    hierarchy = attribute.hierarchy
    if level == 0 or hierarchy is None:
        return f"{attribute.name} as collected"
    labels = hierarchy.labels[level]
    if len(labels) == 1:
        return f"{attribute.name} hidden"
    if set(labels) == set(hierarchy.labels[0]):
        return f"{attribute.name} as collected"
    width = _band(labels)
    if width:
        years = re.search(r"(^|[^a-z])(age|years?)([^a-z]|$)", attribute.name.lower())
        return f"{attribute.name} in " + (f"{width}-year bands" if years else f"bands of {width}")
    return f"{attribute.name} in {len(labels)} groups"


def _band(labels: Sequence[str]) -> str:
    """The common width of labels that are intervals, open ends aside; empty if there is none."""
    widths = []
    for label in labels:
        found = _INTERVAL.match(label)
        if found:
            low, high, close = found.groups()
            whole = "." not in low + high and close != ")"
            widths.append(float(high) - float(low) + (1 if whole else 0))
    interior = len(labels) - len(widths) <= 2
    return f"{widths[0]:g}" if len(widths) > 1 and interior and len(set(widths)) == 1 else ""
