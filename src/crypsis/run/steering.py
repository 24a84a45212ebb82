"""Steering of a run while it searches: what people ask for, in an append-only log in the folder of the run.

Every search obeys an entry between two quanta, once nothing of it waits to be measured. What it obeyed, and after how
many generations and solutions, is written into the store with its checkpoint: a resumed run goes on as it was steered,
and the stamped entries given to a new run of the same plan and seed give the same solutions again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import lock_descriptor

from crypsis.errors import SearchError, name_step
from crypsis.evolution.focus import Focus

LOG = "steering.jsonl"
"""The log, in the folder of a run: one entry on a line."""

What = Literal["drop", "restore", "focus", "more", "undo"]


@dataclass(frozen=True)
class Entry:
    """What somebody asked for."""

    number: int  # from 1, in the order of the log
    # drop, restore: a search gets no more quanta, or gets them again. focus: a box of loss and risk, or none. more: the
    # box around a solution, by the search that found it, from what is most like it. undo: the last entry in force is
    # no longer
    what: What
    search: int | None = None  # place of a search in the plan
    loss: tuple[float, float] | None = None  # least and largest of the box, per cent
    risk: tuple[float, float] | None = None
    solution: int | None = None  # of which more is wanted
    key: str | None = None  # digest of its key, by which it is known in another run
    # search → generation and number of its solutions when it obeyed; None where that is not prescribed
    obeyed: Mapping[int, tuple[int, int]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data, without what it does not say."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def of(cls, content: Any) -> Entry:
        """An entry from plain data.

        >>> Entry.of({"number": 1, "what": "focus", "loss": [0, 9.5], "risk": [0, 5]}).loss
        (0.0, 9.5)
        """
        try:
            made = cls(
                number=int(content["number"]),
                what=content["what"],
                search=None if content.get("search") is None else int(content["search"]),
                loss=_read_range(content.get("loss")),
                risk=_read_range(content.get("risk")),
                solution=None if content.get("solution") is None else int(content["solution"]),
                key=None if content.get("key") is None else str(content["key"]),
                obeyed=_read_stamps(content.get("obeyed")),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise SearchError(
                f"an entry of {LOG} cannot be read; remove the line, or write it with {name_step('steer RUN')}"
            ) from None
        if made.what not in get_args(What) or (made.loss is None) != (made.risk is None):
            raise SearchError(f"entry {made.number} of {LOG} cannot be obeyed; write it with {name_step('steer RUN')}")
        return made

    @property
    def focus(self) -> Focus | None:
        """The box of the entry."""
        return None if self.loss is None or self.risk is None else Focus(self.loss, self.risk)


def _read_range(content: Any) -> tuple[float, float] | None:
    if content is None:
        return None
    low, high = (float(each) for each in content)
    if not 0.0 <= low <= high:
        raise ValueError
    return low, high


def _read_stamps(content: Any) -> dict[int, tuple[int, int]] | None:
    return None if content is None else {int(search): (int(at[0]), int(at[1])) for search, at in content.items()}


# -- What is in force.


@dataclass(frozen=True)
class InForce:
    """What entries come to: the last focus, the searches that are dropped, and the entries it follows from."""

    focus: Focus | None = None
    dropped: frozenset[int] = frozenset()
    only: int | None = None  # the search that alone goes on
    key: str | None = None  # digest of the key of the solution of which more is wanted
    entries: tuple[Entry, ...] = ()

    def stops(self, search: int) -> bool:
        """Whether a search gets no quanta."""
        return search in self.dropped or self.only not in (None, search)


def fold_entries(entries: Iterable[Entry]) -> InForce:
    """What is in force after some entries.

    >>> asked = [Entry(1, "drop", search=2), Entry(2, "focus", loss=(0.0, 9.0), risk=(0.0, 5.0)), Entry(3, "undo")]
    >>> fold_entries(asked).focus, sorted(fold_entries(asked).dropped)
    (None, [2])
    """
    kept: list[Entry] = []
    for entry in entries:
        if entry.what != "undo":
            kept.append(entry)
        elif kept:
            kept.pop()
    found = InForce(entries=tuple(kept))
    for entry in kept:
        if entry.what == "drop" and entry.search is not None:
            found = replace(found, dropped=found.dropped | {entry.search})
        elif entry.what == "restore" and entry.search is not None:
            found = replace(found, dropped=found.dropped - {entry.search})
        elif entry.what == "more":
            found = replace(found, focus=entry.focus, only=entry.search, key=entry.key)
        elif entry.what == "focus":
            found = replace(found, focus=entry.focus, only=None, key=None)
    return found


def digest_solution_key(key: bytes) -> str:
    """A short name of a solution that is the same in every run."""
    return blake2b(key, digest_size=8).hexdigest()


# -- The log.


@dataclass
class SteeringLog:
    """The log of a run; it is read again only if it grew."""

    folder: Path
    _size: int = field(default=0, init=False)
    _entries: tuple[Entry, ...] = field(default=(), init=False)

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / LOG

    def read(self) -> tuple[Entry, ...]:
        """Every complete entry, in order."""
        try:
            size = self.path.stat().st_size
        except OSError:
            return self._entries
        if size != self._size:
            lines = self.path.read_bytes().split(b"\n")[:-1]  # the last is empty, or still being written
            self._size, self._entries = size, tuple(_read_line(line) for line in lines if line.strip())
        return self._entries

    def append(self, entry: Entry) -> Entry:
        """Write an entry at the end of the log, with the next number."""
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600)
        except OSError as error:
            raise SearchError(
                f"{self.folder}: the folder cannot be written ({(error.strerror or 'unknown reason').lower()}); make "
                f"it writable, then steer again"
            ) from None
        try:
            lock_descriptor(handle, blocking=True)
            numbered = replace(entry, number=max((each.number for each in self.read()), default=0) + 1)
            os.write(handle, json.dumps(numbered.to_dict()).encode() + b"\n")
            os.fsync(handle)
        finally:
            os.close(handle)
        return numbered

    def write_all(self, entries: Sequence[Entry]) -> None:
        """Write entries into the empty log of a new run, as they are."""
        handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            for entry in entries:
                file.write(json.dumps(entry.to_dict()).encode() + b"\n")


def _read_line(line: bytes) -> Entry:
    try:
        content = json.loads(line)
    except ValueError:
        content = None
    return Entry.of(content)


def read_log(path: Path) -> tuple[Entry, ...]:
    """The entries of a log outside a run, such as one that `crypsis steer` printed."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise SearchError(
            f"{path}: cannot be read ({(error.strerror or 'unknown reason').lower()}); check the path"
        ) from None
    return tuple(_read_line(line) for line in lines if line.strip())


