"""Public names of `crypsis.table.rules`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.table.rules.grammar import (
    Derivation as Derivation,
    EditRule as EditRule,
    read_derivation as read_derivation,
    read_rule as read_rule,
)
from crypsis.table.rules.deriving import (
    Agreement as Agreement,
    agreement_with_derivation as agreement_with_derivation,
    derivation_obstacle as derivation_obstacle,
    order_derived as order_derived,
    recompute_derived as recompute_derived,
    recomputed_columns as recomputed_columns,
    replace_derived as replace_derived,
)
from crypsis.table.rules.recognising import (
    RecognisedDerivation as RecognisedDerivation,
    recognised_derivations as recognised_derivations,
)
from crypsis.table.rules.judging import (
    RuleCounts as RuleCounts,
    judge_rule_violations as judge_rule_violations,
    rule_obstacle as rule_obstacle,
    violations as violations,
)
from crypsis.table.rules.proposing import proposed_rules as proposed_rules
