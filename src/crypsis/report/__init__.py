"""Two reports of one release: internal for the person who signs, external for users of the data."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
