"""Microaggregation: records in groups of at least k, each value replaced by what stands for its group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, model_validator

from crypsis.engines import Engine
from crypsis.errors import TableError, find_repeated, listing
from crypsis.masking.method import Family, MaskingMethod, methods
from crypsis.masking.partitioning import Blocks, Partitioner, partitioners
from crypsis.masking.representatives import Representative, Representatives, publish_groups, refuse_representative
from crypsis.masking.scaling import cut_scaled_groups, embed, scaling_lock_obstacle, scaling_strata
from crypsis.table.attribute import Kind
from crypsis.table.links import follow_linked_lead
from crypsis.table.precision import Scaling
from crypsis.table.table import Table, require_table
from crypsis.tasks import Tasks, complete

Numbers = Annotated[
    Literal["mean", "median", "mode", "spread", "calibrated"],
    Field(
        description="what the numbers of a group become: their mean, median or mode; spread moves the means away from "
        "the mean of the column, so that its variance is kept; calibrated chooses them so that the file keeps its "
        "distributions, totals and covariances"
    ),
]
Categories = Annotated[
    Literal["typical", "median", "mode", "common-ancestor", "unanimous", "marginal", "cheapest", "calibrated"],
    Field(
        description="what the categories of a group become: typical takes the lower median of ordered and the mode of "
        "unordered ones; common-ancestor the lowest node of the hierarchy that holds them all, which is true of every "
        "record; unanimous nothing where they differ; marginal a value of the group, chosen over all groups so that "
        "the column keeps its distribution; cheapest the common ancestor or the typical value, whichever loses "
        "less; calibrated a value of the group, chosen "
        "over all groups so that the file keeps its counts and how columns go together"
    ),
]
Missing = Annotated[
    Literal["keep", "refuse", "aggregate"],
    Field(
        description="missing values: keep leaves them missing, far from every value in the distance, and blanks a "
        "column for a whole group if some of its records lack a value there; refuse names the columns that hold some; "
        "aggregate places them at the mean for the distance and fills in their group's value"
    ),
]


@methods.add("microaggregation")
class Microaggregation(MaskingMethod):
    """Any partitioner on any mixture of kinds: near records become alike, so each hides among at least k.

    Likeness is squared Euclidean distance after `masking.scaling.embed`: numbers scaled, ordinal ranks over their
    domain, unequal nominal categories one unit apart, all weighed by `scaling`. With one group of attributes (the
    default) every record shares its masked values with at least k − 1 others. With several, each group of attributes
    is partitioned on its own: less is lost, and only values within one group are shared by k records.
    Suppressed records take no part. A missing value stays missing (see `missing`).

    Notes
    -----
    - Formula: x' = what stands for the group of x, its mean unless set; groups of at least k minimise SSE = Σ_g
      Σ_{x in g} |x − mean(g)|²
    - Paper: Domingo-Ferrer and Mateo-Sanz (2002)
    - Cost: that of the partitioner, once per group of columns
    - Departures: kinds are mixed by embedding them in one space (decision 0004); missing values by rule (decision
      0005)

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [20, 21, 40, 42]}, roles={"age": "quasi"})
    >>> crypsis.Microaggregation(k=2).mask(table, np.random.default_rng(0)).column("age").tolist()
    [20.5, 20.5, 41.0, 41.0]
    """

    family: ClassVar[Family] = Family.AGGREGATION

    k: int = Field(default=3, ge=2, le=1_000_000, description="least number of records that share their masked values")
    partitioner: str = Field(default="mdav", description="how records are grouped: the name of a partitioner")
    partitioner_settings: dict[str, Any] = Field(
        default_factory=dict, description='settings of the partitioner, e.g. {ending = "hybrid"} for mdav'
    )
    groups: tuple[tuple[str, ...], ...] = Field(
        default=(),
        description="attribute groups, each partitioned on its own, as lists of column names; empty means one group "
        "of all chosen columns",
    )
    numbers: Numbers = "mean"
    categories: Categories = "typical"
    scaling: Scaling = Field(
        default="z",
        description="weight of attributes in the distance: z gives each variance 1, range divides numbers by their "
        "range, none takes numbers in their own units",
    )
    missing: Missing = "keep"

    @model_validator(mode="after")
    def _consistent(self) -> Microaggregation:
        self.chosen_partitioner()
        named = [name for group in self.groups for name in group]
        twice = find_repeated(named)
        if twice:
            raise ValueError(f"groups: {listing(map(repr, twice))} named twice; a column belongs to one group")
        if any(not group for group in self.groups):
            raise ValueError("groups: an attribute group is empty; name at least one column in each")
        if self.groups and self.columns and set(self.columns) != set(named):
            odd = sorted(set(self.columns) ^ set(named))
            raise ValueError(
                f"groups and columns name different columns ({listing(map(repr, odd))}); leave columns out to mask "
                f"exactly what groups name"
            )
        return self

    def chosen_partitioner(self) -> Partitioner:
        """The partitioner with its settings, or a sentence that says what is wrong with them."""
        return partitioners.build(self.partitioner, **self.partitioner_settings)

    def attribute_groups(self, table: Table) -> tuple[tuple[str, ...], ...]:
        """The columns to mask, group by group.

        Parameters
        ----------
        table : Table
            The table (its quasi-identifiers are masked unless columns are named).

        Returns
        -------
        tuple of tuples of str
        """
        groups = self.groups or ((self.columns or tuple(table.quasi_identifiers)),)
        if not groups[0]:
            raise TableError(
                "the table has no quasi-identifier to microaggregate; give columns the role 'quasi' or name columns"
            )
        return groups

    def mask(self, table: Table, rng: Generator | int | None = None, engine: Engine | None = None) -> Table:
        """Mask a table.

        Parameters
        ----------
        table : Table
            The original, or a table masked before.
        rng : Generator, int or None
            For partitioners that draw at random, as `numpy.random.default_rng` takes it.
        engine : Engine, optional
            Where the blocks of the partitioner `blocks` are done: the same bits.

        Returns
        -------
        Table
        """
        require_table(table, "microaggregation")
        return self.record_step(self.apply(table, np.random.default_rng(rng), engine), table)

    def apply(self, table: Table, rng: Generator, engine: Engine | None = None) -> Table:
        """Replace the values of every group of columns within its groups of records.

        Parameters
        ----------
        table : Table
            The original.
        rng : Generator
            Source of randomness.
        engine : Engine, optional
            Where the blocks of the partitioner `blocks` are computed; the result is the same.

        Returns
        -------
        Table
        """
        return self.aggregate(table, self.partitions(table, rng, engine))

    def mask_tasks(self, table: Table, rng: Generator) -> Tasks[Table]:
        """`mask` in tasks.

        Parameters
        ----------
        table : Table
            The original.
        rng : Generator
            Source of randomness.

        Returns
        -------
        Generator
            Yields tasks; returns the Table.
        """
        masked, partitions = table, (yield from self.partition_tasks(table, rng))
        for group, labels in zip(self.attribute_groups(table), partitions, strict=True):
            [masked] = yield [partial(self.share_values, masked, group, labels)]
        return self.record_step(masked, table)

    def partitions(self, table: Table, rng: Generator, engine: Engine | None = None) -> list[NDArray[np.int32]]:
        """For every group of columns the group of each record that is kept, in order.

        Parameters
        ----------
        table : Table
            What is grouped.
        rng : Generator
            For partitioners that draw.
        engine : Engine, optional
            Where the blocks of the partitioner `blocks` are computed.

        Returns
        -------
        list of int32[n]
        """
        return complete(self.partition_tasks(table, rng, engine))

    def partition_tasks(
        self, table: Table, rng: Generator, engine: Engine | None = None
    ) -> Tasks[list[NDArray[np.int32]]]:
        """`partitions` in tasks.

        Parameters
        ----------
        table : Table
            What is grouped.
        rng : Generator
            For partitioners that draw.
        engine : Engine, optional
            Where the blocks of the partitioner `blocks` are computed.

        Returns
        -------
        Generator
            Yields tasks; returns a list of int32[n].
        """
        groups = self.attribute_groups(table)
        self.check(table, [name for group in groups for name in group])
        present, chosen = table.take(np.flatnonzero(table.kept)), self.chosen_partitioner()
        found = []
        for group in groups:
            [points] = yield [partial(self.points, present, group)]
            if isinstance(chosen, Blocks):
                labels = yield from chosen.run_tasks(points, self.k, rng, engine)
            else:
                [labels] = yield [partial(chosen.partition, points, self.k, rng)]
            of = scaling_strata(table, group)
            found.append(labels if of is None else cut_scaled_groups(labels, of, points, self.k))
        return found

    def points(self, table: Table, names: Iterable[str]) -> NDArray[np.float64]:
        """float64[n, q]: the records in the space of the distance.

        Parameters
        ----------
        table : Table
            Its records become points.
        names : iterable of str
            Columns that span the space.

        Returns
        -------
        ndarray of shape (n, q)
        """
        return embed(table, names, self.scaling, apart=self.missing == "keep")

    def aggregate(self, table: Table, partitions: Sequence[NDArray[np.int32]]) -> Table:
        """The table with every group of columns shared within its own groups of records.

        Parameters
        ----------
        table : Table
            The original of the groups.
        partitions : sequence of int32[n]
            For each group of columns the group of every kept record.

        Returns
        -------
        Table
        """
        groups = self.attribute_groups(table)
        self.check(table, [name for group in groups for name in group])
        for group, labels in zip(groups, partitions, strict=True):
            table = self.share_values(table, group, labels)
        return table

    @classmethod
    def list_strengths(cls, table: Table, columns: Sequence[str]) -> Iterator[Self]:
        # k = 2, 3, …; each column alone, a pair and the rest, all together; by the median where all have one, mode.
        names = tuple(columns)
        alone: tuple[tuple[str, ...], ...] = tuple((name,) for name in names)
        groupings = dict.fromkeys([alone, (names[:2], names[2:]) if len(names) > 2 else alone, (names,)])
        ordered = all(table.attribute(name).kind is not Kind.NOMINAL for name in names)
        middle: Literal["median", "mean"] = "median" if ordered else "mean"
        for k in range(2, len(table) + 1) if names else ():
            for groups in groupings:
                yield cls(k=k, groups=groups, numbers=middle)
                yield cls(k=k, groups=groups, numbers="mode", categories="mode")

    def share_values(self, table: Table, names: tuple[str, ...], labels: NDArray[np.int32]) -> Table:
        """Replace the values of some columns within given groups of records.

        labels  group of each record that is kept, in order

        Parameters
        ----------
        table : Table
            The original of the values.
        names : tuple of str
            Columns that take one value in each group.
        labels : int32[n]
            Group of every kept record.

        Returns
        -------
        Table
        """
        return publish_groups(table, names, labels, self.representatives, self.missing == "aggregate")

    @property
    def representatives(self) -> Representatives:
        """What numbers and what categories of a group become."""
        return Representatives(Representative(self.numbers), Representative(self.categories))

    def check(self, table: Table, names: Iterable[str]) -> None:
        """Refuse columns that cannot be microaggregated with these settings.

        Parameters
        ----------
        table : Table
            Has the columns.
        names : iterable of str
            Columns that would share values.
        """
        names = list(names)
        for name in names:
            self._check(table, name)
            lead = table.attribute(name).linked
            if lead in names:
                follow_linked_lead(table, name, lead)
        obstacle = scaling_lock_obstacle(table, names, self.k)
        if obstacle:
            raise TableError(obstacle)

    def _check(self, table: Table, name: str) -> None:
        attribute, column = table.attribute(name), table.column(name)
        if table.level(name) != 0:
            raise TableError(
                f"column {name!r} is already generalised and microaggregation needs values as collected; "
                f"mask before generalising, or leave the column out"
            )
        refuse_representative(attribute, self.representatives.of(attribute))
        absent = int((table.missing(name) & table.kept).sum())
        if absent and self.missing == "refuse":
            raise TableError(
                f"column {name!r} has {absent} missing value{'s' if absent > 1 else ''} and microaggregation is set "
                f"to refuse them; fill them in, leave the column out, or set missing = 'keep'"
            )
        if attribute.numeric and np.isinf(column[table.kept]).any():
            raise TableError(
                f"column {name!r} has {int(np.isinf(column[table.kept]).sum())} infinite value(s), which have no "
                f"distance; correct them or leave the column out"
            )


def explain_impossible_microaggregation(names: Sequence[str], none: str, other: str) -> str:
    """Why microaggregation cannot mask one column or none as a grouping, and what to do instead."""
    found = f"only {names[0]!r} is" if names else none
    return (
        f"{found} there to be grouped and a grouping needs at least two columns; give more columns the role "
        f"'quasi'{other}"
    )
