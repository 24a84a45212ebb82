"""Rows that carry a digest of their content and place, and tables that carry the sum of the digests of their rows.

A row that was changed by anything but the run fails its own digest; a row that was removed, added or copied from
another run fails the sum of its table. The digests are not secret: they find damage and edits by hand, not a forger who
recomputes them. Large values (genomes, checkpoints) have a digest of their own, which the digest of the row covers, so
that a front is read without them.
"""

from __future__ import annotations

import sqlite3
import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

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
