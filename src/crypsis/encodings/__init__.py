"""Encodings: a genome as a masked table; decoding applies what a search found and never searches."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
