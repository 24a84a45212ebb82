"""Privacy models: what every record of a table must have, judged record by record."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
