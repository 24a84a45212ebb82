"""Charts: Vega-Lite specifications for notebooks and the studio, SVG for reports."""

from crypsis.lazy_imports import load_when_used

load_when_used(__name__)
