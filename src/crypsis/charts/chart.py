"""A chart: a Vega-Lite specification that shows itself in a notebook and saves itself to a file.

No request leaves the machine: SVG, PNG and HTML come from the bundled renderer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crypsis.errors import PlanError, listing

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
SUFFIXES = (".png", ".svg", ".html", ".json")


class Chart:
    """A picture as a Vega-Lite specification.

    Parameters
    ----------
    spec : dict
        The specification.

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
        """Write the picture; the suffix decides the format.

        Parameters
        ----------
        path : path
            Ending in .png, .svg, .html or .json.

        Returns
        -------
        Path
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
        write_atomically(path, made, replace=True)
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows: the live chart where it can, a drawing elsewhere."""
        return {"application/vnd.vegalite.v5+json": self._spec, "image/svg+xml": to_svg(self._spec)}

    def __repr__(self) -> str:
        return "Chart(.save('front.png') writes it; a notebook shows it)"


def to_svg(spec: Spec) -> str:
    """A drawing that stands by itself in a page."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def to_png(spec: Spec, scale: float = 2.0) -> bytes:
    """A drawing in pixels."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=scale))


def to_html(spec: Spec) -> str:
    """A page that draws itself without the network."""
    import vl_convert

    return str(vl_convert.vegalite_to_html(spec, bundle=True))
