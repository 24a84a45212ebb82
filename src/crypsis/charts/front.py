"""The chart of a front in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crypsis.charts.chart import SCHEMA, Spec

_FRAME: Spec = {
    "$schema": SCHEMA,
    "config": {
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": {
            "grid": False,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": 120,
        },
        "legend": {"orient": "top", "title": None, "labelFontSize": 11},
    },
}


def scatter(values: Sequence[Mapping[str, Any]]) -> Spec:
    """Loss against risk of many solutions, by method and standing.

    values  with loss, risk, method and standing
    """
    return {
        **_FRAME,
        "width": 520,
        "height": 320,
        "data": {"values": [dict(value) for value in values]},
        "mark": {"type": "point", "filled": True, "tooltip": True, "size": 60},
        "encoding": {
            "x": {"field": "loss", "type": "quantitative", "title": "information loss, %"},
            "y": {"field": "risk", "type": "quantitative", "title": "people found by the intruder of the plan, %"},
            "color": {"field": "method", "type": "nominal"},
            "shape": {"field": "standing", "type": "nominal"},
            "opacity": {"condition": {"test": "datum.standing == 'front'", "value": 1}, "value": 0.35},
        },
    }
