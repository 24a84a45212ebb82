"""The profile of a table: suggested roles and kinds with their reasons, and how many records are unique.

Suggestions come from column names and the form of the values; the custodian decides. A profile has counts only, never
a value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import UNPUBLISHED, Attribute, Kind, Role
from crypsis.table.builder_choice import builder_for
from crypsis.table.clues import CODED, COUNTED, NAMES, ORDERED, Clue, Reason, known_word, name_words
from crypsis.table.encoding import EXACT
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.evidence import ENOUGH, ColumnEvidence
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

LARGEST_SHARE = 0.05
"""Share of the records that one column may single out by itself before somebody has to decide about it."""
MOST_CODES = 10
"""Whole numbers with more values are not taken for codes by their counts."""
DIP = 3.0
"""Standard deviations by which a value must be rarer than values on both sides of it to part two peaks."""
RARE = 3
"""A value held by fewer records than this is rare."""


@dataclass(frozen=True)
class ColumnProfile:
    """The suggested role and kind of one column.

    reasons    why; `crypsis.text.reason_text` gives the sentence
    distinct   how many values there are
    missing    records without a value
    rare       values that fewer than three records have
    unique     records with a value that no other record has
    hierarchy  a builder to start from, for a column that is or may become a quasi-identifier
    """

    name: str
    role: str
    kind: str
    reasons: tuple[Reason, ...]
    distinct: int
    missing: int
    rare: int
    unique: int
    hierarchy: str = ""


@dataclass(frozen=True)
class Profile:
    """Counts and suggestions for a table; no value of a record is in it.

    quasi_identifiers  the declared quasi-identifiers, or the suggested ones where none is declared
    unique_records  records that no other record equals on the quasi-identifiers
    unique_share  the same as a share of all records, 0 to 1
    k  size of the smallest equivalence class: the table is k-anonymous as collected
    declared  whether the quasi-identifiers are declared
    notes  what the reader noticed in the data
    """

    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi_identifiers: tuple[str, ...]
    unique_records: int
    unique_share: float
    k: int
    declared: bool
    notes: tuple[str, ...] = ()


def profile(table: Table | Frame) -> Profile:
    """Suggest a role and a kind for every column, and count the records that are unique.

    Parameters
    ----------
    table : Table or frame
        The data. Declared roles are kept; a missing value is a value of its own.

    Returns
    -------
    Profile

    Raises
    ------
    TableError
        If it is no table, and no frame of a library that is known.

    Examples
    --------
    >>> import polars as pl
    >>> seen = crypsis.profile(pl.DataFrame({"age": [31, 31, 47], "income": [2100, 2500, 3900]}))
    >>> [(column.name, column.role) for column in seen.columns]
    [('age', 'quasi'), ('income', 'confidential')]
    >>> seen.k
    1
    """
    table = as_table(table)
    columns = tuple(_column(table, attribute) for attribute in table.attributes)
    declared = bool(table.quasi_identifiers)
    quasi = table.quasi_identifiers if declared else [c.name for c in columns if c.role == Role.QUASI_IDENTIFIER]
    sizes = equivalence_classes(table.codes(quasi)).sizes
    alone = int(np.sum(sizes == 1))
    smallest = int(sizes.min()) if len(sizes) else 0
    share = alone / table.rows if table.rows else 0.0
    return Profile(table.rows, columns, tuple(quasi), alone, share, smallest, declared, table.notes)


def _column(table: Table, attribute: Attribute) -> ColumnProfile:
    name = attribute.name
    counts = _value_counts(table, name)
    shape = _shape(table, name, counts)
    role, why = _role(attribute, shape, _evidence(table, attribute, shape))
    kind, because = _kind(attribute, shape, role)
    return ColumnProfile(
        name=name,
        role=role.value,
        kind=kind.value,
        reasons=(why, because) if because else (why,),
        distinct=shape.distinct,
        missing=table.rows - shape.present,
        rare=int(np.sum(counts < RARE)),
        unique=shape.alone,
        hierarchy=builder_for(attribute, table.column(attribute.name), shape, kind)
        if role not in (*UNPUBLISHED, Role.OTHER)
        else "",
    )


@dataclass(frozen=True)
class Shape:
    """The form of the values of a column.

    present, distinct  records with a value, and distinct values
    alone  records with a value that no other record has
    running  whole numbers with few gaps: 1, 2, 3, …
    digits  length of its texts if all are digits and equally long, else 0
    peaks  whole numbers of few values that are common, rare and common again
    """

    present: int
    distinct: int
    alone: int
    whole: bool
    running: bool
    digits: int
    peaks: bool

    @property
    def spread(self) -> float:
        """Distinct values per record that has one."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def numbering(self) -> bool:
        """Whether the records are numbered."""
        return self.running and self.present >= ENOUGH and self.spread == 1.0

    @property
    def exposing(self) -> bool:
        """Whether so many stand alone in the column that whoever knows a value finds its record."""
        return self.present >= ENOUGH and self.alone > LARGEST_SHARE * self.present


def _value_counts(table: Table, name: str) -> NDArray[np.int64]:
    """How many records hold each value that occurs."""
    codes = table.codes([name])[:, 0]
    counts = np.bincount(codes[codes != MISSING])
    return counts[counts > 0]


def _shape(table: Table, name: str, counts: NDArray[np.int64]) -> Shape:
    present = int(counts.sum())
    alone = int(np.sum(counts == 1))
    whole, peaks = _whole(table, name), len(counts) <= MOST_CODES and several_peaks(table, name)
    return Shape(present, len(counts), alone, whole, _running(table, name), _digits(table, name), peaks)


