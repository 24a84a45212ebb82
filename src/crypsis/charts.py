"""Pictures as Vega-Lite specifications: plain dictionaries, drawn by whoever shows them.

No request leaves the machine: SVG and PNG come from the bundled renderer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BEFORE, AFTER = "#8a8f98", "#0b6e4f"
"""Grey for the original, green for the masked file: readable in print and for colour-blind eyes."""

Spec = dict[str, Any]

_FRAME: Spec = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "config": {
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": {"grid": False, "labelFontSize": 11, "titleFontSize": 12},
        "legend": {"orient": "top", "title": None},
    },
}


def bars_before_after(
    title: str, labels: Sequence[str], before: Sequence[float], after: Sequence[float], axis: str
) -> Spec:
    """Two bars per label, original beside masked."""
    rows = [
        {"label": label, "file": which, "value": value}
        for label, b, a in zip(labels, before, after, strict=True)
        for which, value in (("original", b), ("masked", a))
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
            "xOffset": {"field": "file", "sort": ["original", "masked"]},
            "y": {"field": "value", "type": "quantitative", "title": axis},
            "color": {
                "field": "file",
                "type": "nominal",
                "scale": {"domain": ["original", "masked"], "range": [BEFORE, AFTER]},
            },
        },
    }


def front(points: Sequence[Mapping[str, Any]], loss: str, risk: str) -> Spec:
    """Loss against risk, one mark per solution; `kind` tells baselines, solutions and the chosen one apart."""
    return {
        **_FRAME,
        "width": 560,
        "height": 340,
        "data": {"values": [dict(point) for point in points]},
        "mark": {"type": "point", "filled": True, "size": 70},
        "encoding": {
            "x": {"field": "loss", "type": "quantitative", "title": loss},
            "y": {"field": "risk", "type": "quantitative", "title": risk},
            "color": {"field": "family", "type": "nominal"},
            "shape": {"field": "kind", "type": "nominal"},
            "tooltip": [{"field": name} for name in ("name", "family", "loss", "risk")],
        },
    }


def to_svg(spec: Spec) -> str:
    """A drawing that stands by itself in a page."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def to_png(spec: Spec, scale: float = 2.0) -> bytes:
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=scale))
