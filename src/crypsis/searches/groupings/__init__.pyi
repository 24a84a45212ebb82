"""Public names of `crypsis.searches.groupings`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.encodings.grouping import (
    Groups as Groups,
    groups_of as groups_of,
)
from crypsis.searches.groupings.fitness import (
    PAPER as PAPER,
    Convention as Convention,
    Evaluator as Evaluator,
    Fitness as Fitness,
    paper_fitness as paper_fitness,
)
from crypsis.searches.groupings.grouping_search import (
    RECIPES as RECIPES,
    GroupingSearch as GroupingSearch,
)
from crypsis.searches.groupings.operators import (
    all_together as all_together,
    correlated_apart as correlated_apart,
    correlated_together as correlated_together,
    customary as customary,
    families as families,
    genome_of as genome_of,
    univariate as univariate,
)
