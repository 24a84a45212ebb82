"""The workspace of the studio: every file opened in it, each under an address of its own."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crypsis.errors import CrypsisError, TableError
from crypsis.run.store import STORE
from crypsis.studio import jobs
from crypsis.studio.session import Choices, MadeRelease, Session, open_plan, read_choices
from crypsis.studio.studio import Studio
from crypsis.table.files import write_atomically

HOME_VERSION = "0-True-0"
"""The version of Home: it is never loaded anew, its cards are."""
REGISTER = "files.json"
"""The register of opened files, in the studio's own folder."""


@dataclass(frozen=True)
class OpenedFile:
    """A file that was opened: its plan and its source, and when."""

    id: str
    plan: str
    source: str
    opened: float


@dataclass(frozen=True)
class RunCard:
    """A run of a file as Home shows it."""

    folder: str
    words: str
    level: str  # good, look, stop, or open where nothing is known yet
    current: bool
    solutions: int = 0


@dataclass(frozen=True)
class FileCard:
    """A file as Home shows it."""

    id: str
    address: str
    name: str
    folder: str  # empty for an upload and the example, whose folder is the studio's own
    uploaded: bool
    present: bool  # whether source and plan still exist
    opened: str
    runs: tuple[RunCard, ...]
    releases: tuple[tuple[int, MadeRelease], ...]  # by number, from 1
    searching: bool


def file_id(plan: Path) -> str:
    """The address of a file: a digest of where its plan is, so that it is the same after a restart."""
    return hashlib.blake2b(str(plan.resolve()).encode(), digest_size=6).hexdigest()


class Workspace:
    """Opened files by address; a file that was opened before is opened again when its address is asked for."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.leaving: Callable[[], bool] = lambda: False
        self._lock = threading.RLock()
        self._studios: dict[str, Studio] = {}

    # -- opened files --

    def open(self, session: Session) -> Studio:
        """The studio of a session, under its address; one that is open already takes over the run of the new one."""
        key = file_id(session.plan_path)
        with self._lock:
            made = Studio(self.home, session, f"/s/{key}")
            made.leaving = lambda: self.leaving()
            if key in self._studios:
                made.opened = self._studios[key].opened + 1
            self._studios[key] = made
            entry = OpenedFile(key, str(session.plan_path), str(session.source), time.time())
            self._write([entry, *(each for each in self.files() if each.id != key)])
            return made

    def studio(self, key: str) -> Studio:
        """The studio at an address."""
        with self._lock:
            if key in self._studios:
                return self._studios[key]
            for each in self.files():
                if each.id == key:
                    return self.open(open_plan(Path(each.plan), Path(each.source)))
        raise TableError("there is no such file in the studio any more; go back to the first page")

    def files(self) -> list[OpenedFile]:
        """The register, the file opened last first."""
        try:
            found = json.loads((self.home / REGISTER).read_text(encoding="utf-8"))
            return [OpenedFile(**each) for each in found]
        except (OSError, ValueError, TypeError):
            return []

    def forget(self, key: str) -> str:
        """Take a file off the list; the copy of an upload is deleted with its plan and runs. Returns a message."""
        with self._lock:
            entry = next((each for each in self.files() if each.id == key), None)
            if entry is None:
                raise TableError("there is no such file in the studio any more; load the page again")
            plan, name = Path(entry.plan), Path(entry.source).name
            for run in _runs(plan):
                if jobs.is_running(run):
                    jobs.stop(run)
            self._studios.pop(key, None)
            self._write([each for each in self.files() if each.id != key])
            if not self._is_upload(plan):
                return f"{name} is no longer listed; the file, its plan and its runs are where they were."
            shutil.rmtree(plan.parent, ignore_errors=True)
            return f"The copy of {name}, its plan and its runs are deleted; releases are kept."

    def _write(self, files: list[OpenedFile]) -> None:
        text = json.dumps([asdict(each) for each in files], indent=1, ensure_ascii=False)
        write_atomically(self.home / REGISTER, text.encode(), replace=True)

    def _is_upload(self, plan: Path) -> bool:
        return plan.is_relative_to(self.home / "uploads")

    # -- what Home shows --

    def cards(self) -> list[FileCard]:
        """A card for every file, read from small files alone: no table is read for it."""
        return [self._card(each) for each in self.files()]

    def _card(self, entry: OpenedFile) -> FileCard:
        plan, source = Path(entry.plan), Path(entry.source)
        choices = read_choices(plan)
        runs = tuple(_run_card(run, choices) for run in _runs(plan))
        uploaded = self._is_upload(plan)
        return FileCard(
            id=entry.id,
            address=f"/s/{entry.id}",
            name=source.name,
            folder="" if plan.is_relative_to(self.home) else str(source.parent),
            uploaded=uploaded,
            present=source.exists(),
            opened=time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.opened)),
            runs=runs,
            releases=tuple(enumerate(choices.releases, 1)),
            searching=any(jobs.is_running(run) for run in _runs(plan)),
        )

    def release(self, key: str, number: int) -> MadeRelease:
        """A release of a file by its number."""
        for each in self.files():
            if each.id == key:
                made = read_choices(Path(each.plan)).releases
                if 1 <= number <= len(made):
                    return made[number - 1]
        raise TableError("there is no such release in the studio any more; load the page again")

    def revision(self) -> dict[str, Any]:
        """What Home shows, as plain data: it changes whenever something on the page changes."""
        return {"version": HOME_VERSION, "words": "", "cards": [asdict(each) for each in self.cards()]}


def _runs(plan: Path) -> list[Path]:
    """The runs of a plan, the oldest first."""
    found = [each.parent for each in plan.parent.glob(f"{plan.stem}-run*/{STORE}")]
    begun = plan.parent.glob(f".{plan.stem}-run*.job.json")
    starting = [each.with_name(each.name.removeprefix(".").removesuffix(".job.json")) for each in begun]
    return sorted({*found, *starting}, key=lambda path: (len(path.name), path.name))


def _run_card(folder: Path, choices: Choices) -> RunCard:
    try:
        status = jobs.run_state(folder)
    except CrypsisError as error:
        return RunCard(folder.name, str(error), "stop", folder.name == choices.run)
    return RunCard(folder.name, status.words, status.level, folder.name == choices.run, status.status.solutions)
