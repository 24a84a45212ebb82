"""Units: classes whose records belong to few people or households.

A class of five records protects nobody if all five are of one person, and the records of one person are alike, so that
they come into one class. Which records belong together is known from a column that is not published: a household, or
an identifier that several records share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.finding import Finding, FindingKind
from crypsis.audits.published import Codes, Published
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

FEWEST = 3
"""People or households in a class, below which they are few."""
LONGEST_PANEL = 50
"""Records of one person at most."""
FEWEST_PEOPLE = 20
"""Different values below which equal counts say little."""


def few_units(seen: Published, most: float = LARGEST_SHARE) -> list[Finding]:
    """Columns by which many records are in a class of fewer than three people or households.

    seen  the published table; which records belong together only an original can tell
    most  share of the records up to which nothing is said
    """
    before = seen.original
    quasi = [name for name in seen.columns if seen.role(name) is Role.QUASI_IDENTIFIER]
    if before is None or seen.perturbed or not quasi or not len(seen.table):
        return []
    classes = equivalence_classes(np.stack([seen.codes(name) for name in quasi], axis=1))
    found = []
    for name in before.named(*UNPUBLISHED):
        units = before.codes([name])[:, 0]
        if np.bincount(units[units != MISSING], minlength=1).max() < 2:
            continue
        few = int(np.sum(units_of_classes(units, classes.of)[classes.of] < FEWEST))
        if few > most * len(units):
            found.append(Finding(FindingKind.FEW_UNITS, (name,), few, few / len(units)))
    return found


def units_of_classes(units: Codes, labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many different units each class has; a record without one is a unit of its own.

    units  int32[n]: code of the unit, −1 for none
    labels  class of each record

    Examples
    --------
    >>> units_of_classes(np.array([0, 0, 1, -1, -1], dtype=np.int32), np.array([0, 0, 0, 1, 1])).tolist()
    [2, 2]
    """
    own = np.where(units == MISSING, units.max(initial=0) + 1 + np.arange(len(units)), units)
    pairs = np.unique(np.stack([labels, own], axis=1), axis=0)
    return np.bincount(pairs[:, 0])


def records_of_a_unit(table: Table, name: str) -> int:
    """Records of each value of a column that says which records of a panel belong together; 0 if it does not.

    Every one of many values has the same small number of records, which chance does not bring about.

    Examples
    --------
    >>> panel = Table.from_columns({"person": np.repeat(np.arange(30.0), 4)})
    >>> records_of_a_unit(panel, "person")
    4
    """
    codes = table.codes([name])[:, 0]
    counts = np.unique(codes, return_counts=True)[1]
    if len(counts) < FEWEST_PEOPLE or codes.min() == MISSING or counts.min() < counts.max():
        return 0
    records = int(counts[0])
    return records if 2 <= records <= min(LONGEST_PANEL, len(counts) - 1) else 0
