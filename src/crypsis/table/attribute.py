"""What a column is: its kind decides the arithmetic, its role decides the protection."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from crypsis.errors import TableError, listing, suggestion
from crypsis.table.hierarchy import Hierarchy


class Kind(StrEnum):
    """How values of a column compare."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


class Role(StrEnum):
    """What a column could do to a person."""

    IDENTIFIER = "identifier"
    """Names her outright; never leaves the house."""
    QUASI_IDENTIFIER = "quasi"
    """An intruder may know it and look her up by it; this is what gets masked."""
    CONFIDENTIAL = "confidential"
    """What must not be learnt about her; published as it is, protected by the company it keeps."""
    OTHER = "other"
    """Neither; published untouched."""


ROLE_WORDS = {
    "identifier": Role.IDENTIFIER,
    "quasi": Role.QUASI_IDENTIFIER,
    "quasi-identifier": Role.QUASI_IDENTIFIER,
    "confidential": Role.CONFIDENTIAL,
    "sensitive": Role.CONFIDENTIAL,
    "other": Role.OTHER,
}


def read_role(word: str, column: str) -> Role:
    """The role a person named for a column, or a sentence with the roles there are."""
    role = ROLE_WORDS.get(str(word).strip().lower().replace("_", "-"))
    if role is None:
        known = listing(map(str, Role))
        raise TableError(
            f"column {column!r} has the unknown role {word!r}{suggestion(word, ROLE_WORDS)}; roles: {known}"
        )
    return role


def read_kind(word: str, column: str) -> Kind:
    """The kind a person named for a column, or a sentence with the kinds there are."""
    try:
        return Kind(str(word).strip().lower())
    except ValueError:
        kinds = [str(kind) for kind in Kind]
        raise TableError(
            f"column {column!r} has the unknown kind {word!r}{suggestion(word, kinds)}; kinds: {listing(kinds)}"
        ) from None


@dataclass(frozen=True)
class Attribute:
    """Name, kind and role of a column; its ordered categories unless it is numeric.

    `categories` are the labels of codes 0, 1, …; for an ordinal attribute their order is the order.
    `dates` marks numbers that are days ("date") or seconds ("datetime") since 1970-01-01.
    """

    name: str
    kind: Kind
    role: Role = Role.OTHER
    categories: tuple[str, ...] = field(default=(), repr=False)
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    dates: Literal["", "date", "datetime"] = ""

    @property
    def numeric(self) -> bool:
        return self.kind is Kind.NUMERIC

    def but(self, **changes: Any) -> Attribute:
        """The same attribute with some fields changed."""
        return replace(self, **changes)
