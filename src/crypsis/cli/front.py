"""`crypsis front`: the solutions of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crypsis.cli import options
from crypsis.cli.options import pairs
from crypsis.cli.output import figure, say, say_json
from crypsis.small_tables import table

if TYPE_CHECKING:
    from crypsis.run import Front, Solution

OUTLINE = 12
"""Solutions listed at the end of a run; `crypsis front` lists them all."""


def front(
    folder: options.RunFolder,
    where: Annotated[
        str | None, typer.Option(help='a condition on figures, e.g. "k >= 5 and loss < 20"', show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="all solutions, also those that may not be released")
    ] = False,
    importance: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=0 to 5: weigh the loss of a column anew; may be repeated", show_default=False),
    ] = None,
    families: Annotated[
        bool, typer.Option("--families", help="what each search contributed: points, hypervolume lost without it")
    ] = False,
    json: options.Json = False,
) -> None:
    """List the best solutions of a run, with its baselines.

    The front: solutions that may be released and that no other one beats in loss, risk and uses.
    """
    from crypsis.run import Run

    with Run.open(folder) as opened:
        found = opened.reweigh(_importances(importance)) if importance else opened.front
    chosen = found.everything if everything else found.listed
    if where:
        chosen = found.where(where, chosen)
    if json:
        say_json(front_content(found, chosen) | ({"families": _families_content(found)} if families else {}))
        return
    if families:
        _show_families(found)
        return
    show_front(found, chosen)


def _families_content(found: Front) -> list[dict[str, Any]]:
    """What each search contributed, as plain data."""
    from dataclasses import asdict

    from crypsis.run.front import family_contributions

    return [asdict(each) for each in family_contributions(found)]


def _show_families(found: Front) -> None:
    """What each search contributed, as a table and a sentence."""
    from crypsis.run.front import family_contributions
    from crypsis.text.reports import families_text

    listed = family_contributions(found)
    if not listed:
        say("no solution was measured yet")
        return
    head = ("method", "releasable", "on the front", "hypervolume lost without it, %")
    rows = [(each.name, str(each.offered), str(each.points), figure(each.lost)) for each in listed]
    say(table(head, rows, right=[1, 2, 3]))
    say()
    say(families_text(listed))


def _importances(texts: Sequence[str]) -> dict[str, float]:
    """['age=3'] → {'age': 3.0}."""
    from crypsis.errors import PlanError

    found = {}
    for name, text in pairs(texts, "--importance").items():
        try:
            found[name] = float(text)
        except ValueError:
            raise PlanError(f"--importance {name}={text}: write a number from 0 to 5") from None
    return found


def front_content(found: Front, chosen: Sequence[Solution] | None = None) -> dict[str, Any]:
    """A front as plain data."""
    listed = found.listed if chosen is None else chosen
    return {
        "axes": list(found.axes),
        "default": found.offers[0].solution.number if found.offers else None,
        "offers": [
            {"name": offer.name, "number": offer.solution.number, "useful": offer.useful, "why": found.why(offer)}
            for offer in found.offers
        ],
        "front": [solution.to_dict() for solution in listed],
        "baselines": [solution.to_dict() for solution in found.baselines],
        "measured": len(found.everything),
    }


def show_front(found: Front, chosen: Sequence[Solution]) -> None:
    """Print solutions of a front, its baselines, and what is not on it for which reason."""
    from crypsis.measures.objective import ALL_KNOWING

    axes = found.columns_shown
    if chosen:
        say(found.table_text(chosen))
    else:
        say("no solution that may be released" + ("" if found.everything else " was measured yet"))
        if not any(solution.feasible for solution in found.everything):
            _show_closest(found)
    if "risk" in axes and (chosen or found.baselines):
        say()
        for who in found.intruders(chosen or found.baselines):
            say(f"risk: per cent of the people found by {who}")
    if ALL_KNOWING in axes:
        say()
        say(
            f"{ALL_KNOWING}: risk in per cent of an intruder who knows every quasi-identifier, whom no scenario covers;"
        )
        say("k is over every quasi-identifier too")
    if found.offers and chosen:
        say()
        _show_offers(found)
    listed = {solution.number for solution in chosen}
    beside = [solution for solution in found.baselines if solution.number not in listed]
    if beside:
        say()
        say("baselines")
        say(found.table_text(beside))
    for own, winner in found.beaten if listed else ():
        figures = ", ".join(f"{axis} {figure(own.figure(axis))}" for axis in axes)
        say(f"not on the front: {own.title} (e.g. no. {own.number}: {figures}; no. {winner.number} is better)")
    lost = [solution for solution in found.out_of_reach if solution.number not in listed]
    if lost:
        say()
        say(
            f"{len(lost)} more solution{'s'[: len(lost) != 1]} would be on the front but may not be released "
            f"(e.g. {lost[0].complaints[0]}); see them with --all"
        )


def _show_closest(found: Front) -> None:
    """What comes closest to release, and what would have to be allowed for it."""
    from crypsis.run.choosing import choose_closest_solution
    from crypsis.text.reports import change_text_for_reports

    nearest = choose_closest_solution(found.everything)
    if nearest is not None:
        solution = nearest.solution
        say(f"closest: no. {solution.number} ({solution.title}): {'; '.join(solution.complaints)}")
        say(f"it could be released with {' and '.join(map(change_text_for_reports, nearest.changes))}")


def _show_offers(found: Front) -> None:
    """The offers, each in two sentences; a solution that is offered under several names once."""
    from crypsis.run.choosing import group_offers_for_choosing
    from crypsis.text.reports import offer_title_for_reports

    for offers in group_offers_for_choosing(found.offers):
        default = ", the default" if offers[0] is found.offers[0] else ""
        number = offers[0].solution.number
        say(f"{offer_title_for_reports([o.name for o in offers])} (--pick {offers[0].name}{default}): no. {number}")
        say(f"  {found.why(offers[0])}")
