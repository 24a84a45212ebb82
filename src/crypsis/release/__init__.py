"""Releases: published with their guarantees checked on the written files, and verified from the files alone."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
