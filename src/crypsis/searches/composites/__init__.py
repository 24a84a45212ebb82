"""Composite groups: one partition of the records, one treatment for each column."""

from crypsis.searches.composites.composite_search import CompositeSearch

__all__ = ["CompositeSearch"]
