"""Public names of `crypsis.table.rules`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.table.rules.grammar import (
    EditRule as EditRule,
    read_rule as read_rule,
)
from crypsis.table.rules.judging import (
    RuleCounts as RuleCounts,
    judge_rule_violations as judge_rule_violations,
    rule_obstacle as rule_obstacle,
    violations as violations,
)
from crypsis.table.rules.proposing import proposed_rules as proposed_rules
