"""Charts of the studio; a page changes their named data and keeps the chart."""

from __future__ import annotations

from crypsis.charts.chart import Spec

STANDINGS = ("front", "baseline", "beaten", "not releasable")


def chart_studio_front() -> Spec:
    """Chart of the studio: loss against risk, with named data that the page changes as the search runs.

    Data sets: points; allowed (one rectangle); marked (selected, pinned and chosen points).
    """
    place = {
        "x": {
            "field": "loss",
            "type": "quantitative",
            "title": "information loss, %",
            "scale": {"zero": True},
            "axis": {"tickCount": 8},
        },
        "y": {
            "field": "risk",
            "type": "quantitative",
            "title": "people found by the intruder of the plan, %",
            "scale": {"zero": True, "type": "sqrt"},
        },
    }
    return {
        "width": "container",
        "height": 380,
        "datasets": {"points": [], "allowed": [], "marked": []},
        "layer": [
            _region(),
            {
                "data": {"name": "points"},
                "transform": [{"filter": "datum.standing == 'front'"}],
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5, "opacity": 0.6},
                "encoding": {**place, "order": {"field": "loss", "type": "quantitative"}},
            },
            _solutions(place),
            *(_names_of_baselines(place, side) for side in ("left", "right")),
            _marks(place),
        ],
    }


def _region() -> Spec:
    """The region within the limits."""
    return {
        "data": {"name": "allowed"},
        "mark": {"type": "rect"},
        "encoding": {
            "opacity": {"condition": {"test": "datum.on", "value": 0.16}, "value": 0},
            "x": {"field": "x0", "type": "quantitative"},
            "x2": {"field": "x1"},
            "y": {"field": "y0", "type": "quantitative"},
            "y2": {"field": "y1"},
        },
    }


def _solutions(place: Spec) -> Spec:
    """Every solution, its shape by what it is."""
    shape = {
        "field": "standing",
        "type": "nominal",
        "title": None,
        "legend": {"orient": "bottom", "direction": "horizontal"},
        "scale": {"domain": list(STANDINGS), "range": ["circle", "square", "circle", "cross"]},
    }
    return {
        "data": {"name": "points"},
        "mark": {"type": "point", "filled": True, "size": 75, "strokeWidth": 0},
        "encoding": {
            **place,
            "color": {"field": "method", "type": "nominal", "title": "found by"},
            "shape": shape,
            "opacity": {"condition": {"test": "datum.bright", "value": 1}, "value": 0.25},
        },
    }


def _marks(place: Spec) -> Spec:
    """Rings around selected, pinned and chosen points."""
    dash = {
        "field": "mark",
        "type": "nominal",
        "scale": {"domain": ["selected", "pinned", "chosen"], "range": [[1, 0], [3, 2], [1, 0]]},
        "legend": None,
    }
    return {
        "data": {"name": "marked"},
        "mark": {"type": "point", "filled": False, "strokeWidth": 2},
        "encoding": {**place, "size": {"field": "size", "type": "quantitative", "scale": None}, "strokeDash": dash},
    }


def _names_of_baselines(place: Spec, side: str) -> Spec:
    """Names of the baselines, placed towards the middle of the chart so that none is cut off."""
    test = "datum.loss <= 55" if side == "left" else "datum.loss > 55"
    shift = 9 if side == "left" else -9
    return {
        "data": {"name": "points"},
        "transform": [{"filter": f"datum.standing == 'baseline' && {test}"}],
        "mark": {"type": "text", "align": side, "baseline": "middle", "dx": shift, "fontSize": 12},
        "encoding": {**place, "text": {"field": "method"}},
    }
