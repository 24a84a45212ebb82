"""Evolutionary search, independent of tables: the loop, strategies, operators and the frontier."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
