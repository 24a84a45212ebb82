"""The status of a run from its store while the search writes it: a few counts, no solution is read."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from crypsis.run.folder import STORE


@dataclass(frozen=True)
class RunStatus:
    """Counts, time and budget of a run."""

    solutions: int = 0
    evaluations: int = 0
    elapsed: float = 0.0
    budget: str | None = None
    finished: bool = False


def run_status(folder: Path) -> RunStatus:
    """The status of a run; zeros while the search makes its folder."""
    try:
        with closing(sqlite3.connect(folder / STORE, timeout=5)) as store:
            notes = {key: json.loads(value) for key, value in store.execute("SELECT key, value FROM meta")}
            (solutions,) = store.execute("SELECT count(*) FROM solution").fetchone()
            tried = store.execute("SELECT max(evaluations) FROM history GROUP BY search").fetchall()
    except (sqlite3.Error, ValueError):
        return RunStatus()
    return RunStatus(
        int(solutions),
        sum(int(row[0]) for row in tried),
        float(notes.get("elapsed", 0.0)),
        notes.get("budget"),
        bool(notes.get("finished", False)),
    )
