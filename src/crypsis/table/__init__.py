"""Tables: attributes, hierarchies, equivalence classes, and the files and frames they are read from."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
