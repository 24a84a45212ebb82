"""Access control: one browser on this machine, by a token that is exchanged for a cookie.

Every request is checked before it reaches a page: its Host and Origin must be the studio's own, it must carry the
cookie, and its body must be small unless it is an upload. A refusal is one sentence without further information.
"""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALL = 2_000_000
"""Largest body of a form, in bytes."""
UPLOAD = "/data/upload"
LARGEST = 1_000_000_000
"""Largest uploaded file, in bytes."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # no-referrer would turn the Origin of our own forms into null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}

log = logging.getLogger("crypsis.studio")


class Credentials:
    """The token of the first address, and the cookie for which it is exchanged once."""

    def __init__(self, port: int) -> None:
        self.token, self.cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.name = f"crypsis-{port}"
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._used = False

    def exchange(self, given: str) -> bool:
        """Whether the token is right and not used yet; marks it as used."""
        if self._used or not hmac.compare_digest(given.encode(), self.token.encode()):
            return False
        self._used = True
        return True

    def admits(self, header: str) -> bool:
        """Whether a Cookie header has the right cookie."""
        try:
            held = SimpleCookie(header).get(self.name)
        except CookieError:
            return False
        return held is not None and hmac.compare_digest(held.value.encode(), self.cookie.encode())


class AccessControl:
    """The outermost layer of the application; refuses requests that do not come from the studio's own pages."""

    def __init__(self, app: ASGIApp, entry: Credentials) -> None:
        self.app, self.entry = app, entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        answer = self._refusal(scope) or self._entrance(scope)
        if answer is not None:
            for name, value in HEADERS.items():
                answer.headers[name] = value
            await answer(scope, receive, send)
            return
        await self._pass_on(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self.entry.hosts:
            return _refuse(421, "This is not an address of the studio; open the one it printed when it started.")
        origins = headers.getlist("origin")
        home = f"http://{hosts[0]}"
        if any(origin != home for origin in origins):
            return _refuse(403, "The request comes from another site; the studio answers only its own pages.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refuse(403, "The request comes from another site; the studio answers only its own pages.")
        if scope["method"] not in ("GET", "HEAD") and not origins:
            return _refuse(403, "A change must come from one of the studio's own pages.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refuse(405, "The studio accepts GET and POST.")
        return self._too_large(scope, headers.get("content-length", "0"))

    @staticmethod
    def _too_large(scope: Scope, length: str) -> Response | None:
        most = LARGEST if scope["path"] == UPLOAD else SMALL
        if not length.isdigit() or int(length) > most:
            return _refuse(
                413, f"This is larger than the {most // 1_000_000} MB that the studio accepts; give a path instead."
            )
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """None for a request with the cookie, the cookie for one with the token, else a refusal."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if given is not None:
            if scope["path"] == "/" and scope["method"] == "GET" and self.entry.exchange(given[0]):
                answer = RedirectResponse("/", status_code=303)
                answer.set_cookie(
                    self.entry.name, self.entry.cookie, max_age=30 * 86_400, httponly=True, samesite="strict"
                )
                return answer
            return _refuse(403, "This address was used before or is wrong; start the studio again for a new one.")
        if self.entry.admits(Headers(scope=scope).get("cookie", "")):
            return None
        return _refuse(
            403, "No access: open the address the studio printed when it started (a restart prints a new one)."
        )

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = LARGEST if scope["path"] == UPLOAD else SMALL
        taken = 0

        async def counted() -> Message:
            """The body up to its largest size; beyond it the application sees a disconnect."""
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= most else {"type": "http.disconnect"}

        async def guarded(message: Message) -> None:
            if taken > most:
                return
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _missing(headers.keys()):
                    headers[name] = value
            await send(message)

        try:
            await self.app(scope, counted, guarded)
        except Exception as error:  # noqa: BLE001  a message may quote data and must not reach the log
            if taken <= most:
                log.error("%s at %s: %s", type(error).__name__, scope["path"], _place(error))
        if taken > most:
            await _refuse(413, f"More than {most // 1_000_000} MB arrived; give a path instead.")(scope, receive, send)


def _missing(present: Iterable[str]) -> list[tuple[str, str]]:
    there = set(present)
    return [(name, value) for name, value in HEADERS.items() if name not in there]


def _refuse(status: int, sentence: str) -> Response:
    return PlainTextResponse(sentence + "\n", status_code=status)


def _place(error: BaseException) -> str:
    """Files and lines of a traceback, innermost first, without the message."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(frames[::-1][:6])
