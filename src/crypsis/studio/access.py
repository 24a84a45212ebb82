"""Access control: one browser on this machine, by a token that is exchanged for a cookie.

Every request is checked before it reaches a page: its Host and Origin must be the studio's own, it must carry the
cookie, and its body must be small unless it is an upload. A refusal is one sentence without further information.
"""

from __future__ import annotations

import hmac
import html
import json
import logging
import secrets
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crypsis.table.atomic_files import write_atomically

SMALL = 2_000_000
"""Largest body of a form, in bytes."""
UPLOAD = "/upload"
LARGEST = 1_000_000_000
"""Largest uploaded file, in bytes."""
DOOR, TOKEN_FORM = "/enter", 200
"""Where the token is posted, and the largest form that does it, in bytes."""
PLACE = "place.json"
"""The file of the studio's last place, in its own folder."""
ENTERED = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Crypsis studio</title>'
    '<link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0; url={landing}"><p><a href="{landing}">Open the studio</a></p></html>'
)
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
    """The token of the first address, the cookie for which it is exchanged, and the only name the studio answers to.

    A browser sends a cookie to every port of a host, so that on 127.0.0.1 any other server of this machine would see
    it. A random name that ends in ``.localhost`` leads to this machine too and has cookies of its own.
    """

    def __init__(self, port: int, host: str = "127.0.0.1", cookie: str = "") -> None:
        self.token, self.cookie = secrets.token_urlsafe(32), cookie or secrets.token_urlsafe(32)
        self.name = f"crypsis-{port}"
        self.host = f"{host}:{port}"
        self.landing = "/"
        """The page that the first address leads to."""
        self.entered: Callable[[], None] = lambda: None
        """Removes what only served to come in; called when somebody has, and at the end."""

    @property
    def home(self) -> str:
        """The studio's own origin."""
        return f"http://{self.host}"

    @property
    def first_address(self) -> str:
        """The address to open; it works as long as the studio runs."""
        return f"{self.home}{self.landing}?token={self.token}"

    def exchange(self, given: str) -> bool:
        """Whether the token is right."""
        right = hmac.compare_digest(given.encode(), self.token.encode())
        if right:
            self.entered()
        return right

    def admits(self, header: str) -> bool:
        """Whether a Cookie header has the right cookie, whatever cookies of others stand beside it."""
        pairs = (part.partition("=") for part in header.split(";"))
        held = [value.strip() for name, _, value in pairs if name.strip() == self.name]
        return any(hmac.compare_digest(value.encode(), self.cookie.encode()) for value in held)


@dataclass(frozen=True)
class StudioPlace:
    """Where the studio of a user was last: a studio that is started again takes it, so that open pages go on.

    It is in the studio's own folder, which only its user can read.
    """

    host: str
    port: int
    cookie: str

    @classmethod
    def read(cls, home: Path) -> StudioPlace | None:
        """The place of the last studio, if there was one."""
        try:
            return cls(**json.loads((home / PLACE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, home: Path) -> None:
        """Remember the place."""
        write_atomically(home / PLACE, json.dumps(asdict(self)).encode(), replace=True)


def own_host() -> str:
    """A random name of this machine that no page of another server knows."""
    return f"crypsis-{secrets.token_hex(8)}.localhost"


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
        answer = self._wrong_host(scope) or await self._door(scope, receive)
        answer = answer or self._refusal(scope) or self._entrance(scope)
        if answer is not None:
            for name, value in HEADERS.items():
                answer.headers[name] = value
            await answer(scope, receive, send)
            return
        await self._pass_on(scope, receive, send)

    def _wrong_host(self, scope: Scope) -> Response | None:
        if Headers(scope=scope).getlist("host") == [self.entry.host]:
            return None
        return _refuse(421, "This is not an address of the studio; open the one it printed when it started.")

    async def _door(self, scope: Scope, receive: Receive) -> Response | None:
        """The answer to the file that opened the browser: it posts the token, so that no address ever holds it."""
        if scope["path"] != DOOR or scope["method"] != "POST":
            return None
        body = b""
        while len(body) <= TOKEN_FORM:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        given = parse_qs(body[:TOKEN_FORM].decode("latin-1")).get("token", [""])
        if not self.entry.exchange(given[0]):
            return _refuse(403, "The token is wrong; open the address the studio printed when it started.")
        # Not a redirect: the first request with the cookie must come from a page of the studio.
        return self._with_cookie(HTMLResponse(ENTERED.format(landing=html.escape(self.entry.landing))))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        origins = headers.getlist("origin")
        if any(origin != self.entry.home for origin in origins):
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
            here = scope["path"] in ("/", self.entry.landing)
            if here and scope["method"] == "GET" and self.entry.exchange(given[0]):
                return self._with_cookie(RedirectResponse(scope["path"], status_code=303))
            return _refuse(403, "This address is wrong; open the one the studio printed when it started.")
        if self.entry.admits(Headers(scope=scope).get("cookie", "")):
            return None
        return _refuse(
            403, "No access: open the address the studio printed when it started (a restart prints a new one)."
        )

    def _with_cookie(self, answer: Response) -> Response:
        answer.set_cookie(self.entry.name, self.entry.cookie, httponly=True, samesite="strict")
        return answer

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = LARGEST if scope["path"] == UPLOAD else SMALL
        taken = 0

        async def receive_counted() -> Message:
            """The body up to its largest size; beyond it the application sees a disconnect."""
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= most else {"type": "http.disconnect"}

        async def send_guarded(message: Message) -> None:
            if taken > most:
                return
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _missing_headers(headers.keys()):
                    headers[name] = value
            await send(message)

        try:
            await self.app(scope, receive_counted, send_guarded)
        except Exception as error:  # noqa: BLE001  a message may quote data and must not reach the log
            if taken <= most:
                log.error("%s at %s: %s", type(error).__name__, scope["path"], _place(error))
        if taken > most:
            await _refuse(413, f"More than {most // 1_000_000} MB arrived; give a path instead.")(scope, receive, send)


def _missing_headers(present: Iterable[str]) -> list[tuple[str, str]]:
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


ENTRY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Crypsis studio</title>
<form method="post" action="{address}"><input type="hidden" name="token" value="{token}">
<button>Open the studio</button></form><script>document.forms[0].submit()</script></html>
"""


def access_file_with_token(folder: Path, entry: Credentials) -> Path:
    """Access by one browser: a file only its owner may read, which posts the token, unseen in the command line.

    It is removed when somebody has come in. Files of studios that were killed are removed too: their tokens are void.
    """
    for left in folder.glob("open-*.html"):
        left.unlink(missing_ok=True)
    path = folder / f"open-{secrets.token_hex(8)}.html"
    content = ENTRY.format(address=html.escape(f"{entry.home}{DOOR}"), token=html.escape(entry.token))
    write_atomically(path, content.encode())
    entry.entered = lambda: path.unlink(missing_ok=True)
    return path
