"""The run's memory: one SQLite file that a search writes while others read, and that a kill cannot corrupt.

Everything a generation learnt is written in one transaction: its checkpoint, its line of history and its new
solutions. After a kill the store holds the last whole generation and nothing of the next. Every row carries a digest
that is checked when it is read; see `sealed_rows`.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import Interrupted, SearchError
from crypsis.run.sealed_rows import Changed, SealedRows, digest_of

FORMAT = 3


@dataclass(frozen=True)
class Row:
    """A solution as stored: which search found it, its genome, and what was measured of it as plain data."""

    id: int
    search: int
    key: bytes
    genome: NDArray[Any]
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One generation of one search."""

    search: int
    generation: int
    evaluations: int
    hits: int
    seconds: float
    best: float
    front: int


class Store:
    """An open run.db. Use as a context manager; readers and one writer may have it open at once.

    run  identity of a new run; every digest is bound to it
    """

    def __init__(self, path: Path, *, create: bool = False, run: str = "") -> None:
        self.path = path
        if create and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        elif not path.is_file():
            raise SearchError(f"{path.parent}: holds no run (no {path.name}); start one with `crypsis run`")
        self._connection = self._connected()
        self._rows = SealedRows(self._connection, run)
        try:
            self._prepare(create)
        except sqlite3.OperationalError as error:
            self._connection.close()
            raise SearchError(
                f"{path}: the run's store cannot be opened ({error}); check the disk and the permissions of its folder"
            ) from None
        except (sqlite3.DatabaseError, ValueError) as error:
            self._connection.close()
            raise self._damaged(error) from None

    def _connected(self) -> sqlite3.Connection:
        """A connection; to a store on a disk that cannot be written, one that only reads."""
        self.read_only = not os.access(self.path.parent, os.W_OK) or not os.access(self.path, os.W_OK)
        if not self.read_only:
            return sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        waiting = self.path.with_name(f"{self.path.name}-wal")
        if waiting.exists() and waiting.stat().st_size:
            raise SearchError(
                f"{self.path}: its folder cannot be written and the last generations still wait in {waiting.name}; "
                f"copy the folder to where you may write, or make it writable"
            )
        address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, timeout=30, isolation_level=None, check_same_thread=False)

    def _prepare(self, create: bool) -> None:
        if not self.read_only:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
        fresh = not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
        if fresh and create:
            with self.transaction():
                self._rows.create()
                self.note("format", FORMAT)
                self.note("run", self.run)
        found = self._unchecked("format") if not fresh or create else None
        if found != FORMAT:
            self._connection.close()
            raise SearchError(
                f"{self.path}: the store has format {found} and this version reads {FORMAT}; "
                f"use the Crypsis that wrote it"
            )
        self._rows.run = str(self._unchecked("run"))

    def _unchecked(self, key: str) -> Any:
        """A note that must be known before any digest can be checked."""
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    @property
    def run(self) -> str:
        """Identity of the run the rows belong to."""
        return self._rows.run

    def check(self) -> None:
        """Refuse a store whose pages or indices are damaged, before anything is written to it."""
        with self.reading():
            (answer,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError("its pages are damaged")

    def _damaged(self, error: Exception) -> SearchError:
        what = error if isinstance(error, sqlite3.Error) else type(error).__name__  # others may quote what they read
        return SearchError(f"{self.path}: not a run store or damaged ({what}); start the run again in a new folder")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Whatever a damaged or changed file makes of a row becomes one sentence."""
        try:
            yield
        except Changed as error:
            raise SearchError(
                f"{self.path}: {error} after the run wrote it, so nothing in it can be trusted; put back a copy of the "
                f"folder from before, or start the run again in a new folder"
            ) from None
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError, EOFError, MemoryError) as error:
            raise self._damaged(error) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing; a disk that refuses ends the run with what was written before."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                with self.reading():
                    self._rows.seal()
                self._connection.execute("COMMIT")
            except BaseException:
                self._rows.forget()
                if self._connection.in_transaction:  # a full disk may have ended it already
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise Interrupted(
                f"{self.path}: the run could not write down its last step ({error}); what was written before is safe: "
                f"make room or make the folder writable, then `crypsis resume {self.path.parent}`"
            ) from None

    def version(self) -> tuple[int, int]:
        """Changes whenever this connection or another has written."""
        with self.reading():
            (others,) = self._connection.execute("PRAGMA data_version").fetchone()
            return int(others), self._connection.total_changes

    # -- notes: small facts of the run --

    def note(self, key: str, value: Any) -> None:
        self._rows.write("meta", 1, (key, json.dumps(value)))

    def noted(self, key: str, default: Any = None) -> Any:
        with self.reading():
            notes = dict(self._rows.all("meta"))
            return json.loads(notes[key]) if key in notes else default

    # -- checkpoints and history --

    def checkpoint(self, steps: Sequence[Step], state: bytes) -> None:
        """The state after the last of some generations of one search, and a line of history for each."""
        last = steps[-1]
        self._rows.write("checkpoint", 1, (last.search, last.generation, digest_of(state)), state)
        for step in steps:
            self._rows.write("history", 2, astuple(step))

    def state(self, search: int) -> bytes | None:
        with self.reading():
            digest = next((digest for found, _, digest in self._rows.all("checkpoint") if found == search), None)
            return None if digest is None else self._rows.large("checkpoint", "state", search, digest)

    def history(self, search: int | None = None) -> list[Step]:
        with self.reading():
            steps = [Step(*row) for row in self._rows.all("history")]
            return [step for step in steps if search is None or step.search == search]

    # -- solutions --

    def add(self, row: Row, *, provisional: bool = False) -> None:
        """A solution under a number of its own, in place of its provisional self.

        A provisional one is shown and forgotten when the run goes on after a stop.
        """
        buffer = io.BytesIO()
        np.save(buffer, row.genome, allow_pickle=False)
        genome, content = buffer.getvalue(), json.dumps(row.content, sort_keys=True)
        self._rows.remove("solution", "id = ? AND provisional", (row.id,))
        self._rows.write("solution", 0, (row.id, row.search, row.key, digest_of(genome), content, provisional), genome)

    def forget_provisional(self) -> None:
        """Drop what was shown before its generation was whole, so that the run goes on as if it never had been."""
        self._rows.remove("solution", "provisional")

    def known(self, search: int) -> set[bytes]:
        with self.reading():
            return {bytes(row[2]) for row in self._rows.all("solution") if row[1] == search}

    def contents(self) -> list[tuple[int, int, Mapping[str, Any]]]:
        """(id, search, content) of every solution, in order of discovery; genomes stay on disk."""
        with self.reading():
            return [(int(row[0]), int(row[1]), json.loads(row[4])) for row in self._rows.all("solution")]

    def solution(self, id: int) -> Row:
        with self.reading():
            rows = {int(row[0]): row for row in self._rows.all("solution")}
        if id not in rows:
            span = f"{min(rows)} to {max(rows)}" if rows else "none yet"
            raise SearchError(f"there is no solution {id}; numbers in this run: {span} (see `crypsis front`)")
        _, search, key, digest, content, _ = rows[id]
        with self.reading():
            genome = np.load(io.BytesIO(self._rows.large("solution", "genome", id, digest)), allow_pickle=False)
            return Row(id, int(search), bytes(key), genome, json.loads(content))
