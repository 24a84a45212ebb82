"""`crypsis resume`: continue a run."""

from __future__ import annotations

from crypsis.cli import options
from crypsis.cli.searching import carry_out, chosen_engine


def resume(
    folder: options.RunFolder,
    budget: options.Budget = None,
    engine: options.EngineName = None,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Continue a run.

    One that was stopped or killed, or, with a larger --budget, one that has ended.
    """
    from crypsis.run import Run

    with Run.open(folder) as opened:
        document = opened.plan
    with chosen_engine(document, engine, workers, scheduler) as place:
        carry_out(Run.resume(folder, place, budget=budget), quiet, json)
