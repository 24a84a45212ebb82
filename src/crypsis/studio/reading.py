"""Reading a file in the background, so that no page waits for it; a bad file becomes a sentence."""

from __future__ import annotations

import threading
from pathlib import Path

from crypsis.errors import CrypsisError, TableError
from crypsis.plan import Plan, draft
from crypsis.table.files import PARQUET, read_table, write_atomically
from crypsis.table.profile import Profile, profile
from crypsis.table.table import Table

USUAL_K = 5
WAIT = 0.4
"""Seconds a page waits for a file before it says that it is being read."""
MOST_COLUMNS = 2000
"""Files with more columns are refused: nobody can give them roles by hand."""


class FileReading:
    """A file that is read in the background: its profile, and the table as the plan describes it."""

    def __init__(self, source: Path, plan: Path) -> None:
        self.source, self.plan = source, plan
        self.profile: Profile | None = None
        self.problem = ""
        self._raw: Table | None = None
        self._table: tuple[str, Table] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def begin(self) -> FileReading:
        """Start reading."""
        self._thread.start()
        return self

    @property
    def done(self) -> bool:
        """Whether the file is read or refused."""
        return bool(self.problem) or (self.profile is not None and self.plan.exists())

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the file; returns whether it is read or refused."""
        self._thread.join(seconds)
        return self.done

    def _read(self) -> None:
        try:
            self._refuse_wide(_header_width(self.source))
            settings = Plan.read(self.plan).data if self.plan.exists() else None
            if settings is None:
                raw = read_table(self.source)
            else:
                raw = read_table(
                    self.source, delimiter=settings.delimiter, encoding=settings.encoding, missing=settings.missing
                )
            self._refuse_wide(len(raw.names))
            seen = profile(raw)
            if not self.plan.exists():
                text = draft(self.source, self.plan, raw, seen, USUAL_K)
                write_atomically(self.plan, text.encode())
            self._raw, self.profile = raw, seen
        except CrypsisError as error:
            self.problem = _without_folder(str(error), self.source.parent)
        except (OSError, MemoryError) as error:
            self.problem = f"{self.source.name} cannot be read ({type(error).__name__}); check the file and try again"

    def _refuse_wide(self, columns: int) -> None:
        if columns > MOST_COLUMNS:
            raise TableError(
                f"{self.source.name}: {columns} columns, and the studio accepts at most {MOST_COLUMNS}; keep those "
                f"to release, or work with a plan on the command line"
            )

    @property
    def raw(self) -> Table:
        """The table without roles."""
        if self._raw is None:
            raise TableError(self.problem or f"{self.source.name} is still being read; wait a moment")
        return self._raw

    def table(self, plan: Plan, home: Path) -> Table:
        """The table with the plan's roles, kinds and hierarchies; kept until one of these changes."""
        key = plan.model_dump_json(include={"data", "columns"})
        with self._lock:
            if self._table is None or self._table[0] != key:
                self._table = (key, plan.table(home))
            return self._table[1]


def _header_width(source: Path) -> int:
    """About how many columns a text file has, by its first line, so that a wide file is not read; else 0."""
    if source.suffix.lower() in PARQUET:
        return 0
    with source.open("rb") as file:
        line = file.readline(10_000_000)
    return 1 + max(line.count(mark) for mark in (b",", b";", b"\t", b"|"))


def _without_folder(sentence: str, folder: Path) -> str:
    """The sentence with file names only: the folder of uploads is not shown."""
    return sentence.replace(f"{folder}/", "")
