"""Home: the files of the studio with their searches and releases, and opening or uploading another file."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, TableError
from crypsis.studio.access import UPLOAD
from crypsis.studio.forms import Form, one
from crypsis.studio.responses import answer, changes, refusal, routes_of, shows
from crypsis.studio.session import ENDINGS, PART, Session, open_example_session, open_path
from crypsis.studio.studio import templates
from crypsis.studio.verifications import verify_once
from crypsis.studio.workspace import HOME_VERSION, Workspace


class _HomePage:
    """The cards, and what can be opened or removed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.environment = templates()

    def _render(self, template: str, **content: object) -> Response:
        return HTMLResponse(self.environment.get_template(template).render({"base": "", **content}))

    @shows("/")
    def page(self, request: Request) -> Response:
        return self._render(
            "home.html", here="home", version=HOME_VERSION, cards=self.workspace.cards(), accepted=",".join(ENDINGS)
        )

    @shows("/files")
    def cards(self, request: Request) -> Response:
        return self._render("cards.html", cards=self.workspace.cards())

    @changes("/open")
    def open_typed(self, request: Request, form: Form) -> Response:
        path = one(form, "path")
        if not path:
            raise TableError("no path is given; write the path of a data file, a plan or a run folder")
        return _use(self.workspace, open_path(Path(path)))

    @changes("/example")
    def start_example(self, request: Request, form: Form) -> Response:
        return _use(self.workspace, open_example_session(self.workspace.home))

    @changes("/files/{key}/forget")
    def forget(self, request: Request, form: Form) -> Response:
        return answer(self.workspace.forget(request.path_params["key"]), go="/")

    @shows("/files/{key}/releases/{number:int}")
    def verdict(self, request: Request) -> Response:
        """Whether a release is sound, from its files as they are now."""
        made = self.workspace.release(request.path_params["key"], int(request.path_params["number"]))
        folder = Path(made.folder)
        if made.withdrawn:
            return self._render("verdict.html", level="look", words=f"withdrawn on {made.withdrawn}")
        if not folder.exists():
            return self._render("verdict.html", level="look", words="its folder was moved or deleted")
        found = verify_once(folder)
        words = "verified: every guarantee holds in its files" if found.sound else "NOT sound: open it to see why"
        return self._render("verdict.html", level="good" if found.sound else "stop", words=words)

    async def upload(self, request: Request) -> Response:
        given = unquote(request.headers.get("x-file-name", ""))
        try:
            path = await _receive(request, self.workspace.home, given)
            return await run_in_threadpool(_open_upload, self.workspace, path)
        except CrypsisError as error:
            return refusal(*str(error).splitlines())


def routes(workspace: Workspace) -> list[Route]:
    """The cards, and what can be opened or removed."""
    page = _HomePage(workspace)
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


def _open_upload(workspace: Workspace, path: Path) -> Response:
    """Open an upload, and remove one that cannot be used."""
    session = Session(path, path.with_name(f"{path.stem}-plan.toml"))
    message = _use(workspace, session)
    if session.reading.problem and not session.reading.can_be_read_otherwise:
        shutil.rmtree(path.parent, ignore_errors=True)
    return message


def _use(workspace: Workspace, session: Session) -> Response:
    """Open a session if its file can be read; reading a large file continues in the background."""
    session.reading.wait(20.0)
    if session.reading.problem and not session.reading.can_be_read_otherwise:
        return refusal(*session.reading.problem.splitlines())
    studio = workspace.open(session)
    return answer(f"{session.source.name} is open.", go=f"{studio.address}/data")


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
