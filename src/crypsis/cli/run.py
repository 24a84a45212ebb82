"""`crypsis run`: run the searches of a plan."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from crypsis.cli import options
from crypsis.cli.beginning import command_began
from crypsis.cli.generalise import warn_if_large
from crypsis.cli.option_groups import PlanEngine
from crypsis.cli.output import working
from crypsis.cli.searching import carry_out, free
from crypsis.errors import PlanError


def run(
    plan: options.PlanToRead,
    place: PlanEngine,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder of the run; must not exist. Default: beside the plan")
    ] = None,
    budget: options.Budget = None,
    seed: options.Seed = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Run the searches of a plan until the budget is used.

    The budget counts from the start of the command: reading, baselines and measuring are in it, compiling is not.
    Ctrl-C stops the run and keeps its front (exit 3); `crypsis resume` continues it.
    """
    began = command_began()
    from crypsis.plan import Plan, read_budget
    from crypsis.run import Run
    from crypsis.run.warm_up import compile_ahead

    document = Plan.read(plan)
    compile_ahead()
    if budget is not None:
        try:
            read_budget(budget)
        except ValueError as error:
            raise PlanError(f"--budget: {error}") from None
    folder = out or free(plan.with_name(f"{plan.stem}-run"))
    warn_if_large(plan.parent / document.data.source)
    with place.opened(document) as engine:
        with nullcontext() if quiet else working(f"reading {plan.parent / document.data.source}"):
            text = plan.read_text(encoding="utf-8")
            started = Run.start(document, folder, engine, home=plan.parent, text=text, seed=seed, budget=budget)
        started.began = began
        carry_out(started, quiet, json)
