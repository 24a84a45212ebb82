"""How an intruder's records meet published ones: points for what has a distance, codes for what is equal or not.

A number becomes a coordinate, scaled by the original column. An ordinal category becomes its rank over the
number of steps. A nominal category, and any generalised value, is a code: it adds 0 to the squared distance
if it is the same or contains the original value, else 1. Where a column is recoded record by record, a number or an
ordinal category that is published as it is keeps its distance, and only groups are codes. A missing value matches a
missing one and lies one unit from any other (a missing coordinate is read as the mean, one unit aside).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from crypsis.errors import TableError
from crypsis.kernels.arrays import Flags, Floats, Int32s, Ints
from crypsis.kernels.linkage import BUCKET, CodeGroups, Forest, Known, grow, link, linked, unlinked
from crypsis.measures.pairing import alike_codes, finite_numbers
from crypsis.pieces import Pieces, completed
from crypsis.table.attribute import Kind
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.scaling import Scales, Scaling
from crypsis.table.table import LOCAL, Table

MISSING_LINKS = (
    "a missing value matches a missing value and lies one unit (one deviation, one range, one category) from any "
    "other; a suppressed record is not published, so it cannot be linked, and counts as not found"
)

CELLS_AT_ONCE, LEAST_AT_ONCE = 60_000, 256
"""Coordinates and codes of the records that are looked for in one piece, and records at least."""


class Sides(NamedTuple):
    """One column as coordinates (known, published), or as codes (ancestors, code, place); the other part is empty.

    line  for codes of a recoded column with an order: coordinates (known, published), where a leaf is published
    """

    known: Floats
    published: Floats
    ancestors: Int32s
    codes: Int32s
    places: Int32s
    line: tuple[Floats, Floats] | None = None


def _coordinates(known: Floats, published: Floats) -> Sides:
    """Two scaled columns, centred on the original's mean; missing cells become the mean, one unit aside."""
    sides = []
    aside = bool(np.isnan(known).any() or np.isnan(published).any())
    for values in (known, published):
        lost = np.isnan(values)
        filled = np.where(lost, 0.0, values)
        sides.append(np.stack([filled, lost.astype(np.float64)] if aside else [filled], axis=1))
    n, m = len(known), len(published)
    nothing = np.empty((m, 0), dtype=np.int32)
    return Sides(sides[0], sides[1], np.empty((n, 0), dtype=np.int32), nothing, nothing)


def _codes(ancestors: Int32s, codes: Int32s, places: Int32s) -> Sides:
    n, m = len(ancestors), len(codes)
    return Sides(np.empty((n, 0)), np.empty((m, 0)), ancestors, codes[:, None], places[:, None])


def _generalised(original: Table, known: Table, masked: Table, name: str, scaling: Scaling) -> Sides:
    """Leaves against the groups that may contain them, at one level or at each record's own."""
    hierarchy = masked.attribute(name).hierarchy
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the masked table the one used")
    attribute = known.attribute(name)
    leaf = known.with_columns({}, attributes={name: attribute.but(hierarchy=hierarchy)}).leaf_codes(name)
    codes, level = masked.column(name), masked.level(name)
    if level != LOCAL:
        return _codes(hierarchy.lift(leaf, level)[:, None], codes, np.zeros(len(codes), dtype=np.int32))
    ladder = [
        np.where(leaf == MISSING, MISSING, hierarchy.lift(leaf, each) + hierarchy.offsets[each])
        for each in range(hierarchy.height + 1)
    ]
    stands = np.searchsorted(hierarchy.offsets, codes, side="right") - 1
    sides = _codes(np.stack(ladder, axis=1).astype(np.int32), codes, np.maximum(stands, 0).astype(np.int32))
    return sides._replace(line=_line(original, hierarchy, name, scaling, leaf, codes))


