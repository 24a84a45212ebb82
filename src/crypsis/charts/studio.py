"""Charts of the studio; a page changes their named data and keeps the chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crypsis.charts.chart import Spec

COLOURS = ["#8a8f98", "#2f9e78", "#c8641f", "#5b80d0", "#a868bd"]
"""The original and up to four solutions, with a contrast of three to one on the light and on the dark page."""

STANDINGS = ("front", "baseline", "beaten", "not releasable")


def front_picture() -> Spec:
    """Loss against risk: the region within the limits, a stepped line along the front, and every solution.

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


def overlaid(labels: Sequence[str], series: Mapping[str, Sequence[float]], axis: str, height: int = 190) -> Spec:
    """One bar per file and label, the files in the order of the legend.

    labels  labels of the bars
    series  heights by file
    axis    title of the axis
    height  height of the chart
    """
    files = list(series)
    rows = [
        {"label": label, "file": name, "value": value}
        for name, values in series.items()
        for label, value in zip(labels, values, strict=True)
    ]
    return {
        "width": "container",
        "height": height,
        "data": {"values": rows},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "label", "type": "nominal", "sort": list(labels), "title": None,
                "axis": {"labelAngle": -35, "labelLimit": 110}, "scale": {"paddingInner": 0.25},
            },
            "xOffset": {"field": "file", "sort": files},
            "y": {"field": "value", "type": "quantitative", "title": axis},
            "color": {
                "field": "file", "type": "nominal", "title": None,
                "scale": {"domain": files, "range": COLOURS[: len(files)]},
            },
        },
    }  # fmt: skip


def heat_map(names: Sequence[str], cells: Sequence[tuple[str, str, float]]) -> Spec:
    """How far the association of each pair of columns changed, 0 to 1.

    cells  two columns and their change
    """
    place = {
        "x": {"field": "a", "type": "nominal", "sort": list(names), "title": None, "axis": {"labelAngle": -35}},
        "y": {"field": "b", "type": "nominal", "sort": list(names), "title": None},
    }
    return {
        "width": "container",
        "height": 26 * len(names) + 20,
        "data": {"values": [{"a": a, "b": b, "moved": value} for a, b, value in cells]},
        "layer": [
            {
                "mark": {"type": "rect"},
                "encoding": {
                    **place,
                    "color": {
                        "field": "moved", "type": "quantitative", "title": "moved",
                        "scale": {"domain": [0, 0.5], "clamp": True, "scheme": "oranges"},
                    },
                },
            },
            {
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    **place,
                    "text": {"field": "moved", "type": "quantitative", "format": ".2f"},
                    "color": {"condition": {"test": "datum.moved > 0.3", "value": "#fff"}, "value": "#1c2126"},
                },
            },
        ],
    }  # fmt: skip
