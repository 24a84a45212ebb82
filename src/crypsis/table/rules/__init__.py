"""Edit rules: relations between the columns of a record, read from a small language and judged on tables."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
