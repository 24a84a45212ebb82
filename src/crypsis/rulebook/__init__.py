"""Rulebooks: the thresholds of an office as files, checked against releases and plans."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.rulebook.book import Rulebook, RuleResult, check_rulebook, read_rulebook, refusals, shipped_names
    from crypsis.rulebook.planned import check_planned
    from crypsis.rulebook.rules import Evidence

__all__ = [
    "Evidence",
    "RuleResult",
    "Rulebook",
    "check_planned",
    "check_rulebook",
    "read_rulebook",
    "refusals",
    "shipped_names",
]

load_when_used(__name__)
