"""What a group of records publishes in a column: one value or one node of the hierarchy that stands for all of them.

A group in which a value is missing publishes none (decision 0005), unless missing values are filled in. Representatives
draw nothing: the same groups publish the same values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.representatives import Flow, GroupChoices, keep_marginals
from crypsis.masking.calibration import (
    GivenUp,
    Labels,
    Present,
    Values,
    bind,
    calibrate,
    calibration_means,
    calibration_medians,
    calibration_modes,
)
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.links import follow_linked_lead
from crypsis.table.table import LOCAL, Column, Table

BLOCK = 2000
"""Groups that are given their categories together; more are cut into blocks, each of which keeps its own records'
distribution, so that the time grows as the table does."""


def choose_marginals(codes: Values, labels: Labels, groups: int, count: int, ordered: bool) -> tuple[Values, Present]:
    """A category for every group, one that some of its records hold, so that categories keep their records.

    `codes` int32[n]; `labels` int[n]; `ordered`: whether a category costs its distance in ranks; otherwise any other
    one costs the same; returns int32[groups]; returns bool[groups].
    """
    chosen, filled = np.zeros(groups, dtype=np.int32), np.bincount(labels, minlength=groups) > 0
    order = np.argsort(labels, kind="stable")
    there = np.flatnonzero(filled)
    bounds = np.searchsorted(labels[order], there)
    for first in range(0, len(there), BLOCK):
        block = there[first : first + BLOCK]
        end = bounds[first + BLOCK] if first + BLOCK < len(there) else len(order)
        rows = order[bounds[first] : end]
        renumbered = np.searchsorted(block, labels[rows])
        chosen[block] = _assign_categories(codes[rows], renumbered, len(block), count, ordered)
    return chosen, filled


def _assign_categories(codes: Values, labels: Labels, groups: int, count: int, ordered: bool) -> Values:
    """The categories of the groups of one block, each of which has records."""
    pairs = equivalence_classes(np.stack([labels, codes], axis=1))
    group, category = labels[pairs.first].astype(np.int64), codes[pairs.first].astype(np.int64)
    order = np.lexsort((category, group))
    group, category, held = group[order], category[order], pairs.sizes[order].astype(np.float64)
    starts = np.searchsorted(group, np.arange(groups + 1))
    size = np.bincount(labels, minlength=groups).astype(np.float64)
    cost = _rank_costs(starts, category, held, count) if ordered else size[group] - held
    # The cheapest choice of each group, the first where several are.
    by_cost = np.lexsort((category, cost, group))
    taken = by_cost[starts[:-1]]
    surplus = np.bincount(category[taken], weights=size, minlength=count).astype(np.float64)
    surplus -= np.bincount(codes, minlength=count)
    flow = Flow(
        np.empty((count, count)), np.empty((count, count), np.int64), np.empty(count), np.empty(count, np.int64),
        np.empty(count, np.bool_),
    )  # fmt: skip
    keep_marginals(GroupChoices(starts, category, cost, size), group, taken, surplus, flow)
    return category[taken].astype(np.int32)


def _rank_costs(starts: Values, category: Values, held: Values, count: int) -> Values:
    """What a group loses by each of its categories: the ranks its records move, over the number of steps."""
    cost = np.empty(len(category))
    for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        own = category[first:end]
        cost[first:end] = np.abs(own[:, None] - own[None, :]) @ held[first:end]
    return cost / max(count - 1, 1)


# -- What a group of records publishes in a column: one value or one node of the hierarchy that stands for all of
#    them.
#
# A group in which a value is missing publishes none (decision 0005), unless missing values are filled in.
# Representatives draw nothing: the same groups publish the same values.

BEYOND = -2
"""Code of a lead that is published as a node above its values."""


class Representative(StrEnum):
    """How one value of a group of records is chosen.

    >>> Representative("common-ancestor").truthful
    True
    """

    MEAN = "mean"
    """The arithmetic mean of numbers."""
    MEDIAN = "median"
    """The middle number, the mean where only one person has it; of ordered categories the lower middle one."""
    SPREAD = "spread"
    """The mean, moved away from the mean of the column so that the variance of the column is kept."""
    MODE = "mode"
    """The most frequent value, the first in order where several are; the mean where it is one person's amount."""
    TYPICAL = "typical"
    """The lower median of ordered categories, the mode of unordered ones."""
    COMMON_ANCESTOR = "common-ancestor"
    """The lowest node of the hierarchy that holds all values of the group; nothing where there is none."""
    UNANIMOUS = "unanimous"
    """The value that all share; nothing where they differ."""
    MARGINAL = "marginal"
    """A value that the group holds, chosen over all groups so that the column keeps its distribution."""
    CHEAPEST = "cheapest"
    """Group by group the common ancestor or the most frequent value, whichever loses less; else the ancestor."""
    CALIBRATED = "calibrated"
    """Chosen over all groups and columns so that the file keeps its distributions and moments."""

    @property
    def truthful(self) -> bool:
        """Whether what is published is true of every record."""
        return self in (Representative.COMMON_ANCESTOR, Representative.UNANIMOUS)

    @property
    def ancestral(self) -> bool:
        """Whether nodes of a hierarchy are published where the column has one."""
        return self in (Representative.COMMON_ANCESTOR, Representative.CHEAPEST)


