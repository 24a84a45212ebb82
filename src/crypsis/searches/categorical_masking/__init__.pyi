"""Public names of `crypsis.searches.categorical_masking`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.searches.categorical_masking.holdout_attacks import hold_out as hold_out
from crypsis.searches.categorical_masking.first_population import (
    MaskedFiles as MaskedFiles,
    PaperFamilies as PaperFamilies,
    build_population as build_population,
)
from crypsis.searches.categorical_masking.categorical_masking_search import (
    PAPER as PAPER,
    SWIFT as SWIFT,
    CategoricalMaskingSearch as CategoricalMaskingSearch,
    Criteria as Criteria,
    MaskingResult as MaskingResult,
    evolve_maskings as evolve_maskings,
    pose_maskings as pose_maskings,
)
