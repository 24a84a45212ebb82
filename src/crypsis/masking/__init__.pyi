"""Public names of `crypsis.masking`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.masking.partitioning import (
    CBFS as CBFS,
    MDAV as MDAV,
    VMDAV as VMDAV,
    Univariate as Univariate,
    Blocks as Blocks,
    Partitioner as Partitioner,
    partitioners as partitioners,
)
from crypsis.masking.coding import (
    BottomCoding as BottomCoding,
    GlobalRecoding as GlobalRecoding,
    TopCoding as TopCoding,
)
from crypsis.masking.generalisation import Generalisation as Generalisation
from crypsis.masking.method import (
    Family as Family,
    MaskingMethod as MaskingMethod,
    methods as methods,
)
from crypsis.masking.microaggregation import Microaggregation as Microaggregation
from crypsis.masking.noise import Noise as Noise
from crypsis.masking.pram import Pram as Pram
from crypsis.masking.local_recoding import LocalRecoding as LocalRecoding
from crypsis.masking.rank_swapping import RankSwapping as RankSwapping
from crypsis.masking.cell_suppression import CellSuppression as CellSuppression
from crypsis.masking.number_rounding import NumberRounding as NumberRounding
from crypsis.masking.record_swapping import RecordSwapping as RecordSwapping
from crypsis.masking.shuffling import Shuffling as Shuffling
from crypsis.masking.sampling import Sampling as Sampling
from crypsis.masking.pseudonyms import Pseudonyms as Pseudonyms
from crypsis.masking.date_shifting import DateShifting as DateShifting
