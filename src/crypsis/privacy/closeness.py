"""t-closeness (Li, Li and Venkatasubramanian 2007): no class looks different from the whole table."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from crypsis.privacy.confidential import ConfidentialModel
from crypsis.privacy.model import models
from crypsis.privacy.properties import Floats, Sense
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses
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


@models.add("t-closeness")
class TCloseness(ConfidentialModel):
    """The confidential values of every class are distributed nearly as in the whole table.

    Notes
    -----
    - Formula: earth mover's distance between class and table ≤ t; ½ Σ|p − q|, or Σ|P − Q|/(m − 1) where values are
      ordered
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
    distance: Literal["by-kind", "equal", "ordered"] = Field(
        default="by-kind",
        description="every two values equally far apart, or by their order; by-kind orders all but nominal columns",
    )

    @property
    def required(self) -> float:
        return self.t

    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        # The distance of each class from the table.
        nominal = table.attribute(column).kind is Kind.NOMINAL
        ordered = self.distance == "ordered" or (self.distance == "by-kind" and not nominal)
        return (ordered_distance if ordered else equal_distance)(classes, contents)

    def statement(self) -> str:
        return (
            f"the distribution of each confidential column in every class of records equal in {{columns}} lies within "
            f"{self.t:g} of that in the table (earth mover's distance, {self.distance})"
        )

    def obstacle(self, table: Table) -> str:
        found = super().obstacle(table)
        if found or self.distance != "ordered":
            return found
        for column in self.hidden(table):
            if table.attribute(column).kind is Kind.NOMINAL:
                return (
                    f"t-closeness: column {column!r} is nominal and has no order; make it ordinal or use "
                    f"distance = 'equal'"
                )
        return ""
