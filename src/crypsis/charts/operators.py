"""Charts of the operators of a run: Figures 6, 7 and 8 of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crypsis.charts.chart import SCHEMA, Spec
from crypsis.evolution import Tally

MUTATIONS = ("group create", "group eliminate", "group split", "element swap", "element move")
PANELS: dict[str, tuple[tuple[str, str], ...]] = {
    "discarded unused, %": (("utilisation", "discarded unused"),),
    "life time, generations": (("life_time", "life time"),),
    "efficacy, children": (("improved", "improved"), ("worsened", "worsened")),
    "efficiency, %": (
        ("best_gain", "largest gain"), ("mean_gain", "mean gain"), ("mean_loss", "mean loss"),
        ("worst_loss", "largest loss"),
    ),
}  # fmt: skip
"""Four measures, and the columns of a tally that show each."""
_COLOURS = {
    "discarded unused": "#5b5f97", "life time": "#5b5f97", "improved": "#0b6e4f", "worsened": "#b5651d",
    "largest gain": "#7fc8a9", "mean gain": "#0b6e4f", "mean loss": "#b5651d", "largest loss": "#e3b98f",
}  # fmt: skip


def averaged(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """Average the rows of `Tally.table` over runs of equal length.

    tallies  one per run

    Raises
    ------
    ValueError
        If the runs have different lengths.
    """
    tables = [tally.table() for tally in tallies]
    if len({len(table) for table in tables}) != 1:
        raise ValueError("tallies of runs of different lengths cannot be averaged")
    rows = []
    for same in zip(*tables, strict=True):
        numbers = {name: float(np.mean([float(row[name]) for row in same])) for name in same[0] if name != "operator"}
        rows.append({**numbers, "operator": same[0]["operator"]})
    return rows


def operator_picture(rows: Sequence[Mapping[str, Any]], operators: Sequence[str], title: str) -> Spec:
    """Four rows of small charts, one column per operator: Figure 6 with MUTATIONS, Figure 7 with ("crossover",).

    title  title of the chart
    """
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "anchor": "start"},
        "vconcat": [_panel(rows, operators, panel) for panel in PANELS],
        "config": {"font": "system-ui, sans-serif", "view": {"stroke": "#dddddd"}, "axis": {"grid": False}},
        "resolve": {"scale": {"color": "independent"}},
    }


def _panel(rows: Sequence[Mapping[str, Any]], operators: Sequence[str], panel: str) -> Spec:
    series = PANELS[panel]
    values = [
        {"generation": row["generation"], "operator": row["operator"], "series": label, "value": row[column]}
        for row in rows
        if row["operator"] in operators
        for column, label in series
    ]
    labels = [label for _, label in series]
    return {
        "data": {"values": values},
        "facet": {"column": {"field": "operator", "sort": list(operators), "title": None}},
        "spec": {
            "width": 170 if len(operators) > 1 else 420,
            "height": 90,
            "mark": {"type": "line", "strokeWidth": 1.4},
            "encoding": {
                "x": {"field": "generation", "type": "quantitative"},
                "y": {"field": "value", "type": "quantitative", "title": panel},
                "color": {
                    "field": "series",
                    "type": "nominal",
                    "title": None,
                    "scale": {"domain": labels, "range": [_COLOURS[label] for label in labels]},
                    "legend": {"orient": "right"} if len(labels) > 1 else None,
                },
            },
        },
    }


def time_picture(rows: Sequence[Mapping[str, Any]], title: str) -> Spec:
    """Time of GOMM and D-GOMM by k: Figure 8.

    rows  with k, algorithm and seconds
    title  title of the chart
    """
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "anchor": "start"},
        "width": 420,
        "height": 220,
        "data": {"values": [dict(row) for row in rows]},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "k", "type": "ordinal", "axis": {"labelAngle": 0}},
            "xOffset": {"field": "algorithm", "sort": ["GOMM", "D-GOMM"]},
            "y": {"field": "seconds", "type": "quantitative", "title": "seconds of CPU"},
            "color": {
                "field": "algorithm",
                "type": "nominal",
                "title": None,
                "scale": {"domain": ["GOMM", "D-GOMM"], "range": ["#8a8f98", "#0b6e4f"]},
            },
        },
        "config": {"font": "system-ui, sans-serif", "view": {"stroke": None}, "axis": {"grid": False}},
    }
