"""Groupings people choose by hand: what a search must improve on, and members of its first population."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.encodings.grouping import Groups
from crypsis.errors import SearchError


def all_together(attributes: int) -> Groups:
    """One group: the only choice that keeps k-anonymity over all attributes.

    attributes  how many there are

    Examples
    --------
    >>> all_together(3)
    ((0, 1, 2),)
    """
    return (tuple(range(attributes)),)


def univariate(attributes: int) -> Groups:
    """Every attribute alone.

    attributes  how many there are

    Examples
    --------
    >>> univariate(3)
    ((0,), (1,), (2,))
    """
    return tuple((attribute,) for attribute in range(attributes))


def likeness(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[p, p]: absolute correlations; a constant attribute is like no other."""
    centred = values - values.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    scaled = centred / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.abs(scaled.T @ scaled))


def correlated_together(values: NDArray[np.float64], n: int) -> Groups:
    """Groups of n attributes that are alike (the last may be smaller): little information is lost.

    values  ndarray of shape (n, p): complete and numeric
    n  attributes of a group

    Notes
    -----
    Each group starts with the most correlated pair left and takes in, one by one, the attribute with the highest mean
    absolute correlation to its members; ties go to the lower attribute.
    """
    _check(n, np.shape(values)[1])
    return _together(likeness(np.asarray(values, dtype=np.float64)), n)


def _together(alike: NDArray[np.float64], n: int) -> Groups:
    left, groups = list(range(len(alike))), []
    while left:
        group = _most_alike_pair(alike, left) if n > 1 and len(left) > 1 else [left[0]]
        while len(group) < min(n, len(left)):
            rest = [a for a in left if a not in group]
            group.append(rest[int(np.argmax(alike[np.ix_(rest, group)].mean(axis=1)))])
        left = [a for a in left if a not in group]
        groups.append(group)
    return _canonical(groups)


def correlated_apart(values: NDArray[np.float64], n: int) -> Groups:
    """Groups of about n attributes that are unlike, so that the groups are like each other: little is linked.

    values  ndarray of shape (n, p): complete and numeric
    n  attributes of a group

    Notes
    -----
    Attributes alike are distributed, one to each of the ⌈p / n⌉ groups.
    """
    _check(n, np.shape(values)[1])
    return _apart(likeness(np.asarray(values, dtype=np.float64)), n)


def _apart(alike: NDArray[np.float64], n: int) -> Groups:
    hands = -(-len(alike) // n)
    groups: list[list[int]] = [[] for _ in range(hands)]
    for family in _together(alike, hands):
        # The fullest group waits, so that short families do not always feed the same groups.
        order = sorted(range(hands), key=lambda hand: (len(groups[hand]), hand))
        for hand, attribute in zip(order, family, strict=False):
            groups[hand].append(attribute)
    return _canonical([group for group in groups if group])


def families(values: NDArray[np.float64], most: int = 10) -> list[Groups]:
    """Natural families of attributes: hierarchical clusters of 1 − |correlation|, cut into 2 … `most` groups.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Complete and numeric.
    most : int
        Most groups.

    Returns
    -------
    list of Groups
    """
    return _families(likeness(np.asarray(values, dtype=np.float64)), most)


def _families(alike: NDArray[np.float64], most: int) -> list[Groups]:
    attributes = len(alike)
    pairs = np.maximum(1.0 - alike[np.triu_indices(attributes, 1)], 0.0)
    found: dict[Groups, None] = {}
    for method in ("average", "complete", "ward") if attributes > 1 else ():
        tree = scipy.cluster.hierarchy.linkage(pairs, method)
        for count in range(2, min(most, attributes - 1) + 1):
            labels = scipy.cluster.hierarchy.fcluster(tree, count, "maxclust")
            found[_canonical([np.flatnonzero(labels == label).tolist() for label in np.unique(labels)])] = None
    return list(found)


def customary(values: NDArray[np.float64]) -> list[Groups]:
    """All groupings of this module for one table, each once, beginning with all together and univariate.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Complete and numeric.

    Returns
    -------
    list of Groups
    """
    return customary_by(likeness(np.asarray(values, dtype=np.float64)))


def customary_by(alike: NDArray[np.float64]) -> list[Groups]:
    """As `customary`, by a likeness of attributes in 0 … 1: float64[p, p]."""
    listed = [all_together(len(alike)), univariate(len(alike)), *_families(alike, 10)]
    for n in range(2, len(alike) // 2 + 1):
        listed += [_together(alike, n), _apart(alike, n)]
    return list(dict.fromkeys(listed))


def _most_alike_pair(alike: NDArray[np.float64], left: list[int]) -> list[int]:
    among = np.triu(alike[np.ix_(left, left)], 1) - np.tril(np.ones((len(left), len(left))))
    first, second = np.unravel_index(int(np.argmax(among)), among.shape)
    return [left[int(first)], left[int(second)]]


def _canonical(groups: list[list[int]]) -> Groups:
    return tuple(sorted(tuple(sorted(group)) for group in groups))


def _check(n: int, attributes: int) -> None:
    if not 1 <= n <= attributes:
        raise SearchError(
            f"groups of {n} attributes were asked for, but there are {attributes}; give 1 to {attributes}"
        )
