"""The Data page: role, kind and hierarchy of every column, and opening another file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from urllib.parse import unquote

import narwhals.stable.v2 as nw
import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, TableError, listing
from crypsis.studio.access import UPLOAD
from crypsis.studio.columns import builder, column_of, entry, grid, in_words, levels, order_values, put_in_order, settle
from crypsis.studio.forms import Form, one
from crypsis.studio.opening import PART, open_example, open_path, safe_name, upload_folder
from crypsis.studio.responses import answer, changes, refusal, routes_of, shows
from crypsis.studio.session import WAIT, Session
from crypsis.studio.studio import Studio
from crypsis.table.restoring import to_frame

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
        session, name = self.studio.session, column_of(self.studio.session, form)
        with session.lock:
            document = session.document
            made = entry(form, document.get("columns", {}).get(name, {}))
            document.setdefault("columns", {})[name] = made
            if made.get("hierarchy"):
                levels(session, name, made["hierarchy"], made.get("kind"))
            return _save(session, session.save(document), f"{name}: saved as {in_words(made)}.")

    @changes("/data/settle")
    def settle(self, request: Request, form: Form) -> Response:
        """Give every undecided column the role of the safest reading."""
        session = self.studio.session
        with session.lock:
            document = session.document
            settled = settle(session, document.setdefault("columns", {}))
            if not settled:
                return answer("No column is undecided.")
            return _save(session, session.save(document), f"{listing(settled)}: settled by the safest reading.")

    @changes("/data/preview")
    def preview(self, request: Request, form: Form) -> Response:
        """Group sizes, with the builder around them unless a hierarchy is only tried."""
        session, name, kind = self.studio.session, column_of(self.studio.session, form), one(form, "kind") or None
        spec = one(form, "hierarchy")
        if one(form, "trying"):
            return self.studio.part("levels.html", levels=levels(session, name, spec, kind))
        shown = builder(session, name, spec)
        spec = spec or (shown["rest"] if shown["head"] == "file" else f"{shown['head']}:{shown['rest']}")
        return self.studio.part("builder.html", **shown, levels=levels(session, name, spec, kind))

    @changes("/data/order")
    def order(self, request: Request, form: Form) -> Response:
        session, name = self.studio.session, column_of(self.studio.session, form)
        if "value" not in form:
            return self.studio.part("order.html", name=name, values=order_values(session, name))
        return _save(session, put_in_order(session, name, form["value"]), f"{name}: the order is saved.")

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
        return _use(self.studio, open_example(self.studio.home))

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
    name = safe_name(given)
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
