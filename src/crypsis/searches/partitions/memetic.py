"""The memetic partitioner: good starts, annealing, re-solved regions, recombination, a choice among the groups seen.

Anytime: the best partition so far is kept and never worse than MDAV's. A step budget and a seed decide every bit
of the result; a time budget is turned into steps by the speed measured, and the clock is read between chunks only.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.kernels.partitions import cbfs, path_optimum, sse, v_mdav
from crypsis.kernels.tsp import tour
from crypsis.masking.heuristics import MDAV, checked, trivial
from crypsis.masking.partition import Partitioner, partitioners
from crypsis.searches.exhaustive import optimal_partition
from crypsis.searches.partitions.bounds import SOLVED_UP_TO, best_bound
from crypsis.searches.partitions.recombination import group_costs, recombine
from crypsis.searches.partitions.set_partitioning import Pool
from crypsis.searches.partitions.walk import Walk, survey

CHUNK = 400_000
"""Steps between two looks at the clock: some 40 ms."""
WARM, TEPID, COLD = 0.4, 0.15, 0.06
"""Temperatures in units of the local spacing: where a region melts, where single groups do, where nothing moves."""
EVENNESS = (0.5, 0.0)
"""How much evener than the local spacing the temperature is made: the best depends on the table, so both are tried."""
UNEVEN = 2.0
"""Deviation of the logarithm of the local spacing from which on the temperature first follows it in full."""
LINEAGE = 2500
"""Steps per record, and for 3000 more, after which another independent partition is worth more than a longer walk."""
ANNEALED = 0.9
"""Share of a lineage spent on annealing all records at once; the rest re-solves regions."""
ROOMY = 1000
"""Steps per record below which a lineage only anneals, and starts cooler: there is no time to melt and heal."""
STEPS_PER_FREED = 400
"""Steps per record of a region."""
BARREN = 6
"""Turns of refinement without a find after which a new lineage is begun."""
STEPS_PER_CHOICE = 100
"""What a choice is charged for every group it chooses from."""
CHOICE_UP_TO = 5
"""Largest k at which a choice among seen groups pays."""
STEPS_PER_RECORD = 3000


@dataclass(frozen=True)
class MemeticResult:
    """The best partition found, and how good it provably is."""

    labels: NDArray[np.int32]
    sse: float
    bound: float
    """No partition into groups of at least k has a smaller SSE."""
    bound_kind: str
    """Which bound that is: "optimum", "column-generation bound" or "nearest-neighbour bound"."""
    gap: float
    """(sse − bound) / sse: the share of the SSE that might at most be saved."""
    history: tuple[tuple[float, int, float], ...]
    """(CPU seconds, steps, SSE) whenever a better partition was found."""

    def __str__(self) -> str:
        return f"SSE {self.sse:.6g}, at least {self.bound:.6g} ({self.bound_kind}), gap {100 * self.gap:.1f} %"


class Meter:
    """What was spent, what may be spent, and the best partition so far."""

    def __init__(
        self, seconds: float | None, steps: int | None, target: float | None, clock: Literal["cpu", "wall"]
    ) -> None:
        self.now = time.thread_time if clock == "cpu" else time.perf_counter
        self.begun = self.now()
        self.seconds, self.most, self.target = seconds, steps, target
        self.steps = 0
        self.labels: NDArray[np.int32] = np.empty(0, np.int32)
        self.sse = np.inf
        self.history: list[tuple[float, int, float]] = []

    def elapsed(self) -> float:
        return self.now() - self.begun

    def offer(self, labels: NDArray[np.int32], value: float) -> None:
        if value < self.sse:
            self.labels, self.sse = labels, value
            self.history.append((self.elapsed(), self.steps, value))

    def left(self) -> float | None:
        return None if self.seconds is None else max(self.seconds - self.elapsed(), 0.0)

    def over(self) -> bool:
        return (
            (self.most is not None and self.steps >= self.most)
            or (self.seconds is not None and self.elapsed() >= self.seconds)
            or (self.target is not None and self.sse <= self.target)
        )


@dataclass(frozen=True)
class Tuning:
    """How the budget is spent: see the settings of `Memetic`."""

    starts: int = 8
    heat: float = 0.7
    region: int = 120


TUNING = Tuning()


class _Search:
    """One run over one table: the walk, the meter and the groups seen."""

    def __init__(
        self, points: NDArray[np.float64], k: int, meter: Meter, chance: NDArray[np.uint64], tuning: Tuning
    ) -> None:
        self.points, self.k, self.meter, self.tuning = points, k, meter, tuning
        self.walk = Walk(survey(points, k), k, chance)
        self.pool = Pool(points, 40 * len(points))
        self.chunk = CHUNK
        self.profiles = EVENNESS if np.log(self.walk.measured).std() < UNEVEN else EVENNESS[::-1]
        self.annealed, self.evenness = np.inf, self.profiles[0]

    def starts(self) -> None:
        """Offer what the quick heuristics find, where it keeps to sizes k … 2k − 1."""
        for labels in _quick(self.points, self.k, self.walk):
            sizes = np.bincount(labels)
            if sizes.min() >= self.k and sizes.max() < 2 * self.k:
                self.meter.offer(labels, sse(self.points, labels))

    def plan(self) -> int:
        """Steps that may be spent: as asked, or as many as fit into the time by a measured speed."""
        if self.meter.most is not None:
            return self.meter.most
        steps = 50_000
        took = 1.0
        for _ in range(2):  # the first walk may have to be compiled
            self.walk.load(self.meter.labels)
            begun = self.meter.now()
            self.walk.anneal(steps, self.tuning.heat, COLD)
            took = max(self.meter.now() - begun, 1e-6)
            self.meter.steps += steps
        return int((self.meter.left() or 0.0) * steps / took)

    def run(self) -> None:
        """Spend the budget, chunk by chunk."""
        for _ in self.stages():
            if self.meter.over():
                return

    def stages(self) -> Iterator[None]:
        self.starts()
        yield
        start, total = self.meter.labels, self.plan()
        self.chunk = max(min(CHUNK, total // 50), 500)
        longest = LINEAGE * (len(self.points) + 3000)
        each = min(int(0.9 * total), longest)
        for number in range(max(1, min(self.tuning.starts, int(0.5 * total) // longest))):
            yield from self.lineage(start, each, number)
        while True:
            number += 1
            yield from self.refine()
            yield from self.lineage(start, each, number)

    def lineage(self, start: NDArray[np.int32], steps: int, number: int) -> Iterator[None]:
        """An independent partition: annealed from hot, its regions re-solved, recombined with the best.

        The first ones try each evenness; what annealed best is kept for all that follow.
        """
        self.walk.load(start)
        tried = number < len(self.profiles)
        evenness = self.profiles[number] if tried else self.evenness
        self.walk.temper(evenness)
        roomy = steps >= ROOMY * len(self.points)
        hot = self.tuning.heat if roomy else self.tuning.heat / 2
        pieces = max(1, int((ANNEALED if roomy else 1.0) * steps) // self.chunk)
        fall = (COLD / hot) ** (1 / pieces)
        for piece in range(pieces):
            value = self.walk.anneal(self.chunk, hot * fall**piece, hot * fall ** (piece + 1))
            self.meter.steps += self.chunk
            yield
        if tried and value < self.annealed:
            self.annealed, self.evenness = value, evenness
        self.meter.offer(self.walk.labels(), value)
        spent = pieces * self.chunk
        while spent < steps:
            spent += self.resolve(self.tuning.region // 2 if spent < steps // 2 else self.tuning.region)
            yield
        self.keep()
        self.choose()

    def resolve(self, records: int) -> int:
        """A chunk of re-solved regions; the steps it took."""
        each = min(STEPS_PER_FREED * min(records, len(self.points)), self.chunk)
        rounds = max(1, self.chunk // each)
        value = self.walk.resolve(rounds, records, each, WARM, COLD)
        self.meter.steps += rounds * each
        self.meter.offer(self.walk.labels(), value)
        return rounds * each

    def keep(self) -> None:
        """Recombine the walk's partition with the best and remember its groups."""
        labels = self.walk.labels()
        self.pool.add(labels, group_costs(self.points, labels))
        if len(self.meter.labels):
            labels = recombine(self.points, self.meter.labels, labels)
        self.meter.offer(labels, sse(self.points, labels))

    def refine(self) -> Iterator[None]:
        """Regions of changing size around the best partition, short reheats, and choices among the groups seen.

        Ends when it has found nothing for a while: then fresh blood is worth more.
        """
        turn, fruitful = 0, 0
        while turn - fruitful < BARREN:
            before = self.meter.sse
            self.walk.load(self.meter.labels)
            for _ in range(4):
                self.resolve(self.tuning.region << turn % 3 >> 1)
                yield
            self.keep()
            for _ in range(2):
                self.walk.load(self.meter.labels)
                self.walk.anneal(self.chunk, TEPID, COLD)
                self.meter.steps += self.chunk
                self.keep()
                yield
            if turn % 5 == 4:
                self.choose()
                yield
            turn += 1
            if self.meter.sse < before * (1 - 1e-6):
                fruitful = turn

    def choose(self) -> None:
        """Put together the best partition from the groups seen, at small k only: elsewhere it does not pay."""
        if self.k > CHOICE_UP_TO:
            return
        self.pool.add(self.meter.labels, group_costs(self.points, self.meter.labels))
        labels = self.pool.choose(self.meter.left())
        self.meter.steps += STEPS_PER_CHOICE * len(self.pool)
        if labels is not None:
            self.meter.offer(labels, sse(self.points, labels))


