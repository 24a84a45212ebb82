"""Searches: which protections of a table are tried, by which operators, and when a search ends.

Importing registers them all.
"""

from crypsis.searches import composites, groupings, lattices, local_recoding, maskings, mixed_maskings, partitions
from crypsis.searches.composites import CompositeSearch
from crypsis.searches.groupings import GroupingSearch
from crypsis.searches.lattices import LatticeSearch, evaluate_lattice
from crypsis.searches.local_recoding import LocalRecodingSearch
from crypsis.searches.maskings import MaskingSearch
from crypsis.searches.mixed_maskings import MixedMaskingSearch
from crypsis.searches.partitions import PartitionResult, PartitionSearch, partition
from crypsis.searches.search import Search, searches

__all__ = [
    "CompositeSearch",
    "GroupingSearch",
    "LatticeSearch",
    "LocalRecodingSearch",
    "MaskingSearch",
    "MixedMaskingSearch",
    "PartitionResult",
    "PartitionSearch",
    "Search",
    "composites",
    "evaluate_lattice",
    "groupings",
    "lattices",
    "local_recoding",
    "maskings",
    "mixed_maskings",
    "partition",
    "partitions",
    "searches",
]
