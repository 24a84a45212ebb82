"""Attacks on a release, with the success an intruder has without it."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
