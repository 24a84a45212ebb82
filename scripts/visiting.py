"""Somebody at the studio who saves and publishes without a pause, and writes down what was acknowledged."""

from __future__ import annotations

import http.client
import json
import os
from pathlib import Path

from crypsis.studio.server import serve_studio

CYCLE = ("choose", "pin", "limits", "unpin")
EXPORT = 5
"""The visitor's turn of every twelve that publishes."""


def serve_silently(desk: Path, told: int) -> None:
    """The studio on a free port; what it says goes into a pipe."""

    def tell(text: str) -> None:
        os.write(told, f"{text}\n".encode())

    serve_studio(desk, 0, tell, browser=False, own_name=False)


def lines(path: Path) -> list[str]:
    """Whole lines of a file that may still grow."""
    return path.read_text().split("\n")[:-1] if path.exists() else []


def visit(port: int, base: str, token: str, diary: Path) -> None:
    """Save choices and publish, as fast as the server answers, until it is gone; note what was acknowledged."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", f"{base}/?token={token}")
    answer = connection.getresponse()
    answer.read()
    headers = {
        "Cookie": (answer.getheader("set-cookie") or "").split(";")[0],
        "Origin": f"http://127.0.0.1:{port}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    try:
        connection.request("GET", f"{base}/explore.json", headers=headers)
        chosen = json.loads(connection.getresponse().read())["default"]
        with diary.open("w", buffering=1) as notes:
            for turn in range(10_000):
                what = "release" if turn % 12 == EXPORT else CYCLE[turn % 4]
                folder = f"studio-release-{port}-{turn}"
                path, body, kept = {
                    "choose": (f"/choose/{chosen}", "", {"chosen": chosen}),
                    "pin": (f"/pin/{chosen}", "", {"pinned": chosen}),
                    "unpin": (f"/unpin/{chosen}", "", {"unpinned": chosen}),
                    "limits": ("/limits", f"loss={turn}&risk=90", {"limits": turn}),
                    "release": ("/release/export", f"folder={folder}&title=T", {"release": folder}),
                }[what]
                connection.request("POST", f"{base}{path}", body=body, headers=headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    notes.write(json.dumps(kept) + "\n")
    except (OSError, http.client.HTTPException):
        return
    raise ValueError("the server was never killed")
