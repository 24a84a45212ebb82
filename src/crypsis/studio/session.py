"""Write a changed plan into its old text: comments, order and layout of what did not change stay.

Only values that differ are written. A comment after a value stays when the value changes; a comment in a table is
removed with the table.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Item
from tomlkit.items import Table as TomlTable

from crypsis.errors import HOW_READ, CrypsisError, PlanError, SearchError, TableError, address, listing
from crypsis.measures.masking_description import MaskingDescription
from crypsis.measures.utility import (
    ColumnEstimates,
    PropensityScore,
    UtilityCard,
    column_estimates,
    general_utility_of_card,
)
from crypsis.plan import Plan, draft
from crypsis.plan.checking import demand_obstacles, search_obstacles
from crypsis.plan.document import as_toml, load
from crypsis.run import Front, Run, Solution
from crypsis.run.steering import LOG
from crypsis.run.store import LOCK, PLAN, STORE, Lock, plan_fingerprint_in_store
from crypsis.studio import jobs
from crypsis.studio.jobs import RunStatus, job_run_status
from crypsis.studio.solution_audit import SolutionAudits
from crypsis.table.atomic_files import private_folder
from crypsis.table.example import EDUCATION, INVENTED, example, hierarchies
from crypsis.table.files import read_table, write_atomically, write_hierarchy_file, write_table
from crypsis.table.profile import Profile, profile
from crypsis.table.readers import readers
from crypsis.table.readers.text import TEXT
from crypsis.table.table import Table

NAMES = ("model", "measure", "name", "holds")
"""Keys that identify a table of a list."""


def rewrite_session_plan(text: str, document: Mapping[str, Any], plan: Plan) -> str:
    """A session of the studio writes its changed plan into the old text, with comments and layout kept."""
    try:
        old = tomlkit.parse(text)
        _merge(old, document, top=True)
        new = old.as_string()
        if Plan.parse(tomllib.loads(new)) == plan:
            return new
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError, KeyError, TypeError):
        pass  # if the layout cannot be kept, comments are lost and the plan is not
    return as_toml(plan)


def _merge(old: Any, new: Mapping[str, Any], top: bool = False) -> None:
    for key in [key for key in old if key not in new]:
        del old[key]
    for key, value in new.items():
        if key not in old:
            old[key] = _make_value(value, top)
        elif _plain(old[key]) != value:
            _change(old, key, value, top)


def _change(old: Any, key: str, value: Any, top: bool) -> None:
    before = old[key]
    if isinstance(before, AoT) and _is_tables(value):
        _merge_list(before, value)
    elif isinstance(before, TomlTable) and isinstance(value, Mapping):
        _merge(before, value)
    elif isinstance(before, TomlTable) and _is_tables(value) and len(value) == 1:  # [search] for the only [[search]]
        _merge(before, value[0])
    elif isinstance(before, (AoT, TomlTable)):
        del old[key]
        old[key] = _make_value(value, top)
    else:
        made = _make_value(value, top)
        made.trivia.comment_ws, made.trivia.comment = before.trivia.comment_ws, before.trivia.comment
        made.trivia.trail = before.trivia.trail
        old[key] = made


def _merge_list(old: AoT, new: Sequence[Mapping[str, Any]]) -> None:
    """Tables that stay keep their text when others are removed or added."""
    left = list(old)
    kept: list[tuple[TomlTable | None, Mapping[str, Any]]] = []
    for value in new:
        same = [table for table in left if _name(table) == _name(value)]
        same.sort(key=lambda table: _plain(table) != value)
        left = [table for table in left if not same or table is not same[0]]
        kept.append((same[0] if same else None, value))
    while len(old):
        del old[0]
    for table, value in kept:
        if table is None:
            table = _table(value)
            table.add(tomlkit.nl())
        else:
            _merge(table, value)
        old.append(table)


def _name(table: Mapping[str, Any]) -> str:
    return next((str(table[key]) for key in NAMES if key in table), "")


def _plain(item: Any) -> Any:
    return item.unwrap() if isinstance(item, Item) else item


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _make_value(value: Any, top: bool) -> Item:
    """A new value: tables with a header where a plan has them, everything else in one line."""
    if isinstance(value, Mapping):
        return _table(value) if top else _inline(value)
    if _is_tables(value):
        tables = tomlkit.aot()
        for each in value:
            tables.append(_table(each))
        return tables
    made: Item = tomlkit.item(value)
    return made


def _table(content: Mapping[str, Any]) -> TomlTable:
    table = tomlkit.table()
    for key, value in content.items():
        table.add(key, _make_value(value, top=False))
    return table


def _inline(content: Mapping[str, Any]) -> InlineTable:
    made = tomlkit.inline_table()
    made.update(content)
    spaced: InlineTable = tomlkit.value("{ " + made.as_string()[1:-1].strip() + " }")  # type: ignore[assignment]
    return spaced


# -- Reading a file in the background.

USUAL_K = 5
WAIT, SMALL = 0.4, 2_000_000
"""Seconds a page waits for a file before it says that it is being read, and bytes of one that may be read by then."""
MOST_CARDS = 20
"""Utility cards that are kept; the oldest goes first."""
MOST_COLUMNS = 2000
"""Files with more columns are refused: nobody can give them roles by hand."""


class FileReading:
    """A file that is read in the background: its profile, and the table as the plan describes it."""

    def __init__(self, source: Path, plan: Path, settings: Mapping[str, Any] | None = None) -> None:
        self.source, self.plan = source, plan
        self.settings = dict(settings or {})  # how to read a file that has no plan yet
        self.profile: Profile | None = None
        self.problem = ""
        self.can_be_read_otherwise = False  # whether the problem names a setting that the Data page has
        self._raw: Table | None = None
        self._table: tuple[str, Table] | None = None
        self._columns: dict[tuple[str, str], Table] = {}
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

    def wait_briefly(self) -> None:
        """Wait for a small file, so that its page need not be filled later; a large one takes longer anyway."""
        if self.source.exists() and self.source.stat().st_size <= SMALL:
            self.wait(WAIT)

    def _read(self) -> None:
        try:
            self._refuse_wide(_header_width(self.source))
            with address("studio"):
                raw = read_table(self.source, **self._options())
            self._refuse_wide(len(raw.names))
            seen = profile(raw)
            if not self.plan.exists():
                text = draft(self.source, self.plan, raw, seen, USUAL_K)
                write_atomically(self.plan, text.encode())
            self._raw, self.profile = raw, seen
        except CrypsisError as error:
            self.can_be_read_otherwise = HOW_READ in str(error)
            self.problem = _without_folder(str(error), self.source.parent)
        except (OSError, MemoryError) as error:
            self.problem = f"{self.source.name} cannot be read ({type(error).__name__}); check the file and try again"

    def _options(self) -> dict[str, Any]:
        """How the file is read: as the plan says, or as given."""
        return Plan.read(self.plan).data.reading_options() if self.plan.exists() else dict(self.settings)

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

    def column_as(self, name: str, kind: str | None) -> Table:
        """One column as the plan reads it if it has a kind: numbers that are codes become categories."""
        raw = self.raw
        if not kind or kind == raw.attribute(name).kind.value:
            return raw.drop([other for other in raw.names if other != name])
        with self._lock:
            if (name, kind) not in self._columns:
                read = read_table(self.source, kinds={name: kind}, **self._options())
                self._columns[name, kind] = read.drop([other for other in read.names if other != name])
            return self._columns[name, kind]

    def table(self, plan: Plan, home: Path) -> Table:
        """The table with the plan's roles, kinds and hierarchies; kept until one of these changes."""
        key = plan.model_dump_json(include={"data", "columns"})
        with self._lock:
            if self._table is None or self._table[0] != key:
                self._table = (key, plan.table(home))
            return self._table[1]


