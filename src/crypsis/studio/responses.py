"""Requests and responses: forms are read, work is done in a thread, errors become sentences."""

from __future__ import annotations

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, address
from crypsis.studio.access import POLICY
from crypsis.studio.forms import Form, read_form

Handler = Callable[[Request], Awaitable[Response]]


def answer(message: str = "", go: str = "", parts: Mapping[str, str] | None = None, stamp: str = "") -> Response:
    """A response for a script: a message, a page to go to, and parts of the page by their id."""
    return JSONResponse({"message": message, "go": go, "parts": dict(parts or {}), "stamp": stamp, "problems": []})


def refusal(*problems: str) -> Response:
    """A response with every reason why something was not done."""
    return JSONResponse({"message": problems[0] if problems else "", "problems": list(problems)}, status_code=422)


Work = TypeVar("Work", bound=Callable[..., Response])

_ADDRESSES: dict[Callable[..., Response], tuple[Callable[..., Route], str]] = {}
"""Marked methods of pages: the kind of route and the address of each."""


def shows(path: str) -> Callable[[Work], Work]:
    """Mark a method of a page as what answers a GET of an address."""
    return partial(_at, route_get_responses, path)


def changes(path: str) -> Callable[[Work], Work]:
    """Mark a method of a page as what answers a POST to an address."""
    return partial(_at, route_post_responses, path)


def _at(kind: Callable[..., Route], path: str, work: Work) -> Work:
    _ADDRESSES[work] = kind, path
    return work


def routes_of(page: object) -> list[Route]:
    """The routes of the marked methods of a page, in the order in which they are written."""
    marked = [(_ADDRESSES[work], name) for name, work in vars(type(page)).items() if _is_marked(work)]
    return [kind(path, getattr(page, name)) for (kind, path), name in marked]


def _is_marked(work: object) -> bool:
    return isinstance(work, FunctionType) and work in _ADDRESSES


def route_get_responses(path: str, work: Callable[[Request], Response]) -> Route:
    """Route of GET requests whose responses are made in a thread; an error becomes a sentence."""

    async def handle(request: Request) -> Response:
        with address("studio"):
            try:
                return await run_in_threadpool(work, request)
            except CrypsisError as error:
                return PlainTextResponse(str(error), status_code=422)

    return Route(path, handle, methods=["GET"])


def route_post_responses(path: str, work: Callable[[Request, Form], Response]) -> Route:
    """Route of POST requests whose forms are read and responses made in a thread; errors become sentences."""

    async def handle(request: Request) -> Response:
        form: dict[str, Any] = read_form(await request.body())
        with address("studio"):
            try:
                return await run_in_threadpool(work, request, form)
            except CrypsisError as error:
                return refusal(*str(error).splitlines())

    return Route(path, handle, methods=["POST"])


STYLE = re.compile(r'\sstyle="([^"]*)"')


SHEET = re.compile(r"<style>(.*?)</style>", re.DOTALL)


META = re.compile(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>")


def respond_with_page(path: Path) -> Response:
    """A page of a release, such as a report, to be looked at."""
    html, nonce = respond_with_report(path.read_text(encoding="utf-8"))
    policy = POLICY.replace("style-src 'self'", f"style-src 'nonce-{nonce}'")
    return HTMLResponse(html, headers={"content-security-policy": policy})


def respond_with_report(html: str) -> tuple[str, str]:
    """A report as a response, styles in one sheet for a policy without unsafe-inline: page and nonce of the sheet."""
    nonce = secrets.token_urlsafe(16)
    styles: dict[str, str] = {}

    def name_style(found: re.Match[str]) -> str:
        key = styles.setdefault(found[1], f"s{len(styles)}")
        return f' data-style="{key}"'

    page = STYLE.sub(name_style, META.sub("", html))
    more = "".join(f'[data-style="{key}"]{{{text}}}' for text, key in styles.items())
    page = SHEET.sub(lambda found: f'<style nonce="{nonce}">{found[1]}{more}</style>', page, count=1)
    return page, nonce