def _line(
    original: Table, hierarchy: Hierarchy, name: str, scaling: Scaling, known: Int32s, published: Int32s
) -> tuple[Floats, Floats] | None:
    """Where known leaves and published leaves lie on the line of a column with an order; 0 for anything else.

    None without an order, or where a leaf is no category of the original.
    """
    attribute = original.attribute(name)
    if attribute.numeric:
        scales = Scales.of(finite_numbers(original, name)[:, None])
        at = scales.scaled(hierarchy.values[:, None], scaling)[:, 0]
    elif attribute.kind is Kind.ORDINAL:
        rank = {label: code for code, label in enumerate(attribute.categories)}
        at = np.array([rank.get(label, np.nan) for label in hierarchy.labels[0]], dtype=np.float64)
        present = original.column(name)[original.column(name) != MISSING]
        at = (at - (float(present.mean()) if present.size else 0.0)) / max(len(attribute.categories) - 1, 1)
    else:
        return None
    if np.isnan(at[known[known != MISSING]]).any():
        return None
    leaf = np.where(published < hierarchy.size, published, MISSING)
    if np.isnan(at[leaf[leaf != MISSING]]).any():
        return None
    padded = np.append(np.nan_to_num(at), 0.0)
    return padded[known], padded[leaf]


def sides_of(original: Table, known: Table, masked: Table, name: str, scaling: Scaling) -> Sides:
    """One column of the intruder's records and of the published ones, on the original's scale."""
    if masked.level(name) != 0:
        return _generalised(original, known, masked, name, scaling)
    attribute = original.attribute(name)
    if attribute.numeric != masked.attribute(name).numeric:
        raise TableError(
            f"column {name!r} is {attribute.kind} in the original and {masked.attribute(name).kind} in the masked "
            f"table; read both files with the same kinds, or leave the column out"
        )
    if attribute.numeric:
        scales = Scales.of(finite_numbers(original, name)[:, None])
        columns = [scales.scaled(finite_numbers(table, name)[:, None], scaling)[:, 0] for table in (known, masked)]
        return _coordinates(columns[0], columns[1])
    ours, _ = alike_codes(original, known, name)
    theirs, same = alike_codes(original, masked, name)
    if attribute.kind is Kind.ORDINAL and same:
        steps = max(len(attribute.categories) - 1, 1)
        present = original.column(name)[original.column(name) != MISSING]
        middle = float(present.mean()) if present.size else 0.0
        ranks = [np.where(codes == MISSING, np.nan, codes - middle) / steps for codes in (ours, theirs)]
        return _coordinates(ranks[0], ranks[1])
    return _codes(ours[:, None], theirs, np.zeros(len(theirs), dtype=np.int32))


