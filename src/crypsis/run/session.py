"""A session on a run: a folder in which several searches feed one measured front, opened once.

The table is read once, fingerprinted once and bound to the objective once; solutions are decoded when asked for.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from crypsis.engines import Serial
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Engine
from crypsis.measures.masking_description import MaskingDescription, describe_masking
from crypsis.measures.objective import Objective
from crypsis.plan import Plan, read_budget
from crypsis.plan.writing import as_toml
from crypsis.rulebook import Rulebook
from crypsis.run import folder as places
from crypsis.run.front import Front
from crypsis.run.progress import Progress
from crypsis.run.releasing import refuse_infeasible, release_solution
from crypsis.run.schedule import Encodings, Schedule
from crypsis.run.solution import Solution
from crypsis.run.store import Store
from crypsis.table.provenance import MaskingStep
from crypsis.table.restoring import to_frame
from crypsis.table.table import Table

DECODED_KEPT = 5
"""Decoded tables kept in memory: those that are compared and the one looked at."""


class Run:
    """A run's folder, and the table it protects.

    Use `Run.start` or `crypsis.protect` for a new run, `Run.open` to look at one, `Run.resume` to go on with one.

    Examples
    --------
    >>> import crypsis
    >>> run = crypsis.protect(crypsis.example(60), k=3, search="local-recoding", budget="1 generations", seed=1)
    >>> run.choose("best").feasible
    True
    >>> run.close()
    """

    def __init__(self, folder: Path, plan: Plan, engine: Engine | None = None, table: Table | None = None) -> None:
        self.folder, self.plan, self.engine = folder, plan, engine or Serial()
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
        self._decoded: OrderedDict[int, Table] = OrderedDict()
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
    ) -> Run:
        """A new run in a new folder; nothing is searched before `proceed`.

        Parameters
        ----------
        plan : Plan
            What is searched and demanded.
        folder : path
            Must not exist yet.
        engine : Engine, optional
            Where candidates are scored; this process by default.
        home : path, optional
            Folder the plan's paths are relative to; or else
        table : Table, optional
            the data themselves.
        text : str, optional
            The plan as it was written, comments and all.
        seed : int, optional
            Wins over the plan's; without any, the operating system's randomness.
        budget : str, optional
            '60s', '500 evaluations' or '50 generations'; wins over the plan's.

        Returns
        -------
        Run
        """
        folder = Path(folder)
        if not plan.search:
            raise PlanError('search: the plan names no search; add [[search]] with a name, e.g. name = "partition"')
        home = "" if home is None else str(Path(home).resolve())
        read = table if table is not None else plan.table(Path(home))
        obstacles = [
            f"search {choice.name!r}: {why}" for choice in plan.search if (why := choice.build().obstacle(read))
        ]
        if obstacles:
            raise SearchError("; ".join(obstacles))
        objective = plan.objective(read)
        chosen = next((s for s in (seed, plan.run.seed) if s is not None), secrets.randbits(128))
        lock = places.Lock(chosen, home, read.fingerprint(), places.plan_fingerprint(plan), places.versions())
        with places.new(folder, text if text is not None else as_toml(plan)) as aside:
            lock.write(aside)
            with Store(aside / places.STORE, create=True, run=lock.identity) as store, store.transaction():
                store.note("budget", budget or plan.run.budget)
        run = cls(folder, plan, engine, read)
        run._trusted = True
        run.__dict__["objective"] = objective  # what `objective` would bind again
        return run

    @classmethod
    def open(cls, folder: str | Path, engine: Engine | None = None, *, table: Table | None = None) -> Run:
        """A run as it stands, to look at or to go on with.

        Parameters
        ----------
        folder : path
            Of the run.
        engine : Engine, optional
            Where candidates are scored if it goes on.
        table : Table, optional
            The data, for a run that protects a table from memory.

        Returns
        -------
        Run
        """
        folder = Path(folder)
        if not (folder / places.STORE).is_file():
            raise SearchError(f"{folder}: holds no run (no {places.STORE}); start one with `crypsis run PLAN`")
        run = cls(folder, Plan.read(folder / places.PLAN), engine, table)
        if places.plan_fingerprint(run.plan) != run.lock.plan:
            run.close()
            raise SearchError(
                f"{folder / places.PLAN}: was changed since the run began; put the old plan back, or start a new run "
                f"with the new one"
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
        """A run that goes on where its last whole quantum ended; with a new budget, beyond its old end.

        Parameters
        ----------
        folder, engine, table
            As for `open`.
        budget : str, optional
            In place of the old one.

        Returns
        -------
        Run
        """
        run = cls.open(folder, engine, table=table)
        if budget is not None:
            try:
                read_budget(budget)
            except ValueError as error:
                raise PlanError(f"budget: {error}") from None
            with places.held(run.folder), run.store.transaction():
                run.store.note("budget", budget)
        return run

    def attach(self, table: Table) -> None:
        """Take the data from a table that was read elsewhere; it is compared with the run's fingerprint when used."""
        if "original" not in self.__dict__:
            self._given = table

    def keep(self, folder: TemporaryDirectory[str] | None) -> None:
        """Let a temporary folder live as long as the run."""
        self._temporary = folder

    def close(self) -> None:
        """Close the store, and remove a temporary folder."""
        self.store.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- what it holds --

    @cached_property
    def original(self) -> Table:
        """The table to protect; the same data the run was begun with, or a refusal."""
        if self._given is None and not self.lock.home:
            raise SearchError(f"{self.folder}: the run protects a table from memory; open it with that table")
        table = self._given if self._given is not None else self.plan.table(Path(self.lock.home))
        if not self._trusted and table.fingerprint() != self.lock.data:
            raise SearchError(
                f"{self.folder}: the data changed since the run began, so it cannot go on; put the old file back, or "
                f"start a new run"
            )
        return table

    @cached_property
    def objective(self) -> Objective:
        """What every solution is measured by, bound to the original."""
        return self.plan.objective(self.original)

    @cached_property
    def _encodings(self) -> Encodings:
        return Encodings(self.plan, self.original)

    @property
    def front(self) -> Front:
        """The best of all searches and baselines under one objective, among those that may be released."""
        version = self.store.version()
        if self._front is None or self._front[0] != version:
            steered = any(use.treated_as == "objective" for use in self.plan.use)
            with self.store.reading():
                solutions = tuple(Solution.of(*stored) for stored in self.store.contents())
            self._front = (version, Front(solutions, ("loss", "risk", *(["uses"] if steered else []))))
        return self._front[1]

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """Everything measured so far, in order of number."""
        return self.front.everything

    @property
    def finished(self) -> bool:
        """Whether the budget was used up; otherwise the run was stopped and can be resumed."""
        return bool(self.store.noted("finished", False))

    # -- one solution --

    def choose(self, pick: Solution | str | int = "knee") -> Solution:
        """A solution by number, 'knee', 'best', or 'best where risk < 5'."""
        return pick if isinstance(pick, Solution) else self.front.pick(pick)

    def decode(self, pick: Solution | str | int = "knee") -> Table:
        """The masked table of a solution."""
        solution = self.choose(pick)
        number = solution.number
        if number not in self._decoded:
            row = self.store.solution(number)
            masked = replace(self._encodings[row.search].decode(row.genome), provenance=None)
            step = MaskingStep(solution.title, solution.family, solution.message, dict(solution.facts))
            self._decoded[number] = masked.masked_by(step, self.original)
        self._decoded.move_to_end(number)
        while len(self._decoded) > DECODED_KEPT:
            self._decoded.popitem(last=False)
        return self._decoded[number]

    def describe(self, pick: Solution | str | int = "knee") -> MaskingDescription:
        """What became of each column, how small the classes are, which records are hard to protect."""
        solution = self.choose(pick)
        return describe_masking(self.original, self.decode(solution), solution.family)

    def frame(self, pick: Solution | str | int = "knee") -> Any:
        """The masked table of a solution as a frame of the type the original came as (polars by default)."""
        return to_frame(self.decode(pick))

    def release(
        self,
        pick: Solution | str | int = "knee",
        folder: str | Path = "release",
        *,
        title: str = "Protected microdata",
        rulebook: Rulebook | None = None,
        waivers: Mapping[str, str] | None = None,
    ) -> Solution:
        """Publish a solution under all the plan demands.

        Parameters
        ----------
        pick : Solution, str or int
            Which one: see `choose`.
        folder : path
            Must not exist yet.
        title : str
            Of the reports.
        rulebook : Rulebook, optional
            Rules the file must keep.
        waivers : mapping, optional
            Rule (its id) or finding (e.g. ``singling-out:weight``) → why it may pass; in place of the plan's own.

        Returns
        -------
        Solution
            The one released.

        Raises
        ------
        ReleaseRefused
            With every reason, if the written file does not keep what the plan demands.
        """
        solution = self.choose(pick)
        refuse_infeasible(solution)
        release_solution(
            self.plan,
            self.original,
            self.decode(solution),
            solution,
            Path(folder),
            front=self.front,
            seed=self.lock.seed,
            title=title,
            rulebook=rulebook,
            waivers=waivers,
        )
        return solution

    # -- going on --

    def proceed(self) -> Iterator[Progress]:
        """Baselines, then quantum after quantum until the budget is used, then what is left of the fronts.

        Stopped from outside (an exception, or nobody asks for more), the front so far stays on disk.
        """
        with places.held(self.folder):
            self.store.check()
            yield from Schedule(
                self.plan, self.store, self.lock.seed, self.original, self.objective, self._encodings, self.engine
            ).proceed()
