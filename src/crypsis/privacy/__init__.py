"""Statements about one table: one number per record, and a threshold."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
