"""Charts as Vega-Lite specifications."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.charts.chart import Chart, Spec, to_html, to_png, to_svg
    from crypsis.charts.reports import bars_before_after, front

__all__ = ["Chart", "Spec", "bars_before_after", "front", "to_html", "to_png", "to_svg"]

load_when_used(__name__)
