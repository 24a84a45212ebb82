"""Docstrings in numpy form, as the pages need them: prose, sections, and the four facts of a registered class."""

from __future__ import annotations

import inspect
import re
from typing import Any

FACTS = ("formula", "paper", "cost", "departures")
"""What the Notes of every registered class state, one item of a list each: `- Formula: …`."""
_SECTION = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_FACT = re.compile(r"^- (?P<name>[A-Z][a-z]+): (?P<text>.*(?:\n  .*)*)", re.MULTILINE)


def prose(thing: Any) -> str:
    """The docstring up to its first section."""
    text = inspect.cleandoc(thing.__doc__ or "")
    first = _SECTION.search(text)
    return (text[: first.start()] if first else text).strip()


def summary(thing: Any) -> str:
    """The first paragraph of the docstring in one line."""
    return " ".join(prose(thing).split("\n\n")[0].split())


def section(thing: Any, title: str) -> str:
    """The content of one section; empty if the docstring has none of that title."""
    text = inspect.cleandoc(thing.__doc__ or "")
    found = list(_SECTION.finditer(text))
    for place, match in enumerate(found):
        if match["title"] == title:
            end = found[place + 1].start() if place + 1 < len(found) else len(text)
            return text[match.end() : end].strip()
    return ""


def stated(thing: Any) -> dict[str, str]:
    """The facts in the Notes of a docstring, by name."""
    notes = section(thing, "Notes")
    return {match["name"].lower(): " ".join(match["text"].split()) for match in _FACT.finditer(notes)}


def facts(cls: type[Any]) -> dict[str, str]:
    """Formula, paper, cost and departures of a registered class; a missing one is an error that names it."""
    told = stated(cls)
    missing = [fact for fact in FACTS if not told.get(fact)]
    if missing:
        wanted = ", ".join(f"'- {fact.capitalize()}: …'" for fact in missing)
        raise ValueError(f"{cls.__module__}.{cls.__name__}: the Notes of its docstring lack {wanted}; add them")
    return {fact: told[fact] for fact in FACTS}
