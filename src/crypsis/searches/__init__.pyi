"""Public names of `crypsis.searches`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.searches.partitions import (
    PartitionResult as PartitionResult,
    PartitionSearch as PartitionSearch,
    partition as partition,
)
from crypsis.searches.composites import CompositeSearch as CompositeSearch
from crypsis.searches.groupings import GroupingSearch as GroupingSearch
from crypsis.searches.lattices import (
    LatticeSearch as LatticeSearch,
    evaluate_lattice as evaluate_lattice,
)
from crypsis.searches.local_recoding import LocalRecodingSearch as LocalRecodingSearch
from crypsis.searches.maskings import MaskingSearch as MaskingSearch
from crypsis.searches.mixed_maskings import MixedMaskingSearch as MixedMaskingSearch
from crypsis.searches import (
    composites as composites,
    groupings as groupings,
    lattices as lattices,
    local_recoding as local_recoding,
    maskings as maskings,
    mixed_maskings as mixed_maskings,
    partitions as partitions,
)
from crypsis.searches.search import (
    Search as Search,
    searches as searches,
)
