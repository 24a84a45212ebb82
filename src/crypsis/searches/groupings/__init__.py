"""GOMM and D-GOMM: evolve which attributes are microaggregated together."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
