"""One column as the Data page tells it: its row of the grid, group sizes of its hierarchy, the order of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.plan import Plan
from crypsis.studio.forms import Form, one
from crypsis.studio.reading import MOST_COLUMNS
from crypsis.studio.session import Session
from crypsis.table.attribute import Kind, Role
from crypsis.table.builders import BUILDERS, build_hierarchy
from crypsis.table.hierarchy import Hierarchy
from crypsis.text import reason_text

SPEAKABLE = 10
"""A group of fewer records is counted and not named."""
MOST_ORDERED = 200
"""Values that can be put in order by hand; the browser gets no more of them than of records."""


def grid(session: Session) -> dict[str, Any]:
    """A row per column: what the plan says, what was suggested and why, and counts."""
    seen = session.reading.profile
    rows: list[dict[str, Any]] = []
    if seen is not None and session.plan_path.exists():
        columns = session.document.get("columns", {})
        rows = [
            {
                "name": each.name,
                "said": columns.get(each.name, {}),
                "suggested": {"role": each.role, "kind": each.kind, "hierarchy": each.hierarchy},
                "reason": reason_text(each.reasons),
                "distinct": each.distinct,
                "missing": each.missing,
                "rare": each.rare,
            }
            for each in seen.columns[:MOST_COLUMNS]
        ]
    return {"rows": rows, "roles": list(Role), "kinds": list(Kind)}


def entry(form: Form, before: Mapping[str, Any]) -> dict[str, Any]:
    """A column of the plan from its row of the grid; an order of categories stays unless the kind changed."""
    made: dict[str, Any] = {"role": one(form, "role", "other")}
    for key in ("kind", "hierarchy"):
        if one(form, key):
            made[key] = one(form, key)
    if made["role"] == Role.IDENTIFIER:
        made.pop("hierarchy", None)
    if before.get("order") and made.get("kind") == Kind.ORDINAL:
        made["order"] = before["order"]
    return made


def in_words(made: Mapping[str, Any]) -> str:
    return ", ".join(str(made[key]) for key in ("role", "kind", "hierarchy") if made.get(key))


@dataclass(frozen=True)
class Way:
    """One way to make values coarser, as the builder offers it."""

    head: str
    words: str
    what: str
    example: str


NUMBERS = (Way("intervals", "intervals of numbers", "widths, each dividing the next", "5,10,20"),)
DATES = (Way("dates", "parts of dates", "of day, month, quarter, year, decade", "month,quarter,year"),)
TEXTS = (
    Way("merge", "fewer and fewer groups, rare values together", "how many groups at each level", "8,4,2"),
    Way("prefixes", "first letters or digits", "characters kept at each level", "3,2,1"),
)
FILE = Way("file", "a file with a line per value", "a file in the folder of the plan", "hierarchies/region.csv")


def builder(session: Session, name: str, spec: str) -> dict[str, Any]:
    """The ways that suit a column, and the one in use taken apart."""
    attribute = session.reading.raw.attribute(name)
    ways = (*((DATES if attribute.dates else NUMBERS) if attribute.numeric else TEXTS), FILE)
    head, _, rest = spec.partition(":")
    if head not in {way.head for way in ways}:
        head, rest = (FILE.head, spec) if spec and head not in BUILDERS else (ways[0].head, rest or ways[0].example)
    return {"name": name, "ways": ways, "head": head, "rest": rest}


def levels(session: Session, name: str, spec: str, kind: str | None) -> list[dict[str, Any]]:
    """Group sizes of every level; small groups are counted, not named."""
    hierarchy = _hierarchy(session, name, spec, kind)
    raw = session.reading.raw
    attribute = raw.attribute(name).but(hierarchy=hierarchy)
    leaves = raw.with_columns({}, attributes={name: attribute}).leaf_codes(name)
    return [_level(hierarchy, leaves, level) for level in range(hierarchy.height + 1)]


def _hierarchy(session: Session, name: str, spec: str, kind: str | None) -> Hierarchy:
    raw = session.reading.raw
    attribute = raw.attribute(name)
    if kind and kind != attribute.kind.value and not attribute.numeric:
        attribute = attribute.but(kind=Kind(kind))
    place = Plan._hierarchy(spec, session.home)
    if str(place).startswith("file:"):
        place = session.home / str(place).removeprefix("file:")
    if isinstance(place, Path) and not place.resolve().is_relative_to(session.home.resolve()):
        raise TableError(
            f"column {name!r}: a hierarchy file must lie in the folder of the plan or below it; move it there"
        )
    return build_hierarchy(place, attribute, raw.column(name))


def _level(hierarchy: Hierarchy, leaves: NDArray[np.int32], level: int) -> dict[str, Any]:
    codes = hierarchy.lift(leaves, level)
    counts = np.bincount(codes[codes >= 0], minlength=len(hierarchy.labels[level]))
    used = np.flatnonzero(counts)
    common = [code for code in used[np.argsort(-counts[used], kind="stable")] if counts[code] >= SPEAKABLE][:6]
    return {
        "level": level,
        "groups": len(used),
        "smallest": int(counts[used].min()) if len(used) else 0,
        "median": float(np.median(counts[used])) if len(used) else 0,
        "named": [(hierarchy.labels[level][code], int(counts[code])) for code in common],
        "small": int((counts[used] < SPEAKABLE).sum()),
        "share": [float(100 * counts[code] / counts.max()) for code in common],
    }


def ordered(session: Session, name: str) -> list[str]:
    """The values of an ordinal column from low to high, as the plan, its hierarchy or the alphabet has them."""
    attribute = session.reading.raw.attribute(name)
    if attribute.numeric:
        raise TableError(f"column {name!r} holds numbers, which have their order already; there is nothing to arrange")
    if len(attribute.categories) > MOST_ORDERED:
        raise TableError(
            f"column {name!r} holds {len(attribute.categories)} values, more than the {MOST_ORDERED} that can be "
            f"arranged here; write order = [...] for it in the plan"
        )
    said = session.document.get("columns", {}).get(name, {})
    given = said.get("order") or ()
    if not given and said.get("hierarchy"):
        given = _hierarchy(session, name, said["hierarchy"], Kind.ORDINAL).labels[0]
    return [*dict.fromkeys([*given, *attribute.categories])]


def put_in_order(session: Session, name: str, values: Sequence[str]) -> list[str]:
    """Write the order of a column into the plan, or say why not; every value must be named once."""
    with session.lock:
        document = session.document
        column = document.get("columns", {}).get(name, {})
        if column.get("kind") != Kind.ORDINAL:
            raise TableError(f"column {name!r} is not ordinal; give it that kind first")
        if sorted(values) != sorted(ordered(session, name)):
            raise TableError(f"column {name!r}: its values have changed meanwhile; open their order again")
        document["columns"][name] = {**column, "order": list(values)}
        return session.save(document)
