"""Public names of `crypsis.searches.lattices`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.searches.lattices.evaluation import (
    Node as Node,
    evaluate_lattice as evaluate_lattice,
    optimum as optimum,
)
from crypsis.searches.lattices.lattice_search import LatticeSearch as LatticeSearch
from crypsis.searches.lattices.models import (
    LatticeResult as LatticeResult,
    least_loss as least_loss,
)
from crypsis.searches.lattices.operators import (
    convergence_error as convergence_error,
    minimal as minimal,
    representation_ratio as representation_ratio,
)
