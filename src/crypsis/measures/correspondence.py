"""Whether row i of a masked table masks row i of the original: a permutation test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crypsis.errors import TableError
from crypsis.kernels.arrays import Floats
from crypsis.measures.cell_loss import cell_losses
from crypsis.measures.sampling import evenly
from crypsis.table.table import Table

ORDERS = 99
"""Random orders with which the order of the file is compared: a file in a random order passes once in a hundred."""
FEWEST = 30
"""Records below which the order is not judged."""
SAMPLE = 1000
"""Records by which it is judged, taken at equal distances."""

NOT_IN_PLACE = (
    "the rows of the two files do not correspond (a random order fits as well) and no column identifies them, so "
    "records cannot be compared one by one; give the file in the order of the original, or with a column that "
    "identifies its rows"
)


def in_place(original: Table, masked: Table) -> bool:
    """Whether the rows correspond, as far as the values show: they fit better than in random orders.

    Parameters
    ----------
    original, masked : Table
        Two tables of equal length.

    Returns
    -------
    bool
        True as well where the values cannot show it: few records, or columns that no longer vary.

    Notes
    -----
    Every column that both tables publish takes part, masked or not: a column left as collected shows the order best. A
    column fits by the mean loss of its cells; the fit is standardised by its mean and deviation over the order of the
    file and `ORDERS` random ones, and the columns are summed by the squares of what is better than the mean. Rows
    correspond where no random order fits better, which is so by chance once in `ORDERS` + 1 times.

    Examples
    --------
    >>> people = crypsis.example(100)
    >>> in_place(people, people), in_place(people, people.take(np.random.default_rng(0).permutation(100)))
    (True, False)
    """
    if len(original) < FEWEST:
        return True
    rows = evenly(len(original), SAMPLE)
    original, masked = original.take(rows), masked.take(rows)
    rng = np.random.default_rng(len(original))
    orders = [masked, *(masked.take(rng.permutation(len(masked))) for _ in range(ORDERS))]
    fits = [_fits(original, orders, name) for name in original.names if name in masked.names]
    if not any(fit.any() for fit in fits):
        return True
    together = np.sum(np.maximum(fits, 0.0) ** 2, axis=0)
    return bool(together[0] > together[1:].max())


def _fits(original: Table, orders: Sequence[Table], name: str) -> Floats:
    """How much better than the mean a column fits in each order, in standard deviations; 0 where it cannot show it."""
    try:
        losses = np.array([float(cell_losses(original, order, name).mean()) for order in orders])
    except TableError:
        return np.zeros(len(orders))
    spread = float(losses.std())
    return (losses.mean() - losses) / spread if spread > 1e-12 else np.zeros(len(orders))
