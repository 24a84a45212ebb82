"""Charts of experiments: operators of a run (Figures 6, 7 and 8 of GOMM), and which settings matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from variance import SensitivityFindings, Stage

from crypsis.charts.chart import SCHEMA, Spec
from crypsis.evolution import Tally

# -- Charts of the operators of a run: Figures 6, 7 and 8 of the paper.

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


def average_runs(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """Average the rows of `Tally.table` over runs of equal length."""
    tables = [tally.table() for tally in tallies]
    if len({len(table) for table in tables}) != 1:
        raise ValueError("tallies of runs of different lengths cannot be averaged")
    rows = []
    for same in zip(*tables, strict=True):
        numbers = {name: float(np.mean([float(row[name]) for row in same])) for name in same[0] if name != "operator"}
        rows.append({**numbers, "operator": same[0]["operator"]})
    return rows


def operator_picture(rows: Sequence[Mapping[str, Any]], operators: Sequence[str], title: str) -> Spec:
    """Four rows of small charts, one column per operator: Figure 6 with MUTATIONS, Figure 7 with ("crossover",)."""
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

    `rows`: with k, algorithm and seconds.
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


# -- The chart of a sensitivity analysis: which settings matter, and which values are best.

_BEST, _OTHER = "#0b6e4f", "#8a8f98"


def sensitivity_picture(findings: SensitivityFindings, title: str) -> Spec:
    """One row per response: what each setting explains, and the mean of every level with the best group in green.

    Whiskers are half of Tukey's critical difference: levels whose whiskers do not overlap are significantly different.
    """
    stages = [stage for stage in (findings.result, findings.speed) if stage is not None and stage.anova.effects]
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "anchor": "start", "fontSize": 13},
        "vconcat": [{"hconcat": [_shares(stage), _levels(stage)]} for stage in stages],
        "config": {"font": "system-ui, sans-serif", "view": {"stroke": "#dddddd"}, "axis": {"grid": False}},
    }


def _shares(stage: Stage) -> Spec:
    significant = set(stage.significant())
    values = [
        {
            "factor": effect.factor,
            "share": stage.anova.share(effect.factor),
            "matters": "significant" if effect.factor in significant else "not significant",
        }
        for effect in stage.anova.effects
    ]
    return {
        "width": 170,
        "height": 150,
        "data": {"values": values},
        "mark": "bar",
        "encoding": {
            "y": {"field": "factor", "type": "nominal", "title": None, "sort": None},
            "x": {
                "field": "share",
                "type": "quantitative",
                "title": f"{stage.anova.response}: variation explained, %",
            },
            "color": {
                "field": "matters",
                "type": "nominal",
                "title": None,
                "legend": None,
                "scale": {"domain": ["significant", "not significant"], "range": [_BEST, _OTHER]},
            },
        },
    }


def _levels(stage: Stage) -> Spec:
    values = []
    for effect in stage.anova.effects:
        comparison = stage.comparisons[effect.factor]["tukey"]
        half = comparison.critical_difference / 2
        best = set(map(str, stage.best[effect.factor]))
        for place, (level, mean) in enumerate(zip(comparison.levels, comparison.means.tolist(), strict=True)):
            values.append(
                {
                    "factor": effect.factor,
                    "level": str(level),
                    "place": place,
                    "mean": mean,
                    "low": mean - half,
                    "high": mean + half,
                    "group": "best group" if str(level) in best else "other levels",
                }
            )
    axis = {"field": "level", "type": "nominal", "title": None, "sort": {"field": "place"}, "axis": {"labelAngle": 0}}
    colour = {
        "field": "group",
        "type": "nominal",
        "title": None,
        "scale": {"domain": ["best group", "other levels"], "range": [_BEST, _OTHER]},
    }
    scale = {"type": "quantitative", "scale": {"zero": False}, "title": f"mean {stage.anova.response}"}
    return {
        "data": {"values": values},
        "facet": {"column": {"field": "factor", "title": None, "sort": [e.factor for e in stage.anova.effects]}},
        "resolve": {"scale": {"x": "independent"}},
        "spec": {
            "width": 230,
            "height": 150,
            "encoding": {"x": axis, "color": colour},
            "layer": [
                {
                    "mark": {"type": "rule"},
                    "encoding": {"y": {"field": "low", **scale}, "y2": {"field": "high"}},
                },
                {"mark": {"type": "point", "filled": True, "size": 40}, "encoding": {"y": {"field": "mean", **scale}}},
            ],
        },
    }
