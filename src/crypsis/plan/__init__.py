"""Plans: a whole job as one document, read, checked and drafted."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
