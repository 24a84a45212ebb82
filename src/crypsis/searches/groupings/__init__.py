"""GOMM and D-GOMM: evolve which attributes are microaggregated together."""

from crypsis.searches.groupings.conventions import PAPER, Convention, Fitness
from crypsis.searches.groupings.encoding import Groups, genome_of, groups_of
from crypsis.searches.groupings.fitness import Evaluator, paper_fitness

__all__ = ["PAPER", "Convention", "Evaluator", "Fitness", "Groups", "genome_of", "groups_of", "paper_fitness"]
