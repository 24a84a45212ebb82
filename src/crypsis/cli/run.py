"""`crypsis run`: carry out a plan."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import inputs
from crypsis.cli.generalise import warn_if_large
from crypsis.cli.output import working
from crypsis.cli.searching import BudgetText, EngineName, Quiet, Scheduler, Workers, carry_out, chosen_engine, free
from crypsis.errors import PlanError


def run(
    plan: Annotated[Path, typer.Argument(help="the plan.toml to carry out", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the run; must not exist. Default: beside the plan")
    ] = None,
    budget: BudgetText = None,
    engine: EngineName = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="for a repeatable run; keep it secret", show_default=False)
    ] = None,
    quiet: Quiet = False,
    json: inputs.Json = False,
) -> None:
    """Carry out a plan: baselines, then the searches until the budget is used. Ctrl-C keeps the front (exit 3)."""
    from crypsis.plan import Plan, read_budget
    from crypsis.run import Run

    document = Plan.read(plan)
    if budget is not None:
        try:
            read_budget(budget)
        except ValueError as error:
            raise PlanError(f"--budget: {error}") from None
    folder = out or free(plan.with_name(f"{plan.stem}-run"))
    warn_if_large(plan.parent / document.data.source)
    with chosen_engine(document, engine, workers, scheduler) as place:
        with nullcontext() if quiet else working(f"reading {plan.parent / document.data.source}"):
            text = plan.read_text(encoding="utf-8")
            started = Run.start(document, folder, place, home=plan.parent, text=text, seed=seed, budget=budget)
        carry_out(started, quiet, json)
