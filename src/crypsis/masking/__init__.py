"""Masking methods: each makes a masked table of an original."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
