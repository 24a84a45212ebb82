"""What a node of a lattice reads, and what it should read by a plain count."""

from __future__ import annotations

import numpy as np

from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST, NodeReadings
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from naive.lattices import judge_node

FIGURES = {
    "k": "k",
    "l": "l",
    "cm": "misfits",
    "s_k": "size_sum",
    "s_l": "value_sum",
    "classes": "classes",
    "suppressed": "suppressed",
}
RULES = {BY_SIZE: "by-size", STRICTEST: "failing-class", DEMANDED: "failing-class"}


def figures(read: NodeReadings, place: int) -> dict[str, int]:
    return {name: int(getattr(read, field)[place]) for name, field in FIGURES.items()}


def plain(
    table: Table, levels: tuple[int, ...], rule: int, allowance: int, demand: tuple[int, int], label: str
) -> tuple[dict[str, int], float]:
    """The same figures by the twin, and the loss."""
    lattice = Lattice.of(table)
    cells = np.stack([table.leaf_codes(name) for name in lattice.names], axis=1).tolist()
    values, labels = (table.codes([name])[:, 0].tolist() for name in ("illness", label))
    demanded = demand if rule == DEMANDED else None
    twin = judge_node(cells, lattice.hierarchies, levels, values, labels, allowance, demanded, RULES[rule])
    return {name: int(twin[name]) for name in FIGURES}, twin["glm_sum"]
