"""The trials of a design, run on an engine and written line by line; a stopped run continues where it ended."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.errors import PlanError, SearchError, listing
from crypsis.evolution import Budget, evolve
from crypsis.masking.partitioning import partitioners
from crypsis.plan.sections import searches
from crypsis.searches.ga_microaggregation import Genetic
from crypsis.table.atomic_files import private_folder, write_atomically
from crypsis.table.table import Table

MOST_TRIALS = 10_000_000


@dataclass(frozen=True)
class Factor:
    """A setting and the values to try."""

    name: str
    levels: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.levels:
            raise PlanError(f"factor {self.name!r} has no level; give at least one value to try")
        if len(set(map(repr, self.levels))) < len(self.levels):
            raise PlanError(f"factor {self.name!r} lists a level twice: {listing(map(str, self.levels))}; give it once")


@dataclass(frozen=True)
class Trial:
    """One run of a design."""

    index: int  # its place in the design
    settings: Mapping[str, Any]  # values of the factors
    seed: int  # determined by design and place alone


@dataclass(frozen=True)
class Design:
    """A full factorial design: trials 0, 1, … by combination, the last factor changing fastest, replicates within."""

    factors: tuple[Factor, ...]
    replicates: int = 10
    seed: int = 0  # determines the seeds of the trials

    def __post_init__(self) -> None:
        names = [factor.name for factor in self.factors]
        if not names or len(set(names)) < len(names):
            raise PlanError(f"a design needs one or more different factors; found: {listing(names) or 'none'}")
        if self.replicates < 1:
            raise PlanError(f"a design cannot have {self.replicates} replicates; give 1 or more")
        if self.size > MOST_TRIALS:
            raise PlanError(
                f"the design has {self.size} trials and at most {MOST_TRIALS} can be kept; give fewer levels or "
                f"replicates"
            )

    @classmethod
    def of(cls, levels: Mapping[str, Sequence[Any]], replicates: int = 10, seed: int = 0) -> Design:
        """Build a design.

        >>> Design.of({"mutation_rate": [0.0, 0.1], "population": [10, 20]}, replicates=3).size
        12
        """
        return cls(tuple(Factor(name, tuple(values)) for name, values in levels.items()), replicates, seed)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the factors."""
        return tuple(factor.name for factor in self.factors)

    @property
    def combinations(self) -> int:
        """Number of combinations."""
        return prod(len(factor.levels) for factor in self.factors)

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.combinations * self.replicates

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """int64[size, factors]: the level of each factor in each trial."""
        each = np.array(list(product(*(range(len(factor.levels)) for factor in self.factors))), dtype=np.int64)
        return np.repeat(each, self.replicates, axis=0)

    def settings(self) -> Iterator[dict[str, Any]]:
        """Every combination once."""
        for values in product(*(factor.levels for factor in self.factors)):
            yield dict(zip(self.names, values, strict=True))

    def trial(self, index: int) -> Trial:
        """The trial at a place."""
        levels = {f.name: f.levels[place] for f, place in zip(self.factors, self.places[index], strict=True)}
        seed = SeedSequence(self.seed, spawn_key=(index,)).generate_state(1, np.uint64)[0]
        return Trial(index, levels, int(seed) >> 1)

    def to_dict(self) -> dict[str, Any]:
        """The design as plain data."""
        return {
            "factors": {factor.name: list(factor.levels) for factor in self.factors},
            "replicates": self.replicates,
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Design:
        """The design from plain data."""
        return cls.of(content["factors"], content["replicates"], content["seed"])


# -- Subjects of a sensitivity analysis: a partitioner on points, or a search on a table.


class Subject(Protocol):
    """Something with settings whose runs are compared; a run is determined by settings and seed."""

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of the numbers of a run, minimised: first the result, then how soon it was found."""
        ...

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        """Refuse impossible settings before the first run."""
        ...

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        """Run once."""
        ...

    def describe(self) -> dict[str, Any]:
        """What identifies the subject: a file of trials is continued only by the same one."""
        ...


@dataclass(frozen=True, eq=False)
class PartitionerSubject:
    """A registered partitioner on scaled points; responses are the SSE and, for "genetic", the convergence epoch."""

    name: str
    points: NDArray[np.float64]  # float64[n, p]: scaled points
    k: int
    fixed: Mapping[str, Any] = field(default_factory=dict)  # settings that do not vary
    # SSE of an optimal partition, if known: genetic runs that reach it stop, with the same numbers
    least: float = -math.inf

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of the numbers of a run."""
        return ("SSE", "convergence epoch") if partitioners[self.name] is Genetic else ("SSE",)

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        """Refuse impossible settings; see `Subject.check`."""
        for settings in combinations:
            partitioners.build(self.name, **{**self.fixed, **settings})

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        """Run once; see `Subject.run`."""
        chosen = partitioners.build(self.name, **{**self.fixed, **settings})
        if isinstance(chosen, Genetic):
            found = chosen.run(self.points, self.k, np.random.default_rng(seed), least=self.least)
            return found.sse, float(found.convergence_epoch)
        return (_sum_of_squares(self.points, chosen.partition(self.points, self.k, np.random.default_rng(seed))),)

    def describe(self) -> dict[str, Any]:
        """What identifies the subject; see `Subject.describe`."""
        digest = hashlib.sha256(np.ascontiguousarray(self.points).tobytes()).hexdigest()
        return {
            "partitioner": self.name,
            "k": self.k,
            "fixed": dict(self.fixed),
            "shape": list(self.points.shape),
            "data": digest,
        }


def _sum_of_squares(points: NDArray[np.float64], labels: NDArray[np.integer[Any]]) -> float:
    """Squared distances of float64[n, p] points from the mean of their group, int[n], added up."""
    members = [points[labels == label] for label in np.unique(labels)]
    return float(sum(((group - group.mean(axis=0)) ** 2).sum() for group in members))


@dataclass(frozen=True, eq=False)
class SearchSubject:
    """A registered search on a table; responses are the best fitness and the evaluation that found it."""

    name: str
    table: Table
    fixed: Mapping[str, Any] = field(default_factory=dict)  # settings that do not vary
    generations: int = 0  # generations of a run; 0 for the budget of the search

    @property
    def responses(self) -> tuple[str, ...]:
        """Names of the numbers of a run."""
        return ("score", "found at evaluation")

    def check(self, combinations: Iterable[Mapping[str, Any]]) -> None:
        """Refuse impossible settings; see `Subject.check`."""
        for settings in combinations:
            searches.build(self.name, **{**self.fixed, **settings})

    def run(self, settings: Mapping[str, Any], seed: int) -> tuple[float, ...]:
        """Run once; see `Subject.run`."""
        search = searches.build(self.name, **{**self.fixed, **settings})
        rng = np.random.default_rng(seed)
        problem = search.pose(self.table, None, rng)
        budget = Budget(generations=self.generations) if self.generations else search.budget()
        best = (float("inf"), 0)
        for state in evolve(problem, rng, budget):
            if state.best_fitness < best[0]:
                best = (state.best_fitness, state.best_found)
        return best[0], float(best[1])

    def describe(self) -> dict[str, Any]:
        """What identifies the subject; see `Subject.describe`."""
        return {
            "search": self.name,
            "fixed": dict(self.fixed),
            "generations": self.generations,
            "data": self.table.fingerprint(),
        }


# -- The trials of a design, run on an engine and written line by line; a stopped run continues where it ended.

FORMAT = 1
_SECONDS_PER_BATCH = 2.0
_LARGEST_BATCH = 4096


@dataclass(frozen=True, eq=False)
class Results:
    """The results of the trials of a design."""

    design: Design
    responses: tuple[str, ...]  # names of the numbers of a run
    values: NDArray[np.float64]  # float64[size, responses]: naN for a trial that has not run
    seconds: NDArray[np.float64]  # float64[size]: CPU time of each trial
    subject: Mapping[str, Any]  # what identifies the subject

    @property
    def done(self) -> int:
        """Number of finished trials."""
        return int((~np.isnan(self.values[:, 0])).sum())

    @property
    def complete(self) -> bool:
        """Whether all trials are finished."""
        return self.done == self.design.size

    def whole(self) -> Results:
        """The replicates that every combination has: a factorial design of its own."""
        design = self.design
        ran = ~np.isnan(self.values[:, 0]).reshape(design.combinations, design.replicates)
        whole = int(np.cumprod(ran.all(axis=0)).sum())
        if whole == 0:
            raise SearchError(
                f"{self.done} of {design.size} trials are done and not every combination has one; run the same "
                f"command again to go on"
            )
        chosen = np.flatnonzero(np.arange(design.size) % design.replicates < whole)
        part = Design(design.factors, whole, design.seed)
        return Results(part, self.responses, self.values[chosen], self.seconds[chosen], self.subject)

    def response(self, name: str) -> NDArray[np.float64]:
        """One response of every trial."""
        if name not in self.responses:
            raise PlanError(f"there is no response {name!r}; these trials gave: {', '.join(self.responses)}")
        if not self.complete:
            raise SearchError(
                f"{self.done} of {self.design.size} trials are done and the analysis needs a balanced design; "
                f"run the same command again to go on"
            )
        return self.values[:, self.responses.index(name)]

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read the trials of a file, finished or not."""
        lines = path.read_bytes().split(b"\n")
        header, number = _header(lines[0], path), 1
        try:
            design, responses = Design.from_dict(header["design"]), tuple(map(str, header["responses"]))
            results = cls._empty(design, responses, dict(header["subject"]))
            for line in lines[1:-1]:
                number += 1
                results._note(json.loads(line))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise PlanError(
                f"{path}, line {number}: is no trial of this design, so the file is damaged; remove the line to run "
                f"its trial again, or give another file"
            ) from None
        return results

    @classmethod
    def _empty(cls, design: Design, responses: tuple[str, ...], subject: Mapping[str, Any]) -> Results:
        values = np.full((design.size, len(responses)), np.nan)
        return cls(design, responses, values, np.full(design.size, np.nan), subject)

    def _note(self, row: Mapping[str, Any]) -> None:
        trial, values = row["trial"], row["values"]
        if type(trial) is not int or not 0 <= trial < self.design.size or len(values) != len(self.responses):
            raise ValueError("no trial of this design")
        self.values[trial], self.seconds[trial] = values, row["seconds"]


def run_design(
    design: Design,
    subject: Subject,
    path: Path | None = None,
    engine: Engine | None = None,
    *,
    most: int | None = None,
    watch: Callable[[Results], None] | None = None,
) -> Results:
    """Run the trials that have not run, the first replicate of every combination before any second one.

    `path`: JSON lines, created or continued; a stopped run loses at most the current batch.
    """
    engine = engine or Serial()
    subject.check(design.settings())
    results = _open_results(design, subject, path)
    missing = np.flatnonzero(np.isnan(results.values[:, 0]))
    waiting = missing[np.argsort(missing % design.replicates, kind="stable")][:most].tolist()
    batch = engine.workers * 4
    while waiting:
        now, waiting = waiting[:batch], waiting[batch:]
        rows = engine.map(attempt, [design.trial(index) for index in now], subject)
        for row in rows:
            results._note(row)
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
        if watch is not None:
            watch(results)
        pace = float(np.mean([row["seconds"] for row in rows])) or 1e-6
        wanted = engine.workers * int(np.clip(_SECONDS_PER_BATCH / pace, 1, _LARGEST_BATCH))
        batch = min(wanted, 2 * batch)  # the next settings may be much slower
    return results


def attempt(subject: Subject, trial: Trial) -> dict[str, Any]:
    """Run one trial."""
    started = time.process_time()
    values = subject.run(trial.settings, trial.seed)
    return {"trial": trial.index, "values": list(values), "seconds": round(time.process_time() - started, 6)}


def _open_results(design: Design, subject: Subject, path: Path | None) -> Results:
    """Results in the file; a file of another design or subject is refused, an incomplete last line is removed."""
    header: dict[str, Any] = {
        "format": FORMAT,
        "design": design.to_dict(),
        "subject": subject.describe(),
        "responses": list(subject.responses),
    }
    if path is not None and path.exists() and path.stat().st_size:
        content = path.read_bytes()
        found = _header(content.split(b"\n", 1)[0], path)
        plain = json.loads(json.dumps(header))
        different = [part for part in plain if found.get(part) != plain[part]]
        if different:
            raise PlanError(
                f"{path}: has trials of another {' and '.join(different)}; continue with the same ones, or give "
                f"another file"
            )
        os.truncate(path, content.rfind(b"\n") + 1)  # only after the header is checked
        return Results.read(path)
    if path is not None:
        private_folder(path.parent)
        write_atomically(path, (json.dumps(header) + "\n").encode(), replace=True)
    return Results._empty(design, subject.responses, header["subject"])


def _header(line: bytes, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise PlanError(f"{path}: is not a file of trials (format {FORMAT}); give another file or remove it")
    return header
