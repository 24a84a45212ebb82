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
from crypsis.table.clues import CODED, NAMES, ORDERED, Clue, Reason, known_word, name_words
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

ENOUGH = 20
"""Values a column must have before their shape says anything."""
LARGEST_SHARE = 0.05
"""Share of the records that one column may single out by itself before somebody has to decide about it."""
LARGEST_HOUSEHOLD = 20
"""Records per value of a column that says which records belong together, at most, on average."""
RARE = 3
"""A value held by fewer records than this is rare."""


@dataclass(frozen=True)
class ColumnProfile:
    """The suggested role and kind of one column.

    Attributes
    ----------
    name, role, kind : str
        The column, and what is suggested.
    reasons : tuple of Reason
        Why; `crypsis.text.reason_text` gives the sentence.
    distinct, missing : int
        Distinct values, and records without a value.
    rare : int
        Values that fewer than three records have.
    unique : int
        Records with a value that no other record has.
    hierarchy : str
        A builder to start from, for a column that is or may become a quasi-identifier.
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
    role, why = _role(attribute, shape)
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
    """

    present: int
    distinct: int
    alone: int
    whole: bool
    running: bool
    digits: int

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
    return Shape(present, len(counts), alone, _whole(table, name), _running(table, name), _digits(table, name))


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


def _digits(table: Table, name: str) -> int:
    attribute = table.attribute(name)
    lengths = {len(label) for label in attribute.categories if label.isdigit()}
    every = all(label.isdigit() for label in attribute.categories)
    return lengths.pop() if every and len(lengths) == 1 else 0


def _role(attribute: Attribute, shape: Shape) -> tuple[Role, Reason]:
    if attribute.role is not Role.UNDECIDED:
        return attribute.role, Reason(Clue.DECLARED)
    if shape.distinct < 2:
        return Role.OTHER, Reason(Clue.CONSTANT)
    words = name_words(attribute.name)
    for role, clue, known in NAMES:
        match = known_word(words, known.split())
        if match and _fits(role, attribute, shape):
            return role, Reason(clue, word=match)
    return _role_by_shape(attribute, shape)


def _fits(role: Role, attribute: Attribute, shape: Shape) -> bool:
    """Whether the values can be what the name of the column says."""
    if role is Role.IDENTIFIER:
        return shape.spread >= 0.5  # a 'name' that many records share identifies nobody
    if role is Role.HOUSEHOLD:
        return shape.distinct >= ENOUGH and 1 / LARGEST_HOUSEHOLD <= shape.spread < 1.0
    if role is Role.QUASI_IDENTIFIER:
        return attribute.dates != "" or not shape.numbering
    return role is not Role.WEIGHT or attribute.numeric


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
        return Kind.NUMERIC, None
    if attribute.kind is Kind.NOMINAL and words.intersection(ORDERED.split()):
        return Kind.NOMINAL, Reason(Clue.ORDER)
    return attribute.kind, None


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
