"""What every equivalence class must hold, as arrays, so that a search can ask of any set of records: would it pass?

Every model whose verdict depends on the contents of each class alone offers this form beside `judge`. A union of
classes that pass passes as well, under every kind: a search that forms groups of records need not know which of them
will publish equal values, nor whether a model looks at fewer columns than the groups agree on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError, listing, unknown_column
from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.classes import (
    PRESENCE,
    ContentDemands,
    ContentRoom,
    group_shortfall,
    group_shortfalls,
    make_class_content_room,
)
from crypsis.privacy.model import Assumption, ContentDemand, PrivacyModel, models
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses, classes_of
from crypsis.table.hierarchy import MISSING
from crypsis.table.lookalikes import folded_codes
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class ClassDemands:
    """Demands on the contents of classes of the kept records of a table."""

    arrays: ContentDemands  # the demands for kernels; a record is its position among the kept ones
    least: int  # no smaller class can pass
    judged: tuple[PrivacyModel, ...]  # models that are expressed by the arrays
    rest: tuple[PrivacyModel, ...]  # models that only a whole table can be judged by

    @property
    def only_size(self) -> bool:
        """Whether classes of `least` records always pass."""
        return not len(self.arrays.code)

    def room(self) -> ContentRoom:
        """Buffers for kernels; one set for each call, since threads judge at the same time."""
        return make_class_content_room(self.arrays)

    def shortfall(self, members: Ints) -> float:
        """How far one class falls short.

        `members` int64[s].
        """
        return float(group_shortfall(self.arrays, self.room(), np.ascontiguousarray(members, np.int64), len(members)))

    def shortfalls(self, labels: NDArray[np.integer]) -> Floats:
        """How far each of many classes falls short.

        `labels` int[kept]; returns float64[classes].
        """
        order = np.argsort(labels, kind="stable")
        start = np.searchsorted(labels[order], np.arange(int(labels.max(initial=-1)) + 2))
        out = np.zeros(len(start) - 1)
        group_shortfalls(self.arrays, self.room(), order.astype(np.int64), start.astype(np.int64), out)
        return out


def class_demands(models: Sequence[PrivacyModel], table: Table, columns: Sequence[str]) -> ClassDemands:
    """The demands of models on classes of records that publish equal values in some columns.

    >>> people = Table.from_columns(
    ...     {"town": ["a", "a", "b", "b"], "ill": ["x", "x", "x", "y"]}, {"town": "quasi", "ill": "confidential"})
    >>> from crypsis.privacy.diversity import LDiversity
    >>> demands = class_demands([LDiversity(l=2)], people, ["town"])
    >>> demands.shortfalls(np.array([0, 0, 1, 1])).tolist()
    [0.5, 0.0]
    """
    judged, rest, parts = list[PrivacyModel](), list[PrivacyModel](), list[ContentDemand]()
    for model in models:
        found = model.content_demands(table) if set(model.known_columns(table)) <= set(columns) else ()
        (judged if found else rest).append(model)
        parts += found
    least = max((model.least_class_size for model in models), default=1)
    return ClassDemands(_arrays(parts, table.kept), least, tuple(judged), tuple(rest))


def _arrays(parts: Sequence[ContentDemand], kept: NDArray[np.bool_]) -> ContentDemands:
    """All demands side by side, those on one column together."""
    read = list(dict.fromkeys(part.column for part in parts if part.column))
    by_column = {part.column: part for part in parts}
    ordered = [part for part in parts if not part.column]
    ordered += [part for name in read for part in parts if part.column == name]
    ranked = [_rank(by_column[name], kept) for name in read]
    first = np.cumsum([0, *(count for _, count in ranked)])
    values, code = int(first[-1]), np.full((len(read), int(kept.sum())), -1, dtype=np.int32)
    overall = np.zeros((3, values))
    for c, (ranks, count) in enumerate(ranked):
        code[c] = np.where(ranks >= 0, ranks + first[c], -1)
        share = np.bincount(ranks[ranks >= 0], minlength=count) / max(int((ranks >= 0).sum()), 1)
        overall[:, first[c] : first[c + 1]] = share, np.cumsum(share), np.cumsum(np.cumsum(share))
    trees = [
        next((part.tree[:, kept] for part in parts if part.column == name and part.tree is not None), None)
        for name in read
    ]
    height = np.array([0 if tree is None else len(tree) for tree in trees], dtype=np.int64)
    up = np.zeros((int(height.max(initial=0)), values), dtype=np.int32)
    mass = np.zeros((len(up) + 1, values))
    for c, tree in enumerate(trees):
        mass[0, first[c] : first[c + 1]] = overall[0, first[c] : first[c + 1]]
        if tree is not None:
            _grow(up, mass, tree, ranked[c][0], int(first[c]))
    return ContentDemands(
        code=code,
        column=np.array([read.index(part.column) if part.column else 0 for part in ordered], dtype=np.int64),
        kind=np.array([part.kind for part in ordered], dtype=np.int64),
        bound=np.array([part.bound for part in ordered], dtype=np.float64).reshape(-1, 3),
        first=first.astype(np.int64),
        overall=overall,
        up=up,
        mass=mass,
        height=height,
    )


def _rank(part: ContentDemand, kept: NDArray[np.bool_]) -> tuple[Ints, int]:
    """Codes replaced by their rank among those that occur; −1 where missing; and how many occur."""
    if part.kind == PRESENCE:  # 0 and 1, of which one may not occur
        return part.codes[kept].astype(np.int64), 2
    held, ranks = np.unique(part.codes[kept], return_inverse=True)
    absent = int(len(held) > 0 and held[0] < 0)
    return ranks.astype(np.int64) - absent, len(held) - absent


def _grow(up: NDArray[np.int32], mass: Floats, tree: NDArray[np.int32], ranks: Ints, first: int) -> None:
    """Write the groups of one column's hierarchy, numbered from `first` at every level."""
    present = ranks >= 0
    below = ranks[present]
    for level, groups in enumerate(tree):
        held, here = np.unique(groups[present], return_inverse=True)
        up[level, first + below] = first + here
        mass[level + 1, first : first + len(held)] = np.bincount(here, minlength=len(held)) / max(len(here), 1)
        below = here


