"""Who may come in: one browser on this machine, by a token that becomes a cookie; and what it may load.

Every request is looked at before any page: its Host and Origin must be the studio's own, it must carry the cookie,
and its body must be small unless it is an upload. A refusal is a sentence and tells nothing else.
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


class Pass:
    """The token of the first address and the cookie it is exchanged for; the token opens once."""

    def __init__(self, port: int) -> None:
        self.token, self.cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.name = f"crypsis-{port}"
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._used = False

    def exchange(self, given: str) -> bool:
        """Whether the token is right and was never used; from now on it is."""
        if self._used or not hmac.compare_digest(given.encode(), self.token.encode()):
            return False
        self._used = True
        return True

    def admits(self, header: str) -> bool:
        try:
            held = SimpleCookie(header).get(self.name)
        except CookieError:
            return False
        return held is not None and hmac.compare_digest(held.value.encode(), self.cookie.encode())


class Gate:
    """The outermost layer of the studio."""

    def __init__(self, app: ASGIApp, entry: Pass) -> None:
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
            return _refuse(403, "Another site asked for this; the studio answers only to its own pages.")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refuse(403, "Another site asked for this; the studio answers only to its own pages.")
        if scope["method"] not in ("GET", "HEAD") and not origins:
            return _refuse(403, "A change must come from one of the studio's own pages.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refuse(405, "The studio knows GET and POST.")
        return self._too_large(scope, headers.get("content-length", "0"))

    @staticmethod
    def _too_large(scope: Scope, length: str) -> Response | None:
        most = LARGEST if scope["path"] == UPLOAD else SMALL
        if not length.isdigit() or int(length) > most:
            return _refuse(
                413, f"This is larger than the {most // 1_000_000} MB the studio takes; give a path instead."
            )
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """None for whoever has the cookie; the exchange for whoever comes with the token; else a refusal."""
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
            """The body as far as it may go; then, for the application, the line is cut."""
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
        except Exception as error:  # noqa: BLE001  the last resort: a log must not hold a message that may quote data
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
    """File and line where it happened, innermost first; never the message."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join(frames[::-1][:6])
