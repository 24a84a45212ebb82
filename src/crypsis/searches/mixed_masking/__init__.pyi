"""Public names of `crypsis.searches.mixed_masking`, for type checkers and for `crypsis.lazy_imports`."""

from crypsis.searches.mixed_masking.mixed_masking_search import MixedMaskingSearch as MixedMaskingSearch
