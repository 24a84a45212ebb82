"""The truth for small spaces: optimal k-partitions by full search, and exactly how many candidates there are.

Legend as in Solanas et al. (2006): n records, groups of k … 2k − 1, G = ⌊n/k⌋ letters, a(n, k) representatives
(multisets of group sizes). The paper bounds the number of candidates by a(n, k) · μ; the exact number comes
from the exponential generating function exp(Σ xˢ/s!), s = k … 2k − 1, with Python's integers.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial, perm

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import SearchError
from crypsis.kernels.annealing import sse
from crypsis.kernels.optimal_partitions import best_partition
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.masking.partitioning import check_points, trivial

MOST_RECORDS = 20
"""Above this the subset recursion takes too long (each further record nearly triples it) and too much memory."""


def optimal_partition(points: NDArray[np.float64], k: int) -> tuple[NDArray[np.int32], float]:
    """The k-partition of least SSE, proven by full search.

    points  ndarray of shape (n, p): n ≤ MOST_RECORDS unless one group is forced (n < 2k) or k = 1
    returns  labels, numbered by each group's lowest record, and their SSE

    Raises
    ------
    SearchError
        Beyond MOST_RECORDS.

    Examples
    --------
    >>> optimal_partition(np.array([[1.0], [5.0], [1.2], [5.4]]), 2)[0]
    array([0, 1, 0, 1], dtype=int32)
    """
    points = check_points(points, k)
    n = len(points)
    only = trivial(points, k)
    if only is not None:
        return only, sse(points, only)
    if n > MOST_RECORDS:
        raise SearchError(
            f"an exact optimum was asked for {n} records, but full search is feasible up to {MOST_RECORDS}; "
            "use the partitioner 'genetic', 'two-step' or 'memetic' instead"
        )
    known = sse(points, mdav(points, k, GENERIC, EUCLIDEAN))
    labels, least = best_partition(points, k, known)
    return labels, float(least)


def count_partitions(n: int, k: int) -> int:
    """How many partitions of n records have all group sizes in [k, 2k − 1]: the candidates for the optimum.

    Examples
    --------
    >>> count_partitions(6, 3)
    10
    """
    return sum(_partitions_by_groups(n, k))


def _partitions_by_groups(n: int, k: int) -> list[int]:
    """The same, split by the number of groups: entry m counts partitions into m groups."""
    groups = n // k
    # ways[r][m]: partitions of r records into m groups; the group of the lowest record has size s.
    ways = [[0] * (groups + 1) for _ in range(n + 1)]
    ways[0][0] = 1
    for r in range(k, n + 1):
        for size in range(k, min(2 * k - 1, r) + 1):
            choices = comb(r - 1, size - 1)
            rest = ways[r - size]
            for m in range(groups):
                if rest[m]:
                    ways[r][m + 1] += choices * rest[m]
    return ways[n]


def representatives(n: int, k: int) -> int:
    """a(n, k) of Equation 4: ways to write n as a sum of group sizes in [k, 2k − 1], order ignored (Table I)."""
    # sums[r]: ways to write r with the sizes admitted so far.
    sums = [1] + [0] * n
    for size in range(k, 2 * k):
        for records in range(size, n + 1):
            sums[records] += sums[records - size]
    return sums[n]


def paper_bound(n: int, k: int) -> int:
    """μ of Equation 5: partitions of the representative with G groups (of sizes as even as possible).

    n, k  records, and least group size

    Notes
    -----
    The paper calls it an upper bound for every representative; it is not (n = 30, k = 3: sizes 3⁶4³ have more).
    """
    groups = n // k
    small, larger = divmod(n, groups)
    sizes: int = factorial(small) ** (groups - larger) * factorial(small + 1) ** larger
    return factorial(n) // sizes // factorial(groups)


def paper_probability(n: int, k: int) -> Fraction:
    """Equation 6: a(n, k) · μ / Gⁿ, the paper's "upper bound" for a random chromosome to be a candidate.

    Parameters
    ----------
    n : int
        Records.
    k : int
        Least group size.

    Returns
    -------
    Fraction
    """
    return Fraction(representatives(n, k) * paper_bound(n, k), (n // k) ** n)


def chromosome_probability(n: int, k: int) -> Fraction:
    """The true probability that n uniform letters out of G form a candidate partition.

    n, k  records, and least group size

    Notes
    -----
    A partition into m groups is spelt by G!/(G − m)! chromosomes; Equation 6 counts it once.
    """
    groups = n // k
    spelt = sum(ways * perm(groups, m) for m, ways in enumerate(_partitions_by_groups(n, k)))
    return Fraction(spelt, groups**n)
