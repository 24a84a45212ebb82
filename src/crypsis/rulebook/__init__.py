"""Rulebooks: the thresholds of an office as files, checked against releases and plans."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
