"""Sensitivity analysis: which settings of a partitioner or search matter, and which of their values are best."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
