"""Suppression: the rule that decides which equivalence classes are suppressed, within a limit of records.

Compiled code that evaluates many nodes at once (`crypsis.kernels.nodes`) repeats the rule on its own arrays; a test
compares the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic_core import PydanticCustomError

from crypsis.errors import PlanError, TableError, suggestion
from crypsis.kernels.classes import attainable_diversity, attainable_size
from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST

Rule = Literal["failing-class", "by-size"]


@dataclass(frozen=True, eq=False)
class Suppression:
    """Which classes are suppressed.

    Attributes
    ----------
    left_out : bool[classes]
        True for a class whose records are suppressed.
    records : int
        Number of their records.
    """

    left_out: NDArray[np.bool_]
    records: int


def suppress(
    sizes: NDArray[np.int64],
    distinct: NDArray[np.int64],
    rule: Rule,
    allowance: int,
    k: int = 0,
    l: int = 0,  # noqa: E741
) -> Suppression:
    """Decide which classes are suppressed.

    sizes, distinct  int64[classes]: records, and different confidential values, of each class
    rule  {"failing-class", "by-size"}: "by-size": the smallest classes, as many sizes as the allowance permits (Dewri
        et al. 2009), and what misses a demanded k or l. "failing-class": exactly the classes that miss a demanded k
        or l; without a demand, those below the largest k the allowance permits and, with what is left of it, below
        the largest l
    allowance  records that may be suppressed; see `allowed_records`
    k, l  least class size and least number of confidential values demanded; 0 demands nothing

    Raises
    ------
    TableError
        If the demand suppresses more records than the allowance permits.

    Examples
    --------
    >>> sizes, distinct = np.array([3, 2, 1]), np.array([1, 2, 1])
    >>> suppress(sizes, distinct, "by-size", allowance=3).left_out.tolist()
    [False, True, True]
    >>> suppress(sizes, distinct, "failing-class", allowance=3, k=2).left_out.tolist()
    [False, False, True]
    """
    least, fewest = k, l
    if len(sizes) and (rule == "by-size" or not (k or l)):
        least = max(k, attainable_size(sizes, allowance))
        if rule == "failing-class":
            fewest = attainable_diversity(sizes, distinct, least, allowance)
    left_out = (sizes < least) | (distinct < fewest)
    lost, total = int(sizes[left_out].sum()), int(sizes.sum())
    if lost > allowance:
        wanted = " and ".join(f"{name} = {value}" for name, value in (("k", k), ("l", l)) if value)
        raise TableError(
            f"{wanted} at these levels suppresses {lost} of {total} records and the limit allows {allowance}; "
            f"raise a level, or the limit to {share_for(lost, total):g}"
        )
    return Suppression(left_out, lost)


def allowed_records(suppression: float, records: int) -> int:
    """Number of records that a share allows to suppress, rounded down.

    suppression  share of the records, 0 … 1

    Raises
    ------
    PlanError
        If the share is outside 0 … 1.

    Examples
    --------
    >>> allowed_records(0.29, 100)
    29
    """
    if not 0 <= suppression <= 1:
        raise PlanError(
            f"suppression is {suppression:g}, that is {100 * suppression:g} % of the records; it is a share and lies "
            f"between 0 and 1 (0.01 is 1 %)"
        )
    return int(suppression * records + 1e-9)


def share_for(suppressed: int, records: int) -> float:
    """The least share, in steps of 0.0001, that allows a number of records to be suppressed.

    Parameters
    ----------
    suppressed, records : int
        Suppressed records, and all records.

    Returns
    -------
    float

    Examples
    --------
    >>> share_for(1, 3)
    0.3334
    """
    return math.ceil(10_000 * suppressed / records) / 10_000


def rule_code(rule: str, demanded: bool = False) -> int:
    """The number of a rule in compiled code.

    rule  name of the rule
    demanded  whether a demanded k or l alone decides

    Raises
    ------
    PlanError
        If there is no such rule.
    """
    rules = {"by-size": BY_SIZE, "failing-class": DEMANDED if demanded else STRICTEST}
    if rule not in rules:
        raise PlanError(f"there is no suppression rule {rule!r}{suggestion(rule, rules)}; known: {', '.join(rules)}")
    return rules[rule]


def checked_share(share: object) -> object:
    """A share of the records as it was given; a number that is none is refused in words."""
    if isinstance(share, (int, float)) and not 0 <= share <= 1:
        words = "a share lies between 0 and 1 (0.01 is 1 %), and this would be {percent} % of the records"
        raise PydanticCustomError("share", words, {"percent": f"{100 * share:g}"})
    return share
