"""Suppression: the rule that decides which equivalence classes are suppressed, within a limit of records.

Compiled code that evaluates many nodes at once (`crypsis.kernels.nodes`) repeats the rule on its own arrays; a test
compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import PlanError, TableError, suggestion
from crypsis.kernels.classes import attainable_diversity, attainable_size
from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST
from crypsis.table.table import Table

Rule = Literal["failing-class", "by-size"]


@dataclass(frozen=True, eq=False)
class Suppression:
    """Which classes are suppressed."""

    left_out: NDArray[np.bool_]  # bool[classes]: True for a class whose records are suppressed
    records: int  # number of their records


def suppress(
    sizes: NDArray[np.int64],
    distinct: NDArray[np.int64],
    rule: Rule,
    allowance: int,
    k: int = 0,
    l: int = 0,  # noqa: E741
) -> Suppression:
    """Decide which classes are suppressed.

    `sizes`, `distinct` int64[classes].

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

    >>> share_for(1, 3)
    0.3334
    """
    return math.ceil(10_000 * suppressed / records) / 10_000


def code_of_suppression_rule(rule: str, demanded: bool = False) -> int:
    """The rule of suppression of a plan, by name, as the number that compiled code knows it by.

    `demanded`: whether a demanded k or l alone decides.
    """
    rules = {"by-size": BY_SIZE, "failing-class": DEMANDED if demanded else STRICTEST}
    if rule not in rules:
        raise PlanError(f"there is no suppression rule {rule!r}{suggestion(rule, rules)}; known: {', '.join(rules)}")
    return rules[rule]


def count_blanked_cells(original: Table, masked: Table, names: Iterable[str]) -> dict[str, int]:
    """Beside suppression of records: count the cells of each column that a masking blanked.

    `original`, `masked`: row by row the same records.
    """
    return {name: int((masked.missing(name) & ~original.missing(name) & masked.kept).sum()) for name in names}
