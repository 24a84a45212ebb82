"""The whole job in one call, for people at a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crypsis.evolution import Engine
from crypsis.plan import Plan
from crypsis.plan.catalogue import models as known_models
from crypsis.plan.catalogue import searches as known_searches
from crypsis.privacy.model import PrivacyModel
from crypsis.run.run import Run
from crypsis.searches.search import Search
from crypsis.table.table import Table

MEMORY = "(memory)"
"""Source of a plan whose table never was a file."""


def evolve(
    table: Table,
    search: str | Search | Sequence[str | Search] = "partition",
    models: PrivacyModel | Sequence[PrivacyModel] = (),
    budget: str | None = "30s",
    seed: int | None = None,
    folder: str | Path | None = None,
    engine: Engine | None = None,
    **more: Any,
) -> Run:
    """Search a front of protections of a table and give back the finished run.

    search  names or settings objects of one or several searches
    models  what a released file must meet
    budget  '30s', '500 evaluations', '50 generations'; None: what each search's recipe asks for
    folder  where the run is kept; default: a temporary folder that goes when the run is closed
    more    further tables of a plan: measures, scenario, use, limit, run, release

    >>> run = crypsis.evolve(table, search=["partition", "lattice"], models=KAnonymity(k=5), budget="20s")
    >>> run.front
    >>> crypsis.to_frame(run.table("knee"))
    """
    chosen = [search] if isinstance(search, (str, Search)) else list(search)
    wanted = [models] if isinstance(models, PrivacyModel) else list(models)
    plan = Plan.parse(
        {
            "data": {"source": MEMORY},
            "columns": {a.name: {"role": a.role.value, "kind": a.kind.value} for a in table.attributes},
            "require": [{"model": known_models.name_of(m), **_settings(m)} for m in wanted],
            "search": [
                {"name": s} if isinstance(s, str) else {"name": known_searches.name_of(s), **_settings(s)}
                for s in chosen
            ],
            **more,
        },
        where="evolve",
    )
    keeping = TemporaryDirectory(prefix="crypsis-run-") if folder is None else None
    place = Path(keeping.name) / "run" if keeping is not None else Path(str(folder))
    run = Run.start(plan, place, engine, table=table, seed=seed, budget=budget)
    run.keep(keeping)
    for _ in run.proceed():
        pass
    return run


def _settings(thing: PrivacyModel | Search) -> dict[str, Any]:
    return thing.model_dump(mode="json", exclude_unset=True)
