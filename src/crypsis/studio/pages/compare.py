"""The Compare page: pinned solutions and the original in common charts and side by side."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from crypsis.charts.chart import drawable
from crypsis.charts.studio import heat_map, overlaid
from crypsis.run import Solution
from crypsis.studio.comparison import (
    Overlay,
    association_changes,
    explained_match,
    merged_sizes,
    overlays,
    record_harms,
    sample_rows,
    sizes,
)
from crypsis.studio.responses import get
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.table.table import Table

SHOWN = {
    "loss": "information loss, %",
    "risk": "people found by the intruder of the plan, %",
    "uses": "change of the uses",
    "k": "smallest equivalence class (k)",
    "unique": "people unique in the file",
    "suppressed": "suppressed records, %",
}
MOST_DRAWN = 30
"""Largest number of columns in charts, so that a browser gets fewer than 5 000 marks."""


def routes(studio: Studio) -> list[Route]:
    """The page, then parts that need decoding: common charts, and each solution."""

    def page(request: Request) -> Response:
        return studio.page("compare", lambda: _pinned_content(studio.session))

    def together(request: Request) -> Response:
        session = studio.session
        original, pinned = _original(session), [session.solution(number) for number in session.pins]
        masked = {s.number: session.masked(s.number) for s in pinned}
        counted = {s.number: sizes(original, masked[s.number]) for s in pinned if s.family != "perturbation"}
        drawn = overlays(original, masked)
        return studio.part(
            "together.html",
            classes=_draw(merged_sizes(counted)),
            uncounted=[s.number for s in pinned if s.number not in counted],
            columns=[_draw(each) for each in drawn[:MOST_DRAWN]],
            more=[each.name for each in drawn[MOST_DRAWN:]],
            absent=_absent(drawn),
        )

    def alone(request: Request) -> Response:
        session, number = studio.session, int(request.path_params["number"])
        solution = session.solution(number)
        return studio.part("compared.html", s=solution, **_compared_content(_original(session), session.masked(number)))

    return [get("/compare", page), get("/compare/together", together), get("/compare/{number:int}", alone)]


def _pinned_content(session: Session) -> dict[str, Any]:
    pinned = [session.solution(number) for number in session.pins] if session.has_run else []
    return {"pinned": pinned, "figures": _figures(pinned), "searched": session.has_run}


def _original(session: Session) -> Table:
    return session.run.original


def _figures(pinned: list[Solution]) -> list[tuple[str, str, list[float | None]]]:
    names = dict.fromkeys([*SHOWN, *(name for s in pinned for name in s.evaluation.figures)])
    rows = [(name, SHOWN.get(name, name), [s.figure(name) for s in pinned]) for name in names]
    axes = [row[2] for row in rows if row[0] in ("loss", "risk")]
    rows = [row for row in rows if row[0] in SHOWN or row[2] not in axes]  # the only measure of an axis is that axis
    return [row for row in rows if any(value is not None for value in row[2])]


def _compared_content(original: Table, masked: Table) -> dict[str, Any]:
    names, cells = association_changes(original, masked)
    some, hidden = sample_rows(original, masked)
    groups, earned = record_harms(some, hidden)
    return {
        "associations": drawable(heat_map(names, cells)),
        "association_names": names,
        "association_cells": {f"{a}|{b}": moved for a, b, moved in cells},
        "association_text": _most_changed(cells),
        "groups": groups,
        "match": explained_match(some, hidden, earned),
        "sampled": len(some) < len(original),
    }


def _draw(found: Overlay | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "title": found.title,
        "message": found.message,
        "files": list(found.series),
        "spec": drawable(overlaid(found.labels, found.series, "records")),
        "rows": list(zip(found.labels, *found.series.values(), strict=True)),
    }


def _absent(drawn: list[Overlay]) -> dict[str, list[str]]:
    """Columns that are not in the charts, by solution and reason."""
    found: dict[str, list[str]] = {}
    for each in drawn:
        for number, why in each.absent.items():
            found.setdefault(f"Of solution {number}, {why}", []).append(each.name)
    return found


def _most_changed(cells: list[tuple[str, str, float]]) -> str:
    if not cells:
        return "There are no two columns to compare."
    a, b, moved = max(cells, key=lambda cell: cell[2])
    if moved < 0.005:
        return "No association between two columns changed."
    return f"The association between {a} and {b} changed most: Cramér's V (0 to 1) by {moved:.2f}."