def _header_width(source: Path) -> int:
    """About how many columns a text file has, by its first line, so that a wide file is not read; else 0."""
    if not source.name.lower().endswith(TEXT):
        return 0
    with source.open("rb") as file:
        line = file.readline(10_000_000)
    return 1 + max(line.count(mark) for mark in (b",", b";", b"\t", b"|"))


def _without_folder(sentence: str, folder: Path) -> str:
    """The sentence with file names only: the folder of uploads is not shown."""
    return sentence.replace(f"{folder}/", "")


# -- A session: a file, its plan, a run, and the choices made so far, all on disk.
#
# Choices that are not part of the plan (pins, the chosen solution, limits of the chart, waivers) are in a small file
# next to the plan, so that two tabs agree and nothing is lost by a restart.

MOST_PINS = 4
MOST_COMPARED = 50_000
"""Records of a large table that a page compares with the original; a release compares all."""


@dataclass(frozen=True)
class MadeRelease:
    """A release that was made here; its number is its place in the list, which never loses an entry."""

    folder: str
    solution: int
    title: str = ""
    made: str = ""  # when, in UTC
    withdrawn: str = ""  # when it was withdrawn; empty while it is published


@dataclass(frozen=True)
class Choices:
    """Choices made on the pages; those about solutions by run."""

    run: str = ""
    rulebook: str = ""
    title: str = ""
    pins: dict[str, list[int]] = field(default_factory=dict)
    chosen: dict[str, int] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    waivers: dict[str, str] = field(default_factory=dict)
    releases: tuple[MadeRelease, ...] = ()
    parents: dict[str, str] = field(default_factory=dict)  # run → the one it was started from
    wishes: dict[str, str] = field(default_factory=dict)  # run → what it was started for, in words
    decided: list[dict[str, Any]] = field(default_factory=list)  # changes of columns that can be undone, last first
    ghosts_hidden: list[str] = field(default_factory=list)  # runs beside which the front of the parent is not shown


