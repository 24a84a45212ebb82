"""Levels of hierarchies and nodes of lattices in words."""

from __future__ import annotations

from collections.abc import Sequence

from crypsis.table.lattice import Lattice, LevelDescription, describe_level


def level_text(level: LevelDescription) -> str:
    """What a column publishes at a level.

    Examples
    --------
    >>> level_text(LevelDescription("age", 2, 9, 10.0, "year", unchanged=False))
    'in 10-year bands'
    """
    if level.unchanged:
        return "as collected"
    if level.groups == 1:
        return "hidden"
    if level.width:
        return f"in {level.width:g}-{level.unit} bands" if level.unit else f"in bands of {level.width:g}"
    return f"in {level.groups} groups"


def node_text(lattice: Lattice, levels: Sequence[int]) -> str:
    """What a node of a lattice publishes.

    lattice  the columns and their hierarchies
    levels   the level of each column
    returns  for example 'age in 10-year bands, education in 3 groups, country hidden, the rest as collected'

    Raises
    ------
    TableError
        If the levels are no node of the lattice.
    """
    lattice.check(levels)
    described = [describe_level(a, int(level)) for a, level in zip(lattice.attributes, levels, strict=True)]
    hidden = [each.column for each in described if each.hidden]
    parts = [f"{each.column} {level_text(each)}" for each in described if not each.hidden and not each.unchanged]
    rest = len(described) - len(hidden) - len(parts)
    if not hidden and not parts:
        return "everything as collected"
    if hidden:
        together = ", ".join(hidden[:-1]) + " and " if len(hidden) > 1 else ""
        parts.append(f"{together}{hidden[-1]} hidden")
    return ", ".join(parts) + (", the rest as collected" if rest else "")
