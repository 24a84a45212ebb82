"""The server of the studio: on this machine only, until Ctrl-C."""

from __future__ import annotations

import errno
import html
import logging
import secrets
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from crypsis.errors import TableError
from crypsis.studio.access import DOOR, AccessControl, Credentials, own_host
from crypsis.studio.app import build
from crypsis.studio.opening import open_example, open_path, sweep_uploads
from crypsis.studio.studio import Studio, home
from crypsis.table.atomic_files import write_atomically

LOOPBACK = ("127.0.0.1", "::1")
"""Both addresses a name that ends in .localhost may lead to: what the studio does not take, another could."""
ATTEMPTS = 20
ENTRY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Crypsis studio</title>
<form method="post" action="{address}"><input type="hidden" name="token" value="{token}">
<button>Open the studio</button></form><script>document.forms[0].submit()</script></html>
"""


def serve(
    path: Path | None, port: int, say: Callable[[str], None], *, browser: bool = True, own_name: bool = True
) -> None:
    """Open the studio on a file, a plan, a run or the built-in example, and serve it until it is stopped.

    say       prints a sentence on the terminal
    own_name  answer to a random name that ends in .localhost, whose cookies no other server of this machine sees
    """
    own = home()
    sweep_uploads(own)
    session = open_example(own) if path is None else open_path(path)
    studio = Studio(own, session)
    listeners = listen(port)
    entry = Credentials(int(listeners[0].getsockname()[1]), own_host() if own_name else LOOPBACK[0])
    say(f"studio on {session.source.name}: {entry.first_address}")
    say("the address works on this machine while the studio runs; Ctrl-C ends the studio, searches continue")
    logging.getLogger("crypsis.studio").addHandler(logging.StreamHandler())
    if browser:
        webbrowser.open(entry_file(own, entry).as_uri())
    settings = uvicorn.Config(
        AccessControl(build(studio), entry),
        access_log=False, log_level="warning", lifespan="off", server_header=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(settings)
    studio.leaving = lambda: server.should_exit
    try:
        server.run(sockets=listeners)
    finally:
        entry.entered()


def entry_file(folder: Path, entry: Credentials) -> Path:
    """A file only its owner may read, which posts the token; a command line would show it to every user.

    It is removed when somebody has come in. Files of studios that were killed are removed too: their tokens are void.
    """
    for left in folder.glob("open-*.html"):
        left.unlink(missing_ok=True)
    path = folder / f"open-{secrets.token_hex(8)}.html"
    content = ENTRY.format(address=html.escape(f"{entry.home}{DOOR}"), token=html.escape(entry.token))
    write_atomically(path, content.encode())
    entry.entered = lambda: path.unlink(missing_ok=True)
    return path


def listen(port: int) -> list[socket.socket]:
    """Sockets on both loopback addresses with the same port; 0 takes a port that is free on both."""
    for _ in range(ATTEMPTS):
        first = _bound(socket.AF_INET, LOOPBACK[0], port)
        assert first is not None
        try:
            second = _bound(socket.AF_INET6, LOOPBACK[1], int(first.getsockname()[1]))
        except OSError as error:
            first.close()
            if error.errno == errno.EADDRINUSE and not port:
                continue
            raise
        return [first] if second is None else [first, second]
    raise TableError(f"no port is free on both {' and '.join(LOOPBACK)}; name one with --port")


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket | None:
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
