"""Charts as Vega-Lite specifications."""

from crypsis.charts.chart import Chart, Spec, to_html, to_png, to_svg
from crypsis.charts.reports import bars_before_after, front

__all__ = ["Chart", "Spec", "bars_before_after", "front", "to_html", "to_png", "to_svg"]