def choices_path(plan: Path) -> Path:
    """The file of the choices of a session, next to its plan."""
    return plan.with_name(f".{plan.stem}-studio.json")


def read_choices(plan: Path) -> Choices:
    """The choices of a session, made so far."""
    try:
        content = json.loads(choices_path(plan).read_text(encoding="utf-8"))
        releases = tuple(MadeRelease(**each) for each in content.pop("releases", ()))
        return Choices(**content, releases=releases)
    except (OSError, ValueError, TypeError, AttributeError):
        return Choices()


class Session:
    """A file with its plan and run."""

    def __init__(
        self, source: Path, plan: Path, run: Path | None = None, form: Mapping[str, Any] | None = None
    ) -> None:
        self.source, self.plan_path = source, plan
        self._choices_path = choices_path(plan)
        self.lock = threading.RLock()
        self._plan: tuple[str, Plan] | None = None
        self._choices: tuple[str, Choices] | None = None
        self._run: tuple[list[str], Run] | None = None
        self._run_status: tuple[list[str], RunStatus] | None = None
        self._outdated: tuple[list[str], bool] | None = None
        self._general: dict[tuple[str, str, int], tuple[PropensityScore, ...]] = {}
        self._descriptions: dict[tuple[str, str, int], MaskingDescription] = {}
        self._cards: dict[tuple[str, str, int], UtilityCard] = {}
        self._describing = threading.Lock()  # separate: a card of a large table must not block other requests
        self.reading = FileReading(source, plan, form).begin()
        self.audits = SolutionAudits(self)
        if run is not None:
            self.change(run=run.name)

    # -- the plan --

    @property
    def home(self) -> Path:
        """The folder of the plan."""
        return self.plan_path.parent

    @property
    def plan(self) -> Plan:
        """The plan; read again only if it was written since."""
        written, known = _stamp(self.plan_path), self._plan
        if known is None or known[0] != written:
            known = self._plan = (written, Plan.read(self.plan_path))
        return known[1]

    @property
    def document(self) -> dict[str, Any]:
        """The plan as plain data."""
        return load(self.plan_path)

    def save(self, document: dict[str, Any]) -> list[str]:
        """Write a changed plan; returns its problems instead, if it has any."""
        plan, problems = Plan.understand(document)
        if plan is None or problems:
            return problems
        text = rewrite_session_plan(self.plan_path.read_text(encoding="utf-8"), document, plan)
        write_atomically(self.plan_path, text.encode(), replace=True)
        return []

    def read_again(self, settings: Mapping[str, Any]) -> str:
        """Read the file in another way, and draft the plan anew if it then has other columns; returns a problem.

        If the file cannot be read so, everything stays as it is.
        """
        with self.lock:
            try:
                read = read_table(self.source, **settings)
            except CrypsisError as error:
                return _without_folder(str(error), self.source.parent)
            document = self.document if self.plan_path.exists() else {}
            if set(document.get("columns", {})) <= set(read.names) and document:
                problems = self.save({**document, "data": {"source": document["data"]["source"], **settings}})
                if problems:
                    return problems[0]
            elif document:
                text = draft(self.source, self.plan_path, read, profile(read), USUAL_K)
                write_atomically(self.plan_path, text.encode(), replace=True)
            self.reading = FileReading(self.source, self.plan_path, settings).begin()
        self.reading.wait()
        return self.reading.problem

    @property
    def table(self) -> Table:
        """The table as the plan describes it."""
        return self.reading.table(self.plan, self.home)

    # -- choices --

    @property
    def choices(self) -> Choices:
        """The choices; read again only if they were written since."""
        written, known = _stamp(self._choices_path), self._choices
        if known is None or known[0] != written:
            known = self._choices = (written, read_choices(self.plan_path))
        return known[1]

    def change(self, **changes: Any) -> Choices:
        """Write changed choices."""
        with self.lock:
            choices = replace(self.choices, **changes)
            text = json.dumps(asdict(choices), indent=1, ensure_ascii=False)
            write_atomically(self._choices_path, text.encode(), replace=True)
            return choices

    def stamps(self) -> list[str]:
        """Stamps of plan and choices; each write makes a new file and so a new stamp."""
        return [_stamp(path) for path in (self.plan_path, self._choices_path)]

    @property
    def pins(self) -> list[int]:
        """Pinned solutions of the run."""
        choices = self.choices
        return choices.pins.get(choices.run, [])

    def pin(self, number: int) -> str:
        """Pin a solution; returns a message."""
        with self.lock:
            choices, pins = self.choices, self.pins
            if number not in pins:
                if len(pins) >= MOST_PINS:
                    return f"{MOST_PINS} solutions are already pinned; unpin one first."
                self.solution(number)
                self.change(pins={**choices.pins, choices.run: [*pins, number]})
            return f"Solution {number} is pinned."

    def unpin(self, number: int) -> str:
        """Unpin a solution. Not a toggle, since a page that is not up to date would do the opposite."""
        with self.lock:
            choices, pins = self.choices, self.pins
            if number in pins:
                self.change(pins={**choices.pins, choices.run: [each for each in pins if each != number]})
            return f"Solution {number} is no longer pinned."

    def choose(self, number: int) -> None:
        """Choose a solution for the release."""
        self.solution(number)
        self.change(chosen={**self.choices.chosen, self.choices.run: number})
        self.audits.begin(number)

    @property
    def chosen(self) -> int | None:
        """The solution chosen for the release."""
        return self.choices.chosen.get(self.choices.run)

    # -- the run --

    @property
    def run_folder(self) -> Path | None:
        """The folder of the run, if there is one."""
        name = self.choices.run
        return self.home / name if name else None

    def use_run(self, name: str) -> None:
        """Show another run of the plan."""
        if not name.startswith(f"{self.plan_path.stem}-run") or Path(name).name != name:
            raise SearchError("that search is not one of this file; load the page again")
        if not (self.home / name / STORE).is_file():
            raise SearchError("that search measured nothing that could be shown")
        self.change(run=name)

    @property
    def has_run(self) -> bool:
        """Whether the run has a store."""
        folder = self.run_folder
        return folder is not None and (folder / STORE).is_file()

    @property
    def run(self) -> Run:
        """The run in use, opened once; opened again only if another run took its place."""
        folder = self.run_folder
        if folder is None or not self.has_run:
            raise SearchError("no search was started yet; press Start on the Explore page")
        with self.lock:
            begun = [str(folder), *(_stamp(folder / name) for name in (PLAN, LOCK))]
            if self._run is None or self._run[0] != begun:
                if self._run is not None:
                    self._run[1].close()
                self._run = (begun, Run.open(folder))
            run = self._run[1]
            if self.reading.done and not self.reading.problem and self._same_data(run.plan):
                run.attach(self.reading.table(run.plan, Path(run.lock.home)))
            return run

    def _same_data(self, plan: Plan) -> bool:
        mine = self.plan
        return mine.data == plan.data and mine.columns == plan.columns

    def run_stamps(self) -> list[str]:
        """Stamps of the files of the run."""
        folder = self.run_folder
        names = (PLAN, LOCK, STORE, f"{STORE}-wal")
        return [str(folder), *(_stamp(folder / name) for name in names if folder is not None)]

    def steering_stamp(self) -> str:
        """A stamp of what was asked of the run."""
        folder = self.run_folder
        return "" if folder is None else _stamp(folder / LOG)

    def run_status(self) -> RunStatus:
        """The status of the run; its store is read only if the search has written since."""
        written, known = self.run_stamps(), self._run_status
        if known is None or known[0] != written:
            folder = self.run_folder
            known = self._run_status = (written, job_run_status(folder) if folder is not None else RunStatus())
        return known[1]

    @property
    def front(self) -> Front:
        """The front; the store is read again only if the search has written since."""
        return self.run.front

    def solution(self, number: int) -> Solution:
        """A solution of the run."""
        return self.front.pick(number)

    def masked_table(self, number: int) -> Table:
        """The masked table of a solution."""
        return self.run.decode(number)

    def _solution_key(self, number: int) -> tuple[str, str, int]:
        """A solution of the run that is in its folder now: another run may take its name."""
        folder = self.run_folder
        return str(folder), _stamp(folder / LOCK) if folder is not None else "", number

    def describe(self, number: int) -> MaskingDescription:
        """What a solution does to the table."""
        key = self._solution_key(number)
        with self._describing:
            if key not in self._descriptions:
                self._descriptions[key] = self.run.describe(number)
            return self._descriptions[key]

    def card(self, number: int) -> UtilityCard:
        """What a solution harmed, measured once, on some records of a large table; without the general utility."""
        key = self._solution_key(number)
        with self._describing:
            if key not in self._cards:
                self._cards[key] = self.run.card(number, general=False, records=MOST_COMPARED)
            return self._cards[key]

    def estimates(self, number: int) -> tuple[ColumnEstimates, ...]:
        """The figures of the masked columns before and after; quick, unlike the card that has them too."""
        original, masked = self.run.original, self.masked_table(number)
        names = [name for name in self.solution(number).evaluation.columns if name in masked.names]
        return column_estimates(original, masked, names)

    def general(self, number: int) -> tuple[PropensityScore, ...]:
        """How well models tell the file of a solution from the original; measured once."""
        key = self._solution_key(number)
        if key not in self._general:
            self._general[key] = general_utility_of_card(self.run.original, self.masked_table(number))
        return self._general[key]

    @property
    def outdated(self) -> bool:
        """Whether the plan was changed since the run began."""
        written, known = [_stamp(self.plan_path), *self.run_stamps()], self._outdated
        if known is None or known[0] != written:
            known = self._outdated = (written, self._is_outdated())
        return known[1]

    def _is_outdated(self) -> bool:
        if not self.has_run:
            return False
        try:
            _ = self.front  # a run that cannot be opened cannot continue
            begun = Lock.read(self.run_folder) if self.run_folder is not None else None
            return begun is None or begun.plan != plan_fingerprint_in_store(self.plan)
        except CrypsisError:
            return True

    def new_run(self) -> Path:
        """The first free name for a run of the plan, as `crypsis run` chooses it."""
        folder, number = self.plan_path.with_name(f"{self.plan_path.stem}-run"), 2
        while folder.exists() or jobs.is_running(folder):
            folder = self.plan_path.with_name(f"{self.plan_path.stem}-run-{number}")
            number += 1
        return folder

    def start(self) -> None:
        """Start a search of the plan, or continue the one that was paused."""
        folder = self.run_folder
        if folder is not None and jobs.is_running(folder):
            return
        if folder is not None and self.has_run and not self.outdated:
            jobs.start(folder, jobs.resume_job_command(folder))
            return
        table = self.reading.table(self.plan, self.home)
        obstacles = [*demand_obstacles(self.plan, table), *search_obstacles(self.plan, table)]
        if obstacles:
            raise PlanError(f"No search was started. {'; '.join(obstacles)}")
        fresh = self.new_run()
        jobs.start(fresh, jobs.start_job_command(self.plan_path, fresh))
        self.change(run=fresh.name)

    def extend(self, budget: str) -> None:
        """Continue a finished search with a larger budget."""
        folder = self.run_folder
        if folder is None:
            raise PlanError("there is no search to continue; press Start")
        jobs.start(folder, jobs.resume_job_command(folder, budget))

    def pause(self, at_once: bool = False) -> None:
        """Stop the search; it can be continued. It is waited for unless the answer is needed at once."""
        if self.run_folder is not None:
            jobs.stop(self.run_folder, *((0.0,) if at_once else ()))


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "0"
    return f"{found.st_ino}.{found.st_mtime_ns}.{found.st_size}"


