"""The store of a run: one SQLite file with one writer and several readers.

A generation is written in one transaction: its checkpoint, its line of history and its new solutions. After a kill the
store has the last complete generation and nothing of the next.
Every row carries a digest that is checked when it is read; see `sealed_rows`.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import Interrupted, SearchError

SIZE = 16
"""Bytes of a digest."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "meta": ("key", "value"),
    "checkpoint": ("search", "generation", "state_digest"),
    "history": ("search", "generation", "evaluations", "hits", "seconds", "best", "front"),
    "solution": ("id", "search", "key", "genome_digest", "content", "provisional"),
}
"""Table → the columns its digests cover."""

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, digest BLOB NOT NULL);
CREATE TABLE checkpoint (
    search INTEGER PRIMARY KEY, generation INTEGER NOT NULL, state_digest BLOB NOT NULL, digest BLOB NOT NULL,
    state BLOB NOT NULL
);
CREATE TABLE history (
    search INTEGER NOT NULL, generation INTEGER NOT NULL, evaluations INTEGER NOT NULL, hits INTEGER NOT NULL,
    seconds REAL NOT NULL, best REAL NOT NULL, front INTEGER NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (search, generation)
);
CREATE TABLE solution (
    id INTEGER PRIMARY KEY, search INTEGER NOT NULL, key BLOB NOT NULL, genome_digest BLOB NOT NULL,
    content TEXT NOT NULL, provisional INTEGER NOT NULL, digest BLOB NOT NULL, genome BLOB NOT NULL,
    UNIQUE (search, key)
);
CREATE TABLE seal (part TEXT PRIMARY KEY, count INTEGER NOT NULL, total BLOB NOT NULL)
"""


class Changed(Exception):
    """A row or a table is not as it was written; the message says which, never what it holds."""


def digest_of(content: bytes) -> bytes:
    """The digest of a large value."""
    return blake2b(content, digest_size=SIZE).digest()


def row_digest(run: str, part: str, values: Sequence[Any]) -> bytes:
    """The digest of a row: of its run, its table, and each value with its type and length.

    Parameters
    ----------
    run : str
        Identity of the run.
    part : str
        The table.
    values : sequence
        The values that the digest covers.

    Returns
    -------
    bytes
    """
    found = blake2b(digest_size=SIZE, person=b"crypsis row")
    for value in (run, part, *values):
        kind, content = _plain(value)
        found.update(kind + len(content).to_bytes(8, "big") + content)
    return found.digest()


def _plain(value: Any) -> tuple[bytes, bytes]:
    """A value of SQLite as a letter for its type and its bytes."""
    match value:
        case str():
            return b"s", value.encode(errors="surrogatepass")
        case bytes():
            return b"b", value
        case int():
            return b"i", str(int(value)).encode()
        case float():
            return b"f", struct.pack(">d", value + 0.0)  # SQLite keeps no sign of zero
    return b"n", b""


@dataclass
class SealedRows:
    """The tables of a store; reading checks their digests, writing updates them.

    Attributes
    ----------
    connection : sqlite3.Connection
        The store.
    run : str
        Identity of the run; a row of another run fails its digest.
    """

    connection: sqlite3.Connection
    run: str = ""
    _changes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]), repr=False)

    def create(self) -> None:
        """Create the tables, empty."""
        for statement in filter(str.strip, TABLES.split(";")):
            self.connection.execute(statement)
        for part in COLUMNS:
            self.connection.execute("INSERT INTO seal VALUES (?, 0, ?)", (part, bytes(SIZE)))

    # -- reading --

    def all(self, part: str) -> list[tuple[Any, ...]]:
        """Every row of a table in order of writing, checked against the digests.

        Parameters
        ----------
        part : str
            The table.

        Returns
        -------
        list of tuple
            The values of `COLUMNS`.

        Raises
        ------
        Changed
            If a row was changed, added or removed by anything but the run.
        """
        names = ", ".join(f"rows.{name}" for name in (*COLUMNS[part], "digest"))
        # One statement, so that seal and rows are of one moment while another process writes; no index, so that a
        # damaged one hides nothing.
        found = self.connection.execute(
            f"SELECT seal.count, seal.total, rows.rowid, {names} FROM seal NOT INDEXED "
            f"LEFT JOIN {part} AS rows NOT INDEXED WHERE seal.part = ? ORDER BY rows.rowid",
            (part,),
        ).fetchall()
        if not found:
            raise Changed(f"the seal of {part} is lost")
        rows = [self._checked(part, row[3:-1], row[-1]) for row in found if row[2] is not None]
        total = sum(int.from_bytes(row[-1], "big") for row in found if row[2] is not None)
        if found[0][0] != len(rows) or found[0][1] != _bytes(total):
            raise Changed(f"rows of {part} were removed, added or moved")
        return rows

    def _checked(self, part: str, values: tuple[Any, ...], digest: bytes) -> tuple[Any, ...]:
        if row_digest(self.run, part, values) != digest:
            raise Changed(f"a row of {part} was changed")
        return values

    def large(self, part: str, name: str, id: int, digest: bytes) -> bytes:
        """The large value of a row, checked against the row's digest of it.

        Parameters
        ----------
        part : str
            The table.
        name : str
            The column.
        id : int
            First value of the row.
        digest : bytes
            What the row says of the value.

        Returns
        -------
        bytes

        Raises
        ------
        Changed
            If the value is another.
        """
        key = COLUMNS[part][0]
        row = self.connection.execute(f"SELECT {name} FROM {part} WHERE {key} = ?", (id,)).fetchone()
        if row is None or digest_of(row[0]) != digest:
            raise Changed(f"the {name} of row {id} of {part} was changed")
        return bytes(row[0])

    # -- writing; within a transaction --

    def write(self, part: str, keys: int, values: tuple[Any, ...], *large: bytes) -> None:
        """Write a row within a transaction.

        Parameters
        ----------
        part : str
            The table.
        keys : int
            The row replaces the one with the same first `keys` values; 0: it replaces none.
        values : tuple
            The values of `COLUMNS`.
        *large : bytes
            Large values, in the order of the table.
        """
        if keys:
            self.remove(part, " AND ".join(f"{name} = ?" for name in COLUMNS[part][:keys]), values[:keys])
        digest = row_digest(self.run, part, values)
        row = (*values, digest, *large)
        self.connection.execute(f"INSERT INTO {part} VALUES ({', '.join('?' * len(row))})", row)
        self._change(part, 1, digest)

    def remove(self, part: str, condition: str, values: Sequence[Any] = ()) -> None:
        """Remove rows within a transaction.

        Parameters
        ----------
        part : str
            The table.
        condition : str
            SQL condition with ``?`` for values.
        values : sequence
            The values.
        """
        digests = self.connection.execute(f"SELECT digest FROM {part} WHERE {condition}", values).fetchall()
        if digests:
            self.connection.execute(f"DELETE FROM {part} WHERE {condition}", values)
        for (digest,) in digests:
            self._change(part, -1, digest)

    def _change(self, part: str, count: int, digest: bytes) -> None:
        change = self._changes[part]
        change[0] += count
        change[1] += count * int.from_bytes(digest, "big")

    def seal(self) -> None:
        """Write the new sums of the tables that changed; the last step of a transaction."""
        for part, (count, total) in self._changes.items():
            before = self.connection.execute("SELECT count, total FROM seal WHERE part = ?", (part,)).fetchone()
            if before is None:
                raise Changed(f"the seal of {part} is lost")
            after = _bytes(int.from_bytes(before[1], "big") + total)
            self.connection.execute(
                "UPDATE seal SET count = ?, total = ? WHERE part = ?", (before[0] + count, after, part)
            )
        self._changes.clear()

    def forget(self) -> None:
        """Drop the sums of a transaction that was rolled back."""
        self._changes.clear()


def _bytes(total: int) -> bytes:
    return (total % (1 << (8 * SIZE))).to_bytes(SIZE, "big")


# -- The store of a run: one SQLite file with one writer and several readers.
#
# A generation is written in one transaction: its checkpoint, its line of history and its new solutions. After a kill
# the store has the last complete generation and nothing of the next. Every row carries a digest that is checked when
# it is read; see `sealed_rows`.

FORMAT = 3


@dataclass(frozen=True)
class Row:
    """A stored solution.

    search  place of its search in the plan
    key  key of the candidate
    content  figures and message, as plain data
    """

    id: int
    search: int
    key: bytes
    genome: NDArray[Any]
    content: Mapping[str, Any]


@dataclass(frozen=True)
class GenerationRecord:
    """One generation of one search.

    Attributes
    ----------
    search, generation : int
        Place of the search, and the generation.
    evaluations, hits : int
        Candidates scored, and candidates whose scores were known.
    seconds : float
        Time the search has used.
    best : float
        Best fitness.
    front : int
        Size of its front.
    """

    search: int
    generation: int
    evaluations: int
    hits: int
    seconds: float
    best: float
    front: int


class Store:
    """An open run.db; a context manager.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Whether to create it.
    run : str
        Identity of a new run; every digest is bound to it.

    Raises
    ------
    SearchError
        If there is no store, or it is damaged or of another format.
    """

    def __init__(self, path: Path, *, create: bool = False, run: str = "") -> None:
        self.path = path
        if create and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        elif not path.is_file():
            raise SearchError(f"{path.parent}: is no run (no {path.name}); start one with `crypsis run`")
        self._connection = self._connected()
        self._rows = SealedRows(self._connection, run)
        self._read: tuple[tuple[int, int], list[tuple[Any, ...]]] | None = None
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
        """A connection, read-only where the store cannot be written."""
        self.read_only = not os.access(self.path.parent, os.W_OK) or not os.access(self.path, os.W_OK)
        if not self.read_only:
            return sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        waiting = self.path.with_name(f"{self.path.name}-wal")
        if waiting.exists() and waiting.stat().st_size:
            raise SearchError(
                f"{self.path}: its folder cannot be written and the last generations are still in {waiting.name}; "
                f"copy the folder to a writable place, or make it writable"
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
        what = error if isinstance(error, sqlite3.Error) else type(error).__name__  # other errors may quote content
        return SearchError(f"{self.path}: not a run store or damaged ({what}); start the run again in a new folder")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise errors of a damaged or changed store as SearchError."""
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
        """Close the store."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything in the block or nothing.

        Raises
        ------
        Interrupted
            If the disk cannot be written; earlier generations are kept.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                with self.reading():
                    self._rows.seal()
                self._connection.execute("COMMIT")
            except BaseException:
                self._rows.forget()
                if self._connection.in_transaction:  # a full disk may end it
                    self._connection.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise Interrupted(
                f"{self.path}: the run cannot write its last step ({error}), earlier steps are kept; free some space "
                f"or make the folder writable, then `crypsis resume {self.path.parent}`"
            ) from None

    def version(self) -> tuple[int, int]:
        """A value that changes whenever this or another connection writes."""
        with self.reading():
            (others,) = self._connection.execute("PRAGMA data_version").fetchone()
            return int(others), self._connection.total_changes

    # -- notes --

    def note(self, key: str, value: Any) -> None:
        """Write a note."""
        self._rows.write("meta", 1, (key, json.dumps(value)))

    def noted(self, key: str, default: Any = None) -> Any:
        """Read a note.

        Parameters
        ----------
        key : str
            Its name.
        default : object
            Returned if there is none.

        Returns
        -------
        object
        """
        with self.reading():
            notes = dict(self._rows.all("meta"))
            return json.loads(notes[key]) if key in notes else default

    # -- checkpoints and history --

    def checkpoint(self, steps: Sequence[GenerationRecord], state: bytes) -> None:
        """Write the state after some generations of one search, and their history.

        Parameters
        ----------
        steps : sequence of GenerationRecord
            The generations.
        state : bytes
            State after the last of them.
        """
        last = steps[-1]
        self._rows.write("checkpoint", 1, (last.search, last.generation, digest_of(state)), state)
        for step in steps:
            self._rows.write("history", 2, astuple(step))

    def state(self, search: int) -> bytes | None:
        """The last state of a search.

        search  place of the search
        """
        with self.reading():
            digest = next((digest for found, _, digest in self._rows.all("checkpoint") if found == search), None)
            return None if digest is None else self._rows.large("checkpoint", "state", search, digest)

    def history(self, search: int | None = None) -> list[GenerationRecord]:
        """The generations of a search, or of all.

        Parameters
        ----------
        search : int, optional
            Place of the search.

        Returns
        -------
        list of GenerationRecord
        """
        with self.reading():
            steps = [GenerationRecord(*row) for row in self._rows.all("history")]
            return [step for step in steps if search is None or step.search == search]

    # -- solutions --

    def add(self, row: Row, *, provisional: bool = False) -> None:
        """Write a solution; a provisional one with the same number is replaced.

        Parameters
        ----------
        row : Row
            The solution.
        provisional : bool
            Whether it is only shown, and removed when the run continues after a stop.
        """
        buffer = io.BytesIO()
        np.save(buffer, row.genome, allow_pickle=False)
        genome, content = buffer.getvalue(), json.dumps(row.content, sort_keys=True)
        self._rows.remove("solution", "id = ? AND provisional", (row.id,))
        self._rows.write("solution", 0, (row.id, row.search, row.key, digest_of(genome), content, provisional), genome)

    def forget_provisional(self) -> None:
        """Remove provisional solutions, so that a resumed run is the same as an uninterrupted one."""
        self._rows.remove("solution", "provisional")

    def _solutions(self) -> list[tuple[Any, ...]]:
        """Every solution without its genome, read and checked anew only after somebody wrote."""
        version = self.version()
        if self._read is None or self._read[0] != version:
            with self.reading():
                self._read = version, self._rows.all("solution")
        return self._read[1]

    def known(self, search: int) -> set[bytes]:
        """Keys of the solutions of a search.

        search  place of the search
        """
        return {bytes(row[2]) for row in self._solutions() if row[1] == search}

    def contents(self) -> list[tuple[int, int, Mapping[str, Any]]]:
        """Number, search and content of every solution, without genomes."""
        with self.reading():
            return [(int(row[0]), int(row[1]), json.loads(row[4])) for row in self._solutions()]

    def solution(self, id: int) -> Row:
        """A solution with its genome.

        Raises
        ------
        SearchError
            If there is no such solution.
        """
        rows = {int(row[0]): row for row in self._solutions()}
        if id not in rows:
            span = f"{min(rows)} to {max(rows)}" if rows else "none yet"
            raise SearchError(f"there is no solution {id}; numbers in this run: {span} (see `crypsis front`)")
        _, search, key, digest, content, _ = rows[id]
        with self.reading():
            genome = np.load(io.BytesIO(self._rows.large("solution", "genome", id, digest)), allow_pickle=False)
            return Row(id, int(search), bytes(key), genome, json.loads(content))
