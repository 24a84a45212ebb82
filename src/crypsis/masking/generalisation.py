"""Generalisation: every value of a column at one level of its hierarchy, and what stays rare suppressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, field_validator

from crypsis.errors import CrypsisError, PlanError, listing
from crypsis.masking.method import Family, MaskingMethod, check_method_share, methods
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import EquivalenceClasses, classes_of
from crypsis.table.lattice import Lattice, datafly_steps_in_lattice
from crypsis.table.lookalikes import count_without_lookalikes
from crypsis.table.suppression import Rule, allowed_records, suppress
from crypsis.table.table import Column, Table
from crypsis.tasks import Tasks


@methods.add("generalisation")
class Generalisation(MaskingMethod):
    """One node of the lattice: a level per column, then suppression within a limit.

    By size (Dewri et al. 2009) the smallest classes go, as many sizes as the limit allows. By failing class exactly
    the classes that miss the demanded k or l go; more than the limit is refused. Without a demand, the strictest k
    the limit allows is taken and, with what is left of it, the strictest l. Classes are those of the named columns, or
    of all quasi-identifiers if none are named.

    Notes
    -----
    - Formula: x' = group of x at the chosen level of its hierarchy; then the rarest classes are suppressed within the
      limit
    - Paper: Samarati (2001); Sweeney (2002); Dewri, Ray, Ray and Whitley (2009)
    - Cost: O(n s)
    - Departures: two suppression rules, `by-size` (2009 paper) and `failing-class` (ARX); decision 0006

    Examples
    --------
    >>> node = crypsis.Generalisation(level=2, k=3, suppression=1.0)
    >>> masked = node.mask(crypsis.example(100, seed=1), np.random.default_rng(0))
    >>> crypsis.KAnonymity(k=3).judge(masked).holds
    True
    """

    family: ClassVar[Family] = Family.RECODING

    levels: dict[str, int] = Field(
        default_factory=dict,
        description="level of each column in its hierarchy, e.g. {age = 2}; a column not named takes `level`",
    )
    level: int = Field(default=1, ge=0, description="level of the columns not named in `levels`, or their highest")
    suppression: float = Field(default=0.01, ge=0, le=1, description="share of the records that may be suppressed")
    rule: Rule = Field(
        default="failing-class",
        description="which classes are suppressed: those that fail a demand, or the smallest the limit allows",
    )
    k: int = Field(default=0, ge=0, description="least class size demanded; 0 takes the largest the limit allows")
    l: int = Field(  # noqa: E741
        default=0, ge=0, description="least number of confidential values in a class; 0 takes what the limit leaves"
    )
    confidential: ColumnName = Field(
        default="", description="column whose values l counts; empty: the first confidential one"
    )

    @field_validator("suppression", mode="before")
    @classmethod
    def _share(cls, share: object) -> object:
        return check_method_share(share)

    def apply(self, table: Table, rng: Generator) -> Table:
        lattice = Lattice.of(table, self.columns or [n for n in table.quasi_identifiers if self._treats(table, n)])
        strangers = [name for name in self.levels if name not in lattice.names]
        if strangers:
            raise PlanError(
                f"levels are given for {listing(map(repr, strangers))}, which this does not generalise; "
                f"it generalises {listing(lattice.names)}"
            )
        levels = [self.levels.get(n, min(self.level, h)) for n, h in zip(lattice.names, lattice.heights, strict=True)]
        lattice.check(levels)
        return self.suppress_classes(generalise(table, lattice, levels))

    @staticmethod
    def _treats(table: Table, name: str) -> bool:
        return table.attribute(name).hierarchy is not None and table.level(name) == 0

    def suppress_classes(self, table: Table) -> Table:
        """The generalised table without the classes the rule leaves out.

        Parameters
        ----------
        table : Table
            The table at some levels, nothing suppressed yet, all records kept.

        Returns
        -------
        Table
        """
        classes = classes_of(table, self.columns or table.quasi_identifiers)
        allowance = allowed_records(self.suppression, int(classes.sizes.sum()))
        found = suppress(classes.sizes, self._distinct(table, classes), self.rule, allowance, self.k, self.l)
        return table.without(np.append(found.left_out, False)[classes.of])

    def _distinct(self, table: Table, classes: EquivalenceClasses) -> NDArray[np.int64]:
        """How many confidential values each class holds; not counted where no rule asks, or no column is there."""
        name = self.confidential or next(iter(table.confidential), "")
        asked = self.l or (self.rule == "failing-class" and not self.k)
        if name and asked:
            return count_without_lookalikes(classes, table, name)[1].distinct
        if self.l:
            raise PlanError("l was demanded but no column is confidential; name one or give it that role")
        return np.zeros(classes.count, dtype=np.int64)


def generalise(
    table: Table, lattice: Lattice, levels: Sequence[int], leaves: Callable[[str], NDArray[np.int32]] | None = None
) -> Table:
    """The table at a node of the lattice, nothing suppressed; columns at level 0 stay as they are."""
    columns: dict[str, Column] = {}
    for name, hierarchy, level in zip(lattice.names, lattice.hierarchies, levels, strict=True):
        if level:
            columns[name] = hierarchy.lift((leaves or table.leaf_codes)(name), level)
    raised = dict(zip(lattice.names, levels, strict=True))
    return table.with_columns(columns, {name: raised[name] for name in columns})


# -- Full-domain recoding by Datafly: the column with most values rises by one level until k holds.


def datafly(table: Table, k: int, suppression: float, rng: Generator) -> Tasks[Table]:
    """Full-domain recoding by Datafly (Sweeney): generalise the column with most values until k holds.

    Which column comes next does not depend on the records, and more generalisation never adds records to small
    classes. So the first step at which k holds is found by bisection.
    """
    steps = datafly_steps_in_lattice(Lattice.of(table))
    low, high = 0, len(steps) - 1
    held: Table | None = None
    while low < high or held is None:
        middle = (low + high) // 2 if low < high else low
        method = Generalisation(levels=steps[middle], suppression=suppression, k=k)
        try:
            [masked] = yield [partial(method.mask, table, rng)]
        except CrypsisError:
            if low == high:
                raise
            low = middle + 1
        else:
            high, held = middle, masked
    return held
