"""Measures: a number that says how an original and a masked table differ."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
