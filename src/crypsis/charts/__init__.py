"""Charts: Vega-Lite specifications for notebooks and the studio, SVG for reports."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.charts.chart import Chart, Spec, to_html, to_png, to_svg
    from crypsis.charts.svg import bars_svg, front_svg, heat_map_svg

__all__ = ["Chart", "Spec", "bars_svg", "front_svg", "heat_map_svg", "to_html", "to_png", "to_svg"]

load_when_used(__name__)
