"""The Explore page: loss against risk while the search runs, the offers, and the description of one solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from crypsis.errors import CrypsisError, SearchError, listing
from crypsis.measures.utility.card import ruined_columns
from crypsis.measures.utility.estimates import ColumnEstimates
from crypsis.measures.utility.weighted_estimates import WEIGHTED_FIGURES
from crypsis.plan import Plan, read_plan_budget
from crypsis.plan.sections import Use
from crypsis.run import Front, Run, Solution
from crypsis.run.candidates import CandidateReader, thin_evenly
from crypsis.run.choosing import group_offers_for_choosing
from crypsis.run.front import solution_standing
from crypsis.run.session import PLAIN, UNTOUCHED
from crypsis.run.steering import entry_text, fold_entries, obeyed_text
from crypsis.searches import searches
from crypsis.studio import jobs
from crypsis.studio.branching import undo_last, wish_for_column, wishes_in_plan
from crypsis.studio.forms import Form, number, one
from crypsis.studio.pages.goal import name_budget
from crypsis.studio.pages.release import count_stops
from crypsis.studio.responses import answer, changes, routes_of, shows
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio
from crypsis.studio.terms import LIMITED, TERMS, explain_method, limit_text, masked_by_themselves
from crypsis.text import ruin_text, utility_card_facts
from crypsis.text.cards import (
    FIGURES,
    OUTSIDE,
    category_rows,
    general_text,
    number_rows,
    pair_text,
    propensity_text,
    weighted_rows,
    weighted_text,
)
from crypsis.text.reports import integer_text, offer_title_for_reports, percent_text

COLOURS = 18
"""Colours of the picture."""
ASKED = "The search obeys between two of its steps."
MOST_CANDIDATES = 2000
"""Largest number of faint dots."""
MOST_SHARES = 5
"""Shares of a category that are shown beside its bar."""
MOST_MARKS = 1500
"""Largest number of points in the chart: the front and baselines, and the latest of the dominated ones."""


class _ExplorePage:
    """The page, its figures, a solution's panel, and the buttons."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.drawn = _Drawing()
        self._tried: dict[str, CandidateReader] = {}

    @shows("/explore")
    def page(self, request: Request) -> Response:
        return self.studio.page(
            "explore",
            lambda: {**_content(self.studio, self.drawn), "before": describe_before_search(self.studio.session)},
        )

    @shows("/explore.json")
    def figures(self, request: Request) -> Response:
        content, head = _content(self.studio, self.drawn), self.studio.head()
        header = self.studio.render("head.html", head=head)
        return JSONResponse({**content, "status": head["status"], "header": header})

    @shows("/explore/candidates.json")
    def candidates(self, request: Request) -> Response:
        """What was tried and not measured, as faint dots."""
        session = self.studio.session
        return JSONResponse(_draw_candidates(session, self._tried) if session.has_run else {"dots": [], "words": ""})

    @shows("/solution/{number:int}")
    def panel(self, request: Request) -> Response:
        found, plan = self.studio.session.front, self.studio.session.run.plan
        solution = found.pick(int(request.path_params["number"]))
        ruins = found.ruins(solution)
        return self.studio.part(
            "panel.html",
            s=solution,
            ruined=ruin_text(ruins),
            emptied=_list_emptied(solution, ruined_columns(ruins)),
            kept_with_loss=_list_locked_with_loss(plan, solution),
            limits=_list_limits(plan, solution),
            limited=[each.measure for each in plan.limit],
            columns=plan.columns,
            uses=[
                {"title": use.title, "tolerance": use.tolerance, "limited": use.treated_as == "limit"}
                for use in plan.use
            ],
            masked=masked_by_themselves(plan),
        )

    @shows("/solution/{number:int}/estimates")
    def estimates(self, request: Request) -> Response:
        """The figures of every masked column before and after, to be shown beside its bar."""
        found = self.studio.session.estimates(int(request.path_params["number"]))
        return self.studio.part("estimates.html", estimates=[describe_estimates(each) for each in found])

    @shows("/solution/{number:int}/description")
    def description(self, request: Request) -> Response:
        number = int(request.path_params["number"])
        described = self.studio.session.describe(number)
        card = self.studio.session.card(number)
        return self.studio.part(
            "description.html",
            description=described,
            card=utility_card_facts(card),
            number=number,
            figures=FIGURES,
            numbers=number_rows(card.estimates),
            categories=category_rows(card.estimates),
            weighted=None if card.weighted is None else weighted_text(card.weighted),
            weighted_figures=WEIGHTED_FIGURES,
            weighted_numbers=[] if card.weighted is None else weighted_rows(card.weighted),
            weighted_categories=[] if card.weighted is None else category_rows(card.weighted.columns),
        )

    @shows("/solution/{number:int}/general")
    def general(self, request: Request) -> Response:
        """How well a model tells the released file from the original, with what chance would give."""
        scores = self.studio.session.general(int(request.path_params["number"]))
        in_figures = [propensity_text(score) for score in scores]
        telling = max(scores, key=lambda score: score.value / (score.largest or 1.0), default=None)
        whole = "" if telling is None else general_text(telling)
        return self.studio.part("general.html", whole=whole, in_figures=in_figures)

    @changes("/pin/{number:int}")
    def pin(self, request: Request, form: Form) -> Response:
        return answer(self.studio.session.pin(int(request.path_params["number"])))

    @changes("/unpin/{number:int}")
    def unpin(self, request: Request, form: Form) -> Response:
        return answer(self.studio.session.unpin(int(request.path_params["number"])))

    @changes("/choose/{number:int}")
    def choose(self, request: Request, form: Form) -> Response:
        wanted = int(request.path_params["number"])
        if not self.studio.session.solution(wanted).feasible:
            raise SearchError(f"solution {wanted} may not be released, so that it cannot be chosen; pick another one")
        self.studio.session.choose(wanted)
        return answer(f"Solution {wanted} is chosen for the release.")

    @changes("/limits")
    def limits(self, request: Request, form: Form) -> Response:
        kept = {name: number(one(form, name)) for name in ("loss", "risk") if one(form, name)}
        self.studio.session.change(limits={name: float(v) for name, v in kept.items() if not isinstance(v, str)})
        return answer()

    @changes("/steer")
    def steer(self, request: Request, form: Form) -> Response:
        run, what, liked = self.studio.session.run, one(form, "what"), one(form, "solution")
        if what not in ("drop", "restore", "focus", "more"):
            raise SearchError("a search is steered by drop, restore, focus or more")
        entry = run.steer(
            what,  # type: ignore[arg-type]
            search=one(form, "search") or None,
            loss=_read_ends(form, "loss"),
            risk=_read_ends(form, "risk"),
            solution=int(liked) if liked.isdecimal() else None,
        )
        words = entry_text(entry, [each.name for each in run.plan.search])
        going = jobs.is_running(run.folder)
        return answer(f"Asked: {words}. {ASKED if going else 'It is obeyed when the search continues.'}")

    @changes("/wish")
    def wish(self, request: Request, form: Form) -> Response:
        most = number(one(form, "most")) if one(form, "most") else None
        cap = float(most) if isinstance(most, (int, float)) else None
        return answer(wish_for_column(self.studio.session, one(form, "column"), one(form, "wish"), cap))

    @changes("/undo")
    def undo(self, request: Request, form: Form) -> Response:
        return answer(undo_last(self.studio.session))

    @changes("/ghost/hide")
    def hide_ghost(self, request: Request, form: Form) -> Response:
        choices = self.studio.session.choices
        self.studio.session.change(ghosts_hidden=[*choices.ghosts_hidden, choices.run])
        return answer()

    @changes("/run/use")
    def use_run(self, request: Request, form: Form) -> Response:
        self.studio.session.use_run(one(form, "run"))
        return answer(go=f"{self.studio.address}/explore")

    @changes("/search/start")
    def start(self, request: Request, form: Form) -> Response:
        self.studio.session.start()
        return answer("The search has started.")

    @changes("/search/extend")
    def extend(self, request: Request, form: Form) -> Response:
        self.studio.session.extend(_longer(self.studio, one(form, "more", "60s")))
        return answer("The search continues.")

    @changes("/search/keep")
    def keep(self, request: Request, form: Form) -> Response:
        self.studio.session.pause()
        found = self.studio.session.front
        inside = found.offers_among(_within(found.everything, self.studio.session.choices.limits))
        best = inside[0].solution if inside else found.default()
        self.studio.session.choose(best.number)
        self.studio.session.pin(best.number)
        return answer(f"The search has ended; solution {best.number} is chosen: {best.message}.")

    @changes("/search/pause")
    def pause(self, request: Request, form: Form) -> Response:
        self.studio.session.pause(at_once=True)
        return answer("The search writes its state and pauses; nothing is lost.")


