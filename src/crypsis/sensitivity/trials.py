"""The trials of a design, run on an engine and written line by line; a stopped run continues where it ended."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.errors import PlanError, SearchError
from crypsis.sensitivity.design import Design, Trial
from crypsis.sensitivity.subjects import Subject
from crypsis.table.atomic_files import private_folder, write_atomically

FORMAT = 1
_SECONDS_PER_BATCH = 2.0
_LARGEST_BATCH = 4096


@dataclass(frozen=True, eq=False)
class Results:
    """The results of the trials of a design.

    responses  names of the numbers of a run
    values  float64[size, responses]: NaN for a trial that has not run
    seconds  float64[size]: CPU time of each trial
    subject  what identifies the subject
    """

    design: Design
    responses: tuple[str, ...]
    values: NDArray[np.float64]
    seconds: NDArray[np.float64]
    subject: Mapping[str, Any]

    @property
    def done(self) -> int:
        """Number of finished trials."""
        return int((~np.isnan(self.values[:, 0])).sum())

    @property
    def complete(self) -> bool:
        """Whether all trials are finished."""
        return self.done == self.design.size

    def whole(self) -> Results:
        """The replicates that every combination has: a factorial design of its own.

        Raises
        ------
        SearchError
            If a combination has not run at all.
        """
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
        """One response of every trial.

        Raises
        ------
        PlanError
            If there is no such response.
        SearchError
            If trials are missing.
        """
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
        """Read the trials of a file, finished or not.

        Raises
        ------
        PlanError
            If a line is no trial of the design.
        """
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

    Parameters
    ----------
    design : Design
    subject : Subject
        What is run.
    path : Path, optional
        JSON lines, created or continued; a stopped run loses at most the current batch.
    engine : Engine, optional
        Where trials run; this process by default.
    most : int, optional
        Stop after this many new trials.
    watch : callable, optional
        Called with the results after every batch.

    Returns
    -------
    Results
        The same values on every engine, however often the run was stopped.

    Raises
    ------
    PlanError
        If settings are impossible or the file has other trials.
    """
    engine = engine or Serial()
    subject.check(design.settings())
    results = _opened(design, subject, path)
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
    """Run one trial.

    Parameters
    ----------
    subject : Subject
        What is run.
    trial : Trial
        Settings and seed.

    Returns
    -------
    dict
        Trial, values and seconds, as they are written.
    """
    started = time.process_time()
    values = subject.run(trial.settings, trial.seed)
    return {"trial": trial.index, "values": list(values), "seconds": round(time.process_time() - started, 6)}


def _opened(design: Design, subject: Subject, path: Path | None) -> Results:
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
