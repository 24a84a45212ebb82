"""Original and masked categories in one numbering, and how far apart two categories are.

Codes of an attribute with |D| categories: 0 … |D| − 1 the categories, then MISSING, then SUPPRESSED, then
labels that only the masked file has (recoding). A new label stands for the original categories it
replaced: a loss takes the farthest of them, a link the nearest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, unknown_column
from crypsis.kernels.arrays import Codes, Flags, Floats, Ints
from crypsis.kernels.ledger import TableLayout
from crypsis.kernels.linkage import FAR
from crypsis.measures.measure import NO_RECORDS
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

Spans = tuple[Flags, ...]
"""For each attribute, bool[masked codes, original codes]: what a masked code stands for."""


def columns_of_categories(original: Table, columns: Sequence[str]) -> list[str]:
    """Columns whose original and masked categories a measure compares: those named, or all it can."""
    return list(columns) or [
        name for name in original.quasi_identifiers if not original.attribute(name).numeric and not original.level(name)
    ]


def obstacle(original: Table, columns: Sequence[str]) -> str:
    """Why categories of this table cannot be compared, in a sentence; empty if they can."""
    unknown = unknown_column(columns, original.names)
    if unknown:
        return unknown
    for name in columns:
        if original.attribute(name).numeric or original.level(name):
            return f"column {name!r} does not hold categories as collected; choose nominal or ordinal columns"
    if not columns_of_categories(original, columns):
        return "no quasi-identifier is nominal or ordinal; give categorical columns that role or name them"
    return "" if original.rows else NO_RECORDS


@dataclass(frozen=True, eq=False)
class CategoryContext:
    """The original side of a comparison: its categories, records and distinct tuples."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    ordinal: tuple[bool, ...]
    codes: Codes
    """int32[n, p]; a missing value is the code after the last category."""

    @classmethod
    def of(cls, original: Table, columns: Sequence[str]) -> CategoryContext:
        """Bind the categorical columns of an original."""
        problem = obstacle(original, columns)
        if problem:
            raise TableError(problem)
        names = columns_of_categories(original, columns)
        attributes = [original.attribute(name) for name in names]
        codes = original.codes(names)
        sizes = np.array([len(attribute.categories) for attribute in attributes], dtype=np.int32)
        return cls(
            tuple(names),
            tuple(attribute.categories for attribute in attributes),
            tuple(attribute.kind is Kind.ORDINAL for attribute in attributes),
            np.ascontiguousarray(np.where(codes < 0, sizes, codes), dtype=np.int32),
        )

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.codes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each column."""
        return tuple(len(labels) for labels in self.labels)

    @cached_property
    def lacks(self) -> Flags:
        """bool[p]: whether the original has missing values."""
        found: Flags = (self.codes == np.array(self.sizes)).any(axis=0)
        return found

    @cached_property
    def frequencies(self) -> tuple[Ints, ...]:
        """How often each category (and, last, a missing value) occurs in each attribute."""
        return tuple(np.bincount(self.codes[:, j], minlength=size + 1) for j, size in enumerate(self.sizes))

    @cached_property
    def classes(self) -> EquivalenceClasses:
        """Records with equal categories in every attribute."""
        return equivalence_classes(self.codes)

    @cached_property
    def tuples(self) -> Codes:
        """int32[classes, p]: the categories of each class."""
        return self.codes[self.classes.first]

    def entropy(self, attribute: int) -> float:
        """H(V) in bits."""
        share = self.frequencies[attribute][self.frequencies[attribute] > 0] / self.rows
        return float(-(share * np.log2(share)).sum())

    def pair(self, masked: Table) -> Pairing:
        """The masked file in the same numbering; refuses a file of other columns or rows."""
        return self.join([masked])[0]

    def join(self, files: Sequence[Table]) -> list[Pairing]:
        """Several masked files in one numbering: a new label has one code, and stands for all it replaced anywhere."""
        news = [self.news(name, files) for name in self.names]
        numbers = [self.map_codes(masked, news) for masked in files]
        codes = [self.translate(masked, number) for masked, number in zip(files, numbers, strict=True)]
        spans = tuple(self._span(j, [file[:, j] for file in codes], numbers) for j in range(len(self.names)))
        return [Pairing(self, file, spans, masked.kept) for file, masked in zip(codes, files, strict=True)]

    def map_codes(self, masked: Table, news: Sequence[Sequence[str]]) -> list[Codes]:
        """For each attribute: code of the masked column → code here; the last entry is a missing value."""
        tables = []
        for j, name in enumerate(self.names):
            known = {label: code for code, label in enumerate([*self.labels[j], "", "", *news[j]])}
            known.update({label: code for code, label in enumerate(self.labels[j])})
            tables.append(np.array([*(known[label] for label in masked.labels(name)), self.sizes[j]], dtype=np.int32))
        return tables

    def news(self, name: str, files: Sequence[Table]) -> list[str]:
        """Labels of a column that only masked files have, in order of appearance."""
        for masked in files:
            if masked.holds_numbers(name):
                raise TableError(f"column {name!r} holds categories in the original but numbers in the masked file")
        old = set(self.labels[self.names.index(name)])
        return [label for label in dict.fromkeys(x for file in files for x in file.labels(name)) if label not in old]

    def translate(self, masked: Table, numbers: Sequence[Codes]) -> Codes:
        """int32[n, p]: the masked file by its `map_codes`; a suppressed record has a code of its own in each column."""
        if masked.rows != self.rows:
            raise TableError(
                f"the original has {self.rows} records and the masked file {masked.rows}; "
                "compare files whose rows correspond (suppressed records stay in place)"
            )
        codes = np.empty_like(self.codes)
        for j, (name, table) in enumerate(zip(self.names, numbers, strict=True)):
            column = masked.column(name)
            if column.max(initial=-1) >= len(table) - 1 or column.min(initial=-1) < -1:
                raise TableError(f"column {name!r} of the masked file holds codes that stand for no category")
            codes[:, j] = table[column]
            codes[~masked.kept, j] = self.sizes[j] + 1
        return codes

    def _span(self, j: int, files: Sequence[Codes], numbers: Sequence[Sequence[Codes]]) -> Flags:
        size = self.sizes[j]
        width = max(size + 2, 1 + max(int(table[j].max()) for table in numbers))
        span = np.zeros((width, size + 1), dtype=np.bool_)
        span[np.arange(size + 1), np.arange(size + 1)] = True
        for codes in files:
            new = codes > size + 1
            span[codes[new], self.codes[new, j]] = True
        return span


@dataclass(frozen=True, eq=False)
class Pairing:
    """An original and one masked file (or several, through joined spans) in one numbering."""

    context: CategoryContext
    codes: Codes
    """int32[n, p]: the masked file."""
    spans: Spans
    kept: Flags

    @cached_property
    def shape(self) -> TableLayout:
        """Lay-out without contingency tables."""
        wide = np.array([size + 1 for size in self.context.sizes], dtype=np.int64)
        width = np.array([len(span) for span in self.spans], dtype=np.int64)
        at = np.concatenate([[0], np.cumsum(wide * width)]).astype(np.int64)
        mark = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
        return TableLayout(at, wide, mark, np.empty((0, len(wide)), dtype=np.int64), np.empty(0, dtype=np.int64))

    @property
    def plain(self) -> bool:
        """Whether the masked file has no labels of its own, so that agreeing means having the same code."""
        return all(len(span) == size + 2 for span, size in zip(self.spans, self.context.sizes, strict=True))

    @cached_property
    def crowd(self) -> tuple[Codes, Ints, Ints]:
        """Distinct masked tuples of kept records (sorted), their counts, and the first row of each."""
        classes = equivalence_classes(self.codes, self.kept)
        return self.codes[classes.first], classes.sizes, classes.first


def steps_apart(context: CategoryContext, j: int, gaps: Ints, most: int) -> Ints:
    """int64[original, original]: distances between categories, `most` to and from a missing value."""
    size = context.sizes[j]
    apart = np.full((size + 1, size + 1), most, dtype=np.int64)
    apart[:size, :size] = gaps
    apart[size, size] = 0
    return apart


def ranks_apart(size: int) -> Ints:
    """|rank difference| of ordered categories."""
    return np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.int64)


def unequal(size: int) -> Ints:
    """1 off the diagonal."""
    return (1 - np.eye(size, dtype=np.int64)).astype(np.int64)


def spread_out(span: Flags, apart: Ints, nearest: bool, suppressed: int) -> Ints:
    """int64[masked, original] from distances between original categories, through what masked codes stand for."""
    size = apart.shape[0] - 1
    most = int(apart.max(initial=0))
    table = np.full(span.shape, most, dtype=np.int64)
    for code in range(len(span)):
        chosen = apart[span[code]]
        if len(chosen):
            table[code] = chosen.min(axis=0) if nearest else chosen.max(axis=0)
    table[size + 1] = suppressed
    return table


@dataclass(frozen=True)
class Distances:
    """The distances of SCIENCE's DBIL as whole numbers over a denominator per attribute."""

    loss: Ints
    link: Ints
    denominators: Floats


