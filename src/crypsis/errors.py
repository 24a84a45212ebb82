"""What Crypsis says when it cannot go on: one sentence a custodian can act on.

Every message tells what was found, where, what is allowed and what to do next. Messages never quote a
value that only few records share: a log or a terminal is not a safe place for a rare person.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable


class CrypsisError(Exception):
    """A problem that is the input's or the request's, not a defect of the program. Exit code 2."""


class TableError(CrypsisError):
    """The data or a hierarchy cannot be used as it stands."""


class PlanError(CrypsisError):
    """A plan, a setting or a request is not one Crypsis can carry out."""


class SearchError(CrypsisError):
    """A search cannot start or cannot reach what was asked of it."""


class Interrupted(SearchError):
    """A run could not write down what it found; what was written before is safe, and it can be resumed. Exit code 3."""


class EngineError(CrypsisError):
    """The place where work should run is not there or went away."""


class EngineLost(EngineError):
    """An engine went away with work under way; what was finished before is safe, and the run can be resumed."""


class ReleaseRefused(CrypsisError):
    """A file did not keep its guarantee, so it was not published. Exit code 1."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """' (did you mean …?)' for a misspelt word, or nothing."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""


def unknown_column(names: Iterable[str], known: Iterable[str]) -> str:
    """The sentence about the first name that no column has; empty if every column is there."""
    known = list(known)
    lost = next((name for name in names if name not in known), None)
    return "" if lost is None else f"there is no column {lost!r}{suggestion(lost, known)}; columns: {listing(known)}"


def listing(names: Iterable[str], most: int = 12) -> str:
    """A readable, bounded list: 'a, b, c and 9 more'."""
    names = list(names)
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def repeated(names: Iterable[str]) -> list[str]:
    """The names that occur more than once, sorted."""
    return sorted(name for name, times in Counter(names).items() if times > 1)
