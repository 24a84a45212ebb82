"""Words that the pages use and a newcomer does not know, each with what it means."""

from __future__ import annotations

from crypsis.plan import Plan
from crypsis.plan.sections import Limit
from crypsis.run.session import PLAIN, UNTOUCHED
from crypsis.searches import searches
from crypsis.text.maskings import published_weight_text
from crypsis.text.reports import figure_text

TERMS = {
    "loss": "Share of the information in the masked columns lost: 0 % as collected, 100 % no better than knowing "
    "each column's distribution; beyond 100 % it is worse than that.",
    "risk": "Share of the people whose record an intruder finds.",
    "k": "Fewest records that look alike in everything an intruder knows: whoever is in the file hides among so many.",
    "suppressed": "Share of the records that are left out.",
    "analyses": "Share of the estimates of analyses drawn at random that stay inside the original's 95 % intervals; "
    "the search never sees them.",
    "front": "The solutions that keep every demand of the plan and that no other one beats in every aim.",
    "beaten": "It keeps every demand of the plan, and another solution is better in some aim and worse in none.",
    "not releasable": "It breaks something that the plan demands; its panel says what.",
    "baseline": "A simple masking without search, measured to compare with.",
    "class": "All records with the same values of the quasi-identifiers: an intruder cannot tell them apart.",
    "plan": "The file with everything that is decided on Data and Goal; the search and the release follow it. It is "
    "at the foot of every page.",
    "pMSE": "Mean squared error of a model that guesses whether a record is released or original: 0 if the files "
    "cannot be told apart.",
    "rare": "How many values of the column are held by fewer than three records each.",
}
"""Terms of the pages, and what each means."""
BASELINES = {
    UNTOUCHED: "the file as collected",
    PLAIN: "MDAV (maximum distance to average vector), the usual microaggregation: similar records in groups of at "
    "least k, each with the average of its group",
    "plain recoding": "the column with most values is generalised by one level until few records stand out",
    "plain local recoding": "similar records are generalised together, class by class",
}
"""What baselines do."""


def explain_method(name: str) -> str:
    """What a search or a baseline does, in a sentence; empty where nothing is known of it."""
    said = searches[name].in_brief() if name in searches else BASELINES.get(name, "")
    return f"{said[0].upper()}{said[1:]}." if said else ""


def limit_text(limit: Limit) -> str:
    """A limit of a plan, in the words that the pages have for what is limited."""
    unit = " %" if limit.in_per_cent else ""
    return f"{LIMITED.get(limit.measure, limit.measure)} at most {figure_text(limit.at_most)}{unit}"


LIMITED = {"risk": "people found", "loss": "information lost"}
"""What the pages call the axes of the front."""


MASKED = {
    "top-coding": "its few highest values become one",
    "bottom-coding": "its few lowest values become one",
    "microaggregation": "similar values, in small groups, become one",
    "rounding": "it is rounded",
}
"""What the usual maskings do to a single column; others are described by their own first sentence."""


def masked_by_themselves(plan: Plan) -> dict[str, str]:
    """Columns that are masked before any search, each with how: it is the same in every solution."""
    built = [(choice.method, choice.build()) for choice in plan.mask]
    said = {method: MASKED.get(method) or masking.in_brief() for method, masking in built}
    found = {
        name: f"{method}: {said[method][0].lower()}{said[method][1:]}"
        for method, masking in built
        for name in masking.columns
    }
    return found | {name: published_weight_text(c.publish) for name, c in plan.columns.items() if c.publish}
