"""Searches: which protections of a table are tried, by which operators, and when a search ends.

Each is imported and registered when it is first used.
"""

# ruff: noqa: I001 - in the order in which they are listed for people

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.searches.partitions import PartitionResult, PartitionSearch, partition
    from crypsis.searches.composites import CompositeSearch
    from crypsis.searches.groupings import GroupingSearch
    from crypsis.searches.lattices import LatticeSearch, evaluate_lattice
    from crypsis.searches.local_recoding import LocalRecodingSearch
    from crypsis.searches.maskings import MaskingSearch
    from crypsis.searches.mixed_maskings import MixedMaskingSearch
    from crypsis.searches import composites, groupings, lattices, local_recoding, maskings, mixed_maskings, partitions
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

load_when_used(__name__)
