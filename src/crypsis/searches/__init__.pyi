"""Public names of `crypsis.searches`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.searches.partitions import (
    PartitionResult as PartitionResult,
    partition as partition,
)
from crypsis.searches.memetic import MemeticSearch as MemeticSearch
from crypsis.searches.ga_microaggregation import GaMicroaggregationSearch as GaMicroaggregationSearch
from crypsis.searches.hybrid_microaggregation import HybridMicroaggregationSearch as HybridMicroaggregationSearch
from crypsis.searches.gomm import GommSearch as GommSearch
from crypsis.searches.categorical_masking import CategoricalMaskingSearch as CategoricalMaskingSearch
from crypsis.searches.pbg_ea import (
    PbgEaSearch as PbgEaSearch,
    evaluate_lattice as evaluate_lattice,
)
from crypsis.searches.composite import CompositeSearch as CompositeSearch
from crypsis.searches.households import HouseholdSearch as HouseholdSearch
from crypsis.searches.local_recoding import LocalRecodingSearch as LocalRecodingSearch
from crypsis.searches.cell_suppression import CellSuppressionSearch as CellSuppressionSearch
from crypsis.searches.mixed_grouping import MixedGroupingSearch as MixedGroupingSearch
from crypsis.searches.mixed_masking import MixedMaskingSearch as MixedMaskingSearch
from crypsis.searches import (
    composite as composite,
    households as households,
    gomm as gomm,
    pbg_ea as pbg_ea,
    local_recoding as local_recoding,
    cell_suppression as cell_suppression,
    categorical_masking as categorical_masking,
    mixed_grouping as mixed_grouping,
    mixed_masking as mixed_masking,
    partitions as partitions,
)
from crypsis.searches.search import (
    Search as Search,
    searches as searches,
)
