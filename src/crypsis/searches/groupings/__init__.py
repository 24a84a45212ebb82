"""GOMM and D-GOMM: evolve which attributes are microaggregated together."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.encodings.grouping import Groups, groups_of
    from crypsis.searches.groupings.adhoc import (
        all_together,
        correlated_apart,
        correlated_together,
        customary,
        families,
        univariate,
    )
    from crypsis.searches.groupings.candidates import genome_of
    from crypsis.searches.groupings.conventions import PAPER, Convention, Fitness
    from crypsis.searches.groupings.fitness import Evaluator, paper_fitness
    from crypsis.searches.groupings.grouping_search import GroupingSearch
    from crypsis.searches.groupings.recipes import RECIPES

__all__ = [
    "PAPER",
    "RECIPES",
    "Convention",
    "Evaluator",
    "Fitness",
    "GroupingSearch",
    "Groups",
    "all_together",
    "correlated_apart",
    "correlated_together",
    "customary",
    "families",
    "genome_of",
    "groups_of",
    "paper_fitness",
    "univariate",
]

load_when_used(__name__)
