"""Charts of a utility card: how far the ties between columns moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crypsis.charts.chart import SCHEMA, Spec


def association_heat_map(pairs: Sequence[Mapping[str, Any]]) -> Spec:
    """Columns against columns; the darker a cell, the more the tie of the two moved.

    pairs  with first, second, before and after
    """
    names = list(dict.fromkeys(name for pair in pairs for name in (pair["first"], pair["second"])))
    place = {name: at for at, name in enumerate(names)}
    values = []
    for pair in pairs:
        low, high = sorted((pair["first"], pair["second"]), key=place.__getitem__)
        change = min(abs(pair["after"] - pair["before"]), 1.0)
        values.append({"column": low, "row": high, "change": change, "before": pair["before"], "after": pair["after"]})
    axes = {
        "x": {"field": "column", "type": "nominal", "sort": names, "title": None, "axis": {"labelAngle": -35}},
        "y": {"field": "row", "type": "nominal", "sort": names, "title": None},
    }
    most = max([0.1, *(value["change"] for value in values)])
    return {
        "$schema": SCHEMA,
        "background": "white",
        "width": {"step": 34},
        "height": {"step": 24},
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "white"},
                "encoding": {
                    **axes,
                    "color": {
                        "field": "change",
                        "type": "quantitative",
                        "legend": None,
                        "scale": {"domain": [0, most], "range": ["#f3f6f5", "#a3261d"]},
                    },
                    "tooltip": [{"field": name} for name in ("column", "row", "before", "after")],
                },
            },
            {
                "mark": {"type": "text", "fontSize": 9},
                "encoding": {
                    **axes,
                    "text": {"field": "change", "type": "quantitative", "format": ".2f"},
                    "color": {
                        "condition": {"test": f"datum.change > {0.6 * most}", "value": "white"},
                        "value": "#1c2126",
                    },
                },
            },
        ],
    }
