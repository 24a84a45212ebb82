"""Charts of the reports: bars before and after masking, and the front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crypsis.charts.chart import SCHEMA, Spec

BEFORE, AFTER = "#8a8f98", "#0b6e4f"
"""Grey for the original, green for the released file: readable in print and with colour blindness."""

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


def bars_before_after(
    title: str, labels: Sequence[str], before: Sequence[float], after: Sequence[float], axis: str
) -> Spec:
    """Two bars per label: original and released.

    title          title of the chart
    labels         labels of the bars
    before, after  heights
    axis           title of the axis
    """
    rows = [
        {"label": label, "file": which, "value": value}
        for label, b, a in zip(labels, before, after, strict=True)
        for which, value in (("original", b), ("released", a))
    ]
    return {
        **_FRAME,
        "title": {"text": title, "anchor": "start", "fontSize": 13},
        "width": 380,
        "height": 170,
        "data": {"values": rows},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "label",
                "type": "nominal",
                "sort": list(labels),
                "title": None,
                "axis": {"labelAngle": -35},
            },
            "xOffset": {"field": "file", "sort": ["original", "released"]},
            "y": {"field": "value", "type": "quantitative", "title": axis},
            "color": {
                "field": "file",
                "type": "nominal",
                "scale": {"domain": ["original", "released"], "range": [BEFORE, AFTER]},
            },
        },
    }


FAMILIES = ("#0b6e4f", "#b3541e", "#3d5a98", "#8a5a9e", "#7a6a1b", "#4d4d4d")
"""Dark enough on white for print, and different in brightness."""


def front(points: Sequence[Mapping[str, Any]], loss: str, risk: str) -> Spec:
    """Loss against risk, one mark per solution.

    points      with name, family, kind ("solution", "baseline" or "chosen"), loss and risk
    loss, risk  titles of the axes
    """
    values = [dict(point) for point in points]
    families = list(dict.fromkeys(str(point["family"]) for point in values))
    place = {
        "x": {"field": "loss", "type": "quantitative", "title": loss, "scale": {"nice": True}},
        "y": {"field": "risk", "type": "quantitative", "title": risk, "scale": {"nice": True}},
    }
    colour = {
        "field": "family",
        "type": "nominal",
        "scale": {"domain": families, "range": [FAMILIES[place % len(FAMILIES)] for place in range(len(families))]},
    }
    shape = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": ["solution", "baseline", "chosen"], "range": ["circle", "square", "circle"]},
        "legend": None,
    }
    named = {"filter": "datum.kind != 'solution'"}
    return {
        **_FRAME,
        "padding": {"left": 5, "top": 5, "right": 30, "bottom": 5},  # fonts of readers may be wider than the renderer's
        "width": 560,
        "height": 320,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 0.9},
                "encoding": {
                    **place,
                    "color": colour,
                    "shape": shape,
                    "tooltip": [{"field": name} for name in ("name", "family", "loss", "risk")],
                },
            },
            {
                "transform": [{"filter": "datum.kind == 'chosen'"}],
                "mark": {"type": "point", "filled": False, "size": 260, "strokeWidth": 2, "color": "#000"},
                "encoding": place,
            },
            {
                "transform": [named],
                "mark": {"type": "text", "align": "left", "dx": 11, "dy": -7, "fontSize": 11},
                "encoding": {**place, "text": {"field": "name"}},
            },
        ],
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
            "y": {"field": "risk", "type": "quantitative", "title": "disclosure risk, %"},
            "color": {"field": "method", "type": "nominal"},
            "shape": {"field": "standing", "type": "nominal"},
            "opacity": {"condition": {"test": "datum.standing == 'front'", "value": 1}, "value": 0.35},
        },
    }
