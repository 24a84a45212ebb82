"""Nested groups: households that become alike, and inside them records that do."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
