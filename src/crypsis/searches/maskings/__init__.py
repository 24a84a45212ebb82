"""Evolutionary masking of categorical files (Marés and Torra 2012). Importing registers the search."""

from crypsis.searches.maskings.evolution import MaskingResult, evolve_maskings
from crypsis.searches.maskings.holdout_attacks import hold_out
from crypsis.searches.maskings.posing import pose_maskings
from crypsis.searches.maskings.search import PAPER, SWIFT, Masking

__all__ = [
    "PAPER",
    "SWIFT",
    "Masking",
    "MaskingResult",
    "evolve_maskings",
    "hold_out",
    "pose_maskings",
]