def _quick(points: NDArray[np.float64], k: int, walk: Walk) -> Iterator[NDArray[np.int32]]:
    if len(points) > 20_000:
        return
    yield cbfs(points, k)
    yield v_mdav(points, k, 0.2)
    yield v_mdav(points, k, 1.1)
    outermost = int(np.square(points - points.mean(axis=0)).sum(axis=1).argmax())
    order = tour(walk.context.points, walk.context.neighbours, outermost)
    labels = np.empty(len(points), np.int32)
    labels[order] = path_optimum(points[order], k)
    yield labels


def memetic(
    points: NDArray[np.float64],
    k: int,
    *,
    seconds: float | None = None,
    steps: int | None = None,
    target: float | None = None,
    seed: int | None = None,
    tuning: Tuning = TUNING,
    clock: Literal["cpu", "wall"] = "cpu",
) -> MemeticResult:
    """Partition scaled points into groups of k … 2k − 1 with as little SSE as the budget allows.

    points   float64[n, p], finite, already scaled
    seconds  of CPU of this thread (or on the wall clock); steps: moves tried; whichever ends first. Zero of either
             gives MDAV's own partition; neither given means STEPS_PER_RECORD moves for every record
    target   an SSE that is good enough to stop at
    seed     the same seed, steps and settings give the same bits (no seconds given); None draws from the system
    """
    points = checked(points, k)
    meter = _searched(points, k, Meter(seconds, steps, target, clock), seed, tuning)
    value = sse(points, meter.labels)
    bound, kind = best_bound(points, k, meter.labels)
    gap = max((value - bound) / value, 0.0) if value > 0 else 0.0
    return MemeticResult(meter.labels, value, bound, kind, gap, tuple(meter.history))


