"""The folder of a run and its store: one SQLite file with one writer and several readers."""

from __future__ import annotations

import io
import json
import os
import platform
import sqlite3
import struct
import threading
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import lock_descriptor
from numpy.typing import NDArray

from crypsis.errors import Interrupted, SearchError, name_step, word
from crypsis.measures.utility import Usefulness
from crypsis.plan import Plan
from crypsis.plan.sections import Running
from crypsis.table.files import atomic_folder, write_atomically
from crypsis.version import __version__

# -- The store of a run: one SQLite file with one writer and several readers.
#
# A generation is written in one transaction: its checkpoint, its line of history and its new solutions. After a kill
# the store has the last complete generation and nothing of the next. Every row carries a digest that is checked when
# it is read; see `sealed_rows`.

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


def digest_store_row(run: str, part: str, values: Sequence[Any]) -> bytes:
    """Digest of a row in the SQLite store of a run: of its run, its table and each value with its type."""
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
    """The tables of a store; reading checks their digests, writing updates them."""

    connection: sqlite3.Connection  # the store
    run: str = ""  # identity of the run; a row of another run fails its digest
    _changes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]), repr=False)

    def create(self) -> None:
        """Create the tables, empty."""
        for statement in filter(str.strip, TABLES.split(";")):
            self.connection.execute(statement)
        for part in COLUMNS:
            self.connection.execute("INSERT INTO seal VALUES (?, 0, ?)", (part, bytes(SIZE)))

    # -- reading --

    def all(self, part: str) -> list[tuple[Any, ...]]:
        """Every row of a table in order of writing, checked against the digests."""
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
        rows = [self._check_row(part, row[3:-1], row[-1]) for row in found if row[2] is not None]
        total = sum(int.from_bytes(row[-1], "big") for row in found if row[2] is not None)
        if found[0][0] != len(rows) or found[0][1] != _bytes(total):
            raise Changed(f"rows of {part} were removed, added or moved")
        return rows

    def _check_row(self, part: str, values: tuple[Any, ...], digest: bytes) -> tuple[Any, ...]:
        if digest_store_row(self.run, part, values) != digest:
            raise Changed(f"a row of {part} was changed")
        return values

    def large(self, part: str, name: str, id: int, digest: bytes) -> bytes:
        """The large value of a row, checked against the row's digest of it."""
        key = COLUMNS[part][0]
        row = self.connection.execute(f"SELECT {name} FROM {part} WHERE {key} = ?", (id,)).fetchone()
        if row is None or digest_of(row[0]) != digest:
            raise Changed(f"the {name} of row {id} of {part} was changed")
        return bytes(row[0])

    # -- writing; within a transaction --

    def write(self, part: str, keys: int, values: tuple[Any, ...], *large: bytes) -> None:
        """Write a row within a transaction.

        `keys`: the row replaces the one with the same first `keys` values; 0: it replaces none; `*large`: Large
        values, in the order of the table.
        """
        if keys:
            self.remove(part, " AND ".join(f"{name} = ?" for name in COLUMNS[part][:keys]), values[:keys])
        digest = digest_store_row(self.run, part, values)
        row = (*values, digest, *large)
        self.connection.execute(f"INSERT INTO {part} VALUES ({', '.join('?' * len(row))})", row)
        self._change(part, 1, digest)

    def remove(self, part: str, condition: str, values: Sequence[Any] = ()) -> None:
        """Remove rows within a transaction."""
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
    """A stored solution."""

    id: int
    search: int  # place of its search in the plan
    key: bytes  # key of the candidate
    genome: NDArray[Any]
    content: Mapping[str, Any]  # figures and message, as plain data


@dataclass(frozen=True)
class GenerationRecord:
    """One generation of one search."""

    search: int  # place of the search, and the generation
    generation: int
    evaluations: int  # candidates scored, and candidates whose scores were known
    hits: int
    seconds: float  # time the search has used
    best: float  # best fitness
    front: int  # size of its front


