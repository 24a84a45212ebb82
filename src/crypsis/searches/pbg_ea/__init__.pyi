"""Public names of `crypsis.searches.pbg_ea`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.searches.pbg_ea.evaluation import (
    Node as Node,
    evaluate_lattice as evaluate_lattice,
    optimal_lattice_node as optimal_lattice_node,
)
from crypsis.searches.pbg_ea.pbg_ea_search import (
    LatticeResult as LatticeResult,
    PbgEaSearch as PbgEaSearch,
    search_least_pbg_loss as search_least_pbg_loss,
)
from crypsis.searches.pbg_ea.scores import (
    minimal_node_scores as minimal_node_scores,
    representation_ratio_of_scores as representation_ratio_of_scores,
)
from crypsis.searches.pbg_ea.evaluation import convergence_error_of_nodes as convergence_error_of_nodes
