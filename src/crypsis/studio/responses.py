"""Requests and responses: forms are read, work is done in a thread, errors become sentences."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError
from crypsis.studio.forms import Form, read_form

Handler = Callable[[Request], Awaitable[Response]]


def answer(message: str = "", go: str = "", parts: Mapping[str, str] | None = None, stamp: str = "") -> Response:
    """A response for a script: a message, a page to go to, and parts of the page by their id.

    stamp    of the plan after this change, so that the page does not fetch its own change again
    """
    return JSONResponse({"message": message, "go": go, "parts": dict(parts or {}), "stamp": stamp, "problems": []})


def refusal(*problems: str) -> Response:
    """A response with every reason why something was not done."""
    return JSONResponse({"message": problems[0] if problems else "", "problems": list(problems)}, status_code=422)


Work = TypeVar("Work", bound=Callable[..., Response])


def shows(path: str) -> Callable[[Work], Work]:
    """Mark a method of a page as what answers a GET of an address."""
    return partial(_at, get, path)


def changes(path: str) -> Callable[[Work], Work]:
    """Mark a method of a page as what answers a POST to an address."""
    return partial(_at, post, path)


def _at(kind: Callable[..., Route], path: str, work: Work) -> Work:
    work.__dict__["address"] = kind, path
    return work


def routes_of(page: object) -> list[Route]:
    """The routes of the marked methods of a page, in the order in which they are written."""
    marked = [(work.__dict__["address"], name) for name, work in vars(type(page)).items() if "address" in _notes(work)]
    return [kind(path, getattr(page, name)) for (kind, path), name in marked]


def _notes(work: object) -> Mapping[str, Any]:
    return getattr(work, "__dict__", {})


def get(path: str, work: Callable[[Request], Response]) -> Route:
    """The route of a page or a part of one; an error is a sentence instead."""

    async def handle(request: Request) -> Response:
        try:
            return await run_in_threadpool(work, request)
        except CrypsisError as error:
            return PlainTextResponse(str(error), status_code=422)

    return Route(path, handle, methods=["GET"])


def post(path: str, work: Callable[[Request, Form], Response]) -> Route:
    """The route of a change; an error is a list of sentences."""

    async def handle(request: Request) -> Response:
        form: dict[str, Any] = read_form(await request.body())
        try:
            return await run_in_threadpool(work, request, form)
        except CrypsisError as error:
            return refusal(*str(error).splitlines())

    return Route(path, handle, methods=["POST"])
