"""A chart: a Vega-Lite specification that a notebook shows and that can be saved to a file.

SVG, PNG and HTML are rendered locally, without a network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crypsis.errors import PlanError, listing
from crypsis.extras import import_extra

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
SUFFIXES = (".png", ".svg", ".html", ".json")
INHERITED = frozenset(
    {
        "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
        "valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
    }
)  # fmt: skip
"""Names that every JavaScript object has: Vega takes a text that is one of them for something it should look up."""
INVISIBLE = "\u200b"
"""A space without width."""


class Chart:
    """A chart as a Vega-Lite specification.

    Parameters
    ----------
    spec : dict

    Examples
    --------
    >>> chart = Chart({"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}})
    >>> chart.to_dict()["mark"]
    'point'
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = {"$schema": SCHEMA, **spec}

    def to_dict(self) -> Spec:
        """The specification; Altair reads it by `alt.Chart.from_dict`."""
        return self._spec

    def save(self, path: str | Path) -> Path:
        """Write the chart; the suffix decides the format.

        Parameters
        ----------
        path : path
            Ending in .png, .svg, .html or .json.

        Returns
        -------
        Path

        Raises
        ------
        PlanError
            If the suffix is unknown.
        """
        import json

        from crypsis.table.files import write_atomically

        path = Path(path)
        if path.suffix not in SUFFIXES:
            raise PlanError(
                f"{path}: a chart cannot be written as {path.suffix!r}; end the name in {listing(SUFFIXES)}"
            )
        made = {
            ".png": lambda: to_png(self._spec),
            ".svg": lambda: to_svg(self._spec).encode(),
            ".html": lambda: to_html(self._spec).encode(),
            ".json": lambda: json.dumps(self._spec, indent=1).encode(),
        }[path.suffix]()
        write_atomically(path, made, replace=True, mode=0o644)
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows: the interactive chart, or an image."""
        return {"application/vnd.vegalite.v5+json": self._spec, "image/svg+xml": to_svg(self._spec)}

    def __repr__(self) -> str:
        return "Chart(.save('front.png') writes it; a notebook shows it)"


def drawable_specification(spec: Any) -> Any:
    """A Vega-Lite specification in which no text is a name of every JavaScript object; the chart looks the same.

    >>> drawable_specification({"title": "constructor", "sort": ["age"]})
    {'title': '\\u200bconstructor', 'sort': ['age']}
    """
    if isinstance(spec, str):
        return f"{INVISIBLE}{spec}" if spec in INHERITED else spec
    if isinstance(spec, Mapping):
        return {key: drawable_specification(value) for key, value in spec.items()}
    return [drawable_specification(each) for each in spec] if isinstance(spec, (list, tuple)) else spec


def require_renderer() -> Any:
    """The library that draws charts, which the extra `pictures` installs."""
    return import_extra("vl_convert", "pictures", "drawing a chart")


def to_svg(spec: Spec) -> str:
    """Render a specification as SVG."""
    return str(require_renderer().vegalite_to_svg(drawable_specification(spec)))


def to_png(spec: Spec, scale: float = 2.0) -> bytes:
    """Render a specification as PNG."""
    return bytes(require_renderer().vegalite_to_png(drawable_specification(spec), scale=scale))


def to_html(spec: Spec) -> str:
    """Render a specification as an HTML page that needs no network."""
    return str(require_renderer().vegalite_to_html(drawable_specification(spec), bundle=True))


# -- The chart of a front in a notebook.

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
    """Loss against risk of many solutions, by method and standing."""
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


COLOURS = ["#8a8f98", "#2f9e78", "#c8641f", "#5b80d0", "#a868bd"]
"""The original and up to four solutions, with a contrast of three to one on the light and on the dark page."""


def chart_overlaid_bars(
    labels: Sequence[str], series: Mapping[str, Sequence[float]], axis: str, height: int = 190
) -> Spec:
    """A Vega-Lite chart with one bar per file and label, the files in the order of the legend."""
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


def chart_heat_map(names: Sequence[str], cells: Sequence[tuple[str, str, float]]) -> Spec:
    """Make the Vega-Lite specification of a chart for notebooks: changed associations as a heat map."""
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