def distances(pairing: Pairing, divisor: str) -> Distances:
    """Nominal: 0 or 1. Ordinal: |rank difference| over |D| (`size`) or |D| − 1 (`range`), or as if they were nominal
    (`nominal`). Missing: 1 from all else.

    The link costs are the same numbers over their common denominator, so that they add up exactly (over
    2^40, rounded, if that denominator is larger still); a suppressed record is FAR from everybody.
    """
    context = pairing.context
    ranked = [ordered and divisor != "nominal" for ordered in context.ordinal]
    below = [
        max(1, size - (divisor == "range")) if ordered else 1
        for ordered, size in zip(ranked, context.sizes, strict=True)
    ]
    common = math.lcm(*below)
    loss, link = [], []
    for j, (span, under) in enumerate(zip(pairing.spans, below, strict=True)):
        size = context.sizes[j]
        gaps = ranks_apart(size) if ranked[j] else unequal(size)
        apart = steps_apart(context, j, gaps, under)
        loss.append(spread_out(span, apart, False, under).ravel())
        scaled = apart * (common // under) if common <= 1 << 40 else np.rint(apart * ((1 << 40) / under))
        link.append(spread_out(span, scaled.astype(np.int64), True, FAR).ravel())
    return Distances(np.concatenate(loss), np.concatenate(link), np.array(below, dtype=np.float64))


def agreements(pairing: Pairing) -> Ints:
    """1 where a masked category is, or stands for, the original one."""
    agree: Ints = (distances(pairing, "size").link == 0).astype(np.int64)
    return agree


def number_masked_categories(original: Table, masked: Table, name: str) -> tuple[NDArray[np.int32], bool]:
    """Number masked categories as the original's, for categorical measures; new labels get new codes.

    →   the codes, and whether every label was one of the original's
    """
    ours, theirs = original.attribute(name).categories, masked.attribute(name).categories
    codes = masked.column(name)
    if ours == theirs:
        return codes, True
    place = {label: code for code, label in enumerate(ours)}
    translate = [place.setdefault(label, len(place)) for label in theirs]
    return np.array([*translate, MISSING], dtype=np.int32)[codes], len(place) == len(ours)
