"""How a request becomes an answer: forms are read, work is done beside the event loop, problems become sentences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError
from crypsis.studio.forms import Form, read_form

Handler = Callable[[Request], Awaitable[Response]]


def answer(message: str = "", go: str = "", parts: Mapping[str, str] | None = None, stamp: str = "") -> Response:
    """What a script shows: a sentence, a page to go to, pieces to put in place by their id.

    stamp    of the plan as this change wrote it: the page that asked need not fetch its own change again
    """
    return JSONResponse({"message": message, "go": go, "parts": dict(parts or {}), "stamp": stamp, "problems": []})


def refusal(*problems: str) -> Response:
    """Every reason why something was not done."""
    return JSONResponse({"message": problems[0] if problems else "", "problems": list(problems)}, status_code=422)


def get(path: str, work: Callable[[Request], Response]) -> Route:
    """A page or piece; a problem is a sentence in its place."""

    async def handle(request: Request) -> Response:
        try:
            return await run_in_threadpool(work, request)
        except CrypsisError as error:
            return PlainTextResponse(str(error), status_code=422)

    return Route(path, handle, methods=["GET"])


def post(path: str, work: Callable[[Request, Form], Response]) -> Route:
    """A change; a problem is a list of sentences."""

    async def handle(request: Request) -> Response:
        form: dict[str, Any] = read_form(await request.body())
        try:
            return await run_in_threadpool(work, request, form)
        except CrypsisError as error:
            return refusal(*str(error).splitlines())

    return Route(path, handle, methods=["POST"])
