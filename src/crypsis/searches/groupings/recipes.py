"""What each recipe of the grouping search sets, and which settings it has no use for."""

from __future__ import annotations

from typing import Any

from crypsis.searches.groupings.parts import COMPOSITE

PAPER_CONVENTION = {"scaling": "range", "ending": "gomm", "metric": "manhattan", "interval": "value"}
_PAPER = {"convention": "paper", "copies": 0, "start": "random", "spread": "uniform", "climbs": 0}
RECIPES: dict[str, dict[str, Any]] = {
    "paper": _PAPER,
    "dynamic": {**_PAPER, "muting": True, "muting_window": 20},
    "best": {},
    "pareto": {"select": "dominance", "climbs": 0},
    "mixed": {
        "partitioner": COMPOSITE,
        "select": "dominance",
        "population": 30,
        "crossovers": 2,
        "group_creates": 1,
        "group_eliminates": 1,
        "group_splits": 1,
        "element_swaps": 1,
        "element_moves": 2,
        "resizes": 3,
        "climbs": 0,
    },
}
"""What each recipe sets; a setting given by hand always wins."""
OF_NUMBERS = ("convention", "scaling", "ending", "metric", "interval", "interval_weight", "missing")
OF_ANY_KIND = ("truthful", "numbers", "categories", "refinements")
"""Settings that only recipes of numbers, and only the recipe of columns of any kind have a use for."""
EXPLORING, MOST_EFFORT = 2, 12
"""Effort with which a new grouping is judged at most, and the largest there is."""
WORK_TOGETHER = 10_000_000
"""Pairs of records that are compared in one quantum, about, where numbers are grouped."""
