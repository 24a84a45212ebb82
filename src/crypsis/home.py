"""The folder in which Crypsis keeps what outlives a command: the ledger of releases, and the studio's files."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "CRYPSIS_HOME"
"""Environment variable with the path of the folder."""


def state_home() -> Path:
    """The folder that `CRYPSIS_HOME` names, else `crypsis` among the states of the user.

    Raises RuntimeError if nothing is named and the user has no home.
    """
    named, states = os.environ.get(VARIABLE), os.environ.get("XDG_STATE_HOME")
    return Path(named).expanduser() if named else Path(states or Path.home() / ".local" / "state") / "crypsis"
