"""Full-domain recoding by Datafly: the column with most values rises by one level until k holds."""

from __future__ import annotations

from functools import partial

from numpy.random import Generator

from crypsis.errors import CrypsisError
from crypsis.masking.generalisation import Generalisation
from crypsis.pieces import Pieces
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table


def datafly(table: Table, k: int, suppression: float, rng: Generator) -> Pieces[Table]:
    """Full-domain recoding by Datafly (Sweeney): generalise the column with most values until k holds.

    Which column comes next does not depend on the records, and more generalisation never adds records to small
    classes. So the first step at which k holds is found by bisection.

    Parameters
    ----------
    table : Table
        The original.
    k : int
        Smallest equivalence class.
    suppression : float
        Largest share of records that may be suppressed.
    rng : Generator
        Passed to the method.

    Returns
    -------
    Generator
        Yields pieces; returns the Table.

    Raises
    ------
    CrypsisError
        If k does not hold at the highest levels.
    """
    steps = datafly_steps(Lattice.of(table))
    low, high = 0, len(steps) - 1
    held: Table | None = None
    while low < high or held is None:
        middle = (low + high) // 2 if low < high else low
        method = Generalisation(levels=steps[middle], suppression=suppression, k=k)
        try:
            [masked] = yield [partial(method.mask, table, rng)]
        except CrypsisError:
            if low == high:
                raise
            low = middle + 1
        else:
            high, held = middle, masked
    return held


def datafly_steps(lattice: Lattice) -> list[dict[str, int]]:
    """Levels of the columns of a lattice, step by step: always the column with most values rises by one."""
    heights = dict(zip(lattice.names, lattice.heights, strict=True))
    hierarchies = dict(zip(lattice.names, lattice.hierarchies, strict=True))
    steps = [dict.fromkeys(lattice.names, 0)]
    while open_ := [name for name in lattice.names if steps[-1][name] < heights[name]]:
        name = max(open_, key=lambda each: len(hierarchies[each].labels[steps[-1][each]]))
        steps.append({**steps[-1], name: steps[-1][name] + 1})
    return steps
