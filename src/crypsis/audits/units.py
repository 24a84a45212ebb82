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
ALIKE = 0.5
"""Share of the quasi-identifiers in which records that belong together agree, from which on a class holds them all."""
MOST_UNITS = 0.95
"""Share of the records whose people or households are not larger than what counts as large."""
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


def records_for_units(table: Table, least: int, most: int) -> tuple[int, str]:
    """Records a class needs so that few are of fewer than three people or households, and the column that says so.

    Records that belong together and are alike in most quasi-identifiers come into one class. A class of one record more
    than two of the larger people have is then of three.

    table  as collected, with its roles
    least, most  records of a class to begin with, and at most
    returns  `least` and no column where records that belong together are few or not alike

    Examples
    --------
    >>> people = np.repeat(np.arange(40), 3)
    >>> table = Table.from_columns({"person": people, "age": 20 + people}, {"person": "household", "age": "quasi"})
    >>> records_for_units(table, 3, 30)
    (7, 'person')
    """
    needed, column = least, ""
    for name in table.named(*UNPUBLISHED):
        units = table.codes([name])[:, 0]
        sizes = np.bincount(units[units != MISSING], minlength=1)
        if sizes.max() < 2 or not table.quasi_identifiers:
            continue
        held = np.where(units == MISSING, 1, sizes[units])
        wanted = min((FEWEST - 1) * int(np.quantile(held, MOST_UNITS)) + 1, most)
        if wanted > needed and _alike(table, units, held) >= ALIKE:
            needed, column = wanted, name
    return needed, column


def _alike(table: Table, units: Codes, held: NDArray[np.integer]) -> float:
    """Share of the quasi-identifiers in which the records that belong together agree, averaged over such records."""
    several = held > 1
    codes = table.codes(table.quasi_identifiers)[several]
    of = np.unique(units[several], return_inverse=True)[1]
    agree = []
    for values in codes.T:
        low, high = np.full(of.max() + 1, np.iinfo(np.int32).max), np.full(of.max() + 1, -1)
        np.minimum.at(low, of, values)
        np.maximum.at(high, of, values)
        agree.append(np.mean((low == high)[of]))
    return float(np.mean(agree))


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