# -- Models about what a class gives away: the worst confidential column decides.


class ConfidentialModel(PrivacyModel):
    """A model that looks at the confidential values of every equivalence class.

    Values that only look different (`crypsis.table.lookalikes`) are one value. A missing value is none: shares are
    taken among the records that have one. A class in which nobody has a value has none to count and none to give away.
    """

    assumptions: ClassVar[tuple[Assumption, ...]] = (*PrivacyModel.assumptions, Assumption.CONFIDENTIAL_UNKNOWN)

    confidential: tuple[str, ...] = Field(
        default=(), description="columns not to be learnt; empty means every confidential one, the worst counts"
    )

    @abstractmethod
    def class_levels(self, table: Table, column: str, classes: EquivalenceClasses, contents: ClassContents) -> Floats:
        """float64[classes]: the property of each class under one confidential column.

        Parameters
        ----------
        table : Table
            The judged table.
        column : str
            The confidential column.
        classes : EquivalenceClasses
            Classes of equal quasi-identifiers.
        contents : ClassContents
            How often each value of the column occurs in each class.

        Returns
        -------
        ndarray of float64
            One number per class.
        """

    def hidden(self, table: Table) -> tuple[str, ...]:
        """The columns that must not be learnt: those named, or all with that role.

        Parameters
        ----------
        table : Table
            A table; its confidential columns are taken unless some are named.

        Returns
        -------
        tuple of str
        """
        return self.confidential or tuple(table.confidential)

    def hidden_in_words(self) -> str:
        """The columns that must not be learnt, for `statement`: each that is named, or each confidential one."""
        return f"each of {self._named()}" if len(self.confidential) > 1 else self._named() or "each confidential column"

    def value_in_words(self) -> str:
        """One value that must not be learnt, for `statement`."""
        return f"value of {self._named()}" if self.confidential else "confidential value"

    def _named(self) -> str:
        return ", ".join(self.confidential).replace("{", "{{").replace("}", "}}")

    @property
    def least_values(self) -> int:
        """Different confidential values without which no class passes."""
        return 1

    def levels(self, table: Table) -> Floats:
        # The property of each record's class, under the worst confidential column.
        classes = classes_of(table, self.known_columns(table))
        pick = np.minimum if self.sense == "at least" else np.maximum
        found: Floats | None = None
        for column in self.hidden(table):
            here = self._known_levels(table, column, classes)
            found = here if found is None else pick(found, here)
        if found is None:
            raise TableError(self.obstacle(table) or "no confidential column was named")
        return classes.spread_out(found)

    @abstractmethod
    def content_kind(self, table: Table, column: str) -> tuple[int, tuple[float, float, float]]:
        """The kind of the demand on one column and its bounds; see `ContentDemand`."""

    def content_tree(self, table: Table, column: str) -> NDArray[np.int32] | None:
        """int32[levels, n]: groups of the values of a column, where the model looks at its hierarchy."""
        return None

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        return tuple(
            ContentDemand(
                *self.content_kind(table, column),
                column=column,
                codes=folded_codes(table, column),
                tree=self.content_tree(table, column),
            )
            for column in self.hidden(table)
        )

    def _known_levels(self, table: Table, column: str, classes: EquivalenceClasses) -> Floats:
        """The property of each class among its records that have a value; 0 where none has."""
        codes = folded_codes(table, column)
        inside = np.where(codes == MISSING, -1, classes.of)
        held, renumbered = np.unique(inside[inside >= 0], return_inverse=True)
        of = np.full(len(codes), -1, dtype=np.int64)
        of[inside >= 0] = renumbered
        known, levels = EquivalenceClasses(of, len(held)), np.zeros(classes.count)
        if len(held):
            levels[held] = self.class_levels(table, column, known, known.contents(codes))
        return levels

    def obstacle(self, table: Table) -> str:
        name = models.name_of(self)
        unknown = unknown_column((*self.quasi_identifiers, *self.confidential), table.names)
        found = f"{name}: {unknown}" if unknown else super().obstacle(table)
        if found:
            return found
        hidden = self.hidden(table)
        if not hidden:
            return (
                f"{name}: the table has no confidential attribute; give the column to protect the role 'confidential'"
            )
        both = sorted(set(self.known_columns(table)) & set(hidden))
        if both:
            return (
                f"{name}: {listing(map(repr, both))} would be quasi-identifier and confidential at once; give each "
                f"column one of the two"
            )
        return ""
