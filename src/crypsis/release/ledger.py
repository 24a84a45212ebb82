"""The ledger: which releases of a source were made, and what a new one reveals together with them.

The ledger is a file of the user, readable by nobody else. It holds no value of any table: a digest and a sketch of the
source, the salt of the sketches, when and where a release was written, the digest of its manifest and the names of its
quasi-identifiers. What a sketch can tell is said in `release/sources.py`.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crypsis.attacks.together import Together, reveal_together, tuples_together
from crypsis.audits import Finding, FindingKind
from crypsis.errors import CrypsisError, TableError
from crypsis.release.evidence import public_of, published_of
from crypsis.release.manifest import sha256
from crypsis.release.sources import SAME, Sketch, source_digest
from crypsis.table.aligning import in_terms_of
from crypsis.table.atomic_files import private_folder, write_atomically
from crypsis.table.attribute import UNMASKED
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

VARIABLE = "CRYPSIS_LEDGER"
"""Environment variable with the path of the ledger."""


@dataclass(frozen=True)
class LedgerEntry:
    """One release.

    source  digest of the original's records, whatever their order and roles
    path  file of the original, if it is known
    folder, date  where the release was written, and when, in UTC
    manifest  digest of its public manifest
    quasi_identifiers  columns an intruder was assumed to know
    sketch  the smallest hashes of its records
    """

    source: str
    path: str
    folder: str
    date: str
    manifest: str
    quasi_identifiers: tuple[str, ...]
    sketch: Sketch = field(default_factory=Sketch)

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> LedgerEntry:
        """An entry from the file."""
        sketch = entry.get("sketch") or {"columns": (), "records": 0, "smallest": ()}
        made = Sketch(tuple(sketch["columns"]), int(sketch["records"]), tuple(map(int, sketch["smallest"])))
        texts = {name: str(entry[name]) for name in ("source", "path", "folder", "date", "manifest")}
        return cls(**texts, quasi_identifiers=tuple(entry["quasi_identifiers"]), sketch=made)


@dataclass(frozen=True)
class ReleaseLedger:
    """A file that lists releases, and the source of the one at hand.

    Attributes
    ----------
    file : Path
        The ledger; made when the first release is entered.
    path : str
        File of the original, if it is known: another version of it is the same source.
    enters : bool
        Whether releases are entered; a preview is not.

    Examples
    --------
    >>> ReleaseLedger.usual().enters
    True
    """

    file: Path
    path: str = ""
    enters: bool = True

    @classmethod
    def usual(cls, path: str | Path = "", file: str | Path = "", enters: bool = True) -> ReleaseLedger:
        """The ledger that is named, else that of the environment, else that of the user.

        Parameters
        ----------
        path : path
            File of the original, if it is known.
        file : path
            The ledger; `CRYPSIS_LEDGER`, or `crypsis/releases.json` among the states of the user, unless given.
        enters : bool
            Whether releases are entered.

        Returns
        -------
        ReleaseLedger
        """
        states = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        named = Path(file or os.environ.get(VARIABLE) or states / "crypsis" / "releases.json").expanduser()
        return cls(named, str(Path(path).resolve()) if path else "", enters)

    def entries(self) -> list[LedgerEntry]:
        """All releases that were entered.

        Returns
        -------
        list of LedgerEntry

        Raises
        ------
        TableError
            If the file is no ledger.
        """
        return self._content()[0]

    def _content(self) -> tuple[list[LedgerEntry], str]:
        """All releases that were entered, and the salt of their sketches; a new one where there is none."""
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
            return [LedgerEntry.read(each) for each in content["releases"]], content.get("salt") or _salt()
        except FileNotFoundError:
            return [], _salt()
        except (OSError, ValueError, TypeError, KeyError):
            raise TableError(
                f"{self.file.name}: the ledger of releases cannot be read, so that earlier releases are not known; "
                f"mend it, or name another file by {VARIABLE}"
            ) from None

    def earlier(self, original: Table) -> list[LedgerEntry]:
        """Releases of the same source, whether or not they are still where they were written.

        A source is the same if it has the same records in whatever order, or the same file, or most of the records.

        Parameters
        ----------
        original : Table
            The source.

        Returns
        -------
        list of LedgerEntry
        """
        (entries, salt), own = self._content(), source_digest(original)
        kinds = {each.sketch.columns for each in entries if each.sketch.records}
        sketches = {columns: Sketch.of(original, salt, columns) for columns in kinds}

        def mostly(each: LedgerEntry) -> bool:
            return bool(each.sketch.records) and each.sketch.common(sketches[each.sketch.columns]) >= SAME

        same = (each.source == own or bool(self.path and each.path == self.path) or mostly(each) for each in entries)
        return [each for each, is_same in zip(entries, same, strict=True) if is_same]

    def enter(self, original: Table, folder: Path) -> None:
        """Add a release to the file.

        A folder that was listed is listed anew.

        Raises
        ------
        TableError
            If the file cannot be written.
        """
        if not self.enters:
            return
        with self._alone():
            entries, salt = self._content()
            entry = LedgerEntry(
                source_digest(original),
                self.path,
                str(folder.resolve()),
                datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
                sha256(public_of(folder) / "manifest.json"),
                tuple(original.quasi_identifiers),
                Sketch.of(original, salt),
            )
            kept = [asdict(each) for each in entries if each.folder != entry.folder]
            content = {"salt": salt, "releases": [*kept, asdict(entry)]}
            text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            write_atomically(self.file, text.encode("utf-8"), replace=True)

    def check(self) -> None:
        """Refuse before anything is released if the release could not be entered.

        Raises
        ------
        TableError
            If the ledger cannot be read or written.
        """
        self.entries()
        if self.enters:
            with self._alone():
                pass

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One writer at a time."""
        try:
            private_folder(self.file.parent)
            lock = os.open(self.file.with_name(self.file.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError:
            raise TableError(
                f"{self.file}: the ledger of releases cannot be written; name a file that can by {VARIABLE}"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _salt() -> str:
    return secrets.token_hex(16)


def earlier_findings(original: Table | None, published: Table, entries: Sequence[LedgerEntry]) -> list[Finding]:
    """What a release reveals together with earlier ones of the same source.

    Parameters
    ----------
    original : Table or None
        The source; without it nothing is known of its people.
    published : Table
        The new release.
    entries : sequence of LedgerEntry
        The earlier ones.

    Returns
    -------
    list of Finding
        One for people whose class shrinks below that of each file (a quasi-identifier, then the columns that join the
        files), and one for every column of which values become certain. One of no records, which stops nothing, if an
        earlier release is not where it was written: it was withdrawn, or moved and is out of sight.
    """
    if original is None or not entries or not published.quasi_identifiers:
        return []
    new = in_terms_of(original, published, "the release")
    found, read, gone = list[Finding](), list[Table](), False
    for entry in entries:
        try:
            old = published_of(entry.folder)
        except (CrypsisError, OSError):
            gone = True
            continue
        try:
            read.append(in_terms_of(original, old, "an earlier release"))
            pair = reveal_together(original, [read[-1], new])
        except TableError:
            # Recoded by hierarchies that are not at hand: only what both files show can be compared.
            pair = tuples_together(old, published, common_columns(old, published))
        found += findings_of(pair, new)
    if len(read) > 1:
        found += findings_of(reveal_together(original, [*read, new]), new)
    worst: dict[str, Finding] = {}
    if gone:
        found.append(
            Finding(FindingKind.EARLIER_RELEASE, tuple(published.quasi_identifiers[:1]), 0, 0.0, refuses=False)
        )
    for each in found:
        if each.key not in worst or each.share > worst[each.key].share:
            worst[each.key] = each
    return list(worst.values())


def common_columns(one: Table, other: Table) -> list[str]:
    """Columns of two releases that neither assumes an intruder to know, and that were masked in neither.

    Parameters
    ----------
    one, other : Table
        What is published.

    Returns
    -------
    list of str
    """
    both = [name for name in one.named(*UNMASKED) if name in other.named(*UNMASKED)]
    return [name for name in both if one.attribute(name).numeric == other.attribute(name).numeric]


def findings_of(together: Together, release: Table) -> list[Finding]:
    """What several releases reveal together, as findings; those above the usual share stop a release.

    Parameters
    ----------
    together : Together
        What they reveal.
    release : Table
        The new one.

    Returns
    -------
    list of Finding
    """
    people, quasi = max(together.people, 1), release.quasi_identifiers[:1]
    counted: list[tuple[tuple[str, ...], float]] = [((name,), number) for name, number in together.fixed.items()]
    counted.append(((*quasi, *together.joined_by), together.below))
    return [
        Finding(FindingKind.EARLIER_RELEASE, columns, round(number), number / people, number / people > LARGEST_SHARE)
        for columns, number in counted
        if number
    ]
