"""t-closeness (Li, Li and Venkatasubramanian 2007): no class looks different from the whole table."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.classes import EQUAL, HIERARCHICAL, ORDERED
from crypsis.privacy.demands import ConfidentialModel
from crypsis.privacy.model import Floats, Sense, models
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses
from crypsis.table.lookalikes import merge_lookalikes
from crypsis.table.table import Table


def equal_distance(classes: EquivalenceClasses, contents: ClassContents) -> Floats:
    """Half the sum of |p - q| per class, p its shares and q the table's: every two values are equally far apart."""
    share = contents.count / classes.sizes[contents.owner]
    here = contents.overall[contents.value]
    size = classes.count
    apart = np.bincount(contents.owner, weights=np.abs(share - here), minlength=size)
    absent = 1.0 - np.bincount(contents.owner, weights=here, minlength=size)
    distance: Floats = (apart + np.maximum(absent, 0.0)) / 2
    return distance


def ordered_distance(classes: EquivalenceClasses, contents: ClassContents) -> Floats:
    """Σ_i |P_i - Q_i| / (m - 1) per class, P and Q cumulated shares over the m values in their order.

    P is a staircase that changes only at values the class holds and Q never falls, so every stair is summed
    in O(log m) from prefix sums: O(n log n) in all, however many values and classes there are.
    """
    m, size = contents.values, classes.count
    if m < 2:
        return np.zeros(size)
    whole = np.cumsum(contents.overall)
    sums = np.concatenate([[0.0], np.cumsum(whole)])
    counted = np.cumsum(contents.count)
    starts = np.searchsorted(contents.owner, np.arange(size))
    last = np.append(starts[1:], len(contents.owner)) - 1
    earlier = counted[starts] - contents.count[starts]
    height = (counted - earlier[contents.owner]) / classes.sizes[contents.owner]
    left = contents.value
    right = np.append(contents.value[1:], m)
    right[last] = m
    # Before its first value a class has cumulated nothing, so the gap is Q itself.
    first = sums[contents.value[starts]]
    cross = np.clip(np.searchsorted(whole, height), left, right)
    below = height * (cross - left) - (sums[cross] - sums[left])
    above = (sums[right] - sums[cross]) - height * (right - cross)
    gaps = np.bincount(contents.owner, weights=below + above, minlength=size) + first
    distance: Floats = np.maximum(gaps, 0.0) / (m - 1)
    return distance


def _value_groups(table: Table, column: str) -> NDArray[np.int32]:
    """int32[levels, n]: the group of each record's value at every level of its hierarchy, ending in one group.

    Values that look alike are those of the first of them; −1 where missing.
    """
    hierarchy = table.attribute(column).hierarchy
    if hierarchy is None:
        raise TableError(f"column {column!r} has no hierarchy to measure distances by; give it one")
    leaves = (table if table.holds_numbers(column) else merge_lookalikes(table, [column])).leaf_codes(column)
    levels = [hierarchy.lift(leaves, level) for level in range(1, hierarchy.height + 1)]
    if len(hierarchy.labels[-1]) > 1:
        levels.append(np.where(leaves < 0, leaves, 0).astype(np.int32))
    return np.array(levels, dtype=np.int32).reshape(len(levels), len(table))


def hierarchical_distance(classes: EquivalenceClasses, contents: ClassContents, groups: NDArray[np.int32]) -> Floats:
    """Σ over groups of their height / H times min(surplus, deficit) of their parts: values are as far as they join.

    `groups` int32[H, n].
    """
    height, inside = len(groups), contents.pair >= 0
    apart = np.zeros((classes.count, contents.values))
    np.add.at(apart, (contents.owner, contents.value), contents.count / classes.sizes[contents.owner])
    apart -= contents.overall
    part = contents.value[contents.pair[inside]]
    cost = np.zeros(classes.count)
    for level in range(height):
        held, here = np.unique(groups[level][inside], return_inverse=True)
        into = np.zeros(apart.shape[1], dtype=np.int64)
        into[part] = here
        surplus, deficit = np.zeros((classes.count, len(held))), np.zeros((classes.count, len(held)))
        np.add.at(surplus.T, into, np.maximum(apart, 0.0).T)
        np.add.at(deficit.T, into, np.maximum(-apart, 0.0).T)
        cost += (level + 1) / height * np.minimum(surplus, deficit).sum(axis=1)
        apart, part = surplus - deficit, here
    return cost


@models.add("t-closeness")
class TCloseness(ConfidentialModel):
    """The confidential values of every class are distributed nearly as in the whole table.

    Notes
    -----
    - Formula: earth mover's distance between class and table ≤ t; ½ Σ|p − q|, or Σ|P − Q|/(m − 1) where values are
      ordered, or Σ over groups of a hierarchy of height/H · min(surplus, deficit) of their parts
    - Paper: Li, Li and Venkatasubramanian (2007)
    - Cost: O(n log n)
    - Departures: none

    Examples
    --------
    >>> table, _ = crypsis.example_pair("categories")
    >>> round(crypsis.TCloseness(t=0.2).judge(table).attained, 3)
    0.1
    """

    sense: ClassVar[Sense] = "at most"
    monotone_in_generalisation: ClassVar[bool] = True

    t: float = Field(default=0.2, gt=0.0, le=1.0, description="largest earth mover's distance allowed")
    distance: Literal["by-kind", "equal", "ordered", "hierarchical"] = Field(
        default="by-kind",
        description="every two values equally far apart, by their order, or by the level at which their hierarchy "
        "joins them; by-kind orders all but nominal columns",
    )

    @property
    def required(self) -> float:
        return self.t

    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        # The distance of each class from the table.
        if self._distance(table, column) == "hierarchical":
            return hierarchical_distance(classes, contents, _value_groups(table, column))
        return (ordered_distance if self._distance(table, column) == "ordered" else equal_distance)(classes, contents)

    def _distance(self, table: Table, column: str) -> str:
        if self.distance != "by-kind":
            return self.distance
        return "equal" if table.attribute(column).kind is Kind.NOMINAL else "ordered"

    def content_kind(self, table: Table, column: str) -> tuple[int, tuple[float, float, float]]:
        kinds = {"equal": EQUAL, "ordered": ORDERED, "hierarchical": HIERARCHICAL}
        return kinds[self._distance(table, column)], (self.t, 0.0, 0.0)

    def content_tree(self, table: Table, column: str) -> NDArray[np.int32] | None:
        return _value_groups(table, column) if self._distance(table, column) == "hierarchical" else None

    def statement(self) -> str:
        return (
            f"the distribution of {self.hidden_in_words()} in every class of records equal in {{columns}} lies within "
            f"{self.t:g} of that in the table (earth mover's distance, {self.distance})"
        )

    def obstacle(self, table: Table) -> str:
        found = super().obstacle(table)
        if found:
            return found
        for column in self.hidden(table):
            if self.distance == "hierarchical" and table.attribute(column).hierarchy is None:
                return (
                    f"t-closeness: column {column!r} has no hierarchy to measure distances by; give it one or use "
                    f"distance = 'equal'"
                )
            if self.distance == "ordered" and table.attribute(column).kind is Kind.NOMINAL:
                return (
                    f"t-closeness: column {column!r} is nominal and has no order; make it ordinal or use "
                    f"distance = 'equal'"
                )
        return ""
