"""A session on a run: its folder and table, opened once.

The table is read, fingerprinted and bound to the objective once; solutions are decoded when they are needed.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from crypsis.engines import engine as engine_named
from crypsis.errors import (
    CrypsisError,
    PlanError,
    ReleaseRefused,
    SearchError,
    check_seed,
    listing,
    name_step,
    read_path,
    word,
)
from crypsis.evolution import Engine
from crypsis.measures.masking_description import MaskingDescription, describe_masking
from crypsis.measures.measure import sample_records_to_measure
from crypsis.measures.objective import Objective
from crypsis.measures.utility import RuleHarm, UseResult, UtilityCard, utility_card
from crypsis.measures.utility.propensity import Model
from crypsis.plan import Plan, read_plan_budget
from crypsis.plan.checking import demand_obstacles, search_obstacles
from crypsis.plan.document import as_toml
from crypsis.plan.sections import Use
from crypsis.run import store as places
from crypsis.run.baselines import baselines
from crypsis.run.choosing import DEFAULT_PICK, Solution
from crypsis.run.clock import Moment
from crypsis.run.front import Front, weigh_columns
from crypsis.run.schedule import Schedule
from crypsis.run.search_state import DecodedTables, Encodings, Finishing, Progress
from crypsis.run.seeding import choose_seeds, write_seeds
from crypsis.run.steering import (
    Entry,
    Obedience,
    SteeringLog,
    What,
    digest_solution_key,
    fold_entries,
    stamp_entries,
)
from crypsis.run.store import Store
from crypsis.small_tables import draw_html_table
from crypsis.table.attribute import Role
from crypsis.table.frames import to_frame_like
from crypsis.table.rules import RuleCounts, judge_rule_violations, read_rule
from crypsis.table.table import Table, require_table
from crypsis.tasks import complete

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from crypsis.rulebook import Rulebook
    from crypsis.table.readers.formats import WrittenFormat

    PublishedFrame: TypeAlias = pl.DataFrame | pd.DataFrame | pa.Table

UNTOUCHED, PLAIN = "untouched", "plain MDAV"
"""The baseline that is the original itself, and the one that is beside every card."""
MADE_UP_TO = 20_000
"""Records up to which plain MDAV is made for a card."""


NEAR, LEAST_NEAR = 0.25, 1.0
"""Half a side of the box around a solution of which more is wanted: a share of its figure, and at least so much."""


def _check_range(name: str, ends: tuple[float, float]) -> tuple[float, float]:
    if not 0.0 <= ends[0] <= ends[1] <= 1e6:
        raise SearchError(
            f"{name} {ends[0]:g}-{ends[1]:g}: the box goes from a smaller to a larger per cent, from 0 on"
        )
    return ends


class Run:
    """A run: its folder, the table it protects, and its solutions.

    `Run.start` and `crypsis.protect` make a new run, `Run.open` opens one, `Run.resume` continues one.

    Parameters
    ----------
    folder : Path
        The folder of the run.
    plan : Plan
        Its plan.
    engine : Engine, optional
        Where candidates are scored; by default threads of this process, one per core.
    table : Table, optional
        The data, for a run that protects a table from memory.

    Examples
    --------
    >>> run = crypsis.protect(crypsis.example(60), k=3, search="local-recoding", budget="1 generations", seed=1)
    >>> run.choose("best").feasible
    True
    >>> run.close()
    """

    def __init__(self, folder: Path, plan: Plan, engine: Engine | None = None, table: Table | None = None) -> None:
        self.began = Moment.now()
        """When this session began; a budget in seconds is charged from here."""
        self.folder, self.plan, self.engine = folder, plan, engine
        self.lock = places.Lock.read(folder)
        self.store = Store(folder / places.STORE)
        if self.store.run != self.lock.identity:
            self.store.close()
            raise SearchError(
                f"{folder}: {places.LOCK} and {places.STORE} are not of one run, or one of them was changed after the "
                f"run wrote it; put back a copy of the folder from before, or start the run again in a new folder"
            )
        self._given, self._trusted = table, False
        self._temporary: TemporaryDirectory[str] | None = None
        self._front: tuple[object, Front] | None = None

    # -- opening and closing --

    @classmethod
    def start(
        cls,
        plan: Plan,
        folder: str | Path,
        engine: Engine | None = None,
        *,
        home: str | Path | None = None,
        table: Table | None = None,
        text: str | None = None,
        seed: int | None = None,
        budget: str | None = None,
        parent: Run | None = None,
        steered_by: Sequence[Entry] = (),
    ) -> Run:
        """Make a new run; `proceed` starts the searches.

        Parameters
        ----------
        plan : Plan
            What is searched and demanded.
        folder : path
            Must not exist yet.
        engine : Engine, optional
            Where candidates are scored; by default threads of this process, one per core.
        home : path, optional
            Folder to which paths of the plan are relative; not needed with a table.
        table : Table, optional
            The data, instead of the file of the plan.
        text : str, optional
            The plan as written, with comments.
        seed : int, optional
            Instead of the plan's; without both, from the operating system.
        budget : str, optional
            "60s", "500 evaluations" or "50 generations", instead of the plan's.
        parent : Run, optional
            An earlier run on the same data: its front is measured anew, what keeps the demands of the plan enters
            first, and searches of the same name begin from it.
        steered_by : sequence of Entry
            What another run of the plan obeyed (its `steering`): with its seed, the same solutions are found again.

        Returns
        -------
        Run

        Raises
        ------
        PlanError, SearchError
            If the plan names no search, one does not apply to the table, or no masking of the table can meet a demand.
        """
        began, folder = Moment.now(), Path(folder)
        _check_budget(budget)
        check_seed(seed)
        home = "" if home is None else str(Path(home).resolve())
        read = table if table is not None else plan.table(Path(home))
        impossible = demand_obstacles(plan, read)
        if impossible:
            raise PlanError("; ".join(impossible))
        if not plan.search:
            one = word(
                python='search=["composite"]', command='[[search]] name = "composite"', studio="composite on Goal"
            )
            raise PlanError(f"search: no search is named; name at least one, e.g. {one}")
        obstacles = search_obstacles(plan, read)
        if obstacles:
            raise SearchError("; ".join(obstacles))
        objective = plan.objective(read)
        chosen = next((s for s in (seed, plan.run.seed) if s is not None), secrets.randbits(128))
        if parent is not None and parent.lock.data != read.fingerprint():
            raise SearchError(
                f"{parent.folder}: a run on other data, or with other roles, so its solutions do not fit this plan; "
                f"start without it, or from a run on the same table"
            )
        seeds = [] if parent is None else choose_seeds(parent, plan)
        lock = places.Lock(
            chosen,
            home,
            read.fingerprint(),
            places.plan_fingerprint_in_store(plan),
            places.versions_for_run_store(),
            "" if parent is None else parent.folder.resolve().name,
        )
        places.create(folder, text if text is not None else as_toml(plan), lock, budget or plan.run.budget)
        run = cls(folder, plan, engine, read)
        if seeds:
            write_seeds(folder, run.store, seeds)
        if steered_by:
            SteeringLog(folder).write_all(steered_by)
        run.began, run._trusted = began, True
        run.objective = objective  # bound already, and cached
        return run

    @classmethod
    def open(cls, folder: str | Path, engine: Engine | None = None, *, table: Table | None = None) -> Run:
        """Open a run.

        Parameters
        ----------
        folder : path
            The folder of the run.
        engine : Engine, optional
            Where candidates are scored if it continues.
        table : Table, optional
            The data, for a run that protects a table from memory.

        Returns
        -------
        Run

        Raises
        ------
        SearchError
            If there is no run, or its plan has changed.
        """
        folder = read_path(folder, "folder")
        if table is not None:
            require_table(table, "the data of a run")
        if not (folder / places.STORE).is_file():
            raise SearchError(f"{folder}: is no run (no {places.STORE}); start one with {name_step('run PLAN')}")
        run = cls(folder, Plan.read(folder / places.PLAN), engine, table)
        if places.plan_fingerprint_in_store(run.plan) != run.lock.plan:
            run.close()
            raise SearchError(
                f"{folder / places.PLAN}: changed since the run began; restore the old plan, or start a new run with "
                f"the new one"
            )
        return run

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        engine: Engine | None = None,
        *,
        table: Table | None = None,
        budget: str | None = None,
    ) -> Run:
        """Open a run to continue it after its last complete quantum.

        Parameters
        ----------
        folder : path
            As for `open`.
        engine : Engine, optional
            As for `open`.
        table : Table, optional
            As for `open`.
        budget : str, optional
            Instead of the old one.

        Returns
        -------
        Run
        """
        run = cls.open(folder, engine, table=table)
        if budget is not None:
            _check_budget(budget)
            with places.lock_run_folder(run.folder), run.store.transaction():
                run.store.note("budget", budget)
        return run

    def attach(self, table: Table) -> None:
        """Use a table that was read elsewhere; its fingerprint is checked when it is used.

        Parameters
        ----------
        table : Table
            The data of the run.
        """
        if "original" not in self.__dict__:
            self._given = table

    def keep(self, folder: TemporaryDirectory[str] | None) -> None:
        """Keep a temporary folder until the run is closed.

        Parameters
        ----------
        folder : TemporaryDirectory or None
            The folder.
        """
        self._temporary = folder

    def close(self) -> None:
        """Close the store, and remove a temporary folder."""
        self.store.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- content --

    @cached_property
    def original(self) -> Table:
        """The table to protect; data that changed since the run began are refused."""
        if self._given is None and not self.lock.home:
            raise SearchError(f"{self.folder}: the run protects a table from memory; open it with that table")
        table = self._given if self._given is not None else self.plan.table(Path(self.lock.home))
        if not self._trusted and table.fingerprint() != self.lock.data:
            raise SearchError(
                f"{self.folder}: the data changed since the run began, so it cannot continue; restore the old file, or "
                f"start a new run"
            )
        return table

    @cached_property
    def objective(self) -> Objective:
        """The measures and demands of the plan, bound to the original."""
        return self.plan.objective(self.original)

    @cached_property
    def _searched_table(self) -> Table:
        """What the searches mask: the original, its other columns masked as the plan says, used ones of more weight."""
        with threadpool_limits(limits=1):  # one sum in every process, and no threads that wait for each other
            return self.plan.steer(self.plan.masked_beforehand(self.original, self.lock.seed))

    @cached_property
    def _decoded_tables(self) -> DecodedTables:
        finish = Finishing(self.original, self.plan.edit_rules())
        return DecodedTables(self.store, Encodings(self.plan, self._searched_table), finish)

    @property
    def front(self) -> Front:
        """The front of all searches and baselines."""
        version = self.store.version()
        if self._front is None or self._front[0] != version:
            steered = any(use.treated_as == "objective" for use in self.plan.use)
            with self.store.guard_reading():
                solutions = tuple(Solution.of(*stored) for stored in self.store.contents())
            axes = ("loss", "risk", *(["uses"] if steered else []))
            self._front = (version, Front(solutions, axes, self.plan.useful))
        return self._front[1]

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """All measured solutions, by number."""
        return self.front.everything

    @property
    def finished(self) -> bool:
        """Whether the budget is used; otherwise the run was stopped and can be resumed."""
        return bool(self.store.read_note("finished", False))

    # -- solutions --

    def choose(self, pick: Solution | str | int = DEFAULT_PICK) -> Solution:
        """Choose a solution.

        Parameters
        ----------
        pick : Solution, str or int
            A solution, its number, "faithful" (the least loss within all limits, the default), "balanced", "safest",
            "knee", or one of these words with a condition: "faithful where risk < 5".

        Returns
        -------
        Solution
        """
        return pick if isinstance(pick, Solution) else self.front.pick(pick)

    def reweigh(self, importance: Mapping[str, float]) -> Front:
        """The front by other importances of the columns, from what was measured: nothing is searched again.

        Parameters
        ----------
        importance : mapping of str to float
            0 to 5 by column; others keep that of the plan.

        Returns
        -------
        Front
        """
        declared = {n: c.importance for n, c in self.plan.columns.items() if c.role is Role.QUASI_IDENTIFIER}
        losses = [choice.name for choice in self.plan.measures.loss]
        return weigh_columns(self.front, {**declared, **importance}, losses)

    def decode(self, pick: Solution | str | int = DEFAULT_PICK) -> Table:
        """The masked table of a solution.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        Table
        """
        with threadpool_limits(limits=1):
            return self._decoded_tables[self.choose(pick)]

    def describe(self, pick: Solution | str | int = DEFAULT_PICK) -> MaskingDescription:
        """Describe what a solution does: treatment of each column, class sizes, and which records bear the loss.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        MaskingDescription
        """
        solution = self.choose(pick)
        return describe_masking(self.original, self.decode(solution), solution.family)

    def card(
        self, pick: Solution | str | int = DEFAULT_PICK, *, general: bool = True, records: int | None = None
    ) -> UtilityCard:
        """What a solution harmed, worst first: columns, pairs of columns, the whole file, and the declared uses.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.
        general : bool
            Whether pMSE is measured, which takes longest.
        records : int, optional
            Largest number of records that are compared, taken at equal distances; all unless given. Declared uses and
            edit rules are always measured on all.

        Returns
        -------
        UtilityCard
        """
        solution = self.choose(pick)
        masked = self.decode(solution)
        uses = [self._use(use, solution, masked) for use in self.plan.use]
        rules = [RuleHarm(title, counts.created, counts.records) for title, counts in self.rules(solution).items()]
        models: Sequence[Model] = ("pairs", "cart") if general else ()
        beside = self._plain_files(solution)
        original, whole = self.original, len(self.original)
        if records is not None and whole > records:
            rows = sample_records_to_measure(whole, records)
            original, masked = original.take(rows), masked.take(rows)
            beside = {name: table.take(rows) for name, table in beside.items()}
        card = utility_card(original, masked, self.plan.useful, uses, rules, general=models, beside=beside)
        return replace(card, drawn_from=whole if len(original) < whole else 0)

    def _plain_files(self, but: Solution) -> dict[str, Table]:
        """The masked tables of the other baselines, releasable or not, of which a card asks the same analyses.

        Plain MDAV is made here where the run had no time for it, unless the table is large.
        """
        measured = {each.title: each for each in self.front.baselines if each.title != UNTOUCHED}
        found = {}
        for each in baselines(self.plan, self.original):
            if each.name in measured and measured[each.name].number != but.number:
                found[each.name] = self.decode(measured[each.name])
            elif each.name == PLAIN and each.name not in measured and len(self.original) <= MADE_UP_TO:
                try:
                    masked = complete(each.make(self.original, np.random.default_rng(0)))
                except CrypsisError:  # the table does not allow it
                    continue
                found[each.name] = self._decoded_tables.finish(masked, each.family)
        return found

    def _use(self, use: Use, solution: Solution, masked: Table) -> UseResult:
        """A declared use as it was measured, with what its analysis gave."""
        value, name = solution.figure(use.title), use.measure
        if value is None:
            return UseResult(use.title, None, use.tolerance, name)
        counts = use.build().against(self.original).explain(masked).counts
        return UseResult(use.title, value, use.tolerance, name, counts)

    def rules(self, pick: Solution | str | int = DEFAULT_PICK) -> dict[str, RuleCounts]:
        """How a solution keeps the edit rules of the plan.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        dict of str to RuleCounts
            By the name of the rule: violations created, healed and kept, and records for which it is undecided.
        """
        masked = self.decode(pick)
        return {
            each.title: judge_rule_violations(read_rule(each.holds), self.original, masked) for each in self.plan.rule
        }

    def frame(self, pick: Solution | str | int = DEFAULT_PICK) -> PublishedFrame:
        """What a release of a solution publishes, as a frame of the library of the original, polars by default.

        Identifiers, the household column and suppressed records are left out, labels are those of the published file,
        rows are shuffled unless the plan keeps their order, and no index is kept. `release` looks at what the file
        reveals besides; only it judges and audits. Everything, for eyes inside: ``crypsis.to_frame(run.decode())``.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.

        Returns
        -------
        polars.DataFrame, pandas.DataFrame or pyarrow.Table

        Raises
        ------
        ReleaseRefused
            If the solution may not be released, or nobody decided about a column.
        """
        from crypsis.release.published import flatten, order_published_rows, prepare_published
        from crypsis.run.releasing import refuse_infeasible

        solution = self.choose(pick)
        refuse_infeasible(solution)
        undecided = self.original.names_by_role(Role.UNDECIDED)
        if undecided:
            raise ReleaseRefused(
                f"nobody decided what {listing(undecided)} may tell an intruder, so nothing may be published; name "
                f"each in quasi_identifiers, confidential or identifiers of the call, or as roles="
                f'{{"{undecided[0]}": "other"}}; crypsis.to_frame(run.decode()) has every column, for eyes inside'
            )
        masked, _, _ = prepare_published(self.plan.models(), self.decode(solution), self.original)
        published: PublishedFrame = to_frame_like(
            flatten(masked, order_published_rows(masked, self.plan.release.order)), self.original
        )
        return published

    # -- copies and display --

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process opens the folder; a run in a temporary folder ends with its owner."""
        if self._temporary is not None:
            raise TypeError(
                "a run in a temporary folder cannot be pickled, since the folder is removed with it; keep the run by "
                "folder=, e.g. crypsis.protect(frame, folder='run', …)"
            )
        return _open_pickled, (str(self.folder.resolve()), self._given)

    def __repr__(self) -> str:
        return f"Run({self.folder.name!r}, {len(self.front)} of {len(self.solutions)} measured solutions on the front)"

    def _repr_html_(self) -> str:
        state = "finished" if self.finished else "stopped; it can be resumed"
        demands = ", ".join(each.model for each in self.plan.require) or "nothing"
        caption = f"{len(self.front)} of {len(self.solutions)} measured solutions are on the front; {state}"
        rows = [
            (
                each.name,
                each.solution.number,
                each.solution.title,
                each.solution.figure("loss"),
                each.solution.figure("risk"),
            )
            for each in self.front.offers
        ]
        return draw_html_table(
            ("offer", "number", "method", "loss, %", "risk, %"), rows, f"{caption}; demanded: {demands}"
        )

    def release(
        self,
        pick: Solution | str | int = DEFAULT_PICK,
        folder: str | Path = "release",
        *,
        title: str = "Protected microdata",
        rulebook: Rulebook | str | Path | None = None,
        waivers: Mapping[str, str] | None = None,
        sign: str | Path | None = None,
        preview: bool = False,
        format: WrittenFormat | None = None,
        replaces: str | Path | Sequence[str | Path] = (),
        ledger: str | Path = "",
    ) -> Solution:
        """Publish a solution under all demands of the plan.

        Parameters
        ----------
        pick : Solution, str or int
            Which solution: see `choose`.
        folder : path
            Must not exist yet.
        title : str
            Title of the reports.
        rulebook : Rulebook, str or path, optional
            Rules the file must keep: a rulebook that is shipped, by its name such as "public-use", or a file.
        waivers : mapping, optional
            Rule (its id) or finding (such as ``singling-out:weight``) → why it may pass; instead of the plan's own.
        sign : path, optional
            Private key that signs the release: see `new_keys`.
        preview : bool
            Whether the folder is only looked at, and not entered into the ledger of releases.
        format : {"csv", "csv.gz", "parquet", "xlsx", "sav", "dta", "xpt"}, optional
            Format of the data; by default that of the plan.
        replaces : path or sequence of paths
            Folders of earlier releases of the same source that nobody outside has, and whose place this one takes.
        ledger : path
            File that lists releases, instead of the plan's or the user's.

        Returns
        -------
        Solution
            The released solution.

        Raises
        ------
        ReleaseRefused
            With every reason, if the written file does not meet the demands of the plan.
        """
        from crypsis.run.releasing import ReleaseTerms, release_solution  # with reports and templates

        solution = self.choose(pick)
        release_solution(
            self.plan,
            self.original,
            self.decode(solution),
            solution,
            read_path(folder, "folder"),
            front=self.front,
            seed=self.lock.seed,
            terms=ReleaseTerms(
                title,
                rulebook,
                waivers,
                sign,
                preview,
                format,
                (replaces,) if isinstance(replaces, (str, Path)) else tuple(replaces),
                ledger,
            ),
            beside=self._plain_files(solution),
        )
        return solution

    # -- searching --

    @property
    def steering(self) -> tuple[Entry, ...]:
        """What was asked of the run while it searched, in order, with when each search obeyed it."""
        notes = {place: self.store.read_note(f"steered {place}", []) for place in range(len(self.plan.search))}
        obeyed = {place: Obedience.of(place, note).stamps for place, note in notes.items()}
        stamped = {entry.number: entry for entry in stamp_entries(obeyed)}
        asked = {entry.number: entry for entry in SteeringLog(self.folder).read()}
        return tuple(entry for _, entry in sorted({**asked, **stamped}.items()))

    def steer(
        self,
        what: What,
        *,
        search: str | int | None = None,
        loss: tuple[float, float] | None = None,
        risk: tuple[float, float] | None = None,
        solution: int | None = None,
    ) -> Entry:
        """Ask something of the run while it searches, here or in another process; obeyed at the next quantum.

        Parameters
        ----------
        what : str
            "drop" or "restore" a search, "focus" on a box of loss and risk (or, without one, no longer), "more" like a
            solution (near it, bred from what is most like it), or "undo" the last that is in force.
        search : str or int, optional
            Name of the search, or its place in the plan.
        loss, risk : pair of float, optional
            Least and largest of the box, in per cent; one that is not given is 0 to 100.
        solution : int, optional
            Number of a solution that a search found.

        Returns
        -------
        Entry
            What is in the log now.

        Raises
        ------
        SearchError
            If there is no such search or solution, nothing to undo, or no search would go on.
        """
        place = None if search is None else self._place_of_search(search)
        if what in ("drop", "restore") and place is None:
            raise SearchError(f"{what}: name a search of the plan: {listing([each.name for each in self.plan.search])}")
        if what == "undo" and not fold_entries(self.steering).entries:
            raise SearchError("there is nothing to undo: nothing that was asked of this run is in force")
        key = None
        if what == "more":
            place, loss, risk = self._box_around(solution)
            key = next(
                (digest_solution_key(k) for k, n in self.store.solution_numbers(place).items() if n == solution), None
            )
        if loss is not None or risk is not None:
            loss, risk = _check_range("loss", loss or (0.0, 100.0)), _check_range("risk", risk or (0.0, 100.0))
        entry = Entry(0, what, place, loss, risk, solution, key)
        self._keep_a_search(entry)
        return SteeringLog(self.folder).append(entry)

    def _keep_a_search(self, entry: Entry) -> None:
        """Refuse what would leave no search at work: the run would end."""
        names = [each.name for each in self.plan.search]
        after = fold_entries([*self.steering, entry])
        if entry.what == "undo" or entry.search is None or not all(after.stops(each) for each in range(len(names))):
            return
        name = names[entry.search]
        if entry.what == "more":
            raise SearchError(f"more: {name} found this solution and is dropped; restore {name}, then ask again")
        raise SearchError(
            f"{entry.what} {name}: no other search goes on, so the run would end; restore another one first, or stop "
            f"the run and resume it later"
        )

    def _place_of_search(self, search: str | int) -> int:
        """The place of a search in the plan."""
        names = [each.name for each in self.plan.search]
        if isinstance(search, int) and 0 <= search < len(names):
            return search
        if search not in names:
            raise SearchError(f"the plan has no search {search!r}; it has {listing(names)}")
        return names.index(str(search))

    def _box_around(self, number: int | None) -> tuple[int, tuple[float, float], tuple[float, float]]:
        """The search that found a solution, and the losses and risks near it."""
        if number is None:
            raise SearchError(f"more: give the number of a solution (see {name_step('front RUN')})")
        found = self.front.pick(number)
        loss, risk = found.figure("loss"), found.figure("risk")
        if found.baseline or loss is None or risk is None:
            raise SearchError(f"solution {number} was made without search, so there is no more of it; choose another")
        near = [
            (max(0.0, each - max(NEAR * each, LEAST_NEAR)), each + max(NEAR * each, LEAST_NEAR))
            for each in (loss, risk)
        ]
        return found.search, near[0], near[1]

    def proceed(self) -> Iterator[Progress]:
        """Run baselines and searches until the budget is used; if it is stopped, the front so far stays on disk.

        Yields
        ------
        Progress
        """
        chosen = engine_named() if self.engine is None else nullcontext(self.engine)
        with places.lock_run_folder(self.folder), chosen as engine:
            self.store.check()
            yield from Schedule(
                self.plan,
                self.store,
                self.lock.seed,
                self._searched_table,
                self.objective,
                self._decoded_tables.encodings,
                engine,
                self.began,
            ).proceed()


def _open_pickled(folder: str, table: Table | None) -> Run:
    """A run as another process opens it: its folder, and the table where that is in memory."""
    return Run.open(folder, table=table)


def _check_budget(budget: str | None) -> None:
    """Refuse a budget that cannot be read."""
    try:
        if budget is not None:
            read_plan_budget(budget)
    except ValueError as error:
        raise PlanError(f"budget: {error}") from None