class Store:
    """An open run.db; a context manager."""

    def __init__(self, path: Path, *, create: bool = False, run: str = "") -> None:
        self.path = path
        if create and not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        elif not path.is_file():
            raise SearchError(f"{path.parent}: is no run (no {path.name}); start one with {name_step('run PLAN')}")
        self._one = threading.RLock()  # threads of the studio share a store, and one may close it while another reads
        self._connection = self._connect()
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
            raise self._damage_error(error) from None

    def _connect(self) -> sqlite3.Connection:
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
        found = self._read_unchecked("format") if not fresh or create else None
        if found != FORMAT:
            self._connection.close()
            raise SearchError(
                f"{self.path}: the store has format {found} and this version reads {FORMAT}; "
                f"use the Crypsis that wrote it"
            )
        self._rows.run = str(self._read_unchecked("run"))

    def _read_unchecked(self, key: str) -> Any:
        """A note that must be known before any digest can be checked."""
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    @property
    def run(self) -> str:
        """Identity of the run the rows belong to."""
        return self._rows.run

    def check(self) -> None:
        """Refuse a store whose pages or indices are damaged, before anything is written to it."""
        with self.guard_reading():
            (answer,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError("its pages are damaged")

    def _damage_error(self, error: Exception) -> SearchError:
        if isinstance(error, sqlite3.ProgrammingError):
            return SearchError(
                f"{self.path.parent}: the run is closed; open it again with crypsis.Run.open, if its folder is kept"
            )
        what = error if isinstance(error, sqlite3.Error) else type(error).__name__  # other errors may quote content
        return SearchError(f"{self.path}: not a run store or damaged ({what}); start the run again in a new folder")

    @contextmanager
    def guard_reading(self) -> Iterator[None]:
        """Let one thread read at a time, and raise errors of a damaged or changed store as SearchError."""
        try:
            with self._one:
                yield
        except Changed as error:
            raise SearchError(
                f"{self.path}: {error} after the run wrote it, so nothing in it can be trusted; put back a copy of the "
                f"folder from before, or start the run again in a new folder"
            ) from None
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError, EOFError, MemoryError) as error:
            raise self._damage_error(error) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        with self._one:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything in the block or nothing."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                with self.guard_reading():
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
                f"or make the folder writable, then go on with "
                f"{name_step('resume RUN', str(self.path.parent))}"
            ) from None

    def version(self) -> tuple[int, int]:
        """A value that changes whenever this or another connection writes."""
        with self.guard_reading():
            (others,) = self._connection.execute("PRAGMA data_version").fetchone()
            return int(others), self._connection.total_changes

    # -- notes --

    def note(self, key: str, value: Any) -> None:
        """Write a note."""
        self._rows.write("meta", 1, (key, json.dumps(value)))

    def read_note(self, key: str, default: Any = None) -> Any:
        """Read a note."""
        with self.guard_reading():
            notes = dict(self._rows.all("meta"))
            return json.loads(notes[key]) if key in notes else default

    # -- checkpoints and history --

    def checkpoint(self, steps: Sequence[GenerationRecord], state: bytes) -> None:
        """Write the state after some generations of one search, and their history."""
        last = steps[-1]
        self._rows.write("checkpoint", 1, (last.search, last.generation, digest_of(state)), state)
        for step in steps:
            self._rows.write("history", 2, astuple(step))

    def state(self, search: int) -> bytes | None:
        """The last state of a search."""
        with self.guard_reading():
            digest = next((digest for found, _, digest in self._rows.all("checkpoint") if found == search), None)
            return None if digest is None else self._rows.large("checkpoint", "state", search, digest)

    def checkpoint_digests(self) -> dict[int, bytes]:
        """By search, the digest of its last state: another one is another state."""
        with self.guard_reading():
            return {int(search): bytes(digest) for search, _, digest in self._rows.all("checkpoint")}

    def history(self, search: int | None = None) -> list[GenerationRecord]:
        """The generations of a search, or of all."""
        with self.guard_reading():
            steps = [GenerationRecord(*row) for row in self._rows.all("history")]
            return [step for step in steps if search is None or step.search == search]

    # -- solutions --

    def add(self, row: Row, *, provisional: bool = False) -> None:
        """Write a solution; a provisional one with the same number is replaced."""
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
            with self.guard_reading():
                self._read = version, self._rows.all("solution")
        return self._read[1]

    def solution_keys(self, search: int) -> set[bytes]:
        """Keys of the solutions of a search."""
        return {bytes(row[2]) for row in self._solutions() if row[1] == search}

    def solution_numbers(self, search: int) -> dict[bytes, int]:
        """Numbers of the solutions of a search, by key."""
        return {bytes(row[2]): int(row[0]) for row in self._solutions() if row[1] == search}

    def contents(self) -> list[tuple[int, int, Mapping[str, Any]]]:
        """Number, search and content of every solution, without genomes."""
        with self.guard_reading():
            return [(int(row[0]), int(row[1]), json.loads(row[4])) for row in self._solutions()]

    def solution(self, id: int) -> Row:
        """A solution with its genome."""
        rows = {int(row[0]): row for row in self._solutions()}
        if id not in rows:
            span = f"{min(rows)} to {max(rows)}" if rows else "none yet"
            raise SearchError(f"there is no solution {id}; numbers in this run: {span} (see {name_step('front RUN')})")
        _, search, key, digest, content, _ = rows[id]
        with self.guard_reading():
            genome = np.load(io.BytesIO(self._rows.large("solution", "genome", id, digest)), allow_pickle=False)
            return Row(id, int(search), bytes(key), genome, json.loads(content))


