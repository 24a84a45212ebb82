"""The chart of a sensitivity analysis: which settings matter, and which values are best."""

from __future__ import annotations

from crypsis.charts.chart import SCHEMA, Spec
from crypsis.sensitivity.procedure import SensitivityFindings, Stage

_BEST, _OTHER = "#0b6e4f", "#8a8f98"


def sensitivity_picture(findings: SensitivityFindings, title: str) -> Spec:
    """One row per response: what each setting explains, and the mean of every level with the best group in green.

    Whiskers are half of Tukey's critical difference: levels whose whiskers do not overlap are significantly different.

    title  title of the chart
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
