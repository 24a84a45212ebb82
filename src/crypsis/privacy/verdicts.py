"""How a property vector becomes a verdict, and why a model may not apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crypsis.errors import TableError, listing, unknown_column
from crypsis.privacy.model import PrivacyModel, Verdict, models
from crypsis.privacy.properties import Floats, failing, worst
from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses, classes_of
from crypsis.table.table import Table


def quasi_identifiers_of(model: PrivacyModel, table: Table) -> list[str]:
    """The columns the intruder knows: those named, or all with that role."""
    return list(model.quasi_identifiers) or table.quasi_identifiers


def confidential_of(named: Sequence[str], table: Table) -> list[str]:
    """The columns that must not be learnt: those named, or all with that role."""
    return list(named) or table.confidential


def columns_obstacle(model: PrivacyModel, table: Table, confidential: Sequence[str] | None = None) -> str:
    """Why the needed columns are not there, in a sentence; empty if they are. `None`: no confidential one needed."""
    name = models.name_of(model)
    unknown = unknown_column((*model.quasi_identifiers, *(confidential or ())), table.names)
    if unknown:
        return f"{name}: {unknown}"
    known = quasi_identifiers_of(model, table)
    if not known:
        return (
            f"{name}: the table has no quasi-identifier, so nobody can be looked up; give the columns an intruder may "
            f"know the role 'quasi'"
        )
    if confidential is None:
        return ""
    hidden = confidential_of(confidential, table)
    if not hidden:
        return f"{name}: the table has no confidential attribute; give the column to protect the role 'confidential'"
    both = sorted(set(known) & set(hidden))
    if both:
        return (
            f"{name}: {listing(map(repr, both))} would be quasi-identifier and confidential at once; give each column "
            f"one of the two"
        )
    return ""


def judged(model: PrivacyModel, table: Table, statement: str) -> Verdict:
    """The verdict on a property vector; a table without records satisfies nothing.

    statement  the demand in words, with {columns} where those the intruder knows are to be named
    """
    obstacle = model.obstacle(table)
    if obstacle:
        raise TableError(obstacle)
    levels = model.levels(table)
    records = int(table.kept.sum())
    columns = tuple(quasi_identifiers_of(model, table))
    statement = statement.format(columns=", ".join(columns))
    offending = int(failing(levels, model.required, model.sense).sum())
    return Verdict(
        model=models.name_of(model),
        required=model.required,
        attained=worst(levels, model.sense),
        holds=records > 0 and offending == 0,
        offending=offending,
        records=records,
        sense=model.sense,
        statement=statement if records else f"{statement} (no record is left to judge)",
        columns=columns,
    )


def worst_over_columns(
    model: PrivacyModel,
    table: Table,
    confidential: Sequence[str],
    level: Callable[[EquivalenceClasses, ClassContents, str], Floats],
) -> Floats:
    """The property of each record under its worst confidential column; `level` gives one number per class."""
    classes = classes_of(table, quasi_identifiers_of(model, table))
    pick = np.minimum if model.sense == "at least" else np.maximum
    found: Floats | None = None
    for column in confidential_of(confidential, table):
        here = level(classes, classes.contents(table.codes([column])[:, 0]), column)
        found = here if found is None else pick(found, here)
    if found is None:
        raise TableError(model.obstacle(table) or "no confidential column was named")
    return classes.spread_out(found)