# -- The folder of a run: plan.toml, run.db and lock.toml, readable by its owner only and written by one process.

PLAN, STORE, LOCK, GUARD = "plan.toml", "run.db", "lock.toml", ".running"


@dataclass(frozen=True)
class Lock:
    """What a run was started with; internal, since the seed can undo the protection."""

    seed: int  # seed of the run
    home: str  # folder to which paths of the plan are relative; empty for a table from memory
    data: str  # fingerprint of the table
    plan: str  # fingerprint of the plan without its [run] table
    versions: dict[str, str]  # versions of software and machine
    parent: str = ""  # name of the folder of the run whose solutions it began from, beside its own

    @property
    def identity(self) -> str:
        """What the rows of the store are bound to: seed, data and plan, as a digest."""
        return blake2b("\0".join([str(self.seed), self.data, self.plan]).encode(), digest_size=16).hexdigest()

    def write(self, folder: Path) -> None:
        """Write the lock into a folder."""
        lines = [
            "# Internal: never publish this file. The seed can undo a protection.",
            f"seed = {json.dumps(str(self.seed))}",
            f"home = {json.dumps(self.home, ensure_ascii=False)}",
            f"data = {json.dumps(self.data)}",
            f"plan = {json.dumps(self.plan)}",
            *([f"parent = {json.dumps(self.parent, ensure_ascii=False)}"] if self.parent else []),
            "",
            "[versions]",
            *(f"{name} = {json.dumps(text)}" for name, text in self.versions.items()),
            "",
        ]
        write_atomically(folder / LOCK, "\n".join(lines).encode())

    @classmethod
    def read(cls, folder: Path) -> Lock:
        """Read the lock of a folder."""
        try:
            content = tomllib.loads((folder / LOCK).read_text(encoding="utf-8"))
            seed, home, data, plan = int(content["seed"]), content["home"], content["data"], content["plan"]
            return cls(seed, home, data, plan, content["versions"], content.get("parent", ""))
        except FileNotFoundError:
            raise SearchError(f"{folder}: is no run (no {LOCK}); start one with {name_step('run PLAN')}") from None
        except (OSError, tomllib.TOMLDecodeError, KeyError, ValueError) as error:
            raise SearchError(
                f"{folder / LOCK}: damaged ({type(error).__name__}), so the run cannot continue; start it again in a "
                f"new folder"
            ) from None


def plan_fingerprint_in_store(plan: Plan) -> str:
    """Fingerprint in the store of a run: of what in its plan changes results, not budget or engine."""
    columns = {name: column.model_copy(update={"because": "", "label": ""}) for name, column in plan.columns.items()}
    kept = {"run": Running(points=plan.run.points), "waive": (), "useful": Usefulness(), "columns": columns}
    return plan.model_copy(update=kept).fingerprint()


def _folder() -> str:
    return word(python="folder=", command="folder with --out", studio="folder")


def create(folder: Path, plan_text: str, lock: Lock, budget: str | None) -> None:
    """Make the folder of a new run with its plan, lock and store: all of it or nothing.

    `folder`: the folder; must not exist, or be empty.
    """
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    if folder.exists():
        hint = f" (it is a run: {name_step('resume RUN')} continues it)" if (folder / STORE).exists() else ""
        raise SearchError(f"{folder}: already exists{hint}; choose another {_folder()}")
    if not folder.parent.is_dir():
        raise SearchError(f"{folder.parent}: there is no such folder; make it first or choose another {_folder()}")
    with atomic_folder(folder) as aside:
        write_atomically(aside / PLAN, plan_text.encode())
        lock.write(aside)
        with Store(aside / STORE, create=True, run=lock.identity) as store, store.transaction():
            store.note("budget", budget)


@contextmanager
def lock_run_folder(folder: Path) -> Iterator[None]:
    """Lock the folder of a run against other processes; the lock ends with the process."""
    try:
        handle = os.open(folder / GUARD, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise SearchError(
            f"{folder}: the folder cannot be written ({(error.strerror or 'unknown reason').lower()}), so the run "
            f"cannot continue here; make it writable, or copy it to a writable place and resume it there"
        ) from None
    try:
        if not lock_descriptor(handle, blocking=False):
            raise SearchError(
                f"{folder}: another process is running in this folder; wait for it, or stop it, then go on with "
                f"{name_step('resume RUN')}"
            )
        yield
    finally:
        os.close(handle)


_PACKAGES = ("numpy", "numba", "scipy", "polars", "pydantic")


def versions_for_run_store() -> dict[str, str]:
    """Versions of software and machine: with the same ones, the same seed gives the same result."""
    found = {"crypsis": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
