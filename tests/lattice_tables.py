"""Small random tables with random nesting hierarchies, for properties of lattices."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table


def random_hierarchy(rng: np.random.Generator, leaves: int, height: int) -> Hierarchy:
    """Groups merged at random from level to level; the highest level is one group or a few."""
    groups = [np.arange(leaves, dtype=np.int32)]
    for _ in range(height):
        below = groups[-1]
        count = int(below.max()) + 1
        merged = rng.integers(0, max(1, count // 2 + 1), size=count)
        merged = np.unique(merged, return_inverse=True)[1]
        groups.append(merged[below].astype(np.int32))
    labels = tuple(tuple(f"{level}.{code}" for code in range(int(g.max()) + 1)) for level, g in enumerate(groups))
    return Hierarchy(tuple(groups), labels)


def random_table(seed: int, rows: int, attributes: int, missing: bool = False) -> Table:
    """Skewed categories, a confidential column of up to five values, a label of two."""
    rng = np.random.default_rng(seed)
    made, columns = [], []
    for place in range(attributes):
        leaves = int(rng.integers(1, 9))
        hierarchy = random_hierarchy(rng, leaves, int(rng.integers(0, 4)))
        made.append(Attribute(f"q{place}", Kind.NOMINAL, Role.QUASI_IDENTIFIER, hierarchy.labels[0], hierarchy))
        column = np.minimum(rng.geometric(0.4, size=rows) - 1, leaves - 1).astype(np.int32)
        if missing:
            column[rng.random(rows) < 0.15] = -1
        columns.append(column)
    for name, role, width in (("illness", Role.CONFIDENTIAL, 5), ("label", Role.OTHER, 2)):
        made.append(Attribute(name, Kind.NOMINAL, role, tuple(f"v{v}" for v in range(width))))
        columns.append(rng.integers(0, width, size=rows).astype(np.int32))
    return Table(tuple(made), tuple(columns))


tables = st.builds(
    random_table,
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 40),
    attributes=st.integers(1, 4),
    missing=st.booleans(),
)
