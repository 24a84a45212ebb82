"""Composite groups: one partition of the records, one treatment for each column."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