def routes(studio: Studio) -> list[Route]:
    """The page, its figures, a solution's panel, and the buttons."""
    return routes_of(_ExplorePage(studio))


def _longer(studio: Studio, more: str) -> str:
    """The run's budget with so many seconds added."""
    try:
        added = read_plan_budget(more).seconds
    except ValueError as error:
        raise SearchError(str(error)) from None
    old = studio.status().get("budget")
    seconds = read_plan_budget(old).seconds if old else float("inf")
    return f"{(seconds if seconds != float('inf') else 0) + added:.0f}s"


def _within(solutions: Sequence[Solution], limits: dict[str, float]) -> list[Solution]:
    """Solutions within the limits of the page; all, if there are none."""
    inside = [
        s for s in solutions if all((s.figure(axis) or 0.0) <= most for axis, most in limits.items())
    ]  # fmt: skip
    return inside or list(solutions)


def _content(studio: Studio, drawn: _Drawing) -> dict[str, Any]:
    """The content of the picture, its table, the offers and the banner: one state for all of them."""
    session = studio.session
    limits, pins, chosen = session.choices.limits, session.pins, session.chosen
    problem, folder = "", session.run_folder
    searching = folder is not None and jobs.is_running(folder)
    try:
        found = session.front if session.has_run else Front(())
    except CrypsisError as error:
        found, problem = Front(()), str(error)
    return {
        **drawn(found, _name_uses(session)),
        "run": session.choices.run,
        "standings": {name: TERMS[name] for name in ("front", "beaten", "not releasable", "baseline")},
        "steering": _describe_steering(studio),
        "ghost": drawn.ghost(session),
        "summary": (
            _summary(found, chosen, searching, None if chosen is None else count_stops(session, chosen))
            if session.has_run or not session.choices.run
            else _describe_start(session)
        ),
        "problem": problem,
        "limits": limits,
        "pins": pins,
        "chosen": chosen,
        "outdated": session.outdated,
    }


