"""A whole run in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from crypsis.errors import PlanError, describe_type, read_path
from crypsis.evolution import Engine
from crypsis.plan import Plan
from crypsis.plan.draft import draft_hierarchies, draft_kinds, draft_sections
from crypsis.plan.sections import models as known_models
from crypsis.plan.sections import searches as known_searches
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.model import PrivacyModel
from crypsis.run.session import Run
from crypsis.run.watching import watch_progress
from crypsis.searches.search import Search
from crypsis.table.attribute import Attribute, Role
from crypsis.table.frames import Frame, Kinds, as_table, named_columns, wrap
from crypsis.table.profile import profile
from crypsis.table.table import Table

MEMORY = "(memory)"
"""Source of a plan whose table is in memory."""

DECLARED = "named confidential in the call"
"""Why nobody outside knows a confidential column of a table in memory: whoever names it so in Python says it."""

Searches = str | Search | Sequence[str | Search | Mapping[str, Any]]


def protect(
    data: Table | Frame,
    *,
    quasi_identifiers: Iterable[str] | None = (),
    confidential: Iterable[str] | None = (),
    identifiers: Iterable[str] | None = (),
    roles: Mapping[str, str] | None = None,
    kinds: Kinds | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    k: int = 5,
    models: PrivacyModel | Sequence[PrivacyModel] = (),
    limits: Mapping[str, float] | None = None,
    search: Searches | None = None,
    budget: str | None = "30s",
    seed: int | None = None,
    folder: str | Path | None = None,
    progress: bool | None = None,
) -> Run:
    """Search for protected versions of a table or frame; returns the finished run.

    Parameters
    ----------
    data : Table or frame
        A `crypsis.Table`, or a pandas, polars or pyarrow frame whose columns are named below.
    quasi_identifiers, confidential, identifiers : iterables of str
        Roles of the columns of a frame; a `Table` has its roles already.
    roles : mapping of str to str, optional
        Further roles: "weight", "household", "stratum", or "other". A column without a role is undecided, and nothing
        is released before it has one.
    kinds : mapping of str to str or sequence of str, optional
        "numeric", "ordinal" or "nominal" by column of a frame, or the categories of an ordinal column from low to high;
        by default the kind that `crypsis init` drafts: whole numbers that look like codes are nominal.
    hierarchies : mapping of str to str or Hierarchy, optional
        Hierarchies of columns, e.g. ``{"age": "intervals:5,10,20"}``; for a quasi-identifier without one, the builder
        that `crypsis init` proposes.
    k : int
        Smallest equivalence class over all quasi-identifiers; where a column has the role household and people have
        several records, also the demand on households or persons that `crypsis init` drafts.
    models : PrivacyModel or sequence of them
        Further privacy models that a released file must meet.
    limits : mapping of str to float, optional
        Largest readings of measures, by name, in per cent; by default ``{"risk": 100 / k}``, as `crypsis init` drafts
        it; ``{}`` for none.
    search : str, Search or sequence of them, optional
        Names, settings objects or entries of a plan; by default the searches that `crypsis init` drafts for the table,
        `composite` first.
    budget : str or None
        "30s", "500 evaluations" or "50 generations"; with None, the budget of each search.
    seed : int, optional
        Makes the run repeatable; keep it secret. By default from the operating system.
    folder : path, optional
        Folder of the run; by default a temporary one that is removed when the run is closed.
    progress : bool, optional
        Whether a line on the standard error output says how far the run is; by default in notebooks and on terminals.
        Every improvement of the front is logged by the logger "crypsis" at the level INFO, without any value.

    Returns
    -------
    Run
        With `front`, `choose`, `decode`, `describe`, `frame` and `release`.

    Raises
    ------
    TableError, PlanError, SearchError
        If the data, a setting or a search cannot be used.

    Examples
    --------
    >>> people = crypsis.to_frame(crypsis.example(60))
    >>> run = crypsis.protect(people, quasi_identifiers=["age", "sex"], k=3, budget="2 generations", seed=1)
    >>> run.choose("best").figure("k") >= 3
    True
    >>> run.close()
    """
    given: dict[str, Any] = {
        "quasi_identifiers": named_columns(quasi_identifiers),
        "confidential": named_columns(confidential),
        "identifiers": named_columns(identifiers),
        "roles": _by_name("roles", roles, '{"shoe size": "other"}'),
        "kinds": _by_name("kinds", kinds, '{"degree": "nominal"}'),
        "hierarchies": _by_name("hierarchies", hierarchies, '{"age": "intervals:5,10,20"}'),
    }
    limits = None if limits is None else _by_name("limits", limits, '{"risk": 20}')
    table = as_table(data) if not any(given.values()) else wrap(data, **given)
    if not table.quasi_identifiers:
        raise PlanError(
            "protect: no column is a quasi-identifier, so nothing would be protected; name in quasi_identifiers what "
            "an intruder may know of people, or read crypsis.profile(data) and begin with "
            "roles=crypsis.profile(data).roles"
        )
    k = cast(KAnonymity, known_models.build("k-anonymity", k=k)).k  # a k that cannot be is refused by its own sentence
    if table is data:
        table = draft_hierarchies(table)
    else:
        seen = profile(table)
        said = {*given["kinds"], *given["hierarchies"]}
        coded = {name: kind for name, kind in draft_kinds(table, seen).items() if name not in said}
        table = wrap(data, **given | {"kinds": coded | given["kinds"]}) if coded else table
        table = draft_hierarchies(table, seen)
    drafted = draft_sections(table, k)
    further = _demands(models)
    return evolve(
        table,
        drafted["search"] if search is None else search,
        [*_drafted_models(drafted), *further],
        budget=budget,
        seed=seed,
        folder=folder,
        progress=progress,
        limit=drafted["limit"] if limits is None else [{"measure": n, "at_most": v} for n, v in limits.items()],
    )


def evolve(
    table: Table | Frame,
    search: Searches | None = None,
    models: PrivacyModel | Sequence[PrivacyModel] = (),
    budget: str | None = "30s",
    seed: int | None = None,
    folder: str | Path | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
    **sections: Any,
) -> Run:
    """Search protections of a table under any models and sections of a plan, and return the finished run.

    Parameters
    ----------
    table : Table
        What is protected; a frame has no roles, so wrap it first, or use `protect`.
    search : str, Search or sequence of them, optional
        Names or settings objects of one or several searches; by default those that `crypsis init` drafts.
    models : PrivacyModel or sequence of them
        What a released file must meet.
    budget : str, optional
        As for `protect`.
    seed : int, optional
        As for `protect`.
    folder : path, optional
        As for `protect`.
    engine : Engine, optional
        Where candidates are scored; by default threads of this process, one per core.
    progress : bool, optional
        As for `protect`.
    **sections
        Further sections of a plan: measures, scenario, use, limit, run, release.

    Returns
    -------
    Run

    Raises
    ------
    PlanError
        If `table` is a frame, or a section is wrong.
    SearchError
        If a search does not apply to the table.

    Examples
    --------
    >>> table = crypsis.example(60)
    >>> models = [crypsis.KAnonymity(k=3)]
    >>> with crypsis.evolve(table, "local-recoding", models, budget="1 generations", seed=1) as run:
    ...     run.choose("best").feasible
    True
    """
    data = as_table(table)
    if data is not table:
        raise PlanError(
            "evolve: a frame has no roles, so nothing says what to protect; name its quasi-identifiers, e.g. "
            "crypsis.protect(frame, quasi_identifiers=['age', 'sex']), or wrap it first with crypsis.wrap"
        )
    wanted = _demands(models)
    chosen = draft_sections(data, _least_class(wanted))["search"] if search is None else _choices(search)
    plan = Plan.parse(
        {
            "data": {"source": MEMORY},
            "columns": {a.name: _column(a) for a in data.attributes},
            "require": [{"model": known_models.name_of(m), **_settings(m)} for m in wanted],
            "search": chosen,
            **sections,
        },
        where="the call",
    )
    temporary = TemporaryDirectory(prefix="crypsis-run-") if folder is None else None
    place = Path(temporary.name) / "run" if temporary is not None else read_path(folder, "folder")
    run = Run.start(plan, place, engine, table=data, seed=seed, budget=budget)
    run.keep(temporary)
    watch_progress(run.proceed(), progress)
    return run


def _choices(search: Searches) -> list[dict[str, Any]]:
    """Entries of a plan for searches that were named, made or drafted."""
    chosen = search if isinstance(search, (list, tuple)) else [search]
    found = list[dict[str, Any]]()
    for each in chosen:
        if isinstance(each, str):
            found.append({"name": each})
        elif isinstance(each, Search):
            found.append({"name": known_searches.name_of(each), **_settings(each)})
        elif isinstance(each, Mapping):
            found.append(dict(each))
        else:
            raise PlanError(
                f"search: {describe_type(each)} names no search; give a name, a settings object or an entry of a "
                f'plan, e.g. "composite", crypsis.MemeticSearch(k=5) or {{"name": "memetic", "k": 5}}'
            )
    return found


def _demands(models: PrivacyModel | Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """Privacy models as a list."""
    wanted = list(models) if isinstance(models, (list, tuple)) else [models]
    odd = [each for each in wanted if not isinstance(each, PrivacyModel)]
    if odd:
        raise PlanError(
            f"models: {describe_type(odd[0])} is no privacy model with its settings; "
            f"write e.g. models=[crypsis.DistinctLDiversity(l=2)]"
        )
    return cast(list[PrivacyModel], wanted)


def _by_name(argument: str, given: object, example: str) -> dict[str, Any]:
    """An argument that says something by name, as a dictionary."""
    if given is not None and not isinstance(given, Mapping):
        raise PlanError(f"{argument}: {describe_type(given)} says nothing by name; write e.g. {argument}={example}")
    return dict(given or {})


def _drafted_models(drafted: Mapping[str, Any]) -> list[PrivacyModel]:
    """The models that a first plan demands."""
    return [
        known_models.build(each["model"], **{name: value for name, value in each.items() if name != "model"})
        for each in drafted["require"]
    ]


def _least_class(models: Sequence[PrivacyModel]) -> int:
    """Records of the smallest class that the models allow, two at least."""
    return max([2, *(model.least_class_size for model in models)])


def _column(attribute: Attribute) -> dict[str, str]:
    """The entry of a column in the plan; who names a column confidential in Python says that nobody knows it."""
    entry = {"role": attribute.role.value, "kind": attribute.kind.value}
    return entry | {"because": DECLARED} if attribute.role is Role.CONFIDENTIAL else entry


def _settings(thing: PrivacyModel | Search) -> dict[str, Any]:
    return thing.model_dump(mode="json", exclude_unset=True)
