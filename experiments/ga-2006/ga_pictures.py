"""The figures of the genetic paper: surfaces over mutation and crossover rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from ga_trials import K, drawn
from pictures import sensitivity_picture
from trials import Results
from variance import SensitivityFindings
from verdicts import Report

from crypsis.searches.partitions import lower_bound


def pair_means(results: Results, response: str) -> list[dict[str, Any]]:
    """One row per (M_r, C_r): the mean over population sizes and runs."""
    values, design = results.response(response), results.design
    shape = [len(factor.levels) for factor in design.factors] + [design.replicates]
    means = values.reshape(shape).mean(axis=(2, 3))
    return [
        {"M_r": m, "C_r": c, "mean": float(means[i, j])}
        for i, m in enumerate(design.factors[0].levels)
        for j, c in enumerate(design.factors[1].levels)
    ]


def heat(rows: list[dict[str, Any]], title: str, what: str) -> dict[str, Any]:
    return {
        "title": title,
        "data": {"values": rows},
        "mark": "rect",
        "width": 200,
        "height": 200,
        "encoding": {
            "x": {"field": "M_r", "type": "ordinal", "axis": {"labelAngle": 0}},
            "y": {"field": "C_r", "type": "ordinal", "sort": "descending"},
            "color": {"field": "mean", "type": "quantitative", "title": what},
        },
    }


def draw(report: Report, results: dict[str, Results], findings: dict[str, SensitivityFindings]) -> None:
    for name in ("11x2", "11x3"):
        if name not in results:
            continue
        epochs = pair_means(results[name], "convergence epoch")
        report.figure(
            "Figure 2" if name == "11x2" else "Figure 3", heat(epochs, f"Convergence epoch, {name}", "mean epoch"),
            "surface over (M_r, C_r); the epoch grows with M_r", grown(epochs),
        )  # fmt: skip
    first = [name for name in ("11x2", "11x3") if name in results]
    report.figure(
        "Figure 1",
        {"hconcat": [heat(pair_means(results[n], "SSE"), f"SSE, {n}", "mean SSE") for n in first]},
        "two surfaces; flat at the optimum for M_r > 0 and C_r > 0",
        "; ".join(f"{n}: {flat(results[n])}" for n in first),
    )
    larger = [name for name in results if not name.startswith("11x")]
    report.figure(
        "Figure 4",
        {"hconcat": [heat(pair_means(results[n], "SSE"), f"SSE, {n}", "mean SSE") for n in larger]},
        "four surfaces; lowest near M_r = 0.1 (20x2: 0.1 to 0.4), higher elsewhere",
        "; ".join(
            f"{n}: lowest at M_r = {min(pair_means(results[n], 'SSE'), key=lambda r: r['mean'])['M_r']}" for n in larger
        ),
    )
    for name, found in findings.items():
        report.figure(
            f"Sensitivity {name}", sensitivity_picture(found, f"GA on {name}"), "not printed", "section IV as a picture"
        )


def flat(results: Results) -> str:
    best = lower_bound.optimal_partition(drawn(*results.subject["shape"]), K)[1]
    inside = [r["mean"] for r in pair_means(results, "SSE") if r["M_r"] > 0 and r["C_r"] > 0]
    low, high = min(inside) / best - 1, max(inside) / best - 1
    return f"with both rates above 0 the means lie {low:.1%} to {high:.1%} above the optimum {best:.2f}"


def grown(rows: list[dict[str, Any]]) -> str:
    by_rate: dict[float, list[float]] = {}
    for row in rows:
        by_rate.setdefault(row["M_r"], []).append(row["mean"])
    return ", ".join(f"M_r {rate:g}: {np.mean(means):.0f}" for rate, means in sorted(by_rate.items()))