def describe_before_search(session: Session) -> dict[str, Any] | None:
    """What a search of the plan will do; None once there is one, or while the plan cannot be read."""
    if session.has_run or session.choices.run or not session.plan_path.exists():
        return None
    try:
        plan = session.plan
    except CrypsisError:
        return None
    everyone = "what each intruder knows" if plan.scenario else "all quasi-identifiers"
    return {
        "budget": name_budget(plan),
        "demands": [
            *(
                model.statement().format(columns=listing(model.quasi_identifiers) or everyone)
                for model in plan.models()
            ),
            *(limit_text(each) for each in plan.limit),
            *(f"{use.title} at most {use.tolerance:g} % apart" for use in plan.use if use.treated_as == "limit"),
        ],
        "uses": [use.title for use in plan.use if use.treated_as != "limit"],
        "searches": {each.name: explain_method(each.name) for each in plan.search},
    }


def _describe_start(session: Session) -> dict[str, str]:
    """What the page says of a search that has measured nothing yet: that it begins, or why it never did."""
    state = jobs.run_state(session.run_folder)
    return {"level": state.level, "words": state.words}


def _read_ends(form: Form, axis: str) -> tuple[float, float] | None:
    """Least and largest loss or risk of a box; None where the form has none."""
    ends = [number(one(form, f"{axis}-{end}")) for end in ("least", "largest") if one(form, f"{axis}-{end}")]
    if len(ends) < 2 or any(isinstance(each, str) for each in ends):
        return None
    return float(ends[0]), float(ends[1])


