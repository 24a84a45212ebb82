"""Public names of `crypsis.searches.composites`, for type checkers and for `crypsis.lazy_imports`."""

from crypsis.searches.composites.composite_search import CompositeSearch as CompositeSearch
