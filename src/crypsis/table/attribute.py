"""Attributes: the kind of a column decides how values compare, its role decides how it is protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from crypsis.errors import TableError, listing, suggestion
from crypsis.table.hierarchy import Hierarchy


class Kind(StrEnum):
    """How the values of a column compare."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


class Role(StrEnum):
    """What a column means for disclosure.

    Examples
    --------
    >>> Role("quasi")
    <Role.QUASI_IDENTIFIER: 'quasi'>
    """

    IDENTIFIER = "identifier"
    """Direct identifier; never released."""
    QUASI_IDENTIFIER = "quasi"
    """Likely known to an intruder, who can link records by it; it is masked."""
    CONFIDENTIAL = "confidential"
    """Must not be disclosed about a person; published as collected, protected by its equivalence class."""
    WEIGHT = "weight"
    """Sampling weight; published, and audited for what it gives away."""
    HOUSEHOLD = "household"
    """Says which records belong together, such as a household or a family; never released."""
    STRATUM = "stratum"
    """Stratum of the sample; published, and audited for what it gives away."""
    OTHER = "other"
    """Decided to be none of these; published as collected."""
    UNDECIDED = "undecided"
    """Nobody decided yet; nothing is released before somebody does."""


UNPUBLISHED = (Role.IDENTIFIER, Role.HOUSEHOLD)
"""Roles whose columns no release has."""
UNMASKED = (Role.CONFIDENTIAL, Role.WEIGHT, Role.STRATUM, Role.OTHER, Role.UNDECIDED)
"""Roles whose columns a search leaves as they are."""

ROLE_NAMES = {role.value: role for role in Role} | {
    "quasi-identifier": Role.QUASI_IDENTIFIER,
    "sensitive": Role.CONFIDENTIAL,
}


def attribute_weights(attributes: Sequence[Attribute]) -> tuple[float, ...]:
    """Attributes of a table: their declared importance as weights of mean 1; all 1 where none has any.

    >>> attribute_weights([Attribute("age", Kind.NUMERIC, importance=3.0), Attribute("sex", Kind.NOMINAL)])
    (1.5, 0.5)
    """
    total = sum(attribute.importance for attribute in attributes)
    return tuple(each.importance * len(attributes) / total if total else 1.0 for each in attributes)


def read_role(name: str, column: str) -> Role:
    """Read the name of a role."""
    role = ROLE_NAMES.get(str(name).strip().lower().replace("_", "-"))
    if role is None:
        known = listing(map(str, Role))
        raise TableError(
            f"column {column!r} has the unknown role {name!r}{suggestion(name, ROLE_NAMES)}; roles: {known}"
        )
    return role


def read_kind(name: str, column: str) -> Kind:
    """Read the name of a kind."""
    try:
        return Kind(str(name).strip().lower())
    except ValueError:
        kinds = [str(kind) for kind in Kind]
        raise TableError(
            f"column {column!r} has the unknown kind {name!r}{suggestion(name, kinds)}; kinds: {listing(kinds)}"
        ) from None


Dates = Literal["", "date", "datetime"]

"""What a number counts: nothing, days or seconds since 1970-01-01."""
Scale = Literal["automatic", "raw", "log", "both"]
"""On which scale calibrated files keep the moments of a number; automatic: raw, and log too where it is skew."""


def one_day(dates: Dates) -> float:
    """A day in the numbers of a column of dates."""
    return 86_400.0 if dates == "datetime" else 1.0


def date_text(number: float, dates: Dates) -> str:
    """The date that a number of a column counts, in days or in seconds.

    >>> date_text(17831.4, "date")
    '2018-10-27'
    """
    return str(np.datetime64(round(number), "D" if dates == "date" else "s"))[:10]


@dataclass(frozen=True)
class Attribute:
    """Name, kind and role of a column.

    Attributes
    ----------
    name : str
    kind : Kind
        How its values compare.
    role : Role
        What it means for disclosure.
    categories : tuple of str
        Labels of the codes 0, 1, … of a column that is not numeric; their order is the order of an ordinal column.
    hierarchy : Hierarchy or None
        Its generalisation hierarchy.
    dates : {"", "date", "datetime"}
        Whether its numbers are days or seconds since 1970-01-01.
    importance : float
        Weight of its loss beside that of other columns; 0 where it does not count.
    locked : bool
        Whether it is published as collected although it is a quasi-identifier.
    shared : bool
        Whether it was declared to have one value within every household.
    linked : str
        The column that determines its values, so that both are published together; empty if there is none.
    derived : str
        How its values follow from other columns, such as "wage + pension"; empty if they do not. It is recomputed after
        every masking, and no search masks it.
    publish : str
        What is done to a sampling weight after every masking, such as "rounded:10" or "raked"; empty: nothing.
    scale : {"automatic", "raw", "log", "both"}
        On which scale calibrated files keep its moments.
    label : str
        What the column is, in the words of the file.
    codes : tuple of (str, float or str)
        Categories and the codes that stand for them in the file, as SPSS, Stata and SAS have them.
    missing_codes : tuple of (str, lowest, highest)
        Codes of the file that mean missing, with their label.
    stored : object
        Type of the column in the file or frame, a polars type; None where the table comes from neither.

    Examples
    --------
    >>> Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER).numeric
    True
    """

    name: str
    kind: Kind
    role: Role = Role.UNDECIDED
    categories: tuple[str, ...] = field(default=(), repr=False)
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    dates: Dates = ""
    importance: float = 1.0
    locked: bool = False
    shared: bool = False
    linked: str = ""
    derived: str = ""
    publish: str = ""
    scale: Scale = "automatic"
    label: str = field(default="", repr=False)
    codes: tuple[tuple[str, float | str], ...] = field(default=(), repr=False)
    missing_codes: tuple[tuple[str, float | str, float | str], ...] = field(default=(), repr=False)
    stored: Any = field(default=None, repr=False, compare=False)

    @property
    def numeric(self) -> bool:
        """Whether the kind is numeric."""
        return self.kind is Kind.NUMERIC

    def but(self, **changes: Any) -> Attribute:
        """The same attribute with some fields changed.

        Parameters
        ----------
        **changes
            Fields and their new values.

        Returns
        -------
        Attribute
        """
        return replace(self, **changes)
