"""Public names of `crypsis.searches.gomm`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.encodings.grouping import (
    Groups as Groups,
    groups_of as groups_of,
)
from crypsis.searches.gomm.fitness import (
    PAPER as PAPER,
    Convention as Convention,
    Evaluator as Evaluator,
    Fitness as Fitness,
    paper_fitness as paper_fitness,
)
from crypsis.searches.gomm.gomm_search import (
    RECIPES as RECIPES,
    GommSearch as GommSearch,
)
from crypsis.searches.gomm.operators import (
    cluster_gomm_attributes as cluster_gomm_attributes,
    group_correlated_for_gomm as group_correlated_for_gomm,
    heuristic_gomm_groupings as heuristic_gomm_groupings,
    separate_for_gomm_operators as separate_for_gomm_operators,
    isolate_for_gomm_operators as isolate_for_gomm_operators,
)
from crypsis.encodings.partition import genome_of_listed_groups as genome_of_listed_groups
from crypsis.encodings.grouping import grouping_of_one_group as grouping_of_one_group
