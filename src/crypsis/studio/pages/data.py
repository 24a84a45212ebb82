"""The Data page: role, kind and hierarchy of every column, and opening another file."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.audits.default_roles import assign_default_roles
from crypsis.errors import CrypsisError, TableError, listing
from crypsis.plan import Plan, draft
from crypsis.studio.access import UPLOAD
from crypsis.studio.forms import Form, column_of_form, one
from crypsis.studio.responses import answer, changes, refusal, routes_of, shows
from crypsis.studio.session import (
    ENDINGS,
    MOST_COLUMNS,
    PART,
    USUAL_K,
    WAIT,
    Session,
    open_example_session,
    open_path,
)
from crypsis.studio.studio import Studio
from crypsis.table.attribute import Kind, Role
from crypsis.table.builders import BUILDERS, build_hierarchy
from crypsis.table.files import read_table, write_atomically
from crypsis.table.frames import to_frame
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.profile import profile
from crypsis.table.readers import readers
from crypsis.table.readers.excel import sheets_of_workbook
from crypsis.text import role_reason_text

SMALLEST_NAMED = 10
"""Groups of fewer records are counted and not named."""
MOST_ORDERED = 200
"""Largest number of values that can be ordered by hand."""

KEPT = {
    Role.QUASI_IDENTIFIER: ("importance", "at_most", "lock", "linked", "scale"),
    Role.OTHER: ("because", "scale"),
    Role.CONFIDENTIAL: ("because", "scale"),
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
    form = _form_of_file(session) if rows else []
    return {
        "rows": rows, "roles": list(Role), "kinds": list(Kind), "undecided": undecided, "notes": notes, "form": form
    }  # fmt: skip


FORM_LABELS = {
    "sheet": "Sheet", "encoding": "Encoding", "delimiter": "Delimiter", "decimal": "Decimal mark",
    "thousands": "Thousands mark", "dates": "Forms of dates", "missing": "Missing-value markers",
}  # fmt: skip
"""What can be changed about how a file is read."""


def _form_of_file(session: Session) -> list[dict[str, Any]]:
    """How the file is read, a field for each option that its format obeys: what the plan says, else what was found."""
    chosen = readers.of(session.source.name)
    found = getattr(session.reading.raw.origin, "read_with", None)
    said = session.document.get("data", {})
    fields = []
    for name, label in FORM_LABELS.items():
        if chosen is None or name not in chosen.takes or (name == "sheet" and not said.get("sheet")):
            continue
        value = said.get(name, getattr(found, name, None))
        options = sheets_of_workbook(session.source) if name == "sheet" else []
        shown = ", ".join(value) if isinstance(value, list | tuple) else "" if value is None else str(value)
        fields.append({"name": name, "label": label, "value": "tab" if shown == "\t" else shown, "options": options})
    return fields


def _read_form_of_file(form: Form) -> dict[str, Any]:
    """What the fields say, as [data] of a plan has it; an empty one is found out."""
    marks = {"tab": "\t", "space": " "}
    found: dict[str, Any] = {}
    for name in FORM_LABELS:
        text = one(form, name)
        if text and name in ("dates", "missing"):
            found[name] = [part.strip() for part in text.split(",")]
        elif text:
            found[name] = marks.get(text, text)
    return found


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


# -- The Data page: role, kind and hierarchy of every column, and opening another file.

ROWS = 20
"""Number of raw rows that can be shown."""


class _DataPage:
    """The grid, its changes, previews, and opening or uploading another file."""

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

    @changes("/data/reading")
    def read_again(self, request: Request, form: Form) -> Response:
        """Read the file in another way, which the plan keeps."""
        session = self.studio.session
        with session.lock:
            document = session.document
            before = document.get("data", {})
            document["data"] = {
                **{key: value for key, value in before.items() if key not in FORM_LABELS}, **_read_form_of_file(form)
            }  # fmt: skip
            options = {key: value for key, value in document["data"].items() if key != "source"}
            again = read_table(session.source, **options)
            if set(again.names) != set(document.get("columns", {})):  # another table: its plan is drafted anew
                text = draft(session.source, session.plan_path, again, profile(again), USUAL_K)
                write_atomically(session.plan_path, text.encode(), replace=True)
                problems = list[str]()
            else:
                problems = session.save(document)
        return refusal(*problems) if problems else _use(self.studio, open_path(session.plan_path))

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

    @changes("/data/open")
    def open_typed(self, request: Request, form: Form) -> Response:
        path = one(form, "path")
        if not path:
            raise TableError("no path is given; write the path of a data file, a plan or a run folder")
        return _use(self.studio, open_path(Path(path)))

    @changes("/data/example")
    def start_example(self, request: Request, form: Form) -> Response:
        return _use(self.studio, open_example_session(self.studio.home))

    async def upload(self, request: Request) -> Response:
        given = unquote(request.headers.get("x-file-name", ""))
        try:
            path = await _receive(request, self.studio.home, given)
            return await run_in_threadpool(_open_upload, self.studio, path)
        except CrypsisError as error:
            return refusal(*str(error).splitlines())


def routes(studio: Studio) -> list[Route]:
    """The grid, its changes, previews, and opening or uploading another file."""
    page = _DataPage(studio)
    return [*routes_of(page), Route(UPLOAD, page.upload, methods=["POST"])]


async def _receive(request: Request, home: Path, given: str) -> Path:
    """Write the body to a new private folder piece by piece."""
    name = safe_upload_name(given)
    written, folder = 0, None
    try:
        folder = upload_folder(home)
        path = folder / name
        part = folder / f"{name}{PART}"
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            async for piece in request.stream():
                written += len(piece)
                await run_in_threadpool(file.write, piece)
        part.rename(path)
    except (ClientDisconnect, OSError):
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)  # an incomplete file is of no use
        raise TableError(f"{name} did not arrive completely; check the free space and try again") from None
    if not written:
        shutil.rmtree(path.parent, ignore_errors=True)
        raise TableError(f"{path.name} is empty; choose another file")
    return path


def _save(session: Session, problems: list[str], message: str) -> Response:
    return refusal(*problems) if problems else answer(message, stamp=session.stamps()[0])


def _open_upload(studio: Studio, path: Path) -> Response:
    """Open an upload, and remove one that cannot be used."""
    session = Session(path, path.with_name(f"{path.stem}-plan.toml"))
    message = _use(studio, session)
    if session.reading.problem:
        shutil.rmtree(path.parent, ignore_errors=True)
    return message


def _use(studio: Studio, session: Session) -> Response:
    """Use a session if its file can be read; reading a large file continues in the background."""
    session.reading.wait(20.0)
    if session.reading.problem:
        return refusal(*session.reading.problem.splitlines())
    studio.use_session(session)
    return answer(f"{session.source.name} is open.", go="/data")


STALE_AFTER = 3600.0
"""Seconds without new data after which an upload counts as broken off."""


def sweep_uploads(home: Path) -> None:
    """Remove uploads to the Data page that were broken off."""
    for part in home.glob(f"uploads/*/*{PART}"):
        if time.time() - part.stat().st_mtime > STALE_AFTER:
            shutil.rmtree(part.parent, ignore_errors=True)


def upload_folder(home: Path) -> Path:
    """A new private folder for one file opened on the Data page."""
    uploads = home / "uploads"
    uploads.mkdir(mode=0o700, exist_ok=True)
    number = 1 + max((int(each.name) for each in uploads.iterdir() if each.name.isdigit()), default=0)
    folder = uploads / str(number)
    folder.mkdir(mode=0o700)
    return folder


def safe_upload_name(given: str) -> str:
    """Name of a file opened on the Data page, without special characters; a path is refused."""
    if "/" in given or "\\" in given:
        raise TableError("the file name contains a path and must be a name only; rename the file and try again")
    name = re.sub(r"[^\w.\- ]", "_", given).strip(" .")
    if not name or Path(name).suffix.lower() not in ENDINGS:
        raise TableError(f"the file name must end in one of {', '.join(ENDINGS)}; rename it and try again")
    return name[-120:]
