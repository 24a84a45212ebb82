"""Public names of `crypsis.rulebook`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.rulebook.rules import (
    Rulebook as Rulebook,
    RuleResult as RuleResult,
    check_planned as check_planned,
    check_rulebook as check_rulebook,
    read_rulebook as read_rulebook,
    refusals as refusals,
    shipped_names as shipped_names,
)
from crypsis.rulebook.rules import Evidence as Evidence
