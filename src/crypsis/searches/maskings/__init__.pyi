"""Public names of `crypsis.searches.maskings`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.searches.maskings.constraints import hold_out as hold_out
from crypsis.searches.maskings.masking_search import (
    PAPER as PAPER,
    SWIFT as SWIFT,
    Aims as Aims,
    MaskingResult as MaskingResult,
    MaskingSearch as MaskingSearch,
    evolve_maskings as evolve_maskings,
    pose_maskings as pose_maskings,
)
