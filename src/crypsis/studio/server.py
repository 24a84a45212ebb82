"""The server of the studio: on this machine only, until Ctrl-C."""

from __future__ import annotations

import logging
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from crypsis.studio.access import AccessControl, Credentials
from crypsis.studio.app import build
from crypsis.studio.opening import open_example, open_path, sweep_uploads
from crypsis.studio.studio import Studio
from crypsis.studio.vega import home

LOOPBACK = "127.0.0.1"


def serve(path: Path | None, port: int, say: Callable[[str], None], *, browser: bool = True) -> None:
    """Open the studio on a file, a plan, a run or the built-in example, and serve it until it is stopped.

    say     prints a sentence on the terminal
    """
    own = home()
    sweep_uploads(own)
    session = open_example(own) if path is None else open_path(path)
    studio = Studio(own, session)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOOPBACK, port))
    listener.listen(128)  # a browser that is faster than the server waits instead of being refused
    chosen = int(listener.getsockname()[1])
    entry = Credentials(chosen)
    first = f"http://{LOOPBACK}:{chosen}/?token={entry.token}"
    say(f"studio on {session.source.name}: {first}")
    say("the address works once, in one browser on this machine; Ctrl-C ends the studio, searches continue")
    logging.getLogger("crypsis.studio").addHandler(logging.StreamHandler())
    if browser:
        webbrowser.open(first)
    settings = uvicorn.Config(
        AccessControl(build(studio), entry),
        access_log=False, log_level="warning", lifespan="off", server_header=False, timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(settings)
    studio.leaving = lambda: server.should_exit
    server.run(sockets=[listener])
