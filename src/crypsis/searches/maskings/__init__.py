"""Evolutionary masking of categorical files (Marés and Torra 2012)."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.searches.maskings.evolution import MaskingResult, evolve_maskings
    from crypsis.searches.maskings.holdout_attacks import hold_out
    from crypsis.searches.maskings.masking_search import PAPER, SWIFT, MaskingSearch
    from crypsis.searches.maskings.posing import Aims, pose_maskings

__all__ = [
    "PAPER",
    "SWIFT",
    "Aims",
    "MaskingResult",
    "MaskingSearch",
    "evolve_maskings",
    "hold_out",
    "pose_maskings",
]

load_when_used(__name__)
