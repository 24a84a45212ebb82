"""Errors of Crypsis: one sentence that a custodian can act on.

Every message says what was found, where, what is allowed and what to do next. A message never quotes a value of few
records, since messages appear in logs and terminals.
"""

from __future__ import annotations

import difflib
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Literal, SupportsIndex


class CrypsisError(Exception):
    """A problem of the input or the request, not a defect of the program. Exit code 2."""


class TableError(CrypsisError):
    """Data or a hierarchy cannot be used."""


class PlanError(CrypsisError):
    """A plan, a setting or a request cannot be carried out."""


class SearchError(CrypsisError):
    """A search cannot start or cannot reach what is demanded."""


class Interrupted(SearchError):
    """A run cannot write its results; earlier results are kept and the run can be resumed. Exit code 3."""


class ExtraMissing(CrypsisError, ImportError):
    """What was asked needs a package that an extra of the installation brings. Exit code 2."""


class EngineError(CrypsisError):
    """An engine is not available or was lost."""


class EngineLost(EngineError):
    """An engine was lost during work; earlier results are kept and the run can be resumed."""


class ReleaseRefused(CrypsisError):
    """A file does not keep its guarantee and is not published. Exit code 1.

    `reasons`: why, and what to write about it. `findings`, `rules`: keys of what may pass if somebody says why.
    `proposal`: tables for the plan that would let the findings pass, their reasons left to be written. `final`: whether
    something stands beside them against which no waiver helps.
    """

    def __init__(
        self,
        reasons: str,
        findings: tuple[str, ...] = (),
        rules: tuple[str, ...] = (),
        proposal: str = "",
        final: bool = False,
    ) -> None:
        super().__init__(reasons, findings, rules, proposal, final)
        self.reasons, self.findings, self.rules, self.proposal, self.final = reasons, findings, rules, proposal, final

    def __str__(self) -> str:
        """The reasons, and what lets the file pass."""
        keys = (*self.findings, *self.rules)
        if not keys:
            return self.reasons
        waived = ", ".join(f'{json.dumps(key, ensure_ascii=False)}: "…"' for key in keys)
        options = " ".join(f"--waive {shlex.quote(f'{key}=…')}" for key in keys)
        return self.reasons + word(
            python=f"\n{self._waiver_words}, beside the waivers given already:\n  waivers={{{waived}}}",
            command=f"\n{self._waiver_words}:\n  {options}",
        )

    @property
    def _waiver_words(self) -> str:
        """What waivers do about it, in words that a list of them ends."""
        start = "to let pass what a waiver can let pass" if self.final else "to let all of it pass"
        return f"{start}, in this release alone, write a reason in place of each …"


Reader = Literal["python", "command", "studio"]
"""Who reads a message: somebody who wrote a call, a command and a plan, or who fills in pages."""
_READER: ContextVar[Reader] = ContextVar("READER", default="python")


@contextmanager
def address(reader: Reader) -> Iterator[None]:
    """Word the messages of what is done here for a reader."""
    token = _READER.set(reader)
    try:
        yield
    finally:
        _READER.reset(token)


def word(*, python: str, command: str, studio: str = "") -> str:
    """The part of a message that says what to write, for its reader: arguments; options and plan lines; neither.

    >>> refused = lambda: "choose another folder" + word(python=" by folder=", command=" with --out")
    >>> refused()
    'choose another folder by folder='
    >>> with address("command"):
    ...     refused()
    'choose another folder with --out'
    """
    return {"python": python, "command": command, "studio": studio}[_READER.get()]


STEPS = {
    "run PLAN": ("crypsis.protect(…)", "a search"),
    "resume RUN": ("crypsis.Run.resume(folder)", "Go on"),
    "front RUN": ("print(run.front)", "Explore"),
    "steer RUN": ("run.steer(…)", "Explore"),
    "release": ("run.release(…)", "Release"),
    "verify FOLDER": ("crypsis.verify(folder)", "the page of the release"),
    "keys new": ("crypsis.new_keys(path)", "the key of your office"),
}
"""Steps of a job by their command: what they are called in Python, and in the studio."""


def name_step(command: str, run: str = "") -> str:
    """A step of a job as the reader of a message takes it; `run`: folder of the run, where that is not plain."""
    python, studio = STEPS[command]
    if run:
        python, command = python.replace("folder", repr(run)), command.replace("RUN", shlex.quote(run))
    return word(python=python, command=f"`crypsis {command}`", studio=studio)


HOW_READ = "under How the file is read"
"""Where the studio has the settings of how a file is read."""


def name_reading(setting: str, value: str) -> str:
    """A setting of how a file is read, as the reader of a message writes it."""
    return word(
        python=f"{setting}={json.dumps([value] if setting == 'dates' else value, ensure_ascii=False)}",
        command=f"--{setting} {shlex.quote(value)}",
        studio=f"{setting} {value}, {HOW_READ}",
    )


def name_hierarchy(column: str) -> str:
    """An example of a hierarchy for a column, as the reader of a message writes it."""
    return word(
        python=f'hierarchies={{{json.dumps(column, ensure_ascii=False)}: "intervals:5,10,20"}}',
        command='hierarchy = "intervals:5,10,20"',
        studio="intervals:5,10,20",
    )


def reader() -> Reader:
    """Who reads the messages of what is done here."""
    return _READER.get()


def suggestion(word: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt word, or nothing.

    >>> suggestion("agee", ["age", "sex"])
    " (did you mean 'age'?)"
    """
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def describe_type(value: object) -> str:
    """What somebody gave in place of what is allowed, in the sentence of an error, without its content.

    >>> describe_type(5), describe_type(int)
    ('a value of type int', 'the class int')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    library, name = type(value).__module__.split(".")[0], type(value).__name__
    return f"a value of type {name if library == 'builtins' else f'{library}.{name}'}"


def check_seed(seed: object) -> None:
    """Refuse a seed that no random stream can start from."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, SupportsIndex) or int(seed) < 0):
        raise PlanError(
            "seed: a seed is a whole number of at least 0; leave it out for the operating system's randomness"
        )


def read_path(given: object, what: str) -> Path:
    """A path as somebody gives it, or the sentence of an error about anything that is none.

    >>> read_path("release", "folder").name
    'release'
    """
    if not isinstance(given, (str, PathLike)) or not str(given):
        found = "an empty text" if given == "" else describe_type(given)
        raise PlanError(f'{what}: {found} is no path; write it as text, e.g. {what}="kept", or as a pathlib.Path')
    return Path(given)


def unknown_column(names: Iterable[str], known: Iterable[str]) -> str:
    """The sentence of an error about the first name that no column has; empty if there is no error."""
    known = list(known)
    lost = next((name for name in names if name not in known), None)
    return "" if lost is None else f"there is no column {lost!r}{suggestion(lost, known)}; columns: {listing(known)}"


def listing(names: Iterable[str], most: int = 12) -> str:
    """List names in the sentence of an error, shortened after the first ones.

    >>> listing("abcd", most=2)
    'a, b and 2 more'
    """
    names = list(names)
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def find_repeated(names: Iterable[str]) -> list[str]:
    """For the sentence of an error: find the names that occur more than once, sorted.

    >>> find_repeated(["b", "a", "b"])
    ['b']
    """
    return sorted(name for name, times in Counter(names).items() if times > 1)
