"""Section 4.2 of the grouping paper: what each operator did, generation by generation; Figures 6 and 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pictures import MUTATIONS, operator_picture
from verdicts import Report

Rows = list[dict[str, Any]]
GROUPS, ELEMENTS = MUTATIONS[:3], MUTATIONS[3:]
FIRST, BEST = (1, 10), (20, 30)
"""Generations of "the first generations" and of the "phase of best behaviour": our reading of the text."""


def mean_rows(tables: Sequence[Rows]) -> Rows:
    """The rows of several runs of equal length, averaged."""
    return [
        {name: same[0][name] if name == "operator" else float(np.mean([row[name] for row in same])) for name in same[0]}
        for same in zip(*tables, strict=True)
    ]


def series(rows: Rows, operator: str, column: str) -> NDArray[np.float64]:
    """A measure of one operator by generation."""
    return np.array([row[column] for row in rows if row["operator"] == operator])


def last_useful(rows: Rows, operator: str) -> float:
    """The last generation in which a child was better than its parent and survived."""
    useful = np.flatnonzero(series(rows, operator, "useful") > 0)
    return float(useful[-1] + 1) if len(useful) else 0.0


def peak(values: NDArray[np.float64], start: int = 10) -> float:
    """The generation of the largest of a smoothed measure from `start` on."""
    smooth = np.convolve(values, np.ones(3) / 3, mode="same")
    return float(start + int(np.argmax(smooth[start - 1 : 60])))


def section(report: Report, tables: Sequence[Rows]) -> None:
    """Every number of section 4.2; one value per run, judged by the rule for chance."""
    table, how = "Section 4.2", "Water, k = 25, 100 generations from a random start"
    for operator in GROUPS:
        report.chance(
            table, operator, "useless after generation", [last_useful(rows, operator) for rows in tables],
            why=f"{how}; last generation with a child that was better than its parent and survived", digits=0,
        )  # fmt: skip
    crossed = [series(rows, "crossover", "utilisation") for rows in tables]
    unused = [values.mean() for values in crossed]
    report.chance(table, "crossover", "discarded unused %", unused, why=f"{how}; mean over them all", digits=0)
    lived = [series(rows, "crossover", "life_time").mean() for rows in tables]
    report.between(table, "crossover", "life time", lived, why=f"{how}; mean over them all")
    improved = [
        100 * (series(rows, "crossover", "improved") / np.maximum(series(rows, "crossover", "created"), 1))[20:].mean()
        for rows in tables
    ]
    report.chance(
        table, "crossover", "children better than their parents after generation 20 %", improved, digits=1,
        why=f"{how}; better than the mean of both parents, as Equation 8 says",
    )  # fmt: skip
    for operator in ("group create", "group split"):
        most = [peak(series(rows, operator, "improved")) for rows in tables]
        why = f"{how}; from generation 10 on, smoothed over three"
        report.between(table, operator, "most improvements near generation", most, why=why, digits=0)
    clones = []
    for rows in tables:
        made, better, worse = (series(rows, "element move", column) for column in ("created", "improved", "worsened"))
        clones.append(made - better - worse)
    report.between(
        table, "element move", "most clones near generation", [peak(values) for values in clones],
        why=f"{how}; from generation 10 on, smoothed over three", digits=0,
    )  # fmt: skip
    open_ = "unknowable, because the text does not say over which generations it averages (readings)"
    for operator in ("group create", "group eliminate"):
        gains = [series(rows, operator, "best_gain")[FIRST[0] - 1 : FIRST[1]].mean() for rows in tables]
        report.chance(
            table, operator, "largest gain of the first generations %", gains, digits=1,
            why=f"{open_}; {how}; mean of the largest gain of generations {FIRST[0]} to {FIRST[1]}",
        )  # fmt: skip
    for operator in ELEMENTS:
        gains = [series(rows, operator, "best_gain")[BEST[0] - 1 : BEST[1]].mean() for rows in tables]
        report.chance(
            table, operator, "gain in the best phase %", gains, digits=1,
            why=f"{open_}; {how}; mean of the largest gain of generations {BEST[0]} to {BEST[1]}",
        )  # fmt: skip
    spans(report, tables)


def spans(report: Report, tables: Sequence[Rows]) -> None:
    """The largest gain of the children of each operator, by the generations one may average over."""
    title = "section 4.2, largest gain of a child in a generation %, mean of the runs"
    operators = {"group create": "10", "group eliminate": "10", "element swap": "2", "element move": "2"}
    report.reading(title, {"reading": "printed", **operators})
    gains = {op: np.mean([series(rows, op, "best_gain") for rows in tables], axis=0) for op in operators}
    for first, last in ((1, 3), FIRST, (10, 20), BEST):
        shown = {op: f"{values[first - 1 : last].mean():.1f}" for op, values in gains.items()}
        report.reading(title, {"reading": f"mean of generations {first} to {last}", **shown})
    highest = {op: f"{values.max():.1f} ({values.argmax() + 1})" for op, values in gains.items()}
    report.reading(title, {"reading": "the highest of all generations (which)", **highest})


def pictures(report: Report, tables: Sequence[Rows]) -> None:
    """Figures 6 and 7, and the statements around them."""
    rows = mean_rows(tables)
    useful = {op: float(np.mean([last_useful(r, op) for r in tables])) for op in MUTATIONS}
    told = ", ".join(f"{op} {generation:.0f}" for op, generation in useful.items())
    report.figure(
        "Figure 6", operator_picture(rows, MUTATIONS, f"Mutations, Water k = 25, mean of {len(tables)} runs"),
        "utilisation, life time, efficacy, efficiency of five mutations; create, eliminate and split are useless after "
        "generation 25, swap and move go on", f"last useful generation (mean): {told}",
    )  # fmt: skip
    report.figure(
        "Figure 7", operator_picture(rows, ("crossover",), f"Crossover, Water k = 25, mean of {len(tables)} runs"),
        "about 75 % discarded unused, life time 2 to 3, about 5 % of children improve, efficiency peaks early",
        f"{series(rows, 'crossover', 'utilisation').mean():.0f} % discarded unused, life time "
        f"{series(rows, 'crossover', 'life_time').mean():.1f}",
    )  # fmt: skip
    report.claim(
        "create, eliminate and split stop doing useful work, swap and move go on",
        max(useful[op] for op in GROUPS) < min(useful[op] for op in ELEMENTS), f"last useful generation (mean): {told}",
    )  # fmt: skip
    unused = {op: float(series(rows, op, "utilisation")[19:30].min()) for op in ELEMENTS}
    report.claim(
        "between generations 20 and 30 less than half of the children of swap and move are discarded unused",
        all(share < 50 for share in unused.values()),
        ", ".join(f"{op}: lowest {share:.0f} %" for op, share in unused.items()),
    )
    created = [series(r, "group split", "useful")[9:20].sum() for r in tables]
    report.claim(
        "group split does useful work between generations 10 and 20", all(count > 0 for count in created),
        f"useful children there, run by run: {', '.join(f'{count:.0f}' for count in created)}",
    )  # fmt: skip
