"""The Data page: role, kind and hierarchy of every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.audits.default_roles import assign_default_roles
from crypsis.errors import TableError, listing
from crypsis.plan import Plan
from crypsis.studio.forms import Form, column_of_form, one
from crypsis.studio.responses import answer, changes, refusal, routes_of, shows
from crypsis.studio.session import MOST_COLUMNS, WAIT, Session
from crypsis.studio.studio import Studio
from crypsis.table.attribute import Kind, Role
from crypsis.table.builders import BUILDERS, build_hierarchy
from crypsis.table.frames import to_frame
from crypsis.table.hierarchy import Hierarchy
from crypsis.text import role_reason_text

SMALLEST_NAMED = 10
"""Groups of fewer records are counted and not named."""
MOST_ORDERED = 200
"""Largest number of values that can be ordered by hand."""

KEPT = {
    Role.QUASI_IDENTIFIER: ("importance", "at_most", "lock", "linked", "derived", "scale"),
    Role.OTHER: ("because", "derived", "scale"),
    Role.CONFIDENTIAL: ("because", "derived", "scale"),
    Role.WEIGHT: ("publish", "scale"),
}
"""What the plan says of a column beside the grid, by the role for which it has a meaning."""


def grid(session: Session) -> dict[str, Any]:
    """One row per column: its entry in the plan, the suggestion with its reason, and counts."""
    seen = session.reading.profile
    rows: list[dict[str, Any]] = []
    if seen is not None and session.plan_path.exists():
        columns = session.document.get("columns", {})
        rows = [
            {
                "name": each.name,
                "said": columns.get(each.name, {}),
                "suggested": {"role": each.role, "kind": each.kind, "hierarchy": each.hierarchy},
                "reason": role_reason_text(each.reasons),
                "distinct": each.distinct,
                "missing": each.missing,
                "rare": each.rare,
            }
            for each in seen.columns[:MOST_COLUMNS]
        ]
    undecided = [row["name"] for row in rows if row["said"].get("role", Role.UNDECIDED) == Role.UNDECIDED]
    notes = list(session.reading.raw.notes) if rows else []
    return {"rows": rows, "roles": list(Role), "kinds": list(Kind), "undecided": undecided, "notes": notes}


def settle_columns_on_page(session: Session, columns: dict[str, Any]) -> list[str]:
    """Settle the undecided columns of a plan by the safest reading, in place; the names of those that were."""
    seen = session.reading.profile
    settled = []
    for each in assign_default_roles(seen, session.reading.raw).columns if seen is not None else ():
        said = columns.get(each.name, {})
        if said.get("role", Role.UNDECIDED) == Role.UNDECIDED and each.role != Role.UNDECIDED:
            made = {"role": each.role, "kind": said.get("kind", each.kind)}
            if each.hierarchy and each.role == Role.QUASI_IDENTIFIER:
                made["hierarchy"] = said.get("hierarchy", each.hierarchy)
            columns[each.name] = made
            settled.append(each.name)
    return settled


def entry(form: Form, before: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a column in the plan, from its row of the grid; what other pages edit stays where it applies."""
    made: dict[str, Any] = {"role": one(form, "role", "undecided")}
    for key in ("kind", "hierarchy"):
        if one(form, key):
            made[key] = one(form, key)
    if made["role"] == Role.IDENTIFIER:
        made.pop("hierarchy", None)
    if before.get("order") and made.get("kind") == Kind.ORDINAL:
        made["order"] = before["order"]
    kept = KEPT.get(Role(made["role"]), ()) if made["role"] in set(Role) else ()
    return made | {key: before[key] for key in kept if key in before}


def _in_words(made: Mapping[str, Any]) -> str:
    """Role, kind and hierarchy of a column in one line."""
    return ", ".join(str(made[key]) for key in ("role", "kind", "hierarchy") if made.get(key))


@dataclass(frozen=True)
class BuilderOption:
    """A way to build a hierarchy: its name and label, what its argument is, and an example of one."""

    name: str
    label: str
    argument: str
    example: str


NUMBERS = (BuilderOption("intervals", "intervals of numbers", "widths, each dividing the next", "5,10,20"),)
DATES = (BuilderOption("dates", "parts of dates", "of day, month, quarter, year, decade", "month,quarter,year"),)
TEXTS = (
    BuilderOption("merge", "fewer groups at each level, rare values merged", "how many groups at each level", "8,4,2"),
    BuilderOption("prefixes", "first letters or digits", "characters kept at each level", "3,2,1"),
)
FILE = BuilderOption(
    "file", "a file with a line per value", "a file in the folder of the plan", "hierarchies/region.csv"
)


def _hierarchy_options_on_page(session: Session, name: str, spec: str) -> dict[str, Any]:
    """Hierarchy on the Data page: the options that apply to a column, and name and argument of the one in use."""
    attribute = session.reading.raw.attribute(name)
    options = (*((DATES if attribute.dates else NUMBERS) if attribute.numeric else TEXTS), FILE)
    head, _, rest = spec.partition(":")
    if head not in {option.name for option in options}:
        head, rest = (
            (FILE.name, spec) if spec and head not in BUILDERS else (options[0].name, rest or options[0].example)
        )
    return {"name": name, "options": options, "head": head, "rest": rest}


def _hierarchy_levels_on_page(session: Session, name: str, spec: str, kind: str | None) -> list[dict[str, Any]]:
    """Hierarchy on the Data page: group sizes of every level; small groups are counted, not named."""
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
            f"column {name!r}: a hierarchy file must be in the folder of the plan or below it; move it there"
        )
    return build_hierarchy(place, attribute, raw.column(name))


