"""(original, masked) → number."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