def stamp_entries(stamps: Mapping[int, Sequence[tuple[Entry, tuple[int, int]]]]) -> tuple[Entry, ...]:
    """Entries with when each search obeyed them.

    `stamps`: by search, what it obeyed, with its generation and number of solutions.
    """
    found: dict[int, Entry] = {}
    for search, obeyed in stamps.items():
        for entry, at in obeyed:
            known = found.setdefault(entry.number, replace(entry, obeyed={}))
            found[entry.number] = replace(known, obeyed={**(known.obeyed or {}), search: at})
    return tuple(found[number] for number in sorted(found))


# -- What one search has obeyed, and when its next entry is due.


@dataclass
class Obedience:
    """What one search has obeyed."""

    search: int
    stamps: list[tuple[Entry, tuple[int, int]]] = field(default_factory=list)
    in_force: InForce = InForce()

    @property
    def note(self) -> list[Any]:
        """The stamps as plain data."""
        return [[replace(entry, obeyed=None).to_dict(), list(at)] for entry, at in self.stamps]

    @classmethod
    def of(cls, search: int, note: Sequence[Any]) -> Obedience:
        """What a search obeyed, from plain data."""
        made = cls(search, [(Entry.of(entry), (int(at[0]), int(at[1]))) for entry, at in note])
        made.in_force = fold_entries(entry for entry, _ in made.stamps)
        return made

    def next_entry(self, entries: Sequence[Entry], at: tuple[int, int], goes_on: bool) -> Entry | None:
        """The first entry that is not obeyed yet, if it is to be obeyed now.

        `at`: generation and number of solutions; `goes_on`: whether the search would advance now. A prescribed entry
        waits for its generation, and in it for as many solutions.
        """
        last = self.stamps[-1][0].number if self.stamps else 0
        entry = next((each for each in entries if each.number > last), None)
        if entry is None or entry.obeyed is None:
            return entry
        if self.search not in entry.obeyed:
            return None
        generation, solutions = entry.obeyed[self.search]
        due = at[0] > generation or (at[0] == generation and (goes_on or at[1] >= solutions))
        return entry if due else None

    def obey(self, entry: Entry, at: tuple[int, int]) -> None:
        """Take an entry into force."""
        self.stamps.append((entry, at))
        self.in_force = fold_entries(entry for entry, _ in self.stamps)


# -- Entries in words.


def entry_text(entry: Entry, names: Sequence[str]) -> str:
    """An entry in words.

    `names`: of the searches, by place.

    >>> entry_text(Entry(1, "focus", loss=(20.0, 40.0), risk=(0.0, 10.0)), [])
    'focus on 20-40 % loss and 0-10 % risk'
    """
    name = names[entry.search] if entry.search is not None and entry.search < len(names) else "a search"
    if entry.what in ("drop", "restore"):
        return f"{entry.what} {name}"
    if entry.what == "undo":
        return "undo"
    if entry.loss is None or entry.risk is None:
        return "no focus"
    box = f"{entry.loss[0]:.3g}-{entry.loss[1]:.3g} % loss and {entry.risk[0]:.3g}-{entry.risk[1]:.3g} % risk"
    return f"focus on {box}" if entry.what == "focus" else f"more like solution {entry.solution}: {name} alone, {box}"


def obeyed_text(entry: Entry, names: Sequence[str]) -> str:
    """When searches obeyed an entry, in words.

    >>> obeyed_text(Entry(1, "undo", obeyed={0: (4, 9), 1: (-1, 0)}), ["gomm", "memetic"])
    'obeyed by gomm after generation 4, memetic from its start'
    """
    if not entry.obeyed:
        return "not obeyed yet"
    when = [
        f"{names[search]} {f'after generation {at[0]}' if at[0] >= 0 else 'from its start'}"
        for search, at in sorted(entry.obeyed.items())
        if search < len(names)
    ]
    return f"obeyed by {', '.join(when)}"
