"""Decisions about columns in the plan of a session, from whichever page they are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from crypsis.errors import PlanError, TableError
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.rules import read_rule

if TYPE_CHECKING:
    from crypsis.studio.session import Session

KEPT = {
    Role.QUASI_IDENTIFIER: ("importance", "at_most", "lock", "linked", "shared", "derived", "scale"),
    Role.OTHER: ("because", "derived", "scale"),
    Role.CONFIDENTIAL: ("because", "derived", "scale"),
    Role.WEIGHT: ("publish", "scale"),
}
"""What the plan says of a column beside role, kind, hierarchy and order, by the role for which it has a meaning."""


def decided_entry(session: Session, name: str, role: Role, because: str = "") -> dict[str, Any]:
    """The entry of a column in the plan with another role; what has a meaning for that role stays."""
    before = session.document.get("columns", {}).get(name)
    if before is None:
        raise TableError(f"the plan has no column {name!r} any more; load the page again")
    kept = ("kind", "order", "label", "labels", *(() if role in UNPUBLISHED else ("hierarchy",)), *KEPT.get(role, ()))
    made: dict[str, Any] = {"role": role.value, **{key: before[key] for key in kept if key in before}}
    seen = session.reading.profile
    suggested = next((each.hierarchy for each in seen.columns if each.name == name), "") if seen is not None else ""
    if role is Role.QUASI_IDENTIFIER and suggested and "hierarchy" not in made:
        made["hierarchy"] = suggested
    return made | ({"because": because} if because else {})


def follow_roles(document: dict[str, Any], names: Iterable[str]) -> None:
    """Let the rest of a plan follow the roles of some columns, in place.

    A quasi-identifier is masked by the searches and one that is not published by nothing, so neither stays in a
    [[mask]] table; no column is linked to one that is not masked, and no rule names one that is not published.
    """
    columns = document["columns"]
    roles = {name: columns[name].get("role", Role.UNDECIDED.value) for name in names}
    gone = {name for name, role in roles.items() if role in {Role.QUASI_IDENTIFIER, *UNPUBLISHED}}
    kept = []
    for mask in document.get("mask", ()):
        left = [name for name in mask.get("columns", ()) if name not in gone]
        kept += [{**mask, "columns": left}] if left else []
    if "mask" in document:
        document["mask"] = kept
        if not kept:
            del document["mask"]
    hidden = {name for name, role in roles.items() if role in UNPUBLISHED}
    if "rule" in document:
        document["rule"] = [each for each in document["rule"] if hidden.isdisjoint(_columns_of_rule(each))]
        if not document["rule"]:
            del document["rule"]
    unmasked = {name for name, role in roles.items() if role != Role.QUASI_IDENTIFIER}
    for name, said in columns.items():
        if said.get("linked") in unmasked:
            columns[name] = {key: value for key, value in said.items() if key != "linked"}


def _columns_of_rule(said: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        return read_rule(str(said.get("holds", ""))).columns
    except PlanError:
        return ()


def decide(session: Session, names: list[str], role: Role, because: str = "") -> list[str]:
    """Give columns a role in the plan; returns its problems instead, if it then has any."""
    with session.lock:
        document = session.document
        for name in names:
            document["columns"][name] = decided_entry(session, name, role, because)
        follow_roles(document, names)
        return session.save(document)
