"""l-diversity (Machanavajjhala et al. 2006): no class gives a confidential value away."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from crypsis.kernels.classes import DISTINCT, ENTROPY, RECURSIVE
from crypsis.privacy.demands import ConfidentialModel
from crypsis.privacy.model import Floats, models
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses
from crypsis.table.table import Table

DEFAULT_C = 3.0


def distinct_values(classes: EquivalenceClasses, contents: ClassContents) -> Floats:
    """How many different confidential values each class holds."""
    return contents.distinct.astype(np.float64)


def effective_values(classes: EquivalenceClasses, contents: ClassContents) -> Floats:
    """exp of the entropy of each class: the number of equally frequent values it is worth."""
    share = contents.count / classes.sizes[contents.owner]
    entropy = np.bincount(contents.owner, weights=-share * np.log(share), minlength=classes.count)
    return np.exp(entropy)


def recursive_depth(classes: EquivalenceClasses, contents: ClassContents, c: float) -> Floats:
    """The largest l for which r_1 < c (r_l + … + r_m) in each class, r the counts in falling order; 0 if none."""
    size = classes.count
    order = np.lexsort((-contents.count, contents.owner))
    count, owner = contents.count[order], contents.owner[order]
    starts = np.searchsorted(owner, np.arange(size))
    before = np.cumsum(count) - count
    tail = classes.sizes[owner] - (before - before[starts][owner])
    # Tails fall along a class, so the depth is how many of them are still large enough.
    enough = count[starts][owner] < c * tail
    return np.bincount(owner, weights=enough, minlength=size).astype(np.float64)


@models.add("l-diversity")
class LDiversity(ConfidentialModel):
    """Every class holds at least l well-represented confidential values.

    Notes
    -----
    - Formula: distinct: values per class ≥ l; entropy: exp H ≥ l; recursive: r₁ < c (r_l + … + r_m)
    - Paper: Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam (2006)
    - Cost: O(n log n)
    - Departures: with several confidential columns the worst counts

    Examples
    --------
    >>> table, _ = crypsis.example_pair("categories")
    >>> crypsis.LDiversity(l=2).judge(table).attained
    2.0
    """

    monotone_in_generalisation: ClassVar[bool] = True

    l: float = Field(  # noqa: E741 (the name of the model)
        default=2.0, gt=1.0, le=1_000_000.0, description="how many confidential values every class must be worth"
    )
    kind: Literal["distinct", "entropy", "recursive"] = Field(
        default="distinct",
        description="count different values, weigh them by entropy, or demand r1 < c (rl + … + rm) of their counts",
    )
    c: float | None = Field(
        default=None, gt=0.0, le=1000.0, description="the c of recursive (c, l)-diversity, there 3 unless given"
    )

    @model_validator(mode="after")
    def _agree(self) -> LDiversity:
        if self.c is not None and self.kind != "recursive":
            raise ValueError("c belongs to kind = 'recursive'; leave it out or choose that kind")
        if self.kind != "entropy" and self.l != int(self.l):
            raise ValueError(f"l must be a whole number unless kind = 'entropy' (found {self.l})")
        return self

    @property
    def required(self) -> float:
        return self.l

    @property
    def least_class_size(self) -> int:
        return math.ceil(self.l - 1e-9)

    @property
    def least_values(self) -> int:
        return self.least_class_size

    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        # The diversity of each class.
        if self.kind == "distinct":
            return distinct_values(classes, contents)
        if self.kind == "entropy":
            return effective_values(classes, contents)
        return recursive_depth(classes, contents, DEFAULT_C if self.c is None else self.c)

    def content_kind(self, table: Table, column: str) -> tuple[int, tuple[float, float, float]]:
        kinds = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}
        return kinds[self.kind], (self.l, DEFAULT_C if self.c is None else self.c, 0.0)

    def statement(self) -> str:
        if self.kind == "distinct":
            return (
                f"every class of records equal in {{columns}} holds at least {self.l:g} different values of "
                f"{self.hidden_in_words()}"
            )
        if self.kind == "entropy":
            return (
                f"the entropy of {self.hidden_in_words()} in every class of records equal in {{columns}} is at least "
                f"log {self.l:g}"
            )
        c = DEFAULT_C if self.c is None else self.c
        return (
            f"in every class of records equal in {{columns}} the commonest {self.value_in_words()} occurs less than "
            f"{c:g} times as often as all but the {self.l - 1:g} commonest together"
        )


def largest_share_for_diversity(classes: EquivalenceClasses, contents: ClassContents) -> Floats:
    """For l-diversity, the share of the commonest confidential value in each class."""
    return contents.most / classes.sizes
