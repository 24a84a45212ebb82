"""Carry out a design on an engine, line by line into a file; whoever comes back goes on where it stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crypsis.engines import Serial
from crypsis.errors import PlanError, SearchError
from crypsis.sensitivity.design import Design, Trial
from crypsis.sensitivity.subjects import Subject

FORMAT = 1
_SECONDS_PER_BATCH = 2.0
_LARGEST_BATCH = 4096


class Engine(Protocol):
    workers: int

    def map(self, function: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any = None) -> list[Any]: ...


@dataclass(frozen=True, eq=False)
class Results:
    """What the trials of a design gave.

    values   float64[size, responses]: NaN for a trial not yet run
    seconds  float64[size]: CPU time of each trial where it ran
    """

    design: Design
    responses: tuple[str, ...]
    values: NDArray[np.float64]
    seconds: NDArray[np.float64]
    subject: Mapping[str, Any]

    @property
    def done(self) -> int:
        return int((~np.isnan(self.values[:, 0])).sum())

    @property
    def complete(self) -> bool:
        return self.done == self.design.size

    def response(self, name: str) -> NDArray[np.float64]:
        """float64[size]: one response of every trial; an unfinished design is refused."""
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
        """The trials of a file, finished or not."""
        with path.open(encoding="utf-8") as file:
            header = _header(file.readline(), path)
            design, responses = Design.from_dict(header["design"]), tuple(header["responses"])
            results = cls._empty(design, responses, header["subject"])
            for line in file:
                if line.endswith("\n"):
                    results._note(json.loads(line))
        return results

    @classmethod
    def _empty(cls, design: Design, responses: tuple[str, ...], subject: Mapping[str, Any]) -> Results:
        values = np.full((design.size, len(responses)), np.nan)
        return cls(design, responses, values, np.full(design.size, np.nan), subject)

    def _note(self, row: Mapping[str, Any]) -> None:
        self.values[row["trial"]], self.seconds[row["trial"]] = row["values"], row["seconds"]


def run_design(
    design: Design,
    subject: Subject,
    path: Path | None = None,
    engine: Engine | None = None,
    *,
    most: int | None = None,
    watch: Callable[[Results], None] | None = None,
) -> Results:
    """Run what has not been run yet.

    path   JSON lines, created or continued; of a stopped run at most the batch in flight is lost
    most   stop after so many new trials
    watch  called with the results so far after every batch
    → the same values whatever the engine, and however often the run was stopped
    """
    engine = engine or Serial()
    subject.check(design.settings())
    results = _opened(design, subject, path)
    waiting = np.flatnonzero(np.isnan(results.values[:, 0]))[:most].tolist()
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
        batch = engine.workers * int(np.clip(_SECONDS_PER_BATCH / pace, 1, _LARGEST_BATCH))
    return results


def attempt(subject: Subject, trial: Trial) -> dict[str, Any]:
    """One trial, as it will be written: a pure function but for the clock."""
    started = time.process_time()
    values = subject.run(trial.settings, trial.seed)
    return {"trial": trial.index, "values": list(values), "seconds": round(time.process_time() - started, 6)}


def _opened(design: Design, subject: Subject, path: Path | None) -> Results:
    """What is there already; a file of another design or subject is refused, a torn last line is cut off."""
    header: dict[str, Any] = {
        "format": FORMAT,
        "design": design.to_dict(),
        "subject": subject.describe(),
        "responses": list(subject.responses),
    }
    if path is not None and path.exists() and path.stat().st_size:
        with path.open("rb+") as file:
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)
        found = _header(content.split(b"\n", 1)[0].decode("utf-8"), path)
        plain = json.loads(json.dumps(header))
        different = [part for part in plain if found.get(part) != plain[part]]
        if different:
            raise PlanError(
                f"{path}: holds trials of another {' and '.join(different)}; go on with what it was begun with, "
                f"or give another file"
            )
        return Results.read(path)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
    return Results._empty(design, subject.responses, header["subject"])


def _header(line: str, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except json.JSONDecodeError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise PlanError(f"{path}: is not a file of trials (format {FORMAT}); give another file or remove it")
    return header
