"""The Data page: one row per column with its role, kind and hierarchy, and where another file is brought in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import narwhals.stable.v2 as nw
import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, TableError
from crypsis.plan import Plan
from crypsis.studio.answering import answer, get, post, refusal
from crypsis.studio.desk import Desk
from crypsis.studio.forms import Form, one
from crypsis.studio.gate import UPLOAD
from crypsis.studio.opening import open_example, open_path, safe_name, upload_folder
from crypsis.studio.reading import MOST_COLUMNS
from crypsis.studio.studio import Studio
from crypsis.table.attribute import Kind, Role
from crypsis.table.builders import build_hierarchy
from crypsis.table.frames import to_frame
from crypsis.table.hierarchy import Hierarchy

ROWS = 20
"""Raw rows shown when asked for; never more than 200."""
SPEAKABLE = 10
"""A group of fewer records is counted and not named."""
WAIT = 1.2
"""Seconds a page waits for a file before it says that it is being read."""


def routes(studio: Studio) -> list[Route]:
    """The grid, its changes, previews, and the ways in for another file."""

    def page(request: Request) -> Response:
        studio.desk.reading.wait(WAIT)
        return studio.page(request, "data", rows=_grid(studio.desk), roles=list(Role), kinds=list(Kind))

    def column(request: Request, form: Form) -> Response:
        desk, name = studio.desk, one(form, "column")
        document = desk.document
        entry = _entry(form, document.get("columns", {}).get(name, {}))
        document.setdefault("columns", {})[name] = entry
        if entry.get("hierarchy"):
            _levels(desk, name, entry["hierarchy"], entry.get("kind"))
        problems = desk.save(document)
        return refusal(*problems) if problems else answer(f"{name}: saved as {_in_words(entry)}.")

    def preview(request: Request, form: Form) -> Response:
        name, spec = one(form, "column"), one(form, "hierarchy")
        if not spec:
            raise TableError(f"column {name!r} has no hierarchy; write for example intervals:5,10,20 or merge:8,4")
        levels = _levels(studio.desk, name, spec, one(form, "kind") or None)
        return studio.part("levels.html", name=name, spec=spec, levels=levels)

    def look(request: Request) -> Response:
        raw = studio.desk.reading.raw
        some = nw.from_native(to_frame(raw.take(np.arange(min(ROWS, len(raw))))), eager_only=True)
        return studio.part("rows.html", names=some.columns, rows=some.rows(), total=len(raw))

    def open_typed(request: Request, form: Form) -> Response:
        path = one(form, "path")
        if not path:
            raise TableError("no path was given; write the path of a data file, a plan or a run folder")
        return _put(studio, open_path(Path(path)))

    def start_example(request: Request, form: Form) -> Response:
        return _put(studio, open_example(studio.home))

    async def upload(request: Request) -> Response:
        given = unquote(request.headers.get("x-file-name", ""))
        try:
            path = await _receive(request, studio.home, given)
            return await run_in_threadpool(lambda: _put(studio, Desk(path, path.with_name(f"{path.stem}-plan.toml"))))
        except CrypsisError as error:
            return refusal(*str(error).splitlines())

    return [
        get("/data", page),
        post("/data/column", column),
        post("/data/preview", preview),
        get("/data/rows", look),
        post("/data/open", open_typed),
        post("/data/example", start_example),
        Route(UPLOAD, upload, methods=["POST"]),
    ]


async def _receive(request: Request, home: Path, given: str) -> Path:
    """Stream the body to a new private folder; nothing of it is held in memory."""
    path = upload_folder(home) / safe_name(given)
    written = 0
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            async for piece in request.stream():
                written += len(piece)
                await run_in_threadpool(file.write, piece)
    except (ClientDisconnect, OSError):
        path.unlink(missing_ok=True)  # half a file is worse than none
        raise TableError(f"{path.name} did not arrive whole; check the free space and try again") from None
    if not written:
        path.unlink()
        raise TableError(f"{path.name} is empty: it has no header and no record; choose another file")
    return path


def _put(studio: Studio, desk: Desk) -> Response:
    """Lay the new file on the desk if it can be read; a long one goes on being read in the background."""
    desk.reading.wait(20.0)
    if desk.reading.problem:
        return refusal(*desk.reading.problem.splitlines())
    studio.put_on_desk(desk)
    return answer(f"{desk.source.name} is on the desk.", go="/data")


def _grid(desk: Desk) -> list[dict[str, Any]]:
    seen = desk.reading.profile
    if seen is None or not desk.plan_path.exists():
        return []
    columns = desk.document.get("columns", {})
    return [
        {
            "name": each.name,
            "said": columns.get(each.name, {}),
            "suggested": {"role": each.role, "kind": each.kind, "hierarchy": each.hierarchy},
            "reason": each.reason,
            "distinct": each.distinct,
            "missing": each.missing,
            "rare": each.rare,
        }
        for each in seen.columns[:MOST_COLUMNS]
    ]


def _entry(form: Form, before: Mapping[str, Any]) -> dict[str, Any]:
    """A column of the plan from its row of the grid; an order of categories stays unless the kind changed."""
    entry: dict[str, Any] = {"role": one(form, "role", "other")}
    for key in ("kind", "hierarchy"):
        if one(form, key):
            entry[key] = one(form, key)
    if entry["role"] == Role.IDENTIFIER:
        entry.pop("hierarchy", None)
    if before.get("order") and entry.get("kind") == Kind.ORDINAL:
        entry["order"] = before["order"]
    return entry


def _in_words(entry: Mapping[str, Any]) -> str:
    return ", ".join(str(entry[key]) for key in ("role", "kind", "hierarchy") if entry.get(key))


def _levels(desk: Desk, name: str, spec: str, kind: str | None) -> list[dict[str, Any]]:
    """Group sizes of every level; small groups are counted, not named."""
    raw = desk.reading.raw
    attribute = raw.attribute(name)
    if kind and kind != attribute.kind.value and not attribute.numeric:
        attribute = attribute.but(kind=Kind(kind))
    place = Plan._hierarchy(spec, desk.home)
    if isinstance(place, Path) and not place.resolve().is_relative_to(desk.home.resolve()):
        raise TableError(
            f"column {name!r}: a hierarchy file must lie in the folder of the plan or below it; move it there"
        )
    hierarchy = build_hierarchy(place, attribute, raw.column(name))
    leaves = raw.with_columns({}, attributes={name: attribute.but(hierarchy=hierarchy)}).leaf_codes(name)
    return [_level(hierarchy, leaves, level) for level in range(hierarchy.height + 1)]


def _level(hierarchy: Hierarchy, leaves: Any, level: int) -> dict[str, Any]:
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
