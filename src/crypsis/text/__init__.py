"""Typed results in words; no other package words them."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
