"""The routes of the studio and its server: on this machine only, until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import Receive, Scope, Send

from crypsis.errors import CrypsisError, TableError, address
from crypsis.studio.access import AccessControl, Credentials, StudioPlace, access_file_with_token, own_host
from crypsis.studio.pages import comparison, data, explore, goal, home, records, release, released
from crypsis.studio.pages.home import sweep_uploads
from crypsis.studio.responses import Handler, route_get_responses
from crypsis.studio.session import open_example_session, open_path
from crypsis.studio.studio import Studio, studio_home
from crypsis.studio.workspace import Workspace

# -- The routes of the studio.

STATIC = Path(__file__).parent / "static"
EVERY = 0.7
"""Seconds between two checks of the run."""


def build(workspace: Workspace) -> Starlette:
    """The application: Home, and the pages of every file under its own address; `access` decides who may use it."""
    return Starlette(
        routes=[
            *home.routes(workspace),
            Route("/events", _events(workspace.revision, workspace)),
            Route("/static/{name}", _static()),
            Mount("/s/{key}", _Files(workspace)),
        ],
        exception_handlers={404: _nothing_here, 500: _own_problem},
    )


def build_file(studio: Studio) -> Starlette:
    """The pages of one file."""
    pages = (data, goal, explore, records, comparison, release, released)
    return Starlette(
        routes=[
            route_get_responses("/", lambda request: RedirectResponse(f"{studio.address}{studio.first_page()}", 303)),
            *(route for page in pages for route in page.routes(studio)),
            route_get_responses("/head", lambda request: studio.part("head.html", head=studio.head())),
            Route("/events", _events(lambda: _state(studio), studio)),
        ],
        exception_handlers={404: _nothing_here, 500: _own_problem},
    )


class _Files:
    """The pages of each file; made when they are first asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._built: dict[int, tuple[Studio, Starlette]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with address("studio"):
                studio = await run_in_threadpool(self.workspace.studio, scope["path_params"]["key"])
        except CrypsisError as error:
            await PlainTextResponse(f"{error}\n", status_code=404)(scope, receive, send)
            return
        if id(studio) not in self._built:
            self._built[id(studio)] = (studio, build_file(studio))
        await self._built[id(studio)][1](scope, receive, send)


def _nothing_here(request: Request, error: Exception) -> Response:
    return PlainTextResponse("There is no such page; go back to the first page of the studio.\n", status_code=404)


def _own_problem(request: Request, error: Exception) -> Response:
    words = "Internal error; nothing is lost. Go back, or restart the studio.\n"
    return PlainTextResponse(words, status_code=500)


def _static() -> Handler:
    """Scripts, styles and images from memory, so that no name in a request reaches the file system."""
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    held = {path.name: (path.read_bytes(), kinds[path.suffix]) for path in STATIC.iterdir() if path.suffix in kinds}

    async def handle(request: Request) -> Response:
        found = held.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(found[0], media_type=found[1])

    return handle


def _state(studio: Studio) -> dict[str, Any]:
    """The version is read first, so that the rest is never older than its version."""
    return {"version": studio.revision(), **studio.status()}


def _events(state: Callable[[], dict[str, Any]], place: Studio | Workspace) -> Handler:
    """Server-sent events: the state when it changes, else a comment now and then."""

    async def watch(request: Request) -> AsyncIterator[bytes]:
        last, quiet = "", 0
        while not (place.leaving() or await request.is_disconnected()):
            content = await run_in_threadpool(state)
            text = json.dumps(content)
            quiet += 1
            if text != last:
                last, quiet = text, 0
                yield f"data: {text}\n\n".encode()
            elif quiet > 20:
                quiet = 0
                yield b": still here\n\n"
            await asyncio.sleep(EVERY)

    async def handle(request: Request) -> Response:
        return StreamingResponse(watch(request), media_type="text/event-stream")

    return handle


# -- The server of the studio: on this machine only, until Ctrl-C.

LOOPBACK = ("127.0.0.1", "::1")
"""Both addresses a name that ends in .localhost may lead to: what the studio does not take, another could."""
ATTEMPTS = 20


def serve_studio(
    path: Path | None,
    port: int,
    say: Callable[[str], None],
    form: Mapping[str, Any] | None = None,
    *,
    browser: bool = True,
    own_name: bool = True,
) -> None:
    """Run the server of the studio with its routes, on this machine only, until it is stopped by Ctrl-C.

    `form`: how the file is read, as `read_table` takes it.
    """
    own = studio_home()
    sweep_uploads(own)
    session = open_example_session(own) if path is None else open_path(path, form)
    workspace = Workspace(own)
    studio = workspace.open(session)
    entry, listeners = _take_place(own, port, own_name)
    entry.landing = "/" if path is None else f"{studio.address}/"  # nobody asked for the example
    say(f"studio{f' on {path.name}' if path is not None else ''}: {entry.first_address}")
    say("the address works on this machine while the studio runs; Ctrl-C ends the studio, searches continue")
    logging.getLogger("crypsis.studio").addHandler(logging.StreamHandler())
    if browser:
        webbrowser.open(access_file_with_token(own, entry).as_uri())
    settings = uvicorn.Config(
        AccessControl(build(workspace), entry),
        access_log=False, log_level="warning", lifespan="off", server_header=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(settings)
    workspace.leaving = lambda: server.should_exit
    try:
        server.run(sockets=listeners)
    finally:
        entry.entered()


def _take_place(own: Path, port: int, own_name: bool) -> tuple[Credentials, list[socket.socket]]:
    """Name, port and cookie of the last studio where they are free, so that its open pages find this one; else new."""
    last = StudioPlace.read(own)
    if last is not None and port in (0, last.port) and own_name == last.host.endswith(".localhost"):
        try:
            return Credentials(last.port, last.host, last.cookie), listen(last.port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    listeners = listen(port)
    host, found = own_host() if own_name else LOOPBACK[0], int(listeners[0].getsockname()[1])
    entry = Credentials(found, host)
    StudioPlace(host, found, entry.cookie).write(own)
    return entry, listeners


def listen(port: int) -> list[socket.socket]:
    """Sockets on both loopback addresses with the same port; 0 takes a port that is free on both."""
    for _ in range(ATTEMPTS):
        first = _bind(socket.AF_INET, LOOPBACK[0], port)
        assert first is not None
        try:
            second = _bind(socket.AF_INET6, LOOPBACK[1], int(first.getsockname()[1]))
        except OSError as error:
            first.close()
            if error.errno == errno.EADDRINUSE and not port:
                continue
            raise
        return [first] if second is None else [first, second]
    raise TableError(f"no port is free on both {' and '.join(LOOPBACK)}; name one with --port")


def _bind(family: socket.AddressFamily, address: str, port: int) -> socket.socket | None:
    """A listening socket; None where this machine has no IPv6."""
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
    except OSError:
        if family == socket.AF_INET6:
            return None
        raise
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.listen(128)  # a browser that is faster than the server waits instead of being refused
    except OSError as error:
        made.close()
        if family == socket.AF_INET6 and error.errno != errno.EADDRINUSE:
            return None
        raise
    return made