NUMBERS = (
    Representative.MEAN, Representative.MEDIAN, Representative.MODE, Representative.SPREAD,
    Representative.COMMON_ANCESTOR, Representative.UNANIMOUS, Representative.CALIBRATED,
)  # fmt: skip
"""What numbers of a group may become."""
CATEGORIES = (
    Representative.TYPICAL, Representative.MEDIAN, Representative.MODE, Representative.COMMON_ANCESTOR,
    Representative.UNANIMOUS, Representative.MARGINAL, Representative.CHEAPEST, Representative.CALIBRATED,
)  # fmt: skip
"""What categories of a group may become."""


@dataclass(frozen=True)
class Representatives:
    """What numbers and what categories of a group become.

    >>> Representatives.of_code(Representatives(categories=Representative.MARGINAL).code).categories
    <Representative.MARGINAL: 'marginal'>
    """

    numbers: Representative = Representative.MEAN
    categories: Representative = Representative.TYPICAL

    @property
    def code(self) -> int:
        """A number for a genome; 0 for mean and typical value."""
        return NUMBERS.index(self.numbers) * len(CATEGORIES) + CATEGORIES.index(self.categories)

    @classmethod
    def of_code(cls, code: int) -> Representatives:
        """The representatives of a number."""
        numbers, categories = divmod(code, len(CATEGORIES))
        return cls(NUMBERS[numbers], CATEGORIES[categories])

    def of(self, attribute: Attribute) -> Representative:
        """The representative for a column."""
        return self.numbers if attribute.numeric else self.categories


class Represented(NamedTuple):
    """A published column and its level: 0, or `LOCAL` where it holds nodes of the hierarchy."""

    column: Column
    level: int