def _whole(table: Table, name: str) -> bool:
    if not table.holds_numbers(name):
        return False
    numbers = table.column(name)
    return bool(np.all(np.isnan(numbers) | (numbers == np.round(numbers))))


def _running(table: Table, name: str) -> bool:
    if not _whole(table, name):
        return False
    numbers = np.unique(table.column(name)[~np.isnan(table.column(name))])
    return len(numbers) > 0 and bool(numbers[-1] - numbers[0] < 2 * len(numbers))


def several_peaks(table: Table, name: str) -> bool:
    """Whether whole numbers are common, rare and common again, beyond chance: codes are, what is counted seldom.

    A value that does not occur counts as rare, unless all values are multiples of a common step.

    Examples
    --------
    >>> roofs = Table.from_columns({"roof": [2] * 40 + [3] * 5 + [4] * 50, "rooms": [1] * 20 + [2] * 50 + [3] * 25})
    >>> several_peaks(roofs, "roof"), several_peaks(roofs, "rooms")
    (True, False)
    """
    if not _whole(table, name):
        return False
    numbers = table.column(name)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if len(values) < 2 or values[-1] - values[0] > EXACT:
        return False
    steps = np.diff(values).astype(np.int64)
    regular = np.gcd.reduce(steps)
    for place in range(1, len(values)):
        left, right = int(counts[:place].max()), int(counts[place:].max())
        if steps[place - 1] > regular and _dips(left, 0, right):
            return True
        if place < len(values) - 1 and _dips(left, int(counts[place]), int(counts[place + 1 :].max())):
            return True
    return False


def _dips(left: int, middle: int, right: int) -> bool:
    """Whether a value is at most half as common as values on both sides, and not by chance."""
    least = min(left, right)
    return bool(2 * middle <= least and least - middle > DIP * np.sqrt(least + middle))


def _digits(table: Table, name: str) -> int:
    attribute = table.attribute(name)
    lengths = {len(label) for label in attribute.categories if label.isdigit()}
    every = all(label.isdigit() for label in attribute.categories)
    return lengths.pop() if every and len(lengths) == 1 else 0


def _evidence(table: Table, attribute: Attribute, shape: Shape) -> ColumnEvidence:
    column = table.column(attribute.name)
    numbers = column[~np.isnan(column)] if table.holds_numbers(attribute.name) else None
    return ColumnEvidence(attribute, numbers, shape.distinct, shape.spread, shape.whole, shape.numbering)


def _role(attribute: Attribute, shape: Shape, evidence: ColumnEvidence) -> tuple[Role, Reason]:
    if attribute.role is not Role.UNDECIDED:
        return attribute.role, Reason(Clue.DECLARED)
    if shape.distinct < 2 and not shape.alone:
        return Role.OTHER, Reason(Clue.CONSTANT)
    words = name_words(attribute.name)
    for role, clue, known in NAMES:
        match = known_word(words, known.split())
        if match and evidence.fits(role, match):
            return role, Reason(clue, word=match)
    return _role_by_shape(attribute, shape)


def _role_by_shape(attribute: Attribute, shape: Shape) -> tuple[Role, Reason]:
    enough = shape.present >= ENOUGH
    if attribute.dates:
        return Role.QUASI_IDENTIFIER, Reason(Clue.DATE)
    if not attribute.numeric and enough and shape.spread >= 0.8:
        return Role.IDENTIFIER, Reason(Clue.DISTINCT_TEXT, values=shape.distinct)
    if shape.numbering:
        return Role.IDENTIFIER, Reason(Clue.RUNNING_NUMBER)
    if shape.exposing:
        return Role.QUASI_IDENTIFIER, Reason(Clue.SINGLING_OUT, share=shape.alone / shape.present)
    return Role.UNDECIDED, Reason(Clue.UNDECIDED)


def _kind(attribute: Attribute, shape: Shape, role: Role) -> tuple[Kind, Reason | None]:
    words = set(name_words(attribute.name))
    if attribute.dates:
        return attribute.kind, Reason(Clue.DATES_AS_NUMBERS)
    if attribute.numeric:
        if shape.whole and words.intersection(CODED.split()) and role is not Role.IDENTIFIER:
            return Kind.NOMINAL, Reason(Clue.CODES)
        category = _by_counts(shape) if role not in (Role.IDENTIFIER, Role.HOUSEHOLD, Role.WEIGHT) else None
        if category is not None and not words.intersection(COUNTED.split()):
            return Kind.NOMINAL, category
        return Kind.NUMERIC, None
    if attribute.kind is Kind.NOMINAL and words.intersection(ORDERED.split()):
        return Kind.NOMINAL, Reason(Clue.ORDER)
    return attribute.kind, None


def _by_counts(shape: Shape) -> Reason | None:
    """Why whole numbers are categories rather than quantities; None where they may be either."""
    if not shape.whole or shape.present < ENOUGH:
        return None
    if shape.distinct == 2:
        return Reason(Clue.TWO_NUMBERS)
    return Reason(Clue.SEVERAL_PEAKS, values=shape.distinct) if shape.peaks else None


def suggested_builder(table: Table, name: str) -> str:
    """A hierarchy to start from for a column of the kind it has.

    name  one of its columns
    returns  a builder such as 'intervals:5,10,20,40', 'dates:month,quarter,year', 'prefixes:3,2,1' or 'merge:8,4,2'

    Examples
    --------
    >>> suggested_builder(crypsis.example(200), "age")
    'intervals:5,10,20,40'
    """
    attribute = table.attribute(name)
    shape = _shape(table, name, _value_counts(table, name))
    return builder_for(attribute, table.column(name), shape, attribute.kind)
