"""Top coding, bottom coding and global recoding: fewer, coarser values.

Hundepool et al., Handbook on Statistical Disclosure Control; parameters as in the masking paper (2012).
Missing values stay missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import listing
from crypsis.masking.method import Family, MaskingMethod, chosen_columns, methods
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.hierarchy import MISSING, Hierarchy, list_hierarchy_group
from crypsis.table.table import Column, Table


class EndCoding(MaskingMethod):
    """What top and bottom coding share: one end of the order is folded onto its innermost value."""

    family: ClassVar[Family] = Family.RECODING
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC, Kind.ORDINAL})
    end: ClassVar[Literal["top", "bottom"]]

    depth: int = Field(default=1, ge=1, description="ordinal columns: the depth + 1 outermost categories become one")
    share: float = Field(
        default=0.0, ge=0, le=1, description="ordinal columns: so large a part of each column's categories; 0: by depth"
    )
    percent: float = Field(
        default=5.0, gt=0, lt=100, description="numeric columns: share of values folded onto the cut"
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        reason = f"{self.end} coding needs an order; declare the column ordinal or choose global recoding"
        names = chosen_columns(table, self.columns, self.kinds, f"{self.end} coding", reason)
        return table.with_columns({name: self._fold(table, name) for name in names})

    def describe_step(self) -> str:
        # the exact share would tell of how many records the end was
        highest = "highest" if self.end == "top" else "lowest"
        return f"the {highest} values{f' of {listing(self.columns)}' if self.columns else ''} become one"

    @classmethod
    def list_strengths(cls, table: Table, columns: Sequence[str]) -> Iterator[Self]:
        # Depth by depth until all categories of the longest order are one.
        names = cls.treatable(table, columns)
        yield from (cls(columns=names, depth=depth) for depth in range(1, _most_categories(table, names)))

    def _fold(self, table: Table, name: str) -> Column:
        column = table.column(name)
        if table.holds_numbers(name):
            if np.isnan(column).all():
                return column
            if self.end == "top":
                cut = float(np.nanpercentile(column, 100 - self.percent, method="lower"))
                return np.asarray(np.minimum(column, cut))
            cut = float(np.nanpercentile(column, self.percent, method="higher"))
            return np.asarray(np.maximum(column, cut))
        size = len(table.attribute(name).categories)
        depth = min(_folds(self.depth, self.share, size), size - 1)
        if self.end == "top":
            return np.asarray(np.minimum(column, size - 1 - depth))
        return np.where(column == MISSING, MISSING, np.maximum(column, depth))


@methods.add("top-coding")
class TopCoding(EndCoding):
    """The highest categories become the lowest of them; the highest numbers become the cut.

    Notes
    -----
    - Formula: x' = min(x, cut)
    - Paper: Hundepool et al., Handbook on Statistical Disclosure Control; parameters of Marés and Torra (2012)
    - Cost: O(n) per column
    - Departures: none

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [20, 30, 40, 50, 90]}, roles={"age": "quasi"})
    >>> crypsis.TopCoding(percent=20).mask(table, np.random.default_rng(0)).column("age").tolist()
    [20.0, 30.0, 40.0, 50.0, 50.0]
    """

    end: ClassVar[Literal["top", "bottom"]] = "top"


@methods.add("bottom-coding")
class BottomCoding(EndCoding):
    """The lowest categories become the highest of them; the lowest numbers become the cut.

    Notes
    -----
    - Formula: x' = max(x, cut): the `depth` lowest categories become the next one, numbers below the cut the cut
    - Paper: Hundepool et al., Handbook on Statistical Disclosure Control; parameters of Marés and Torra (2012)
    - Cost: O(n) per column
    - Departures: none

    Examples
    --------
    >>> original, _ = crypsis.example_pair("numbers")
    >>> masked = crypsis.BottomCoding(percent=20).mask(original, np.random.default_rng(0))
    >>> masked.column("x").tolist()
    [2.0, 2.0, 3.0, 4.0, 5.0]
    """

    end: ClassVar[Literal["top", "bottom"]] = "bottom"


@methods.add("global-recoding")
class GlobalRecoding(MaskingMethod):
    """depth + 1 categories become one: the rarest of a nominal column, the rarest neighbours of an ordinal one.

    `merged` publishes a new label that names the members, which stays true; those that fewer than three records hold
    are only called "other". `representative` publishes the
    most frequent member for nominal and the middle one for ordinal columns, so that the list of categories stays.

    Notes
    -----
    - Formula: the depth + 1 rarest categories (ordinal: the rarest run of neighbours) become one
    - Paper: Hundepool et al., Handbook on Statistical Disclosure Control; parameters of Marés and Torra (2012)
    - Cost: O(n) per column
    - Departures: the label names its members by default; `representative` keeps the list of categories, as the
      paper's measures need

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"job": ["nurse", "nurse", "cook", "baker"]}, roles={"job": "quasi"})
    >>> crypsis.GlobalRecoding(depth=1).mask(table, np.random.default_rng(0)).labels("job")
    ('other', 'nurse')
    """

    family: ClassVar[Family] = Family.RECODING
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.ORDINAL, Kind.NOMINAL})

    depth: int = Field(default=1, ge=1, description="depth + 1 categories are merged into one")
    share: float = Field(
        default=0.0, ge=0, le=1, description="merge so large a part of each column's categories instead; 0: by depth"
    )
    label: Literal["merged", "representative"] = Field(
        default="merged", description="publish a new label, or an existing category that stands for the group"
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        reason = "global recoding merges categories; give numbers a hierarchy and generalise them"
        names = chosen_columns(table, self.columns, self.kinds, "global recoding", reason)
        for name in names:
            table = self._merge(table, name)
        return table

    @classmethod
    def list_strengths(cls, table: Table, columns: Sequence[str]) -> Iterator[Self]:
        # Depth by depth; an existing category stands for the merged ones.
        names = cls.treatable(table, columns)
        for depth in range(1, _most_categories(table, names)):
            yield cls(columns=names, depth=depth, label="representative")

    def _merge(self, table: Table, name: str) -> Table:
        attribute, codes = table.attribute(name), table.column(name)
        size = len(attribute.categories)
        counts = np.bincount(codes[codes != MISSING], minlength=size)
        members = self._members(attribute, counts)
        if len(members) < 2:
            return table
        if self.label == "merged":
            hierarchy = _two_levels(attribute, members, counts)
            lifted = hierarchy.lift(codes, 1)
            changed = attribute.but(hierarchy=hierarchy)
            return table.with_columns({name: lifted}, levels={name: 1}, attributes={name: changed})
        stands_for = (
            members[(len(members) - 1) // 2]
            if attribute.kind is Kind.ORDINAL
            else max(members, key=lambda c: counts[c])
        )
        return table.with_columns({name: np.where(np.isin(codes, members), stands_for, codes)})

    def _members(self, attribute: Attribute, counts: NDArray[np.int64]) -> list[int]:
        size = len(counts)
        width = min(_folds(self.depth, self.share, size) + 1, size)
        if attribute.kind is Kind.NOMINAL:
            return sorted(np.argsort(counts, kind="stable")[:width].tolist())
        totals = np.convolve(counts, np.ones(width, dtype=np.int64), mode="valid")
        first = int(np.argmin(totals))
        return list(range(first, first + width))


def _folds(depth: int, share: float, size: int) -> int:
    """How many categories disappear: `depth`, or by a share of them all, where two at least become one."""
    return max(2, round(share * size)) - 1 if share else depth


def _most_categories(table: Table, names: Sequence[str]) -> int:
    return max((len(table.attribute(name).categories) for name in names), default=0)


def _two_levels(attribute: Attribute, members: list[int], counts: NDArray[np.int64]) -> Hierarchy:
    """The categories, and the same with the members under one label."""
    labels, inside = [attribute.categories[code] for code in members], set(members)
    together = list_hierarchy_group(labels, [int(counts[code]) for code in members], attribute.categories)
    upper: dict[str, int] = {}
    groups = []
    for code, label in enumerate(attribute.categories):
        groups.append(upper.setdefault(together if code in inside else label, len(upper)))
    identity = np.arange(len(attribute.categories), dtype=np.int32)
    return Hierarchy((identity, np.array(groups, dtype=np.int32)), (attribute.categories, tuple(upper)))


def code_within_domain(domain: NDArray[Any], column: NDArray[Any]) -> NDArray[np.int32]:
    """Global recoding as a masking method: the place of each value in an ascending domain; −1 outside it."""
    at = np.minimum(np.searchsorted(domain, column), len(domain) - 1)
    return np.where(domain[at] == column, at, MISSING).astype(np.int32)