def represent_column(
    table: Table, name: str, labels: NDArray[np.int32], representative: Representative, filling: bool = False
) -> Represented:
    """The column in which every group of records publishes its representative.

    `labels` int32[kept records]: the group of every kept record: 0, 1, … without gaps.

    >>> table = Table.from_columns({"town": ["x", "x", "y", "y", "x", "y"]}, {"town": "quasi"})
    >>> groups = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    >>> represent_column(table, "town", groups, Representative.MARGINAL).column.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    attribute, column, rows = table.attribute(name), table.column(name), np.flatnonzero(table.kept)
    refuse_representative(attribute, representative)
    if representative is Representative.CALIBRATED:
        return Represented(calibrate(table, [name], labels, filling)[name], 0)
    nodes = representative.ancestral and attribute.hierarchy is not None
    values = table.leaf_codes(name)[rows] if nodes else column[rows]
    numbers = attribute.numeric and not nodes
    present = ~np.isnan(values) if numbers else values != MISSING
    groups = int(labels.max(initial=-1)) + 1
    counts = np.zeros(0, np.int64)
    if nodes and representative is Representative.CHEAPEST:
        leaves = table.leaf_codes(name)
        assert attribute.hierarchy is not None
        counts = np.bincount(leaves[leaves >= 0], minlength=attribute.hierarchy.size)
    shared, filled = _choose_values(attribute, values[present], labels[present], groups, representative, counts)
    if numbers and representative in (Representative.MEDIAN, Representative.MODE):
        shared = _replace_single_amounts(shared, column, values[present], labels[present], groups)
    if attribute.dates and numbers:
        shared = np.rint(shared)  # a date is a whole number of days or seconds
    if not filling:
        filled[labels[~present]] = False
    shared[~filled] = np.nan if numbers else MISSING
    published = np.full(len(column), MISSING, dtype=np.int32) if nodes else column.copy()
    published[rows] = shared[labels]
    return Represented(published, LOCAL if nodes else 0)


def refuse_representative(attribute: Attribute, representative: Representative) -> None:
    """Refuse a representative that a column does not have."""
    known = NUMBERS if attribute.numeric else CATEGORIES
    if representative not in known or (representative is Representative.MEDIAN and attribute.kind is Kind.NOMINAL):
        instead = "numbers = 'mean'" if attribute.numeric else "categories = 'typical'"
        raise TableError(
            f"column {attribute.name!r} is {attribute.kind} and has no {representative}; use {instead}, or leave the "
            f"column out"
        )


def _choose_values(
    attribute: Attribute, values: Values, labels: Labels, groups: int, representative: Representative, counts: Values
) -> tuple[Values, Present]:
    """One value per group from the values that are present, and whether the group has one.

    `counts` int[leaves].
    """
    ordered = attribute.kind is Kind.ORDINAL
    bare = attribute.hierarchy is None
    if representative is Representative.TYPICAL:
        representative = Representative.MEDIAN if ordered else Representative.MODE
    if bare and representative is Representative.CHEAPEST:
        representative = Representative.MODE
    if representative is Representative.MEAN:
        return calibration_means(values, labels, groups)
    if representative is Representative.SPREAD:
        return _spread_means(values, labels, groups)
    if representative is Representative.MEDIAN:
        return calibration_medians(values, labels, groups, lower=not attribute.numeric)
    if representative is Representative.MODE:
        return calibration_modes(values, labels, groups)
    if representative is Representative.MARGINAL:
        return choose_marginals(values, labels, groups, len(attribute.categories), ordered)
    if attribute.hierarchy is None or representative is Representative.UNANIMOUS:
        # Without a hierarchy the only common ancestor of different values is "anything", which is published as nothing.
        shared, filled = calibration_modes(values, labels, groups)
        return shared, filled & _unanimous(values, labels, groups)
    nodes, found = choose_representative_nodes(attribute.hierarchy, values, labels, groups)
    if representative is Representative.CHEAPEST:
        return _cheapest(attribute.hierarchy, counts, values, labels, nodes, found)
    return nodes, found


def _spread_means(values: Values, labels: Labels, groups: int) -> tuple[Values, Present]:
    """Means of the groups, drawn away from the mean of all by the factor that restores the variance.

    They stay within the range of the values; where that cuts, and where all groups have one mean, less than the whole
    variance is kept.
    """
    shared, filled = calibration_means(values, labels, groups)
    if not len(values):
        return shared, filled
    centre = float(values.mean())
    between = float(np.mean((shared[labels] - centre) ** 2))
    if between <= 0:
        return shared, filled
    stretched = centre + np.sqrt(float(np.mean((values - centre) ** 2)) / between) * (shared - centre)
    return np.where(filled, np.clip(stretched, values.min(), values.max()), shared), filled


def _unanimous(codes: Values, labels: Labels, groups: int) -> Present:
    """Whether all values of a group are equal; so they are in a group without any."""
    first = np.full(groups, MISSING, dtype=codes.dtype)
    first[labels[::-1]] = codes[::-1]
    torn = np.zeros(groups, dtype=np.bool_)
    torn[labels[codes != first[labels]]] = True
    return ~torn


def choose_representative_nodes(
    hierarchy: Hierarchy, leaves: Values, labels: Labels, groups: int
) -> tuple[Values, Present]:
    """The lowest node of a hierarchy that a masked group can publish as its representative, if any.

    `leaves` int32[n]; `labels` int[n]; returns int32[groups]; returns bool[groups].
    """
    nodes, found = np.full(groups, MISSING, dtype=np.int32), np.zeros(groups, dtype=np.bool_)
    held = np.bincount(labels, minlength=groups) > 0
    for level in range(hierarchy.height + 1):
        lifted = hierarchy.groups[level][leaves]
        at = np.zeros(groups, dtype=np.int32)
        at[labels] = lifted
        here = held & ~found & _unanimous(lifted, labels, groups)
        nodes[here] = at[here] + hierarchy.offsets[level]
        found |= here
    return nodes, found


def _cheapest(
    hierarchy: Hierarchy, counts: Values, leaves: Values, labels: Labels, nodes: Values, found: Present
) -> tuple[Values, Present]:
    """The common ancestor, or the leaf of the most frequent value where that is wrong for fewer records.

    `counts` int[leaves].
    """
    groups = len(nodes)
    typical, held = calibration_modes(leaves, labels, groups)
    sums = [np.bincount(level, counts, int(level.max(initial=-1)) + 1) for level in hierarchy.groups]
    covered = np.concatenate(sums)[np.maximum(nodes, 0)]
    guessed = np.where(found[labels], 1.0 - counts[leaves] / np.maximum(covered, 1)[labels], np.inf)
    drawn = np.bincount(labels, weights=guessed, minlength=groups)
    true = found & (drawn <= np.bincount(labels, weights=leaves != typical[labels], minlength=groups))
    return np.where(true, nodes, typical).astype(np.int32), held


def publish_groups(
    table: Table, names: Sequence[str], labels: NDArray[np.int32], chosen: Representatives, filling: bool = False
) -> Table:
    """The table in which groups of records share their representatives in some columns.

    `labels` int32[kept records].
    """
    return published_by_column(table, {name: chosen.of(table.attribute(name)) for name in names}, labels, filling)


def published_by_column(
    table: Table,
    ways: Mapping[str, Representative],
    labels: NDArray[np.int32],
    filling: bool = False,
    onto: Table | None = None,
) -> Table:
    """As `publish_groups`, each column in a way of its own.

    `labels` int32[kept records].
    """
    open_ = [name for name in ways if not table.attribute(name).locked]
    together = [name for name in open_ if ways[name] is Representative.CALIBRATED]
    free = _calibrated_columns(table, ways)
    joint = calibrate(table, free, labels, filling, onto)
    found = {name: Represented(joint[name], 0) for name in free}
    # What follows another column is led below; its own value stands where the lead has none.
    own = {
        name: Representative.TYPICAL if not table.attribute(name).numeric else Representative.MEAN for name in together
    }
    for name in open_:
        if name not in found:
            found[name] = represent_column(table, name, labels, own.get(name, ways[name]), filling)
    for name in open_:
        lead = table.attribute(name).linked
        if lead in found:
            found[name] = _follow_lead(table, name, labels, found, filling)
    columns = {name: each.column for name, each in found.items()}
    return (onto or table).with_columns(columns, {name: each.level for name, each in found.items()})


def _calibrated_columns(table: Table, ways: Mapping[str, Representative]) -> list[str]:
    """The columns that are calibrated: neither locked nor led by another one."""
    names = (
        name for name, way in ways.items() if way is Representative.CALIBRATED and not table.attribute(name).locked
    )
    return [name for name in names if table.attribute(name).linked not in ways]


def moments_representatives_lose(table: Table, ways: Mapping[str, Representative], groups: int) -> GivenUp | None:
    """Moments that calibrated representatives, which so many groups publish in place of values, lose."""
    names = _calibrated_columns(table, ways)
    return bind(table, tuple(names)).given_up(groups) if names else None


def _follow_lead(
    table: Table, name: str, labels: NDArray[np.int32], found: Mapping[str, Represented], filling: bool
) -> Represented:
    """The column with the values that go with those of its lead; its own representative where the lead is a node.

    A node of the lead holds all values of the group, and so does what stands for them here: neither is contradicted.
    """
    attribute, lead = table.attribute(name), table.attribute(name).linked
    record = follow_linked_lead(table, name, lead)
    own, leading = found[name], found[lead]
    category = leading.column
    if leading.level == LOCAL:
        hierarchy = table.attribute(lead).hierarchy
        assert hierarchy is not None
        place = {label: code for code, label in enumerate(table.attribute(lead).categories)}
        category = np.full(hierarchy.offsets[-1] + 1, BEYOND, dtype=np.int32)
        category[: hierarchy.size] = [place.get(label, BEYOND) for label in hierarchy.labels[0]]
        category[-1] = MISSING
        category = category[leading.column]
    values = table.leaf_codes(name) if own.level == LOCAL else table.column(name)
    nothing = np.nan if attribute.numeric else MISSING
    single = category >= 0
    row = np.where(single, record[np.maximum(category, 0)], -1)
    follows = np.where(row >= 0, values[np.maximum(row, 0)], nothing)
    column = np.where(single, follows, np.where(category == MISSING, nothing, own.column))
    if not filling:
        absent = table.missing(name)[table.kept]
        lacking = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.bool_)
        lacking[labels[absent]] = True
        column[np.flatnonzero(table.kept)[lacking[labels]]] = nothing
    return Represented(np.where(table.kept, column, own.column).astype(own.column.dtype), own.level)


def middle_representatives(values: NDArray[Any], labels: NDArray[np.int32]) -> NDArray[Any]:
    """The middle value that stands for the group of each record; the value of most of a group, where most agree.

    `labels` int32[n].

    >>> middle_representatives(np.array([3, 9, 3, 4, 4]), np.array([0, 0, 0, 1, 1], dtype=np.int32)).tolist()
    [3, 3, 3, 4, 4]
    """
    order = np.lexsort((values, labels))
    sizes = np.bincount(labels)
    places = np.cumsum(sizes) - sizes + sizes // 2
    return np.asarray(values[order[np.minimum(places, len(values) - 1)]][labels])


def _replace_single_amounts(chosen: Values, collected: Values, values: Values, labels: Labels, groups: int) -> Values:
    """One number per group, the mean of the group in place of an amount that exactly one person has.

    `chosen` float64[groups]; `collected` float64[records].
    """
    amounts, people = np.unique(collected[~np.isnan(collected)], return_counts=True)
    return np.where(np.isin(chosen, amounts[people == 1]), calibration_means(values, labels, groups)[0], chosen)