def _searched(points: NDArray[np.float64], k: int, meter: Meter, seed: int | None, tuning: Tuning) -> Meter:
    """The meter after the search, with the best partition in it."""
    if meter.most is None and meter.seconds is None:
        meter.most = STEPS_PER_RECORD * len(points)
    only = trivial(points, k)
    labels = MDAV().partition(points, k, np.random.default_rng(0)) if only is None else only
    meter.offer(labels, sse(points, labels))
    if only is None and not meter.over() and len(points) <= SOLVED_UP_TO:
        meter.offer(*optimal_partition(points, k))
    elif only is None and not meter.over():
        chance = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        _Search(points, k, meter, chance, tuning).run()
    return meter


@partitioners.add("memetic")
class Memetic(Partitioner):
    """Starts from the best quick heuristic and anneals, re-solves and recombines: the least loss known, by budget."""

    steps: int = Field(
        default=STEPS_PER_RECORD,
        ge=0,
        le=10_000_000,
        description="moves tried per record; 0 gives MDAV's partition. The same seed gives the same groups",
    )
    seconds: float = Field(
        default=0.0,
        ge=0,
        le=1_000_000,
        description="CPU seconds to spend in place of a number of moves; 0 means that the moves decide. "
        "How far a walk gets in a second is not the same twice, so neither are the groups",
    )
    starts: int = Field(default=8, ge=1, le=64, description="independent annealing runs, where the budget allows them")
    heat: float = Field(
        default=0.7,
        ge=0.01,
        le=100,
        description="temperature an annealing run starts at, in units of the local squared spacing of the records",
    )
    region: int = Field(default=120, ge=10, le=10_000, description="records freed at a time when a region is re-solved")

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = checked(points, k)
        timed = self.seconds > 0
        meter = Meter(self.seconds if timed else None, None if timed else self.steps * len(points), None, "cpu")
        tuning = Tuning(self.starts, self.heat, self.region)
        return _searched(points, k, meter, int(rng.integers(2**63)), tuning).labels