def _describe_steering(studio: Studio) -> dict[str, Any]:
    """What is in force and when it was obeyed, which searches are dropped, and the wishes that led to this run."""
    session, asked, names = studio.session, list[dict[str, Any]](), list[str]()
    dropped, in_plan = list[str](), list[str]()
    if session.has_run and not session.outdated:
        run = session.run
        in_plan = wishes_in_plan(run.plan)
        names = [each.name for each in run.plan.search]
        in_force, stamped = fold_entries(run.steering), {entry.number: entry for entry in run.steering}
        dropped = [name for place, name in enumerate(names) if in_force.stops(place)]
        asked = [
            {
                "number": entry.number,
                "words": entry_text(entry, names),
                "obeyed": obeyed_text(stamped[entry.number], names) if stamped[entry.number].obeyed else "",
            }
            for entry in in_force.entries
        ]
    wishes, name = list[str](), session.choices.run
    while name in session.choices.parents:
        wishes.insert(0, session.choices.wishes.get(name, ""))
        name = session.choices.parents[name]
    in_plan = [words for words in in_plan if words not in wishes]
    return {"asked": asked, "wishes": wishes, "in_plan": in_plan, "searches": names, "dropped": dropped}


class _Ghost:
    """The front of the parent of a run, read once."""

    def __init__(self) -> None:
        self._known: dict[str, list[dict[str, float | None]]] = {}

    def __call__(self, session: Session) -> list[dict[str, float | None]]:
        """Loss and risk of the parent's front; empty where there is none or it was hidden."""
        choices = session.choices
        parent = choices.parents.get(choices.run, "")
        if not parent or choices.run in choices.ghosts_hidden:
            return []
        if parent not in self._known:
            try:
                with Run.open(session.home / parent) as run:
                    front = run.front
                    drawn = [s for s in front if not s.baseline]
                    sound = [s for s in drawn if not front.ruins(s)] or drawn  # ruined ones lie far out
                    found = [{"loss": s.figure("loss"), "risk": s.figure("risk")} for s in sound]
            except CrypsisError:
                found = []
            self._known[parent] = sorted(found, key=lambda each: each["loss"] or 0.0)
        return self._known[parent]


class _Drawing:
    """Points and offers of a front, made once for each front."""

    def __init__(self) -> None:
        self._last: tuple[Front, dict[str, Any]] | None = None
        self.ghost = _Ghost()

    def __call__(self, found: Front, uses: Sequence[Use] = ()) -> dict[str, Any]:
        last = self._last
        if last is None or last[0] is not found:
            default = found.offers[0].solution.number if found.offers else None
            methods = [
                {"name": name, "colour": place, "words": explain_method(name)}
                for place, name in enumerate(_methods(found))
            ]
            drawn = {
                "points": _points(found, uses),
                "uses": [use.title for use in uses],
                "default": default,
                "offers": _offers(found, uses),
                "methods": methods,
                "intruder": _name_intruder(found),
                "line": _explain_line(found),
                "third": len(found.axes) > 2,
            }
            last = self._last = (found, drawn)
        return last[1]


BASELINE_COLOURS = (UNTOUCHED, PLAIN)
"""Baselines that have a colour before all others."""


def _methods(found: Front) -> list[str]:
    """What finds solutions, in an order that no run changes: every search, then baselines by name."""
    named = {s.title for s in found.everything if s.baseline}
    return [*searches, *BASELINE_COLOURS, *sorted(named - set(BASELINE_COLOURS))]


def _name_uses(session: Session) -> Sequence[Use]:
    """The declared uses of the run; none where it cannot be read."""
    try:
        return session.run.plan.use if session.has_run else ()
    except CrypsisError:
        return ()


