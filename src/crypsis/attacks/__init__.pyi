"""Public names of `crypsis.attacks`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.attacks.attack import attack as attack
from crypsis.attacks.attack_context import (
    AttackContext as AttackContext,
    Intruder as Intruder,
)
from crypsis.attacks.attack_context import (
    AttackVerdict as AttackVerdict,
    Findings as Findings,
    Outcome as Outcome,
    Rate as Rate,
    Untried as Untried,
)
