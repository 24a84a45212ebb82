"""More of the closer look: a column before and after, two solutions beside each other, and one attacked person."""

from __future__ import annotations

from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from crypsis.errors import TableError
from crypsis.measures.class_risk import CLASS_RISK, ClassRisk
from crypsis.run import Solution
from crypsis.studio.attacked_person import AttackedPerson, SolutionAttack
from crypsis.studio.overlays import Overlay, overlay
from crypsis.studio.pages.records import read_cells
from crypsis.studio.responses import routes_of, shows
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.table.equivalence_classes import MissingReading
from crypsis.table.table import Table
from crypsis.text.reports import percent_text

SHOWN = {
    "loss": "information lost, %",
    "risk": "people found by the intruder of the plan, %",
    "analyses": "random analyses kept, %",
    "uses": "declared analyses apart, % of what is tolerated",
    "k": "smallest equivalence class (k)",
    "unique": "people unique in the file",
    "suppressed": "suppressed records, %",
}
LARGE = ("k", "analyses")
"""Figures of which more is better."""
PER_CENT = ("loss", "risk", "suppressed", "analyses")
MOST_OFFERED = 40
"""Solutions in the list of those to compare with."""
MOST_ATTACKS = 3
"""Attacks that are kept; the oldest goes first."""


class _ComparisonPage:
    """The parts of the closer look that compare; each is fetched when it is opened."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self._attacks: dict[tuple[str, int], SolutionAttack] = {}

    @shows("/compare")
    def old_address(self, request: Request) -> Response:
        return RedirectResponse(f"{self.studio.address}/explore", 303)

    @shows("/look/{number:int}/column")
    def column(self, request: Request) -> Response:
        """One column: records by value in the original, in the solution, and in another one."""
        session, number = self.studio.session, int(request.path_params["number"])
        names = list(session.run.original.quasi_identifiers)
        name = request.query_params.get("name") or names[0]
        if name not in names:
            raise TableError(f"there is no masked column {name!r}; choose one of the list")
        other = _other(session, number, request.query_params.get("with", ""))
        numbers = [number, *([] if other is None else [other.number])]
        drawn = overlay(session.run.original, {each: session.masked_table(each) for each in numbers}, name)
        return self.studio.part(
            "column.html", number=number, names=names, name=name, others=_others(session, number),
            other=None if other is None else other.number, **_draw(drawn),
        )  # fmt: skip

    @shows("/look/{number:int}/beside")
    def beside(self, request: Request) -> Response:
        """The solution beside another one: figures, and what each loses of every column."""
        session, number = self.studio.session, int(request.path_params["number"])
        others = _others(session, number)
        if not others:
            raise TableError("there is no other solution to compare with; search longer")
        other = _other(session, number, request.query_params.get("with", "") or str(others[0]["number"]))
        assert other is not None
        both = [session.solution(number), other]
        return self.studio.part(
            "beside.html", number=number, other=other.number, others=others, both=both, figures=_figures(both),
            columns=_column_losses(both),
        )  # fmt: skip

    @shows("/look/{number:int}/person")
    def person(self, request: Request) -> Response:
        """One attacked person: by row, or by how surely the person is found."""
        number, asked = int(request.path_params["number"]), request.query_params
        attack = self._attack(number)
        row, rank = asked.get("row", ""), asked.get("rank", "")
        rank_of = int(rank) if rank.isdecimal() else 0
        rows = len(attack.original)
        if row and not (row.isdecimal() and 1 <= int(row) <= rows):
            raise TableError(f"there is no row {row}; the file has rows 1 to {rows}")
        found = attack.attack(int(row) - 1 if row else attack.person_by_rank(rank_of))
        names = list(attack.names)
        return self.studio.part(
            "person.html",
            number=number,
            found=found,
            names=names,
            known=read_cells(attack.original, np.array([found.row], dtype=np.intp), names)[0],
            records=_released_records(attack.masked, found, names),
            rate=attack.found,
            risk=self.studio.session.solution(number).figure("risk"),
            people=len(attack.people),
            ranked=attack.ranked,
            rows=rows,
            rank=None if row else rank_of,
            groups=attack.hardest_groups(),
        )

    def _attack(self, number: int) -> SolutionAttack:
        session = self.studio.session
        key = (str(session.run_folder), number)
        if key not in self._attacks:
            made = SolutionAttack(
                session.run.original, session.masked_table(number), *_intruder_of_plan(session, number)
            )
            while len(self._attacks) >= MOST_ATTACKS:
                del self._attacks[next(iter(self._attacks))]
            self._attacks[key] = made
        return self._attacks[key]


def routes(studio: Studio) -> list[Route]:
    """The parts of the closer look that compare, and the old address of comparisons."""
    return routes_of(_ComparisonPage(studio))


def _intruder_of_plan(session: Session, number: int) -> tuple[tuple[str, ...], MissingReading | None]:
    """What the worst intruder of the plan knows, and how this one reads missing values if it reaches classes."""
    plan, figures = session.run.plan, session.solution(number).evaluation.figures
    scenarios = {each.name: figures.get(f"risk.{each.name}") or 0.0 for each in plan.scenario}
    worst = max(scenarios, key=lambda name: scenarios[name], default="")
    names = next((each.knows for each in plan.scenario if each.name == worst), ())
    reaches = figures.get("risk") is not None and figures.get(CLASS_RISK) == figures["risk"]
    built = [each for each in (choice.build() for choice in plan.measures.risk) if isinstance(each, ClassRisk)]
    return tuple(names), (built[0] if built else ClassRisk()).missing if reaches else None


def _other(session: Session, number: int, asked: str) -> Solution | None:
    """The solution to compare with; None if none is asked for."""
    if not asked:
        return None
    if not asked.isdecimal() or int(asked) == number:
        raise TableError(f"compare solution {number} with the number of another one")
    return session.solution(int(asked))


def _others(session: Session, number: int) -> list[dict[str, Any]]:
    """Solutions to compare with, in words: pinned and chosen ones, offers, then the front and the baselines."""
    found = session.front
    notes: dict[int, list[str]] = {}
    for pinned in session.pins:
        notes.setdefault(pinned, []).append("pinned")
    if session.chosen is not None:
        notes.setdefault(session.chosen, []).append("chosen")
    for offer in found.offers:
        notes.setdefault(offer.solution.number, []).append(offer.name)
    known = {s.number: s for s in found.everything}
    rest = [s for s in found.everything if s.baseline] + list(found.solutions)
    order = dict.fromkeys([*(n for n in notes if n in known), *(s.number for s in rest)])
    return [
        {"number": each, "words": ", ".join([_words(known[each]), *notes.get(each, [])])}
        for each in [one for one in order if one != number][:MOST_OFFERED]
    ]


def _words(solution: Solution) -> str:
    figures = f"{percent_text(solution.figure('loss'))} % lost, {percent_text(solution.figure('risk'))} % found"
    return f"{solution.number} ({solution.title}): {figures}"


def _figures(both: list[Solution]) -> list[dict[str, Any]]:
    """Figures of two solutions; the better one of each is marked."""
    rows = []
    for name, words in SHOWN.items():
        values = [s.figure(name) for s in both]
        known = [value for value in values if value is not None]
        if known:
            best = (max if name in LARGE else min)(known) if len(set(known)) == 2 else None
            rows.append({"name": name, "words": words, "values": values, "best": best, "share": name in PER_CENT})
    return rows


def _column_losses(both: list[Solution]) -> list[dict[str, Any]]:
    """Per cent lost of every masked column in two solutions."""
    losses = [{name: figures["loss"] for name, figures in s.evaluation.columns.items()} for s in both]
    names = dict.fromkeys(name for each in losses for name in each)
    return [{"name": name, "lost": [each.get(name) for each in losses]} for name in names]


def _released_records(masked: Table, found: AttackedPerson, names: list[str]) -> list[dict[str, Any]]:
    """The nearest released records, and the person's own after them if it is none of these."""
    far = dict(found.nearest)
    if found.own is not None:
        far.setdefault(found.row, found.own[1])
    cells, tied = read_cells(masked, np.array(list(far), dtype=np.intp), names), dict(found.nearest[: found.ties])
    return [
        {"row": row + 1, "far": far[row], "own": row == found.row, "tied": row in tied, "cells": texts}
        for row, texts in zip(far, cells, strict=True)
    ]


def _draw(found: Overlay | None) -> dict[str, Any]:
    """Bars of a column: widths in per cent of the longest, and counts."""
    if found is None:
        return {"files": [], "bars": [], "message": (), "absent": {}}
    longest = max(max(values, default=0.0) for values in found.series.values()) or 1.0
    bars = [
        {"label": label, "counts": counts, "widths": [round(100 * count / longest, 2) for count in counts]}
        for label, *counts in zip(found.labels, *found.series.values(), strict=True)
    ]
    return {"files": list(found.series), "bars": bars, "message": found.message, "absent": found.absent}
