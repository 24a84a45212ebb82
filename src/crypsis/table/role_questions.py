"""Questions about columns of which neither name nor values say what they are; alike columns are one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crypsis.table.attribute import Kind, Role
from crypsis.table.inference import words_for_inference
from crypsis.table.profile import Clue, ColumnProfile, Profile, common_values, profile_sure_quasi
from crypsis.table.structure import count_unique_for_structure
from crypsis.table.table import Table

MOST_QUESTIONS = 5
"""Questions about a file at most, where alike columns can be asked about together."""
FEW = 20
"""Numbers up to which a column of numbers is one of few."""
MOST_VALUES = 5
"""Values that a question shows at most; each is held by at least three records."""


@dataclass(frozen=True)
class RoleQuestion:
    """One question about one column, or about several that are alike."""

    names: tuple[str, ...]
    alike: str  # what the columns are, in the plural, such as 'yes/no columns'
    suggested: str  # the role that an empty answer keeps; empty: undecided
    adds: int  # records that become unique where all of them are known beside the quasi-identifiers
    values: tuple[str, ...]  # common values, where the columns share some


def role_questions(seen: Profile, table: Table) -> list[RoleQuestion]:
    """The questions about a table, the most exposing first.

    Asked about are undecided columns, and those that are masked only because many records are alone in them.

    >>> table = crypsis.Table.from_columns({"sex": ["f", "m"] * 20, "x1": [0, 0, 1, 1] * 10, "x2": [1, 0, 0, 0] * 10})
    >>> [(each.names, each.alike) for each in role_questions(crypsis.profile(table), table)]
    [(('x1', 'x2'), 'yes/no columns')]
    """
    open_ = [c for c in seen.columns if c.reasons[0].clue in (Clue.UNDECIDED, Clue.SINGLING_OUT)]
    by_name = _group([(_alike(column), _stem(column, open_)) for column in open_], open_)
    groups = by_name if len(by_name) <= MOST_QUESTIONS else _group([(_alike(column), "") for column in open_], open_)
    return sorted((_question(group, seen, table) for group in groups), key=lambda each: -each.adds)


def separate(question: RoleQuestion, seen: Profile, table: Table) -> list[RoleQuestion]:
    """A question about several columns as one question a column."""
    return [_question([column], seen, table) for column in seen.columns if column.name in question.names]


def _group(keys: Sequence[tuple[str, str]], columns: Sequence[ColumnProfile]) -> list[list[ColumnProfile]]:
    groups = dict[tuple[str, str], list[ColumnProfile]]()
    for key, column in zip(keys, columns, strict=True):
        groups.setdefault(key, []).append(column)
    return list(groups.values())


def _alike(column: ColumnProfile) -> str:
    """What a column is like."""
    if column.reasons[0].clue is Clue.SINGLING_OUT:
        return "columns in which many records are alone with their value"
    if column.distinct <= 2:
        return "yes/no columns"
    if column.kind != Kind.NUMERIC:
        return "columns with few categories"
    return "columns with few different numbers" if column.distinct <= FEW else "columns of numbers"


def _stem(column: ColumnProfile, others: Sequence[ColumnProfile]) -> str:
    """What columns share that belong together: the first word of their names, or nothing where none shares it."""
    first = (words_for_inference(column.name) or [column.name])[0]
    shared = sum((words_for_inference(other.name) or [other.name])[0] == first for other in others)
    return first if shared > 1 else ""


def _question(columns: Sequence[ColumnProfile], seen: Profile, table: Table) -> RoleQuestion:
    names = tuple(column.name for column in columns)
    quasi = [name for name in profile_sure_quasi(seen.columns) if name not in names]
    adds = count_unique_for_structure(table, [*quasi, *names]) - count_unique_for_structure(table, quasi)
    shared = [common_values(table, name, MOST_VALUES) for name in names]
    common = tuple(value for value in shared[0] if all(value in each for each in shared[1:]))
    masked = columns[0].reasons[0].clue is Clue.SINGLING_OUT
    return RoleQuestion(names, _alike(columns[0]), Role.QUASI_IDENTIFIER.value if masked else "", adds, common)
