"""Searches over partitions of records into groups of at least k."""

from crypsis.searches.partitions.bounds import nearest_neighbour_bound
from crypsis.searches.partitions.columns import column_generation_bound
from crypsis.searches.partitions.genetic import Genetic
from crypsis.searches.partitions.hybrid import OneStep, TwoStep
from crypsis.searches.partitions.memetic import Memetic, MemeticResult, memetic
from crypsis.searches.partitions.partition import partition
from crypsis.searches.partitions.partition_search import Partition

__all__ = [
    "Genetic",
    "Memetic",
    "MemeticResult",
    "OneStep",
    "Partition",
    "TwoStep",
    "column_generation_bound",
    "memetic",
    "nearest_neighbour_bound",
    "partition",
]
