"""Homogeneity: classes whose records all hold one value of a confidential column.

Whoever finds the class of a person then knows the value, without finding the record (Machanavajjhala et al. 2006).
k-anonymity does not speak of it; l-diversity does.
"""

from __future__ import annotations

import numpy as np

from crypsis.audits.finding import Finding, FindingKind
from crypsis.audits.published import Published
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE


def homogeneous(seen: Published, most: float = LARGEST_SHARE) -> list[Finding]:
    """Confidential columns that many people share with all of their class.

    Parameters
    ----------
    seen : Published
        The published table. Of a perturbed one classes say nothing.
    most : float
        Share of the records up to which nothing is said.

    Returns
    -------
    list of Finding
        They are reported and stop nothing: what a class may share is a demand of a plan.

    Examples
    --------
    >>> columns = {"town": list("aabb"), "ill": list("xxxy")}
    >>> people = crypsis.Table.from_columns(columns, {"town": "quasi", "ill": "confidential"})
    >>> [(each.columns, each.records) for each in homogeneous(Published(people))]
    [(('ill',), 2)]
    """
    quasi = [name for name in seen.columns if seen.role(name) is Role.QUASI_IDENTIFIER]
    if seen.perturbed or not quasi or not len(seen.table):
        return []
    classes = equivalence_classes(np.stack([seen.codes(name) for name in quasi], axis=1))
    found = []
    for name in seen.columns:
        codes = seen.codes(name)
        if seen.role(name) is not Role.CONFIDENTIAL or np.ptp(codes) == 0:
            continue
        least, greatest = np.full(classes.count, np.iinfo(np.int32).max), np.full(classes.count, MISSING - 1)
        np.minimum.at(least, classes.of, codes)
        np.maximum.at(greatest, classes.of, codes)
        alike = (least == greatest) & (least != MISSING) & (classes.sizes > 1)
        count = int(alike[classes.of].sum())
        if count > most * len(codes):
            found.append(Finding(FindingKind.HOMOGENEOUS, (name,), count, count / len(codes), refuses=False))
    return found
