"""Generalisation lattices: every node at once, exact fronts, and evolution where there are too many."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.searches.lattices.evaluation import Node, evaluate_lattice, optimum
    from crypsis.searches.lattices.feasible import LatticeResult, least_loss
    from crypsis.searches.lattices.indices import convergence_error, minimal, representation_ratio
    from crypsis.searches.lattices.lattice_search import LatticeSearch

__all__ = [
    "LatticeResult",
    "LatticeSearch",
    "Node",
    "convergence_error",
    "evaluate_lattice",
    "least_loss",
    "minimal",
    "optimum",
    "representation_ratio",
]

load_when_used(__name__)
