"""From a run to a release: the chosen solution, decoded and published under all the plan demands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crypsis.errors import ReleaseRefused

if TYPE_CHECKING:
    from crypsis.release.guarantees import Limit
    from crypsis.run import Run, Solution


def release_solution(
    run: Run, pick: str | int, folder: Path, title: str = "Protected microdata", **more: Any
) -> Solution:
    """Publish a solution of a run; refused, with every reason, if it does not keep what the plan demands.

    more  what `crypsis.release.publish` takes beside: a rulebook, waivers
    """
    from crypsis.release import Account, publish

    solution = run.pick(pick)
    if not solution.feasible:
        reasons = "; ".join(solution.measured.complaints)
        raise ReleaseRefused(f"solution {solution.number} may not be released: {reasons}")
    plan = run.plan
    publish(
        run.table(solution),
        folder,
        models=plan.models(),
        original=run.original,
        account=Account(title, _sentence(solution), solution.family, dict(solution.facts)),
        format=plan.release.format,
        order=plan.release.order,
        limits=_limits(run),
        scenarios={each.name: each.knows for each in plan.scenario} or None,
        front=_points(run, solution),
        seed=run.lock.seed,
        **more,
    )
    return solution


def _sentence(solution: Solution) -> str:
    words = solution.words[:1].upper() + solution.words[1:]
    return f"{words}." if not words.endswith(".") else words


def _limits(run: Run) -> list[Limit]:
    """The plan's limits and uses; a limit on a risk holds for every intruder."""
    from crypsis.release.guarantees import Limit
    from crypsis.run.evaluation import readable

    found = []
    for limit in run.plan.limit:
        measure = limit.build()
        if measure is None:
            continue  # loss, risk and suppression were judged with the solution
        if measure.aim != "risk" or measure.columns or not run.plan.scenario:
            found.append(Limit(measure, limit.at_most, limit.measure))
            continue
        for each in run.plan.scenario:
            names = readable(measure, run.original, each.knows)
            if names:
                bound = measure.model_copy(update={"columns": names})
                found.append(Limit(bound, limit.at_most, f"{limit.measure}, {each.name}"))
    uses = run.plan.use
    return found + [Limit(u.build(), u.tolerance, u.title, binding=u.treated_as == "limit") for u in uses]


def _points(run: Run, chosen: Solution) -> list[dict[str, Any]]:
    """The front and the baselines, for the chart of the internal report."""
    front = run.front
    listed = {s.number: s for s in (*front.solutions, *front.baselines, chosen)}
    return [
        {
            "name": f"{s.number} {s.title}",
            "family": s.title,
            "kind": "chosen" if s.number == chosen.number else "baseline" if s.baseline else "solution",
            "loss": s.figure("loss"),
            "risk": s.figure("risk"),
        }
        for s in listed.values()
        if s.figure("loss") is not None and s.figure("risk") is not None
    ]
