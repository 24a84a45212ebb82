"""The ledger: which releases of a source were made, and what a new one reveals together with them.

The ledger is a file of the user, readable by nobody else. It holds no value of any table: a digest and a sketch of the
source, the salt of the sketches, when and where a release was written, the digest of its manifest and the names of its
quasi-identifiers. What a sketch can tell is said in `release/sources.py`.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from filelock import lock_descriptor
from numpy.typing import NDArray

from crypsis.attacks.several_releases import Candidates, Together, reveal_together, tuples_together
from crypsis.audits import Finding, FindingKind
from crypsis.errors import CrypsisError, PlanError, TableError, listing
from crypsis.home import state_home
from crypsis.plan import Plan
from crypsis.release.evidence import public_part_as_evidence, published_table_as_evidence
from crypsis.release.manifest import PARTS, sha256
from crypsis.table.aligning import in_terms_of
from crypsis.table.atomic_files import private_folder, write_atomically
from crypsis.table.attribute import UNMASKED, UNPUBLISHED
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

KEPT = 256
"""Hashes in a sketch."""
ENOUGH = 16
"""Common hashes below which two sketches say nothing."""
SAME = 0.5
"""Share of the records of the smaller table from which on two tables are one source; and share of different records
in a table below which equal records are no sign of a common source."""
LOST = np.uint64(0x9E3779B97F4A7C15)
"""Stands for a missing cell."""

Hashes = NDArray[np.uint64]


class LedgerSource(Protocol):
    """What the ledger keeps of a source that is not at hand as a table, such as one that is counted."""

    @property
    def quasi_identifiers(self) -> Sequence[str]:
        """Columns an intruder is assumed to know."""

    def digest(self) -> str:
        """What `source_digest` gives of the table."""

    def sketch(self, salt: str, columns: Sequence[str] | None = None) -> Sketch:
        """What `Sketch.of` gives of the table."""


@dataclass(frozen=True)
class Sketch:
    """The smallest hashes of the records of a table."""

    columns: tuple[str, ...] = ()  # what was hashed
    records: int = 0  # different records; 0 where too many are alike to tell a source by them
    smallest: tuple[int, ...] = ()  # at most `KEPT` hashes, ascending

    @classmethod
    def of(cls, table: Table, salt: str, columns: Sequence[str] | None = None) -> Sketch:
        """The sketch of a table over its published columns, or over those given.

        `salt`: only sketches with the same one can be compared; `columns`: columns to hash; one that the table has
        not makes the sketch empty.
        """
        names = sorted(set(table.names) - set(table.names_by_role(*UNPUBLISHED))) if columns is None else list(columns)
        if not names or not set(names) <= set(table.names):
            return cls()
        return cls.of_hashes(np.unique(_record_hashes(table, names, salt)), len(table), names)

    @classmethod
    def of_hashes(cls, different: Hashes, rows: int, columns: Sequence[str]) -> Sketch:
        """The sketch of a table of some rows by the different hashes of its records, ascending."""
        records = len(different) if len(different) >= SAME * rows else 0
        return cls(tuple(columns), records, tuple(map(int, different[:KEPT])) if records else ())

    def common(self, other: Sketch) -> float:
        """Share of the records of the smaller table that the other one has too, estimated; 0 where nobody knows.

        `other`: over the same columns, with the same salt.
        """
        if not (self.records and other.records and self.columns == other.columns):
            return 0.0
        union = sorted({*self.smallest, *other.smallest})[:KEPT]
        both = len({*self.smallest} & {*other.smallest} & {*union})
        if both < ENOUGH:
            return 0.0
        alike = both / len(union)
        shared = alike * (self.records + other.records) / (1.0 + alike)
        return min(1.0, shared / min(self.records, other.records))


def source_digest(table: Table) -> str:
    """Digest of the records of a table, whatever their order and that of the columns, and whatever roles these have.

    >>> one = Table.from_columns({"age": [3, 4]}, {"age": "quasi"})
    >>> other = Table.from_columns({"age": [4, 3]}, {"age": "confidential"})
    >>> source_digest(one) == source_digest(other)
    True
    """
    if table not in _digests:
        names = sorted(table.names)
        _digests[table] = digest_of_hashes(_record_hashes(table, names, ""), names)
    return _digests[table]


_digests: WeakKeyDictionary[Table, str] = WeakKeyDictionary()
"""Digests of tables, which never change, while they live."""


def digest_of_hashes(hashes: Hashes, names: Sequence[str]) -> str:
    """The digest of a source by the hashes of its records, in whatever order."""
    digest = hashlib.sha256("\0".join(names).encode())
    digest.update(np.sort(hashes).tobytes())
    return digest.hexdigest()


def _record_hashes(table: Table, names: Sequence[str], salt: str) -> Hashes:
    """uint64[n]: a hash of every record over some columns.

    `names`: the columns, in this order.
    """
    return combine_hashes([_cells(table, name) for name in names], names, salt, len(table))


def combine_hashes(cells: Sequence[Hashes], names: Sequence[str], salt: str, rows: int) -> Hashes:
    """uint64[rows]: a hash of every record, from those of its cells, column by column."""
    found = np.zeros(rows, dtype=np.uint64)
    for name, each in zip(names, cells, strict=True):
        found = _mix_bits(found ^ (each + _hash(f"{salt}\0{name}")))
    return found


def _cells(table: Table, name: str) -> Hashes:
    """uint64[n]: the values of a column; a number is the same whether it is read as a number or as a category."""
    known = _known_cells.setdefault(table, {})
    if name not in known:
        known[name] = _hash_cells(table, name)
    return known[name]


_known_cells: WeakKeyDictionary[Table, dict[str, Hashes]] = WeakKeyDictionary()
"""The hashed values of tables, which never change, while they live: looking a source up and entering it need them."""


def _hash_cells(table: Table, name: str) -> Hashes:
    column = table.column(name)
    return number_hashes(column) if table.holds_numbers(name) else label_hashes(table.labels(name), column)


def number_hashes(column: NDArray[np.float64]) -> Hashes:
    """uint64[n]: hashes of numbers; NaN is missing."""
    lost = np.isnan(column)
    return np.where(lost, LOST, _bits(np.where(lost, 0.0, column)))


def label_hashes(labels: Sequence[str], codes: NDArray[np.int32]) -> Hashes:
    """uint64[n]: hashes of categories, of which a code of −1 is missing; a label that is a number is hashed as one."""
    digests = b"".join([hashlib.blake2b(text.encode(), digest_size=8).digest() for text in labels])
    every = np.append(np.frombuffer(digests, dtype="<u8").astype(np.uint64), LOST)
    maybe = np.flatnonzero(~pl.Series(labels, dtype=pl.String).str.contains(_NO_NUMBER).to_numpy())
    numbers = {place: number for place in maybe.tolist() if (number := _number(labels[place])) is not None}
    every[list(numbers)] = _bits(np.array(list(numbers.values())))
    return every[np.where(codes == MISSING, len(labels), codes)]


_NO_NUMBER = "^[A-HJ-MO-Za-hj-mo-z]"
"""In labels that are no numbers: those begin with a digit, a sign, a space or one of the words inf and nan."""


def _bits(numbers: NDArray[np.float64]) -> Hashes:
    """The bits of numbers, those of 0 for −0."""
    return np.asarray(_mix_bits((numbers + 0.0).view(np.uint64)))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if np.isnan(number) else number


def _hash(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))


def _mix_bits(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on every bit."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)))


# -- The ledger: which releases of a source were made, and what a new one reveals together with them.
#
# The ledger is a file of the user, readable by nobody else. It holds no value of any table: a digest and a sketch of
# the source, the salt of the sketches, when and where a release was written, the digest of its manifest and the names
# of its quasi-identifiers. What a sketch can tell is said in `release/sources.py`.

VARIABLE = "CRYPSIS_LEDGER"
"""Environment variable with the path of the ledger."""


@dataclass(frozen=True)
class LedgerEntry:
    """One release."""

    source: str  # digest of the original's records, whatever their order and roles
    path: str  # file of the original, if it is known
    folder: str  # where the release was written, and when, in UTC
    date: str
    manifest: str  # digest of its public manifest
    quasi_identifiers: tuple[str, ...]  # columns an intruder was assumed to know
    sketch: Sketch = field(default_factory=Sketch)  # the smallest hashes of its records
    withdrawn: str = ""  # when it was withdrawn, in UTC; empty while it is published
    received: bool = True  # whether somebody outside may hold a copy; asked when it is withdrawn

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> LedgerEntry:
        """An entry from the file."""
        sketch = entry.get("sketch") or {"columns": (), "records": 0, "smallest": ()}
        made = Sketch(tuple(sketch["columns"]), int(sketch["records"]), tuple(map(int, sketch["smallest"])))
        texts = {name: str(entry[name]) for name in ("source", "path", "folder", "date", "manifest")}
        when, received = str(entry.get("withdrawn", "")), bool(entry.get("received", True))
        return cls(
            **texts, quasi_identifiers=tuple(entry["quasi_identifiers"]), sketch=made, withdrawn=when, received=received
        )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


@dataclass(frozen=True)
class ReleaseLedger:
    """A file that lists releases, and the source of the one at hand.

    >>> ReleaseLedger.usual().enters
    True
    """

    file: Path  # the ledger; made when the first release is entered
    path: str = ""  # file of the original, if it is known: another version of it is the same source
    enters: bool = True  # whether releases are entered; a preview is not
    replaces: tuple[str, ...] = ()  # folders of earlier releases that the one at hand takes the place of

    @classmethod
    def usual(
        cls,
        path: str | Path = "",
        file: str | Path = "",
        enters: bool = True,
        replaces: Sequence[str | Path] = (),
    ) -> ReleaseLedger:
        """The ledger that is named, else that of the environment, else that of the user.

        `file`: the ledger; `CRYPSIS_LEDGER`, or `releases.json` in the folder of `CRYPSIS_HOME` or of the user, unless
        given.
        """
        named = Path(file or os.environ.get(VARIABLE) or state_home() / "releases.json").expanduser()
        places = tuple(str(Path(each).expanduser().resolve()) for each in replaces)
        return cls(named, str(Path(path).resolve()) if path else "", enters, places)

    def entries(self) -> list[LedgerEntry]:
        """All releases that were entered."""
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

    def earlier(self, original: Table | LedgerSource) -> list[LedgerEntry]:
        """Releases of the same source, whether or not they are still where they were written.

        A source is the same if it has the same records in whatever order, or the same file, or most of the records.
        A release that was withdrawn before anybody received it is left out: no intruder holds it.
        """
        (listed, salt), own = self._content(), _digest(original)
        entries = [each for each in listed if each.received and each.folder not in self.replaces]
        kinds = {each.sketch.columns for each in entries if each.sketch.records}
        sketches = {columns: _sketch(original, salt, columns) for columns in kinds}

        def mostly(each: LedgerEntry) -> bool:
            return bool(each.sketch.records) and each.sketch.common(sketches[each.sketch.columns]) >= SAME

        same = (each.source == own or bool(self.path and each.path == self.path) or mostly(each) for each in entries)
        return [each for each, is_same in zip(entries, same, strict=True) if is_same]

    def enter(self, original: Table | LedgerSource, folder: Path) -> None:
        """Add a release to the file.

        A folder that was listed is listed anew.
        """
        if not self.enters:
            return
        with self._alone():
            entries, salt = self._content()
            entry = LedgerEntry(
                _digest(original),
                self.path,
                str(folder.resolve()),
                datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
                sha256(public_part_as_evidence(folder) / "manifest.json"),
                tuple(original.quasi_identifiers),
                _sketch(original, salt),
            )
            others = [each for each in entries if each.folder != entry.folder or each.withdrawn]
            replaced = [
                replace(each, withdrawn=_now(), received=False) if each.folder in self.replaces else each
                for each in others
            ]
            self._write([*replaced, entry], salt)

    def _write(self, entries: Sequence[LedgerEntry], salt: str) -> None:
        content = {"salt": salt, "releases": [asdict(each) for each in entries]}
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        write_atomically(self.file, text.encode("utf-8"), replace=True)

    def seal_anew(self, folder: Path) -> None:
        """Enter the digest of a manifest that was written again, such as with a signature."""
        with self._alone():
            entries, salt = self._content()
            digest, place = sha256(public_part_as_evidence(folder) / "manifest.json"), str(folder.resolve())
            self._write([replace(e, manifest=digest) if _stands(e, place) else e for e in entries], salt)

    def withdraw(self, folder: Path, received: bool) -> None:
        """Remove a release and keep its entry: what somebody holds already is never forgotten.

        `received`: whether somebody outside may hold a copy. The public files are then kept beside the ledger, where
        only the user reads them: every later release of the source is attacked together with them. Otherwise no
        intruder can hold the file, and later releases are judged without it.
        """
        public, place = public_part_as_evidence(folder), str(folder.resolve())
        others = sorted({each.name for each in folder.iterdir()} - set(PARTS))
        if others:
            raise TableError(
                f"{folder.name}: it holds files that no release has, {listing(others)}; move them away first"
            )
        now = _now()
        with self._alone():
            entries, salt = self._content()
            if not any(_stands(each, place) for each in entries):
                raise TableError(
                    f"{folder.name}: the ledger of releases has no such release, so that its withdrawal cannot be "
                    f"recorded; name the ledger it was entered in by {VARIABLE}"
                )
            kept = self.file.with_name("withdrawn") / f"{folder.name}-{sha256(public / 'manifest.json')[:12]}"
            if received:
                _keep_public(public, kept)
            now_at = str(kept.resolve()) if received else place
            self._write(
                [
                    replace(each, withdrawn=now, received=received, folder=now_at) if _stands(each, place) else each
                    for each in entries
                ],
                salt,
            )
        _remove(folder)

    def check(self) -> None:
        """Refuse before anything is released if the release could not be entered, or replaces one not listed."""
        listed = {each.folder for each in self.entries() if not each.withdrawn}
        absent = [each for each in self.replaces if each not in listed]
        if absent:
            raise PlanError(
                f"{Path(absent[0]).name}: no release in this folder is in the ledger, so none can be replaced; name "
                f"the folder as the refusal names it"
            )
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
            lock_descriptor(lock)
            yield
        finally:
            os.close(lock)


def _digest(source: Table | LedgerSource) -> str:
    return source_digest(source) if isinstance(source, Table) else source.digest()


def _sketch(source: Table | LedgerSource, salt: str, columns: Sequence[str] | None = None) -> Sketch:
    return Sketch.of(source, salt, columns) if isinstance(source, Table) else source.sketch(salt, columns)


def _salt() -> str:
    return secrets.token_hex(16)


def _stands(entry: LedgerEntry, place: str) -> bool:
    """Whether an entry is that of the release that stands at a place now."""
    return entry.folder == place and not entry.withdrawn


def _keep_public(public: Path, kept: Path) -> None:
    """Copy the public files of a release to a private folder."""
    private_folder(kept)
    shutil.copytree(public, kept / "public", dirs_exist_ok=True)


def _remove(folder: Path) -> None:
    """Delete the folder of a release, under another name first, so that no half of it is taken for a release."""
    aside = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
    folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def earlier_findings(original: Table | None, published: Table, entries: Sequence[LedgerEntry]) -> list[Finding]:
    """What a release reveals together with earlier ones of the same source."""
    if original is None or not entries or not published.quasi_identifiers:
        return []
    new = in_terms_of(original, published, "the release")
    found, read, gone, own = list[Finding](), list[Candidates](), False, None
    for entry in entries:
        try:
            old = published_table_as_evidence(entry.folder, counted=True)
        except (CrypsisError, OSError):
            gone = True
            continue
        try:
            read.append(Candidates.of(original, in_terms_of(original, old, "an earlier release")))
            own = own or Candidates.of(original, new)
            pair = reveal_together(original, [read[-1], own])
        except TableError:
            # Recoded by hierarchies that are not at hand: only what both files show can be compared.
            pair = tuples_together(old, published, _common_columns(old, published))
        found += findings_from_ledger(pair, new)
    if own is not None and len(read) > 1:
        found += findings_from_ledger(reveal_together(original, [*read, own]), new)
    worst: dict[str, Finding] = {}
    if gone:
        found.append(
            Finding(FindingKind.EARLIER_RELEASE, tuple(published.quasi_identifiers[:1]), 0, 0.0, refuses=False)
        )
    for each in found:
        if each.key not in worst or each.share > worst[each.key].share:
            worst[each.key] = each
    return list(worst.values())


def _common_columns(one: Table, other: Table) -> list[str]:
    """Columns of two releases that neither assumes an intruder to know, and that were masked in neither."""
    both = [name for name in one.names_by_role(*UNMASKED) if name in other.names_by_role(*UNMASKED)]
    return [name for name in both if one.attribute(name).numeric == other.attribute(name).numeric]


def findings_from_ledger(together: Together, release: Table) -> list[Finding]:
    """What a new release reveals with those in the ledger, as findings; those above the usual share stop it."""
    people, quasi = max(int(together.people), 1), release.quasi_identifiers[:1]
    counted: list[tuple[tuple[str, ...], float]] = [((name,), float(number)) for name, number in together.fixed.items()]
    counted.append(((*quasi, *together.joined_by), float(together.below)))
    return [
        Finding(FindingKind.EARLIER_RELEASE, columns, round(number), number / people, number > LARGEST_SHARE * people)
        for columns, number in counted
        if number
    ]


def ledger_of_plan(
    plan: Plan, enters: bool = True, replaces: Sequence[str | Path] = (), file: str | Path = ""
) -> ReleaseLedger:
    """The ledger in which a plan's releases are entered.

    `file`: another ledger than the plan's.
    """
    source = Path(plan.data.source)
    path = source if source.is_absolute() else ""
    return ReleaseLedger.usual(path, file or plan.release.ledger, enters, replaces)
