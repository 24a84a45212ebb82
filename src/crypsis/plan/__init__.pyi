"""Public names of `crypsis.plan`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.plan.document import Plan as Plan
from crypsis.plan.draft import (
    draft as draft,
    draft_uses as draft_uses,
)
from crypsis.plan.sections import (
    MeasureChoice as MeasureChoice,
    Requirement as Requirement,
    Scenario as Scenario,
    SearchChoice as SearchChoice,
    read_plan_budget as read_plan_budget,
    read_plan_share as read_plan_share,
)