def _points(found: Front, uses: Sequence[Use] = ()) -> list[dict[str, Any]]:
    colours = {name: place for place, name in enumerate(_methods(found))}
    on = {solution.number for solution in found.solutions}
    first = [s for s in found.everything if s.number in on or s.baseline]
    rest = [s for s in found.everything if s.number not in on and not s.baseline]
    shown = [
        s for s in [*first, *rest[-(MOST_MARKS - len(first)) :]] if None not in (s.figure("loss"), s.figure("risk"))
    ]
    points = [
        {
            "number": s.number,
            "loss": s.figure("loss"),
            "risk": s.figure("risk"),
            "k": s.figure("k"),
            "suppressed": s.figure("suppressed"),
            "method": s.title,
            "family": s.family,
            "colour": colours.get(s.title, 0) % COLOURS,
            "releasable": s.feasible,
            "standing": solution_standing(s, s.number in on),
            "words": s.message,
            "ruined": list(ruined_columns(found.ruins(s))),
            "kept": s.figure("analyses"),
            "uses": [s.figure(use.title) for use in uses],
            "measured": len(s.evaluation.figures),  # figures may be measured later; the page then asks again
        }
        for s in shown
    ]
    return sorted(points, key=lambda p: (p["standing"] != "front", p["standing"] != "baseline", p["loss"], p["number"]))


def _draw_candidates(session: Session, tried: dict[str, CandidateReader]) -> dict[str, Any]:
    """Loss, risk and colour of at most so many candidates, evenly spaced in the order of trying, and a sentence."""
    run, key = session.run, str(session.run_folder)
    if key not in tried:
        tried.clear()
        tried[key] = CandidateReader()
    found = tried[key].read(run.store, run.solutions)
    colours = {name: place for place, name in enumerate(_methods(session.front))}
    rows = np.concatenate(
        [
            np.empty((0, 3)),
            *(np.insert(each.points, 2, colours.get(run.plan.search[each.search].name, 0), axis=1) for each in found),
        ]
    )
    shown, miss = thin_evenly(rows, MOST_CANDIDATES), max((each.miss for each in found if len(each.points)), default=0)
    scored = sum(each.tried for each in found)
    near = f", within about {max(miss, 0.1):.1f} %" if miss > 0 else ""
    unplaced = [run.plan.search[each.search].name for each in found if each.tried and not len(each.points)]
    rest = f" Those of {listing(unplaced)} cannot be placed yet." if unplaced else ""
    words = (
        f"Faint dots: {integer_text(len(shown))} of {integer_text(scored)} candidates tried and not measured; "
        f"their loss and risk are read off the measured ones{near}.{rest}"
    )
    dots = [[round(loss, 2), round(risk, 2), int(colour) % COLOURS] for loss, risk, colour in shown.tolist()]
    return {"dots": dots, "words": words if dots else ""}


def _offers(found: Front, uses: Sequence[Use] = ()) -> list[dict[str, Any]]:
    """The offers as the page lists them, each solution once."""
    return [
        {
            "title": offer_title_for_reports([offer.name for offer in offers]),
            "number": offers[0].solution.number,
            "loss": offers[0].solution.figure("loss"),
            "risk": offers[0].solution.figure("risk"),
            "kept": offers[0].solution.figure("analyses"),
            "change": max((offers[0].solution.figure(use.title) or 0.0 for use in uses), default=None),
            "why": found.why(offers[0]),
        }
        for offers in group_offers_for_choosing(found.offers)
    ]


def _summary(found: Front, chosen: int | None, searching: bool, stops: int | None = None) -> dict[str, str]:
    """The state of the decision in a sentence or two, and how it is meant.

    `stops`: findings that stop the release of the chosen solution; None while it is not audited.
    """
    if not found.everything:
        return {"level": "open", "words": "There is no search yet: check Data and Goal, then press Start."}
    if not found.offers:
        many = len(found.everything)
        measured = f"{many} solution{'s were' if many != 1 else ' was'} measured"
        if searching:
            return {"level": "open", "words": f"None may be released yet; {measured} so far."}
        words = f"{measured} and none may be released: search longer, or demand less on the Goal page."
        return {"level": "stop", "words": words}
    known = {s.number: s for s in found.everything}
    counted = f"{len(found.solutions)} of {len(found.everything)} measured solutions are on the front."
    if chosen in known:
        picked = known[chosen]
        if not picked.feasible:
            return {"level": "stop", "words": f"Solution {chosen} is chosen and may not be released: {_place(picked)}."}
        if stops:
            each = "it" if stops == 1 else "each"
            words = (
                f"{stops} finding{'s' if stops != 1 else ''} of its audit stop{'s' if stops == 1 else ''} the release"
            )
            return {"level": "look", "words": f"Solution {chosen} is chosen. {words}: decide about {each} on Release."}
        return {"level": "good", "words": f"Solution {chosen} is chosen: {_place(picked)}. {counted}"}
    return {"level": "look", "words": f"Nothing is chosen yet: pick an offer. {counted}"}


