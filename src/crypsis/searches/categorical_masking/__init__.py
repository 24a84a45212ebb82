"""Evolutionary masking of categorical files (Marés and Torra 2012)."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
