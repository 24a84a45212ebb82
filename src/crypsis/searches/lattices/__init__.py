"""Generalisation lattices: every node at once, exact fronts, and evolution where there are too many."""

from crypsis.searches.lattices.evaluation import Node, evaluate_lattice, optimum

__all__ = ["Node", "evaluate_lattice", "optimum"]
