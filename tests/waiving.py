"""Reasons for tests that publish amounts in which most people are alone, and columns nobody decided about."""

from __future__ import annotations

REASON = "known to nobody outside"


def waiving(*columns: str, **rules: str) -> dict[str, str]:
    """Waivers of singling out by the named columns, and of rules."""
    return {f"singling-out:{column}": REASON for column in columns} | rules


def waive(*columns: str, undecided: str = "") -> tuple[str, ...]:
    """The same on the command line, and columns that no role is given to."""
    keys = [f"singling-out:{column}" for column in columns] + [f"undecided:{column}" for column in undecided.split()]
    return tuple(word for key in keys for word in ("--waive", f"{key}={REASON}"))
