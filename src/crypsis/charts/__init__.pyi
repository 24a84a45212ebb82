"""Public names of `crypsis.charts`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.charts.chart import (
    Chart as Chart,
    Spec as Spec,
    to_html as to_html,
    to_png as to_png,
    to_svg as to_svg,
)
from crypsis.charts.svg import (
    bars_svg as bars_svg,
    draw_front_svg as draw_front_svg,
    draw_interval_svg as draw_interval_svg,
    heat_map_svg as heat_map_svg,
)
