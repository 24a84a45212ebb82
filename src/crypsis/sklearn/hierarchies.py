"""The hierarchy of a fitted column: it reaches numbers that were not fitted, and says which number an interval is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.sklearn.fitted_rows import codes_within
from crypsis.sklearn.transformer import refuse_another_type
from crypsis.table.attribute import Attribute
from crypsis.table.builders import attach, build_hierarchy
from crypsis.table.encoding import Source
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.number_builders import TOP, interval_centres
from crypsis.table.profile import suggested_builder
from crypsis.table.table import Table

Spec = str | Path | Hierarchy


@dataclass(frozen=True, eq=False)
class ColumnHierarchy:
    """A column with its hierarchy, which has one root; leaves that were not fitted may have been added."""

    attribute: Attribute
    hierarchy: Hierarchy
    spec: Spec
    whole: bool
    """Whether a numeric column was fitted on whole numbers."""
    moved: NDArray[np.int32]
    """Where each fitted leaf is among the leaves."""

    @classmethod
    def of(cls, table: Table, name: str, spec: Spec | None) -> ColumnHierarchy:
        """The hierarchy a specification, or the look of the column, gives it."""
        spec = suggested_builder(table, name) if spec is None else spec
        attribute, _ = attach(spec, table.attribute(name), table.column(name), Source(), ordered=True)
        if attribute.hierarchy is None:
            raise TableError(f"column {name!r} has no hierarchy; give it one in `hierarchies`")
        hierarchy = rooted(attribute.hierarchy)
        whole = bool(np.all(hierarchy.values == np.round(hierarchy.values)))
        places = np.arange(hierarchy.size, dtype=np.int32)
        return cls(attribute.but(hierarchy=hierarchy), hierarchy, spec, whole, places)

    @property
    def builder(self) -> str:
        """Name of the builder, or nothing for a file or a ready hierarchy."""
        return self.spec.partition(":")[0] if isinstance(self.spec, str) else ""

    def reaching(self, table: Table) -> ColumnHierarchy:
        """The same hierarchy with the numbers of a table among its leaves, if its builder can place any number."""
        attribute, before = table.attribute(self.attribute.name), self.hierarchy
        refuse_another_type(self.attribute, attribute)
        if not attribute.numeric or self.builder not in ("intervals", "dates"):
            return self
        values = np.union1d(before.values, table.column(attribute.name))
        if len(values) == before.size:
            return self
        wider = build_hierarchy(self.spec, self.attribute, values)
        moved = codes_within(values, before.values)
        labels = [wider.labels[0]]
        for level in range(1, wider.height + 1):  # an interval keeps the name it had
            group, leaf = np.unique(before.groups[level], return_index=True)
            names = dict(
                zip(wider.groups[level][moved[leaf]], (before.labels[level][code] for code in group), strict=True)
            )
            labels.append(tuple(names.get(code, label) for code, label in enumerate(wider.labels[level])))
        wider = Hierarchy(wider.groups, tuple(labels), values)
        return replace(self, attribute=self.attribute.but(hierarchy=wider), hierarchy=wider, moved=moved)

    def leaves(self, table: Table) -> NDArray[np.int32]:
        """int32[n]: leaf of each record, −1 where the hierarchy does not hold its value."""
        name = self.attribute.name
        if self.attribute.numeric:
            return codes_within(self.hierarchy.values, table.column(name))
        where = {label: code for code, label in enumerate(self.hierarchy.labels[0])}
        places = [*(where.get(label, MISSING) for label in table.attribute(name).categories), MISSING]
        return np.array(places, dtype=np.int32)[table.column(name)]

    @cached_property
    def _lifted(self) -> NDArray[np.int32]:
        """int32[levels, leaves + 1]: node of each leaf at each level; last the root, for what is not held."""
        root = self.hierarchy.offsets[-1] - 1
        rows = [
            np.append(group + start, root) for group, start in zip(self.hierarchy.groups, self._starts, strict=True)
        ]
        return np.stack(rows).astype(np.int32)

    @property
    def _starts(self) -> NDArray[np.int32]:
        """Number of the first node of each level."""
        return self.hierarchy.offsets[:-1]

    def nodes(self, leaf: NDArray[np.int32], level: NDArray[Any]) -> NDArray[np.int32]:
        """Node of each leaf at the level given with it; the root where there is no leaf."""
        lifted: NDArray[np.int32] = self._lifted[level, leaf]
        return lifted

    def level_of(self, nodes: NDArray[np.int32]) -> NDArray[np.int8]:
        """Level of each node."""
        return (np.searchsorted(self._starts, nodes, side="right") - 1).astype(np.int8)

    def common_level(self, leaf: NDArray[np.int32], member: NDArray[np.int32]) -> NDArray[np.int8]:
        """int8[leaves, members]: the lowest level at which a leaf and a member are one; the top without a leaf."""
        leaves, of = np.unique(leaf, return_inverse=True)
        members, at = np.unique(member, return_inverse=True)
        apart = np.zeros((len(leaves), len(members)), dtype=np.int8)
        for level in self._lifted:
            apart += level[leaves][:, None] != level[members]
        return np.minimum(apart, np.int8(self.hierarchy.height))[of][:, at]

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """float64[levels, leaves + 1]: loss of a cell, (fitted leaves of its node − 1) / (all fitted leaves − 1)."""
        held = np.bincount(self._lifted[:, self.moved].ravel(), minlength=int(self.hierarchy.offsets[-1]))
        return np.asarray((held[self._lifted] - 1) / max(len(self.moved) - 1, 1))

    def centres(self) -> NDArray[np.float64]:
        """float64[nodes]: the number that stands for each node of a numeric column, whatever leaves were added."""
        values, groups = self.hierarchy.values, self.hierarchy.groups
        middles = [values]
        if self.builder == "intervals" and isinstance(self.spec, str):
            text = self.spec.partition(":")[2]
            middles += interval_centres(text, self.attribute, values, whole=self.whole)
        middles += [middles[-1]] * (len(groups) - len(middles))
        found = [_midrange(middle, group) for middle, group in zip(middles[:-1], groups[:-1], strict=True)]
        return np.concatenate([*found, _midrange(middles[-1][self.moved], np.zeros_like(self.moved))])


def _midrange(values: NDArray[np.float64], group: NDArray[np.int32]) -> NDArray[np.float64]:
    """Halfway between the lowest and the highest value of each group."""
    low, high = np.full(int(group.max()) + 1, np.inf), np.full(int(group.max()) + 1, -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return np.asarray(low + (high - low) / 2)


def rooted(hierarchy: Hierarchy) -> Hierarchy:
    """The hierarchy, with a level more where its highest has several groups."""
    if len(hierarchy.labels[-1]) == 1:
        return hierarchy
    top = np.zeros(hierarchy.size, dtype=np.int32)
    return Hierarchy((*hierarchy.groups, top), (*hierarchy.labels, (TOP,)), hierarchy.values)
