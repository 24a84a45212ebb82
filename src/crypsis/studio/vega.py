"""The chart library: one JavaScript file from `vl-convert-python`, written once and used again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path

from crypsis.errors import TableError
from crypsis.table.atomic_files import private_folder, write_atomically

_MAKE = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle())"


class Bundle:
    """The file; a process in the background writes it, so that no page waits."""

    def __init__(self, home: Path) -> None:
        self.path = home / f"vega-{version('vl-convert-python')}.js"
        self._making = threading.Lock()

    def prepare(self) -> None:
        """Write the file in the background if it does not exist."""
        if not self.path.exists():
            threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> bytes:
        """The script; waits while it is written."""
        with self._making:
            if not self.path.exists():
                made = subprocess.run([sys.executable, "-c", _MAKE], capture_output=True, check=True)
                write_atomically(self.path, made.stdout, replace=True)
            return self.path.read_bytes()


def home() -> Path:
    """The folder of the studio: example, uploads and chart library, private to the user."""
    given, state = os.environ.get("CRYPSIS_STUDIO_HOME"), os.environ.get("XDG_STATE_HOME")
    try:
        folder = Path(given) if given else Path(state or Path.home() / ".local" / "state") / "crypsis" / "studio"
        private_folder(folder).chmod(0o700)
    except (OSError, RuntimeError) as error:  # RuntimeError: this user has no home
        raise TableError(
            f"the studio has no folder of its own ({error}); name one it may write to in CRYPSIS_STUDIO_HOME"
        ) from None
    return folder
