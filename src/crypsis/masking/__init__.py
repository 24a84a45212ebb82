"""Table → table."""

# ruff: noqa: I001 - in the order in which they are listed for people

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.masking.heuristics import CBFS, MDAV, VMDAV, Univariate
    from crypsis.masking.blocks import Blocks
    from crypsis.masking.coding import BottomCoding, GlobalRecoding, TopCoding
    from crypsis.masking.generalisation import Generalisation
    from crypsis.masking.method import Family, MaskingMethod, methods
    from crypsis.masking.microaggregation import Microaggregation
    from crypsis.masking.noise import Noise
    from crypsis.masking.partition import Partitioner, partitioners
    from crypsis.masking.pram import Pram
    from crypsis.masking.recoding import LocalRecoding
    from crypsis.masking.swapping import RankSwapping

__all__ = [
    "CBFS",
    "MDAV",
    "VMDAV",
    "Blocks",
    "BottomCoding",
    "Family",
    "Generalisation",
    "GlobalRecoding",
    "LocalRecoding",
    "MaskingMethod",
    "Microaggregation",
    "Noise",
    "Partitioner",
    "Pram",
    "RankSwapping",
    "TopCoding",
    "Univariate",
    "methods",
    "partitioners",
]

load_when_used(__name__)
