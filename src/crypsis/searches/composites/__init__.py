"""Composite groups: one partition of the records, one treatment for each column."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.searches.composites.composite_search import CompositeSearch

__all__ = ["CompositeSearch"]

load_when_used(__name__)