# -- Opening a session on a data file, a plan, a run or the example.

EXAMPLE = "example"
"""The folder of the example in the studio's own."""
EXAMPLE_ROWS = 1000
EXAMPLE_BUDGET = "5s"
EXAMPLE_RULEBOOK = "licensed"
PART = ".part"
"""Suffix of an upload that is not complete."""
ENDINGS = readers.suffixes()
"""Suffixes of the files that are read."""


def open_path(path: Path, form: Mapping[str, Any] | None = None) -> Session:
    """The session for a data file, a plan or a run folder; `form`: how a data file is read."""
    path = path.expanduser().resolve()
    if form and (path.is_dir() or path.suffix.lower() == ".toml"):
        raise PlanError(f"{path.name} says itself how its file is read; leave {listing(form)} out")
    if (path / STORE).is_file():
        return _open_run(path)
    if path.is_dir():
        raise TableError(f"{path.name}: a folder without a run; give a data file, a plan.toml or a run folder")
    if not path.is_file():
        raise TableError(f"{path.name}: there is no such file; check the path")
    if path.suffix.lower() == ".toml":
        return open_plan(path)
    if path.suffix.lower() not in ENDINGS:
        raise TableError(
            f"{path.name} ends in {path.suffix or 'nothing'!r}; the studio reads {', '.join(ENDINGS)}, a plan (.toml) "
            f"or a run folder"
        )
    plan = path.with_name(f"{path.stem}-plan.toml")
    if form and plan.exists():
        raise TableError(
            f"{plan.name} says how {path.name} is read; change it on the Data page, or remove the plan and "
            f"open the file again"
        )
    return Session(path, plan, form=form)


