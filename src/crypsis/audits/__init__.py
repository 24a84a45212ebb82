"""Audits: what a published file reveals, over all its columns, whatever the plan declares."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
