"""The routes of the studio."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from crypsis.studio.pages import compare, data, front, goal, release
from crypsis.studio.responses import Handler, get
from crypsis.studio.studio import Studio

STATIC = Path(__file__).parent / "static"
EVERY = 0.7
"""Seconds between two checks of the run."""


def build(studio: Studio) -> Starlette:
    """The application; `access` decides who may use it."""
    pages = (data, goal, front, compare, release)
    return Starlette(
        routes=[
            *(route for page in pages for route in page.routes(studio)),
            get("/head", lambda request: studio.part("head.html", head=studio.head())),
            Route("/events", _events(studio)),
            Route("/vega.js", _draw_handler(studio)),
            Route("/static/{name}", _static()),
        ],
        exception_handlers={404: _nothing_here, 500: _own_problem},
    )


def _nothing_here(request: Request, error: Exception) -> Response:
    return PlainTextResponse("There is no such page; go back to the Front page of the studio.\n", status_code=404)


def _own_problem(request: Request, error: Exception) -> Response:
    words = "Internal error; nothing is lost. Go back, or restart the studio.\n"
    return PlainTextResponse(words, status_code=500)


def _draw_handler(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        script = await run_in_threadpool(studio.bundle.read)
        return Response(script, media_type="text/javascript", headers={"cache-control": "private, max-age=86400"})

    return handle


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


def _events(studio: Studio) -> Handler:
    """Server-sent events: the state of the search when it changes, else a comment now and then."""

    async def watch(request: Request) -> AsyncIterator[bytes]:
        last, quiet = "", 0
        while not (studio.leaving() or await request.is_disconnected()):
            content = await run_in_threadpool(_state, studio)
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
