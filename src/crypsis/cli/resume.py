"""`crypsis resume`: go on with a run."""

from __future__ import annotations

from crypsis.cli import inputs
from crypsis.cli.searching import BudgetText, EngineName, Quiet, Scheduler, Workers, carry_out, chosen_engine


def resume(
    folder: inputs.RunFolder,
    budget: BudgetText = None,
    engine: EngineName = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
    json: inputs.Json = False,
) -> None:
    """Go on with a run that was stopped or killed; with a larger --budget, with one that had ended."""
    from crypsis.run import Run

    with Run.open(folder) as opened:
        document = opened.plan
    with chosen_engine(document, engine, workers, scheduler) as place:
        carry_out(Run.resume(folder, place, budget=budget), quiet, json)
