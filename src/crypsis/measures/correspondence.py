"""Whether row i of a masked table masks row i of the original."""

from __future__ import annotations

import numpy as np

from crypsis.errors import TableError
from crypsis.measures.cell_loss import cell_losses
from crypsis.table.table import Table

SHUFFLES = 10
"""Random orders with which the order of the file is compared."""
FEWEST = 30
"""Records below which the order cannot be judged."""
DEVIATIONS = 3.0
"""How far below the mean of random orders the loss must lie, in standard deviations."""

NOT_IN_PLACE = (
    "the rows of the two files do not correspond (a random order fits as well) and no column identifies them, so "
    "records cannot be compared one by one; give the file in the order of the original, or with a column that "
    "identifies its rows"
)


def in_place(original: Table, masked: Table) -> bool:
    """Whether the rows correspond, as far as the values show: the loss is smaller than in random orders.

    Parameters
    ----------
    original, masked : Table
        Two tables of equal length.

    Returns
    -------
    bool
        True as well where the values cannot show it: few records, or columns that no longer vary.

    Examples
    --------
    >>> people = crypsis.example(100)
    >>> in_place(people, people), in_place(people, people.take(np.random.default_rng(0).permutation(100)))
    (True, False)
    """
    names = [name for name in original.quasi_identifiers if name in masked.names]
    if len(original) < FEWEST or not names:
        return True
    rng = np.random.default_rng(len(original))
    try:
        seen = _loss(original, masked, names)
        drawn = [_loss(original, masked.take(rng.permutation(len(masked))), names) for _ in range(SHUFFLES)]
    except TableError:
        return True
    spread = float(np.std(drawn, ddof=1))
    return spread < 1e-12 or seen < float(np.mean(drawn)) - DEVIATIONS * spread


def _loss(original: Table, masked: Table, names: list[str]) -> float:
    return float(np.mean([cell_losses(original, masked, name).mean() for name in names]))
