"""Public names of `crypsis.searches.composite`, for type checkers and for `crypsis.lazy_imports`."""

from crypsis.searches.composite.composite_search import CompositeSearch as CompositeSearch
