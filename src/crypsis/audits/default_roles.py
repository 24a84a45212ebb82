"""The safest reading of columns that nobody decided about, so that a pipeline without people releases safely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crypsis.audits.dependence import MOSTLY
from crypsis.audits.household_inference import count_inferable_household_records, infer_panel_household_size
from crypsis.audits.preview import (
    GROUP,
    group_records_for_preview,
    preview_findings,
    preview_restoring_columns,
    preview_restoring_in_groups,
)
from crypsis.audits.published import Finding, FindingKind, Published
from crypsis.audits.restatement import find_restated
from crypsis.errors import listing
from crypsis.table.attribute import UNPUBLISHED, Kind, Role
from crypsis.table.profile import (
    ENOUGH,
    LARGEST_SHARE,
    Clue,
    ColumnProfile,
    Profile,
    Reason,
    profile_name_subjects,
)
from crypsis.table.role_words import PUBLIC_SUBJECTS, ROLE_OF
from crypsis.table.rules import RecognisedDerivation, recognised_derivations
from crypsis.table.table import Table

NEARLY_ALL = 0.5
"""Different texts per record from which on a text names people."""
MUCH = 0.1
"""Share of a quasi-identifier that may be restored within groups: twice what a release may, since it shows less."""
ENOUGH_RECORDS = 5000
"""Records that are tried, drawn at random."""


def assign_default_roles(seen: Profile, table: Table) -> Profile:
    """Give undecided columns default roles: the safest reading of each that keeps the file useful.

    >>> table = crypsis.Table.from_columns({"age": [31, 31, 47], "x7": [1, 2, 2]})
    >>> [column.role for column in assign_default_roles(crypsis.profile(table), table).columns]
    ['quasi', 'quasi']
    """
    following = derivations_of_profile(seen, table)
    profiles, order = {column.name: column for column in seen.columns}, [column.name for column in seen.columns]
    apart = {each.name for each in following if profiles[each.name].reasons[0].clue is not Clue.DECLARED}
    seen = replace(seen, columns=tuple(column for column in seen.columns if column.name not in apart))
    table = table.drop(apart)
    weights = sum(column.role == Role.WEIGHT for column in seen.columns)
    columns = tuple(
        _panel(column, table) or _settle_role(column, seen.rows, treated=weights == 1) for column in seen.columns
    )
    spared = tuple(_spare_outcome(column) for column in columns)
    columns = spared if _any_quasi(spared) else columns if _any_quasi(columns) else tuple(map(_unspare, columns))
    roled = table.with_roles({column.name: Role(column.role) for column in columns})
    worst = {each.columns[0]: each for each in sorted(preview_restoring_columns(roled), key=lambda each: each.share)}
    telling = {
        column.name: worst[column.name].columns[1]
        for column in columns
        if column.name in worst and _tells(column, worst[column.name], treated=weights == 1)
    }
    telling = _in_groups(roled.drop(roled.names_by_role(Role.WEIGHT)) if weights == 1 else roled) | telling
    columns = tuple(_mask_column(c, telling[c.name]) if c.name in telling else c for c in columns)
    saying = _says_identifiers(columns, table)
    columns = tuple(_leave_out(c, saying[c.name]) if c.name in saying else c for c in columns)
    settled = {column.name: column for column in _without_assumptions(columns, table)}
    every = tuple(settled.get(name, profiles[name]) for name in order)
    return assign_derived_roles(replace(seen, columns=every), following)


def derivations_of_profile(seen: Profile, table: Table) -> tuple[RecognisedDerivation, ...]:
    """Columns that follow from others, of those that may be published; of a weight nothing is taken to follow."""
    names = [column.name for column in seen.columns if Role(column.role) not in (*UNPUBLISHED, Role.WEIGHT)]
    quasi = [column.name for column in seen.columns if column.role == Role.QUASI_IDENTIFIER]
    return recognised_derivations(table, names, quasi)


def assign_derived_roles(seen: Profile, following: Sequence[RecognisedDerivation]) -> Profile:
    """Give derived columns the roles of those they follow from, by default.

    A derived column that nobody declared has no more to be decided about than the columns it follows from. Who knows a
    declared total may know of its parts: what a declared quasi-identifier follows from is one as well, by default.
    """
    of = {column.name: column for column in seen.columns}
    declared = {name for name, column in of.items() if column.reasons[0].clue is Clue.DECLARED}
    for each in following:
        if each.name in declared and of[each.name].role == Role.QUASI_IDENTIFIER:
            for name in set(each.columns) - declared:
                of[name] = of[name] if of[name].role == Role.QUASI_IDENTIFIER else _mask_column(of[name], each.name)
    open_ = [each for each in following if each.name not in declared]
    while open_:
        waiting = {each.name for each in open_}
        for each in [each for each in open_ if not waiting & set(each.columns)]:
            roles = {Role(of[name].role) for name in each.columns}
            role = next((role for role in (Role.UNDECIDED, Role.CONFIDENTIAL, Role.OTHER) if role in roles), None)
            reasons = (Reason(Clue.FOLLOWING, word=listing(each.columns)), *of[each.name].reasons[1:])
            of[each.name] = replace(of[each.name], role=(role or Role.QUASI_IDENTIFIER).value, reasons=reasons)
            open_.remove(each)
    return replace(seen, columns=tuple(of[column.name] for column in seen.columns))


def _without_assumptions(columns: tuple[ColumnProfile, ...], table: Table) -> tuple[ColumnProfile, ...]:
    """Confidential columns that would single people out together with others are masked too, the worst first."""
    stated = [c.name for c in columns if c.reasons[0].clue in (Clue.DECLARED, Clue.OUTCOME_NAME)]
    while True:
        found = preview_findings(table.with_roles({c.name: Role(c.role) for c in columns}), LARGEST_SHARE / 2, stated)
        if not found:
            return columns
        worst, reason = found[0].columns[0], Reason(Clue.COMBINED, share=found[0].share)
        columns = tuple(
            replace(c, role=Role.QUASI_IDENTIFIER.value, reasons=(reason, *c.reasons[1:])) if c.name == worst else c
            for c in columns
        )


def _any_quasi(columns: tuple[ColumnProfile, ...]) -> bool:
    return any(column.role == Role.QUASI_IDENTIFIER for column in columns)


def _unspare(column: ColumnProfile) -> ColumnProfile:
    """A column that nobody declared confidential is masked, where otherwise none would be."""
    if column.role != Role.CONFIDENTIAL or column.reasons[0].clue is Clue.DECLARED:
        return column
    reasons = (Reason(Clue.PRECAUTION), *column.reasons[1:])
    return replace(column, role=Role.QUASI_IDENTIFIER.value, reasons=reasons)


def _spare_outcome(column: ColumnProfile) -> ColumnProfile:
    """A column about health, money, opinions or results is confidential: a study finds it out, and nobody else knows.

    Of crimes there are public records, so they are not spared.
    """
    if column.role not in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL):
        return column
    clue, word = column.reasons[0].clue, column.reasons[0].word
    subjects = {found: subject for subject, found in reversed(list(profile_name_subjects(column.name)))}
    if clue is Clue.PRECAUTION:
        word, subject = next(((found, subject) for subject, found in profile_name_subjects(column.name)), ("", ""))
        spared = subject != "" and ROLE_OF[subject] is Role.CONFIDENTIAL and subject not in PUBLIC_SUBJECTS
    else:
        named = clue is Clue.CONFIDENTIAL_NAME and subjects.get(word) not in PUBLIC_SUBJECTS
        spared = column.role == Role.CONFIDENTIAL and (named or clue in (Clue.VALUES, Clue.FOLLOWING))
    if not spared:
        return column
    reasons = (Reason(Clue.OUTCOME_NAME, word=word), *column.reasons[1:])
    return replace(column, role=Role.CONFIDENTIAL.value, reasons=reasons)


def _in_groups(table: Table) -> dict[str, str]:
    """Columns that restore much of a quasi-identifier within groups of similar records, and which."""
    if not table.quasi_identifiers:
        return {}
    some = table.take(np.sort(np.random.default_rng(0).permutation(len(table))[:ENOUGH_RECORDS]))
    found = preview_restoring_in_groups(
        some, group_records_for_preview(some.codes(some.quasi_identifiers), GROUP), MUCH
    )
    return {each.columns[0]: each.columns[each.by] for each in reversed(found)}


def _panel(column: ColumnProfile, table: Table) -> ColumnProfile | None:
    """An undecided column that says which records of a panel belong together; None for any other."""
    if column.role != Role.UNDECIDED:
        return None
    records = count_inferable_household_records(table, column.name) or infer_panel_household_size(table, column.name)
    if not records:
        return None
    reasons = (Reason(Clue.PANEL, values=records), *column.reasons[1:])
    return replace(column, role=Role.HOUSEHOLD.value, hierarchy="", reasons=reasons)


def _tells(column: ColumnProfile, worst: Finding, *, treated: bool) -> bool:
    """Whether a column says too much of another to stay as it is; text that restates one always does.

    `treated`: whether a weight is treated before it is published, so that it says less.
    """
    if treated and column.role == Role.WEIGHT:
        return False
    restates = worst.kind is FindingKind.RESTATED and column.role != Role.QUASI_IDENTIFIER
    return restates or column.role == Role.WEIGHT or worst.share > MOSTLY


def _mask_column(column: ColumnProfile, target: str) -> ColumnProfile:
    """A column that is masked with the quasi-identifiers, because it would restore one."""
    reasons = (Reason(Clue.RESTORING, word=target), *column.reasons[1:])
    return replace(column, role=Role.QUASI_IDENTIFIER.value, reasons=reasons)


def _says_identifiers(columns: Sequence[ColumnProfile], table: Table) -> dict[str, str]:
    """Texts among the quasi-identifiers that nobody declared and that say an identifier of their record, and which.

    Masked, a text stands in the file with another record of its class, and one record of a class still says its own.
    """
    roled = table.with_roles({column.name: Role(column.role) for column in columns})
    texts = [
        column.name
        for column in columns
        if column.role == Role.QUASI_IDENTIFIER
        and column.reasons[0].clue is not Clue.DECLARED
        and not table.holds_numbers(column.name)
    ]
    left_out = roled.names_by_role(*UNPUBLISHED)
    if not texts or not left_out:
        return {}
    some = roled.drop([name for name in roled.names if name not in (*texts, *left_out)])
    found = find_restated(Published(some, some))
    return {each.columns[0]: each.columns[1] for each in found if each.columns[0] in texts}


def _leave_out(column: ColumnProfile, target: str) -> ColumnProfile:
    """A column that is not released, because it says another one that is not."""
    reasons = (Reason(Clue.SAYING, word=target), *column.reasons[1:])
    return replace(column, role=Role.IDENTIFIER.value, hierarchy="", reasons=reasons)


def _settle_role(column: ColumnProfile, rows: int, *, treated: bool) -> ColumnProfile:
    present = max(rows - column.missing, 1)
    text = column.kind != Kind.NUMERIC and present >= ENOUGH
    exposing = text and column.unique > LARGEST_SHARE * present
    names = text and column.distinct >= NEARLY_ALL * present
    guessed = names and column.reasons[0].clue is Clue.SINGLING_OUT
    if column.role == Role.WEIGHT and not treated and column.unique > LARGEST_SHARE * present:
        reason = Reason(Clue.SINGLING_OUT, share=column.unique / present)
        return replace(column, role=Role.QUASI_IDENTIFIER.value, reasons=(reason, *column.reasons[1:]))
    if column.role != Role.UNDECIDED and not guessed and not (column.role == Role.CONFIDENTIAL and exposing):
        return column
    role = Role.IDENTIFIER if names else Role.QUASI_IDENTIFIER
    hierarchy = "" if names else column.hierarchy
    return replace(column, role=role.value, hierarchy=hierarchy, reasons=(Reason(Clue.PRECAUTION), *column.reasons[1:]))
