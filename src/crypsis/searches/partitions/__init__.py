"""Searches over partitions of records into groups of at least k."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.searches.partitions.bounds import nearest_neighbour_bound
    from crypsis.searches.partitions.columns import column_generation_bound
    from crypsis.searches.partitions.genetic import Genetic
    from crypsis.searches.partitions.hybrid import OneStep, TwoStep
    from crypsis.searches.partitions.memetic import Memetic
    from crypsis.searches.partitions.partition import PartitionResult, partition
    from crypsis.searches.partitions.partition_search import PartitionSearch

__all__ = [
    "Genetic",
    "Memetic",
    "OneStep",
    "PartitionResult",
    "PartitionSearch",
    "TwoStep",
    "column_generation_bound",
    "nearest_neighbour_bound",
    "partition",
]

load_when_used(__name__)