def _name_intruder(found: Front) -> str:
    """The intruder whose success the picture shows; empty before a solution may be released."""
    if not found.offers:
        return ""
    return f"People found: {listing(found.intruders([found.offers[0].solution]))}."


def _explain_line(found: Front) -> str:
    """What the line of the picture joins, and why a solution on the front or an offer may lie behind another one."""
    if not found.solutions:
        return ""
    third = "a solution behind it is on the front because it keeps the analyses of the plan better, a third aim"
    ruined = "a ruined one is left out, and no offer names it while another will do"
    reasons = [third] if len(found.axes) > 2 else []
    reasons += [ruined] if any(found.ruins(solution) for solution in found.solutions) else []
    return "; ".join(["The line joins what no other one beats in both figures", *reasons]) + "."


def describe_estimates(column: ColumnEstimates) -> dict[str, Any]:
    """The figures of one column before and after, as the panel shows them beside its bar.

    Of a number the usual figures; of a category the shares that moved most.
    """
    figures = list(column.figures)
    if column.numeric:
        figures = [each for each in figures if each.figure in FIGURES]
    else:
        figures.sort(key=lambda each: -abs((each.after or 0.0) - (each.before or 0.0)))
    gone = [*column.vanished, *([f"{column.vanished_rare} rare values"] if column.vanished_rare else [])]
    words = [
        *([] if column.numeric else [f"the {min(MOST_SHARES, len(figures))} shares that moved most, %"]),
        *([f"{percent_text(column.grouped)} % of the records in groups"] if column.grouped else []),
        *([f"gone: {listing(gone)}"] if gone else []),
        *(["✓ inside the original's 95 % interval"] if any(each.inside for each in figures) else []),
    ]
    return {
        "name": column.name,
        "words": "; ".join(words),
        "figures": [
            {
                "name": each.figure,
                "change": pair_text(each, column.dates).removesuffix(OUTSIDE),
                "mark": "unsaid" if each.inside is None else "yes" if each.inside else "no",
            }
            for each in (figures if column.numeric else figures[:MOST_SHARES])
        ],
    }


def _place(solution: Solution) -> str:
    return (
        f"{percent_text(solution.figure('loss'))} % lost, {percent_text(solution.figure('risk'))} % of the people found"
    )


SEEN = 0.05
"""Per cent of a column from which a page does not show its loss as 0.0."""


def _list_emptied(solution: Solution, ruined: Sequence[str]) -> list[str]:
    """Columns of which 100 % is lost beside those that are ruined: at 100 % a column is emptied, beyond it ruined."""
    emptied = [name for name, figures in solution.evaluation.columns.items() if figures["loss"] >= 100.0 - SEEN]
    return [name for name in emptied if name not in ruined]


def _list_locked_with_loss(plan: Plan, solution: Solution) -> list[str]:
    """Locked columns of which something is lost: with records that are left out, since no masking changes them."""
    locked = [name for name, column in plan.columns.items() if column.lock]
    lost = {name: figures["loss"] for name, figures in solution.evaluation.columns.items()}
    return [name for name in locked if lost.get(name, 0.0) >= SEEN and solution.figure("suppressed")]


def _list_limits(plan: Plan, solution: Solution) -> list[dict[str, Any]]:
    """The limits of the plan, with what a solution attains."""
    found = {each.measure: solution.figure(each.measure) for each in plan.limit}
    broken = {each.subject for each in solution.evaluation.complaints if each.kind == "limit"}
    return [
        {
            "measure": LIMITED.get(e.measure, e.measure),
            "at_most": e.at_most,
            "found": found[e.measure],
            "holds": e.measure not in broken,
            "percent": e.in_per_cent,
        }
        for e in plan.limit
    ]
