"""`crypsis resume`: continue a run."""

from __future__ import annotations

from crypsis.cli import options
from crypsis.cli.beginning import command_began
from crypsis.cli.option_groups import PlanEngine
from crypsis.cli.searching import carry_out


def resume(
    folder: options.RunFolder,
    place: PlanEngine,
    budget: options.Budget = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Continue a run.

    One that was stopped or killed, or, with a larger --budget, one that has ended.
    """
    began = command_began()
    from crypsis.run import Run

    with Run.open(folder) as opened:
        document = opened.plan
    with place.opened(document) as engine:
        continued = Run.resume(folder, engine, budget=budget)
        continued.began = began
        carry_out(continued, quiet, json)
