"""Runs: a folder in which several searches contribute to one measured front."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