@dataclass(frozen=True)
class LinkagePair:
    """The records of an intruder and the published ones, ready for record linkage."""

    points: Floats
    ancestors: Int32s
    published: Floats
    codes: Int32s
    places: Int32s
    kept: Flags
    lines: Int32s
    """int32[q, 2]: the column of codes beside which a coordinate counts and the place of a leaf there; −1: always."""

    @classmethod
    def between(
        cls, original: Table, known: Table, masked: Table, names: Sequence[str], scaling: Scaling
    ) -> LinkagePair:
        """The records of an intruder and those of a masked table, in the same scale."""
        sides = [sides_of(original, known, masked, name, scaling) for name in names]
        offsets = np.cumsum([0, *(side.ancestors.shape[1] for side in sides)])
        places = [side.places + np.int32(start) for side, start in zip(sides, offsets, strict=False)]
        lines, column = [np.full((side.known.shape[1], 2), -1) for side in sides], 0
        for number, side in enumerate(sides):
            if side.line is not None:
                sides[number] = _on_line(side)
                lines[number] = np.array([[column, offsets[number]]])
            column += side.codes.shape[1]
        return cls(
            np.ascontiguousarray(np.hstack([side.known for side in sides])),
            np.ascontiguousarray(np.hstack([side.ancestors for side in sides])),
            np.ascontiguousarray(np.hstack([side.published for side in sides])),
            np.ascontiguousarray(np.hstack([side.codes for side in sides])),
            np.ascontiguousarray(np.hstack(places), dtype=np.int32),
            masked.kept,
            np.ascontiguousarray(np.concatenate(lines), dtype=np.int32),
        )

    @cached_property
    def _known(self) -> Known:
        """The intruder's records, those with equal codes one after another."""
        order = np.lexsort(self.ancestors.T) if self.ancestors.shape[1] else np.arange(len(self.points))
        return Known(self.points, self.ancestors, order.astype(np.int64), self.lines)

    def about(self, rows: Ints) -> LinkagePair:
        """The same published records and only some of the intruder's."""
        return replace(self, points=self.points[rows], ancestors=self.ancestors[rows])

    def plant(self) -> tuple[CodeGroups, Forest]:
        """The groups of published records with equal codes, and the trees over their points."""
        rows = np.flatnonzero(self.kept)
        points, codes, places = self.published[rows], self.codes[rows], self.places[rows]
        # Places and codes are the primary keys, so that equal codes lie together; equal records follow in row order.
        keys = [*points.T[::-1], *codes.T, *places.T]
        order = np.lexsort(keys)
        points, codes, places, rows = points[order], codes[order], places[order], rows[order]
        new_group = _changes(np.hstack([codes, places]))
        new = new_group | _changes(points)
        distinct = np.flatnonzero(new)
        weight = np.diff(np.append(distinct, len(rows)))
        heads = np.flatnonzero(new_group)
        starts = np.append(np.searchsorted(distinct, heads), len(distinct)).astype(np.int64)
        apart = np.ascontiguousarray(points[distinct])
        leaves, low, high, span, root = grow(apart, starts, BUCKET)
        forest = Forest(apart[leaves], weight[leaves], rows[distinct][leaves], low, high, span, root)
        codes, places = np.ascontiguousarray(codes[heads]), np.ascontiguousarray(places[heads])
        patterns = np.append(np.flatnonzero(_changes(places)), len(heads)).astype(np.int64)
        return CodeGroups(codes, places, patterns), forest

    def counted(self) -> Flags:
        """bool[m, q]: which coordinates count beside the codes of each published record."""
        column, place = self.lines.T
        if not (column >= 0).any():
            return np.ones(self.published.shape, dtype=np.bool_)
        return np.asarray((column < 0) | ((self.places[:, column] == place) & (self.codes[:, column] >= 0)))

    def own_distance(self) -> Floats:
        """How far each record lies from the one that masks it (same row); NaN where that is suppressed."""
        square = (((self.points - self.published) * self.counted()) ** 2).sum(axis=1)
        met = np.take_along_axis(self.ancestors, self.places, axis=1)
        return np.where(self.kept, np.sqrt(square + (met != self.codes).sum(axis=1)), np.nan)

    def ties(self, distance: Floats) -> tuple[Ints, Ints]:
        """How many published records lie at each record's distance with none nearer, and the lowest row of them."""
        return completed(self.tying(distance))

    def tying(self, distance: Floats) -> Pieces[tuple[Ints, Ints]]:
        """`ties` in pieces: the trees, then a few thousand records at a time."""
        [(groups, forest), known] = yield [self.plant, lambda: self._known]
        ties, lowest, reach = unlinked(len(self.points))
        step = max(LEAST_AT_ONCE, CELLS_AT_ONCE // (1 + self.points.shape[1] + self.codes.shape[1]))
        some = [known._replace(order=known.order[at : at + step]) for at in range(0, len(known.order), step)]
        yield [partial(link, each, distance, groups, forest, ties, lowest, reach) for each in some]
        return ties, lowest

    def nearest(self) -> Floats:
        """The distance of each record to its nearest published one."""
        return linked(self._known, np.full(len(self.points), np.inf), *self.plant())[2]


def _on_line(side: Sides) -> Sides:
    """A recoded column with an order: leaves by their coordinates, and one code for all of them."""
    assert side.line is not None
    ancestors, codes = side.ancestors.copy(), side.codes.copy()
    ancestors[:, 0] = np.minimum(ancestors[:, 0], 0)
    codes[side.places == 0] = np.minimum(codes[side.places == 0], 0)
    known, published = side.line
    return Sides(known[:, None], published[:, None], ancestors, codes, side.places)


def _changes(rows: Floats | Int32s) -> Flags:
    """Whether each row differs from the one before it; the first always does."""
    changed = np.ones(len(rows), dtype=np.bool_)
    changed[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return changed
