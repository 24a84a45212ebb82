"""Release of a solution of a run under all demands of its plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from crypsis.errors import ReleaseRefused, listing, word
from crypsis.measures.linkage_attacks import HELD_OUT, HeldOutLinkage
from crypsis.measures.objective import Figure, Objective, OverallFigure, columns_objective_reads
from crypsis.plan import Plan
from crypsis.privacy.anonymity import smallest_anonymity_class
from crypsis.release import ReleaseDescription, publish
from crypsis.release.guarantees import MeasuredLimit
from crypsis.release.ledger import ledger_of_plan
from crypsis.release.published import keep_published_members
from crypsis.rulebook import Rulebook
from crypsis.run.choosing import Solution, figure_for_choosing
from crypsis.run.front import Front
from crypsis.table.readers.formats import WrittenFormat
from crypsis.table.table import PERTURBATION, Table
from crypsis.text import intruder_text, ruin_text
from crypsis.text.reports import offer_title_for_reports


def complaints_of_solution(solution: Solution) -> tuple[str, ...]:
    """Why a solution does not meet the demands of the plan, in a sentence; empty if it does."""
    if solution.feasible:
        return ()
    return (f"solution {solution.number} may not be released: {'; '.join(solution.complaints)}",)


def refuse_infeasible(solution: Solution) -> None:
    """Refuse a solution that does not meet the demands of the plan."""
    for complaint in complaints_of_solution(solution):
        raise ReleaseRefused(complaint)


def complaints_of_scenarios(plan: Plan, masked: Table) -> tuple[str, ...]:
    """Why a file that only scenarios protect may not be released: one does not say why nobody knows other columns."""
    everything, smallest = set(masked.quasi_identifiers), smallest_anonymity_class(masked)
    covering = [*(each.knows for each in plan.scenario), *(model.known_columns(masked) for model in plan.models())]
    if smallest is None or any(set(columns) >= everything for columns in covering):
        return ()
    least = max((model.least_class_size for model in plan.models()), default=2)
    silent = [each.name for each in plan.scenario if not each.because.strip()]
    bare = [] if plan.scenario or not plan.require else [item.model for item in plan.require]
    if smallest.size >= least or not (silent or bare):
        return ()
    named = f"{'each of ' * (len(silent) > 1)}{listing(map(repr, silent))}"
    table = word(python="an entry of scenario=[…]", command="a [[scenario]] table", studio="a scenario")
    told = named if silent else f"{table} that requires {listing(bare)}"
    return (
        f"no demand of the plan covers an intruder who knows all {len(everything)} "
        f"quasi-identifiers, over which the smallest class has {smallest.size} of {least} records; say in {told} why "
        f'nobody knows the other columns (because = "…"), or require a model over all of them',
    )


@dataclass(frozen=True)
class ReleaseTerms:
    """What a person adds to the plan when a solution is released."""

    title: str
    rulebook: Rulebook | str | Path | None
    waivers: Mapping[str, str] | None  # findings and rules that may pass, with reasons; None: those of the plan
    sign: str | Path | None  # file of a private key
    preview: bool = False  # only to be looked at: not entered into the ledger of releases
    format: WrittenFormat | None = None  # of the data; that of the plan unless given
    replaces: tuple[str | Path, ...] = ()  # folders of earlier releases whose place this one takes
    ledger: str | Path = ""  # the ledger, where it is not the plan's or the user's


def release_solution(
    plan: Plan,
    original: Table,
    masked: Table,
    solution: Solution,
    folder: Path,
    *,
    front: Front,
    seed: int,
    terms: ReleaseTerms,
    beside: Mapping[str, Table] | None = None,
) -> None:
    """Publish the masked table of a solution.

    `beside`: baselines of which the report asks the same analyses.
    """
    _, released, _ = keep_published_members(plan.models(), masked, original)
    publish(
        masked,
        folder,
        models=plan.models(),
        original=original,
        description=replace(
            ReleaseDescription.of(masked, terms.title),
            chosen=reason_for_releasing(front, solution),
            useful=plan.useful,
            because={each.name: each.because for each in plan.scenario},
            front=_points(front, solution),
            seed=seed,
            beside=beside or {},
            complaints=complaints_of_solution(solution),
            beyond=complaints_of_scenarios(plan, masked),
        ),
        format=terms.format or plan.release.format,
        order=plan.release.order,
        limits=_limits(plan, original if released is None else released, ReleaseDescription.of(masked).family),
        scenarios={each.name: each.knows for each in plan.scenario} or None,
        rulebook=terms.rulebook,
        waivers=plan.waivers() if terms.waivers is None else terms.waivers,
        unstated=plan.list_unstated(),
        sign=terms.sign,
        ledger=ledger_of_plan(plan, not terms.preview, terms.replaces, terms.ledger),
    )


def reason_for_releasing(front: Front, solution: Solution) -> str:
    """Why a solution of a run is released: the offer it is, or how it differs from the default."""
    text = f"Solution {solution.number} ({solution.title}) of {len(front.everything)} measured ones. "
    offers = [each for each in front.offers if each.solution.number == solution.number]
    if offers:
        return f"{text}{offer_title_for_reports([each.name for each in offers])}: {front.why(offers[0])}"
    loss, risk = (f"{figure_for_choosing(solution, axis):.4g} %" for axis in ("loss", "risk"))
    text += (
        f"Chosen by hand: loss {loss}, risk {risk}, the people found by {intruder_text(solution.evaluation.figures)}."
    )
    if front.offers:
        usual = front.offers[0].solution
        figures = [f"{figure_for_choosing(usual, axis):.4g} %" for axis in ("loss", "risk")]
        text += f" The least loss within the limits would be solution {usual.number}: {figures[0]}, {figures[1]}."
    ruined = ruin_text(front.ruins(solution))
    return f"{text} Warning: {ruined}." if ruined else text


def _limits(plan: Plan, original: Table, family: str) -> list[MeasuredLimit]:
    """Limits and uses of the plan, measured again on the written file; a limit on a risk holds for every intruder."""
    objective = plan.objective(original)
    found = []
    if plan.suppression < 1.0:
        allowed = OverallFigure(objective, "suppressed", family)
        found.append(MeasuredLimit(allowed, 100.0 * plan.suppression, "suppressed records"))
    for limit in plan.limit:
        measure = limit.build()
        if measure is None:
            figure = cast(Figure, limit.measure)
            found.append(MeasuredLimit(OverallFigure(objective, figure, family), limit.at_most, limit.measure))
            continue
        if measure.aim != "risk" or measure.columns or not plan.scenario:
            found.append(MeasuredLimit(measure, limit.at_most, limit.measure))
            continue
        for each in plan.scenario:
            names = columns_objective_reads(measure, original, each.knows)
            if names:
                bound = measure.model_copy(update={"columns": names})
                found.append(MeasuredLimit(bound, limit.at_most, f"{limit.measure}, {each.name}"))
    found += [MeasuredLimit(each.measure, each.at_most, each.title) for each in plan.column_limits() if each.measure]
    found += [MeasuredLimit(each.measure, each.at_most) for each in plan.household_limits(original) if each.measure]
    if family == PERTURBATION:
        found += _held_out(objective)
    return found + [MeasuredLimit(u.build(), u.tolerance, u.title, u.treated_as == "limit", True) for u in plan.use]


def _held_out(objective: Objective) -> list[MeasuredLimit]:
    """Attacks that no search uses, which may find no more in a perturbed file than those that are limited."""
    most, named = objective.held_out_limit, {title for title, _, _ in objective.limits}
    if most is None or HELD_OUT in named:
        return []
    several = len(objective.intruders) > 1
    return [
        MeasuredLimit(HeldOutLinkage(columns=knows), most, f"{HELD_OUT}, {name}" if several else HELD_OUT)
        for name, knows in objective.intruders.items()
    ]


def _points(front: Front, chosen: Solution) -> list[dict[str, Any]]:
    """The front and the baselines, for the chart of the internal report."""
    listed = {s.number: s for s in (*front.solutions, *front.baselines, chosen)}
    return [
        {
            "name": f"{s.number} {s.title}",
            "family": s.title,
            "kind": "chosen" if s.number == chosen.number else "baseline" if s.baseline else "solution",
            "loss": s.figure("loss"),
            "risk": s.figure("risk"),
            "intruder": intruder_text(s.evaluation.figures),
        }
        for s in listed.values()
        if s.figure("loss") is not None and s.figure("risk") is not None
    ]