def _level(hierarchy: Hierarchy, leaves: NDArray[np.int32], level: int) -> dict[str, Any]:
    codes = hierarchy.lift(leaves, level)
    counts = np.bincount(codes[codes >= 0], minlength=len(hierarchy.labels[level]))
    used = np.flatnonzero(counts)
    common = [code for code in used[np.argsort(-counts[used], kind="stable")] if counts[code] >= SMALLEST_NAMED][:6]
    return {
        "level": level,
        "groups": len(used),
        "smallest": int(counts[used].min()) if len(used) else 0,
        "median": float(np.median(counts[used])) if len(used) else 0,
        "named": [(hierarchy.labels[level][code], int(counts[code])) for code in common],
        "small": int((counts[used] < SMALLEST_NAMED).sum()),
        "share": [float(100 * counts[code] / counts.max()) for code in common],
    }


def _order_values(session: Session, name: str) -> list[str]:
    """The values of an ordinal column from low to high: by the plan, the hierarchy or the alphabet."""
    attribute = session.reading.raw.attribute(name)
    if attribute.numeric:
        raise TableError(f"column {name!r} is numeric and has an order already; choose an ordinal column")
    if len(attribute.categories) > MOST_ORDERED:
        raise TableError(
            f"column {name!r} holds {len(attribute.categories)} values, more than the {MOST_ORDERED} that can be "
            f"ordered here; write order = [...] for it in the plan"
        )
    said = session.document.get("columns", {}).get(name, {})
    given = said.get("order") or ()
    if not given and said.get("hierarchy"):
        given = _hierarchy(session, name, said["hierarchy"], Kind.ORDINAL).labels[0]
    return [*dict.fromkeys([*given, *attribute.categories])]


def _put_in_order(session: Session, name: str, values: Sequence[str]) -> list[str]:
    """Write the order of a column into the plan; returns the problems of the plan."""
    with session.lock:
        document = session.document
        column = document.get("columns", {}).get(name, {})
        if column.get("kind") != Kind.ORDINAL:
            raise TableError(f"column {name!r} is not ordinal; give it that kind first")
        if sorted(values) != sorted(_order_values(session, name)):
            raise TableError(f"column {name!r}: its values have changed; open the order again")
        document["columns"][name] = {**column, "order": list(values)}
        return session.save(document)


# -- The Data page: role, kind and hierarchy of every column.

ROWS = 20
"""Number of raw rows that can be shown."""


class _DataPage:
    """The grid, its changes and previews."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    @shows("/data")
    def page(self, request: Request) -> Response:
        self.studio.session.reading.wait(WAIT)
        return self.studio.page("data", lambda: grid(self.studio.session))

    @shows("/data/grid")
    def rows(self, request: Request) -> Response:
        return self.studio.part("grid.html", **grid(self.studio.session))

    @changes("/data/column")
    def column(self, request: Request, form: Form) -> Response:
        session, name = self.studio.session, column_of_form(self.studio.session, form)
        with session.lock:
            document = session.document
            made = entry(form, document.get("columns", {}).get(name, {}))
            document.setdefault("columns", {})[name] = made
            if made.get("hierarchy"):
                _hierarchy_levels_on_page(session, name, made["hierarchy"], made.get("kind"))
            return _save(session, session.save(document), f"{name}: saved as {_in_words(made)}.")

    @changes("/data/settle")
    def settle(self, request: Request, form: Form) -> Response:
        """Give every undecided column the role of the safest reading."""
        session = self.studio.session
        with session.lock:
            document = session.document
            settled = settle_columns_on_page(session, document.setdefault("columns", {}))
            if not settled:
                return answer("No column is undecided.")
            return _save(session, session.save(document), f"{listing(settled)}: settled by the safest reading.")

    @changes("/data/preview")
    def preview(self, request: Request, form: Form) -> Response:
        """Group sizes, with the builder around them unless a hierarchy is only tried."""
        session, name, kind = self.studio.session, column_of_form(self.studio.session, form), one(form, "kind") or None
        spec = one(form, "hierarchy")
        if one(form, "trying"):
            return self.studio.part("levels.html", levels=_hierarchy_levels_on_page(session, name, spec, kind))
        shown = _hierarchy_options_on_page(session, name, spec)
        spec = spec or (shown["rest"] if shown["head"] == "file" else f"{shown['head']}:{shown['rest']}")
        return self.studio.part("builder.html", **shown, levels=_hierarchy_levels_on_page(session, name, spec, kind))

    @changes("/data/order")
    def order(self, request: Request, form: Form) -> Response:
        session, name = self.studio.session, column_of_form(self.studio.session, form)
        if "value" not in form:
            return self.studio.part("order.html", name=name, values=_order_values(session, name))
        return _save(session, _put_in_order(session, name, form["value"]), f"{name}: the order is saved.")

    @shows("/data/rows")
    def look(self, request: Request) -> Response:
        raw = self.studio.session.reading.raw
        some = nw.from_native(to_frame(raw.take(np.arange(min(ROWS, len(raw))))), eager_only=True)
        return self.studio.part("rows.html", names=some.columns, rows=some.rows(), total=len(raw))


def routes(studio: Studio) -> list[Route]:
    """The grid, its changes and previews."""
    return routes_of(_DataPage(studio))


def _save(session: Session, problems: list[str], message: str) -> Response:
    return refusal(*problems) if problems else answer(message, stamp=session.stamps()[0])
