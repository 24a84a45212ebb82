"""Searches: which protections of a table are tried, by which operators, and when a search ends.

Each is imported and registered when it is first used.
"""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