def open_plan(plan: Path, source: Path | None = None) -> Session:
    """The session of a plan; `source` is where its file was, for a plan that is not written yet."""
    if plan.exists():
        return Session((plan.parent / Plan.read(plan).data.source).resolve(), plan)
    if source is None or not source.is_file():
        raise TableError(f"{plan.name}: there is no such file any more; open the data file again")
    return Session(source, plan)


def _open_run(folder: Path) -> Session:
    """The session of a run, with a plan next to it that may be changed for the next run."""
    run = Run.open(folder)
    run.close()
    if not run.lock.home:
        raise PlanError(f"{folder.name}: this run protects a table from memory; the studio needs one from a file")
    source = (Path(run.lock.home) / run.plan.data.source).resolve()
    for plan in sorted(folder.parent.glob("*.toml")):
        if folder.name.startswith(f"{plan.stem}-run"):
            return Session(source, plan, folder)
    beside = folder.with_name(f"{folder.name}-plan.toml")
    if not beside.exists():
        document = tomllib.loads((folder / PLAN).read_text(encoding="utf-8"))
        document["data"]["source"] = os.path.relpath(source, folder.parent)
        write_atomically(beside, as_toml(Plan.parse(document)).encode())
    return Session(source, beside, folder)


def open_example_session(home: Path) -> Session:
    """A session of the studio on the built-in table of invented people, with a search that has run or runs now."""
    folder = home / EXAMPLE
    plan = folder / "people-plan.toml"
    if not plan.exists():
        write_example_for_session(folder, plan)
    session = Session(folder / "people.csv", plan)
    if not session.choices.rulebook:
        session.change(rulebook=EXAMPLE_RULEBOOK)
    if not session.has_run:
        session.start()
        jobs.warm_up_in_job()
    return session


def write_example_for_session(folder: Path, plan: Path, rows: int = EXAMPLE_ROWS) -> None:
    """Write the example that a session of the studio opens: people, hierarchies and a plan."""
    shutil.rmtree(folder, ignore_errors=True)  # of a start that was interrupted
    private_folder(folder / "hierarchies")
    source, original = folder / "people.csv", example(rows)
    write_table(original, source)
    read = read_table(source)
    invented = dict.fromkeys(original.confidential, INVENTED)
    document = tomllib.loads(draft(source, plan, read, profile(read), 5, invented))
    for name, hierarchy in hierarchies().items():
        if name in ("age", "hours"):
            continue  # the draft has intervals for them
        write_hierarchy_file(hierarchy, folder / "hierarchies" / f"{name}.csv")
        document["columns"][name]["hierarchy"] = f"hierarchies/{name}.csv"
    document["columns"]["education"] |= {"kind": "ordinal", "order": [each[0] for each in EDUCATION]}
    document["run"] = {"budget": EXAMPLE_BUDGET}
    write_atomically(plan, as_toml(Plan.parse(document)).encode())
