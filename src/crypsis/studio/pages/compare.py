"""The Compare page: pinned solutions and the original side by side."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.report.histograms import Histogram
from crypsis.run import Solution
from crypsis.studio.answering import get
from crypsis.studio.comparing import burdens, explained_match, moved_ties, pictures, sampled, sizes
from crypsis.studio.pictures import bars, heat_map
from crypsis.studio.studio import Studio
from crypsis.table.table import Table

SHOWN = ("loss", "risk", "uses", "k", "unique", "suppressed")


def routes(studio: Studio) -> list[Route]:
    """The page at once; what must be decoded and measured follows, one solution at a time."""

    def page(request: Request) -> Response:
        desk = studio.desk
        pinned = [desk.solution(number) for number in desk.pins] if desk.has_run else []
        return studio.page(request, "compare", pinned=pinned, figures=_figures(pinned))

    def content(request: Request) -> Response:
        desk, number = studio.desk, int(request.path_params["number"])
        solution = desk.solution(number)
        run = desk.open_run()
        try:
            original = run.original
        finally:
            run.close()
        return studio.part("compared.html", s=solution, **_compared(original, desk.masked(number), solution))

    return [get("/compare", page), get("/compare/{number:int}", content)]


def _figures(pinned: list[Solution]) -> list[tuple[str, list[float | None]]]:
    names = dict.fromkeys([*SHOWN, *(name for s in pinned for name in s.measured.figures)])
    rows = [(name, [s.figure(name) for s in pinned]) for name in names]
    return [row for row in rows if any(value is not None for value in row[1])]


def _compared(original: Table, masked: Table, solution: Solution) -> dict[str, Any]:
    counted = solution.family != "perturbation"
    names, cells = moved_ties(original, masked)
    some, hidden = sampled(original, masked)
    groups, earned = burdens(some, hidden)
    return {
        "columns": [_drawn(each, solution.number) for each in pictures(original, masked)],
        "classes": _drawn(sizes(original, masked), solution.number) if counted else None,
        "ties": heat_map(names, cells),
        "tie_names": names,
        "tie_cells": {f"{a}|{b}": moved for a, b, moved in cells},
        "ties_told": _most_moved(cells),
        "groups": groups,
        "match": explained_match(some, hidden, earned),
        "sampled": len(some) < len(original),
    }


def _drawn(histogram: Histogram, number: int) -> dict[str, Any]:
    series = {"original": histogram.before, f"solution {number}": histogram.after}
    return {
        "title": histogram.title,
        "summary": histogram.summary,
        "spec": bars(histogram.labels, series, "records"),
        "rows": list(zip(histogram.labels, histogram.before, histogram.after, strict=True)),
    }


def _most_moved(cells: list[tuple[str, str, float]]) -> str:
    if not cells:
        return "There are no two columns to compare."
    a, b, moved = max(cells, key=lambda cell: cell[2])
    if moved < 0.005:
        return "No tie between two columns moved."
    return f"The tie between {a} and {b} moved most: its strength (Cramér's V, 0 to 1) changed by {moved:.2f}."
