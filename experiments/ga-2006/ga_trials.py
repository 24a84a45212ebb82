"""The runs of the genetic paper: which settings on which data, at which budget; kept on disk and resumed.

A *campaign* is a factorial design on one drawn table. The paper's own test is 1 210 settings × 10 runs on one table per
size; its tables were not published, so the printed pair of rates is also tried on several tables of the same design.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trials import Design, PartitionerSubject, Results, run_design

from crypsis.engines import engine
from crypsis.masking.partitioning import partitioners
from crypsis.searches.partitions import lower_bound

K = 3
"""Not printed; MDAV's printed SSE fit no other."""
Points = NDArray[np.float64]
Levels = dict[str, list[Any]]
POPULATIONS = list(range(10, 101, 10))
GRID: Levels = {
    "mutation_rate": [round(0.1 * step, 1) for step in range(11)],
    "crossover_rate": [round(0.1 * step, 1) for step in range(11)],
    "population": POPULATIONS,
}
SLICE: Levels = {
    "mutation_rate": [0.0, 0.1, 0.2, 0.3, 0.5, 1.0],
    "crossover_rate": [0.0, 0.1, 0.3, 0.5, 1.0],
    "population": [10, 50, 100],
}
QUICK: Levels = {"mutation_rate": [0.0, 0.1, 0.5], "crossover_rate": [0.0, 0.5], "population": [10, 40]}
EPOCHS = {11: 10_000, 20: 10_000, 35: 10_000, 50: 100_000, 100: 100_000}
"""As printed; for n = 100 nothing is printed, and those of n = 50 are taken."""
PAIR = {20: (0.1, 0.7), 35: (0.1, 0.5), 50: (0.1, 0.5), 100: (0.1, 0.0)}
"""(M_r, C_r) of the printed best averages (Table II)."""
RUNS = {20: 10, 35: 2, 50: 1, 100: 1}
"""Runs per population size and table; ten sizes make ten times as many per table."""
TABLES = 10
"""Tables drawn for each size."""


@dataclass(frozen=True)
class Campaign:
    """A design on one table.

    elitist  whether the best chromosome holds a place in the population; the paper does not say
    """

    n: int
    d: int
    levels: tuple[tuple[str, tuple[Any, ...]], ...]
    runs: int
    epochs: int
    table: int = 0
    elitist: bool = True

    @property
    def name(self) -> str:
        return f"{self.n}x{self.d}"

    @property
    def design(self) -> Design:
        return Design.of({name: list(values) for name, values in self.levels}, self.runs, seed=self.n * 100 + self.d)

    @property
    def file(self) -> str:
        marks = (f"-table{self.table}" if self.table else "") + ("" if self.elitist else "-unkept")
        return f"trials-{self.name}-{self.epochs}-{self.design.size}{marks}.jsonl"


def campaign(n: int, d: int, levels: Levels, runs: int, epochs: int, **how: Any) -> Campaign:
    return Campaign(n, d, tuple((name, tuple(values)) for name, values in levels.items()), runs, epochs, **how)


def on_tables(n: int) -> list[Campaign]:
    """The printed best pair of rates with every population size, on several tables."""
    rates = {"mutation_rate": [PAIR[n][0]], "crossover_rate": [PAIR[n][1]], "population": POPULATIONS}
    return [campaign(n, 2, rates, RUNS[n], EPOCHS[n], table=table) for table in range(TABLES)]


def of_grid(name: str, size: str, elitist: bool = True) -> Campaign:
    """The settings of one data set: the paper's own and its ten runs, or fewer where those take long."""
    n, d = map(int, name.split("x"))
    if size == "quick":
        return campaign(n, d, QUICK, 2, 400, elitist=elitist)
    if size == "paper":
        return campaign(n, d, GRID, 10, EPOCHS[n], elitist=elitist)
    levels, runs = (GRID, 2) if n == 11 else (SLICE, 3)
    return campaign(n, d, levels, runs, EPOCHS[n], elitist=elitist)


def drawn(n: int, d: int, table: int = 0) -> Points:
    """n records uniform on [−10000, 10000]^d, as z-scores by the population deviation."""
    values = np.random.default_rng([n, d, table]).uniform(-1e4, 1e4, (n, d))
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))


def loss(points: Points, labels: NDArray[np.int32]) -> float:
    return float(sum(((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels)))


def mdav(points: Points) -> float:
    return loss(points, partitioners.build("mdav").partition(points, K, np.random.default_rng(0)))


def made(asked: Campaign, folder: Path, workers: int = 1, passes: int = 10) -> Results:
    """The trials of a campaign, resumed where they stopped; as many runs of every setting as there are.

    passes  no setting is run more often than this; 0 runs nothing
    """
    points = drawn(asked.n, asked.d, asked.table)
    # A run that has met the optimum records nothing more; beyond 20 records the optimum is not known.
    least = lower_bound.optimal_partition(points, K)[1] if asked.n <= 20 else -math.inf
    fixed = {"epochs": asked.epochs} | ({} if asked.elitist else {"keep_best": False})
    subject = PartitionerSubject("genetic", points, K, fixed, least)
    path = folder / asked.file
    folder.mkdir(parents=True, exist_ok=True)
    done = Results.read(path).values[:, 0] if path.is_file() else np.full(asked.design.size, np.nan)
    most = int(np.isnan(done.reshape(-1, asked.runs)[:, :passes]).sum())
    with engine("serial" if workers == 1 else "processes", workers) as place:
        return run_design(asked.design, subject, path, place, most=most).whole()
