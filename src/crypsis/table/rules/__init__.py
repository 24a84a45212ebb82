"""Edit rules: relations between the columns of a record, read from a small language and judged on tables."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.table.rules.grammar import EditRule, read_rule
    from crypsis.table.rules.judging import RuleCounts, count_violations, rule_obstacle, violations
    from crypsis.table.rules.proposing import proposed_rules

__all__ = [
    "EditRule",
    "RuleCounts",
    "count_violations",
    "proposed_rules",
    "read_rule",
    "rule_obstacle",
    "violations",
]

load_when_used(__name__)
