"""Public names of `crypsis.searches.partitions`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.searches.ga_microaggregation import Genetic as Genetic
from crypsis.searches.hybrid_microaggregation import (
    OneStep as OneStep,
    TwoStep as TwoStep,
)
from crypsis.searches.partitions.lower_bound import (
    column_generation_bound as column_generation_bound,
    nearest_neighbour_bound as nearest_neighbour_bound,
)
from crypsis.searches.memetic import Memetic as Memetic
from crypsis.searches.partitions.partition import (
    PartitionResult as PartitionResult,
    partition as partition,
)
from crypsis.searches.partitions.microaggregation_search import MicroaggregationSearch as MicroaggregationSearch
