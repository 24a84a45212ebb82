"""The safest reading of columns that nobody decided about, so that a pipeline without people releases safely."""

from __future__ import annotations

from dataclasses import replace

from crypsis.audits.dependence import MOSTLY, restoring
from crypsis.table.attribute import Kind, Role
from crypsis.table.clues import Clue, Reason
from crypsis.table.profile import ENOUGH, LARGEST_SHARE, ColumnProfile, Profile
from crypsis.table.table import Table

NEARLY_ALL = 0.5
"""Different texts per record from which on a text names people."""


def cautious(seen: Profile, table: Table) -> Profile:
    """Settle every undecided column of a profile by the safest reading that keeps the file useful.

    Parameters
    ----------
    seen : Profile
        Of a file as collected.
    table : Table
        The file.

    Returns
    -------
    Profile
        Text that differs from record to record is an identifier and left out, and so is confidential text that
        singles people out; anything else is a quasi-identifier. So is a weight that would restore a quasi-identifier,
        and a confidential column that would restore most of one.

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [31, 31, 47], "x7": [1, 2, 2]})
    >>> [column.role for column in cautious(crypsis.profile(table), table).columns]
    ['quasi', 'quasi']
    """
    columns = tuple(_settled(column, seen.rows) for column in seen.columns)
    found = restoring(table.with_roles({column.name: Role(column.role) for column in columns}))
    worst = {each.columns[0]: each for each in found}
    telling = {
        column.name: worst[column.name].columns[1]
        for column in columns
        if column.name in worst and (column.role == Role.WEIGHT or worst[column.name].share > MOSTLY)
    }
    return replace(seen, columns=tuple(_masked(c, telling[c.name]) if c.name in telling else c for c in columns))


def _masked(column: ColumnProfile, target: str) -> ColumnProfile:
    """A column that is masked with the quasi-identifiers, because it would restore one."""
    reasons = (Reason(Clue.RESTORING, word=target), *column.reasons[1:])
    return replace(column, role=Role.QUASI_IDENTIFIER.value, reasons=reasons)


def _settled(column: ColumnProfile, rows: int) -> ColumnProfile:
    present = max(rows - column.missing, 1)
    text = column.kind != Kind.NUMERIC and present >= ENOUGH
    exposing = text and column.unique > LARGEST_SHARE * present
    names = text and column.distinct >= NEARLY_ALL * present
    guessed = names and column.reasons[0].clue is Clue.SINGLING_OUT
    if column.role != Role.UNDECIDED and not guessed and not (column.role == Role.CONFIDENTIAL and exposing):
        return column
    role = Role.IDENTIFIER if names else Role.QUASI_IDENTIFIER
    hierarchy = "" if names else column.hierarchy
    return replace(column, role=role.value, hierarchy=hierarchy, reasons=(Reason(Clue.PRECAUTION), *column.reasons[1:]))
