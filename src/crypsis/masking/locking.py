"""Locked columns: quasi-identifiers published as collected, so that only records equal in them may share a group."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

Labels = NDArray[np.int32]


def locked_names(table: Table, names: Iterable[str]) -> list[str]:
    """Columns among some that are published as collected."""
    return [name for name in names if table.attribute(name).locked]


def strata(table: Table, names: Iterable[str]) -> Labels | None:
    """int32[kept records]: the class of every kept record by its locked columns; None where no column is locked."""
    locked = locked_names(table, names)
    return equivalence_classes(table.codes(locked)[table.kept]).of.astype(np.int32) if locked else None


def lock_obstacle(table: Table, names: Iterable[str], k: int) -> str:
    """Why classes of k records cannot hold with the locked columns as collected; empty if they can."""
    names = list(names)
    found = strata(table, names)
    if found is None:
        return ""
    sizes = np.bincount(found)
    thin = int(sizes[sizes < k].sum())
    if not thin:
        return ""
    locked = listing(map(repr, locked_names(table, names)))
    return (
        f"{locked} would stay as collected, and {thin} of {len(found)} records share their values there with fewer "
        f"than {k} records; unlock a column or lower k"
    )


def within_strata(labels: Labels, of: Labels, points: NDArray[np.float64], k: int) -> Labels:
    """Groups cut so that none crosses a stratum, each part below k joined to the nearest part of its stratum.

    labels, of  int32[n]: the group and the stratum of every record
    points  float64[n, q]: where the records lie
    returns  int32[n]: 0, 1, … without gaps, every group within one stratum and of at least k records

    Raises
    ------
    TableError
        If a stratum has fewer than k records.
    """
    if np.bincount(of).min(initial=k) < k:
        raise TableError(f"a class of the locked columns has fewer than {k} records; unlock a column or lower k")
    parts = equivalence_classes(np.stack([of, labels], axis=1))
    part, count = parts.of.copy(), parts.count
    sizes = np.bincount(part, minlength=count)
    sums = np.stack([np.bincount(part, weights=axis, minlength=count) for axis in points.T], axis=1)
    home = of[parts.first]
    for stratum in np.unique(home[sizes < k]):
        inside = np.flatnonzero(home == stratum)
        while len(inside) > 1:
            least = int(np.argmin(sizes[inside]))
            if sizes[inside[least]] >= k:
                break
            small, others = inside[least], np.delete(inside, least)
            centres = sums[others] / sizes[others, None]
            near = others[int(np.argmin(((centres - sums[small] / sizes[small]) ** 2).sum(axis=1)))]
            part[part == small] = near
            sizes[near], sums[near] = sizes[near] + sizes[small], sums[near] + sums[small]
            inside = others
    return np.unique(part, return_inverse=True)[1].astype(np.int32)


def least_stratum(table: Table, names: Iterable[str]) -> int:
    """Records of the smallest class of the locked columns; all kept records where no column is locked."""
    found = strata(table, names)
    return int(table.kept.sum()) if found is None or not len(found) else int(np.bincount(found).min())
