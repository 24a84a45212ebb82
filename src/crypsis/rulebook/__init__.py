"""The thresholds of an office as files, and whether a release or a plan keeps them."""

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
