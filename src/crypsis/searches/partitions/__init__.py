"""Searches over partitions of records into groups of at least k."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
