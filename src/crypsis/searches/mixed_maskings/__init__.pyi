"""Public names of `crypsis.searches.mixed_maskings`, for type checkers and for `crypsis.lazy_imports`."""

from crypsis.searches.mixed_maskings.mixed_masking_search import MixedMaskingSearch as MixedMaskingSearch
