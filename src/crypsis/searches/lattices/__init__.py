"""Generalisation lattices: every node at once, exact fronts, and evolution where there are too many."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
