"""Plans: a whole job as one document, read, checked and drafted."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.plan.budget import read_budget
    from crypsis.plan.document import Plan
    from crypsis.plan.draft import draft, draft_uses
    from crypsis.plan.sections import MeasureChoice, Requirement, Scenario, SearchChoice, share

__all__ = [
    "MeasureChoice",
    "Plan",
    "Requirement",
    "Scenario",
    "SearchChoice",
    "draft",
    "draft_uses",
    "read_budget",
    "share",
]

load_when_used(__name__)
