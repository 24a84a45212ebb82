"""The strategy of the search for mixed masked files: a lineage for each limit on what attacks may find.

A quantum lets one block of one lineage walk. Lineages take turns run by run, the highest limit first; each begins from
what the one before it found. At the end of a run the file is kept and scored if it costs less than the best so far. Now
and then a run begins with a crossover: some records take what they publish in the file of a neighbouring limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.masked_file import ExchangeEncoding
from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.evolution.problem import Child, Streams
from crypsis.kernels.exchanges import REPLACE, ExchangePace, ExchangeSurroundings, excess, loss, walk_exchanges
from crypsis.searches.chains import WalkingLineage, WalkingStrategy, first_chance, packed, seated, unpacked, walked
from crypsis.searches.mixed_maskings.space import ExchangeSpace, LoadedBlock, find_broken

Donors = NDArray[np.int32]
ENOUGH = 2.0
"""A cycle that would exchange this many times the stretch is left out."""


def cross_exchanges(one: Donors, other: Donors, codes: NDArray[np.int32], share: float, rng: Generator) -> Donors:
    """A file with the values of another one in a stretch of the records and the cycles it belongs to.

    one, other  int32[n, u]: whose values records publish
    codes  int32[n, u]: equal for equal values
    share  of the records, about
    """
    n, child = len(one), one.copy()
    long = max(1, round(share * n))
    start = int(rng.integers(n))
    stretch = np.zeros(n, np.bool_)
    stretch[(start + np.arange(long)) % n] = True
    for unit in range(one.shape[1]):
        mine, theirs = codes[one[:, unit], unit], codes[other[:, unit], unit]
        if np.array_equal(np.sort(mine), np.sort(theirs)):
            cycle = cycles(mine, theirs)
            touched = np.bincount(cycle[stretch & (mine != theirs)], minlength=cycle.max() + 1) > 0
            small = np.bincount(cycle[mine != theirs], minlength=len(touched)) <= ENOUGH * long
            taken = (touched & small)[cycle]
        else:
            taken = stretch
        child[taken, unit] = other[taken, unit]
    return child


def cycles(mine: NDArray[np.int32], theirs: NDArray[np.int32]) -> NDArray[np.int32]:
    """int32[n]: the cycle of each record: exchanged whole, it leaves every value published as often as before.

    mine, theirs  int32[n]: two orders of the same values

    Examples
    --------
    >>> cycles(np.array([0, 1, 2, 3]), np.array([1, 0, 2, 3])).tolist()
    [0, 0, 1, 2]
    """
    n = len(mine)
    partner = np.empty(n, np.int64)
    partner[np.argsort(theirs, kind="stable")] = np.argsort(mine, kind="stable")
    links = scipy.sparse.coo_matrix((np.ones(n), (np.arange(n), partner)), shape=(n, n))
    return np.asarray(scipy.sparse.csgraph.connected_components(links, directed=False)[1])


# -- The strategy of the search for mixed masked files: a lineage for each limit on what attacks may find.
#
# A quantum lets one block of one lineage walk. Lineages take turns run by run, the highest limit first; each begins
# from what the one before it found. At the end of a run the file is kept and scored if it costs less than the best so
# far. Now and then a run begins with a crossover: some records take what they publish in the file of a neighbouring
# limit.

WORK = 60_000_000
"""Coordinates read in a quantum: some 60 ms."""
FIRST_RUN, LONGEST_RUN = 24, 96
"""Quanta of each block in the first run of a lineage; every later one is twice as long, up to the longest."""
SHOWN_EVERY = 8
"""Rounds of the first run after which the file is scored as it stands."""
HOT, COLD = 1.0, 0.05
"""Temperatures at which a run begins and ends, in what one lost cell costs."""
PRICE = 0.3
"""What one per cent of the records found beyond a limit costs, in per cent of loss."""
FIRST_RATES = (0.5, 0.15, 0.15, 0.2)
"""How often each kind of move is tried at first."""
LEAST_RATE, LEARNING = 0.04, 0.2
"""The least share of a kind of move, and how quickly shares follow its success."""
CROSSED_EVERY, CROSSED = 3, 0.25
"""A crossover begins every so many runs, and exchanges this share of the records, about."""


@dataclass(frozen=True, eq=False)
class ExchangeLineage(WalkingLineage):
    """One limit on its way, with the donor of each record and unit.

    rates  float64[4]: shares of the moves
    costs  float64[2]: of best and of the walk, in this run's blocks
    tried  float64[4, 2]: tries and improvements of each kind of move, in all
    """

    rates: NDArray[np.float64]
    costs: NDArray[np.float64]
    tried: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExchangeLineages(WalkingStrategy[ExchangeLineage]):
    """A strategy with a seat for each limit; a quantum advances one of them.

    space  records, units and attacks
    encoding  how genomes become tables
    limits  per cent of the records that an attack may find, the largest first
    aimed  share of the changes aimed at records that are found too often
    adaptive  whether rates of moves follow their success
    """

    operators: ClassVar[tuple[str, ...]] = ("walk", "cross")
    """Walks, and those that began with a crossover."""

    space: ExchangeSpace = field(repr=False)
    encoding: ExchangeEncoding = field(repr=False)
    limits: tuple[float, ...]
    aimed: float = 0.8
    adaptive: bool = True

    def first(self) -> tuple[Genome, ...]:
        """The file from which the first lineage begins."""
        return (self.space.genome(self.space.shuffled(self.limits[0]), self.encoding.names),)

    def prefer(self, child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
        """A file that costs less by its limit and all attacks takes the seat, whatever the objective reads."""
        return True

    def propose(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """One block of the lineage whose turn it is walks; a lineage begins when the one before it ended a run."""
        lineages = unpacked(ExchangeLineage, state)
        if not lineages or (len(lineages) < len(self.limits) and lineages[-1].place[0] > 0):
            return self._next_seated(problem, state)
        seat = min(range(len(lineages)), key=lambda each: (int(lineages[each].place[0]), each))
        streams = Streams(state.rng)
        lineage = lineages[seat]
        if self._crosses(lineage, lineages):
            other = lineages[seat - 1 if seat else 1].best
            child = cross_exchanges(lineage.best, other, self.space.codes, CROSSED, streams["cross"])
            lineage = lineage if find_broken(self.space.rules, child).any() else replace(lineage, walk=child)
        lineages[seat] = engine.map(walked, [(seat, lineage)], self)[0]
        worked = replace(state, memory=packed(lineages), rng=streams.snapshot())
        if not lineages[seat].due[0]:
            return replace(worked, generation=state.generation + 1, idle=0), []
        genome = self.space.genome(lineages[seat].best, self.encoding.names)
        began = max(int(lineages[seat].place[0]) - 1, 0)
        children = [Child(genome, self.operators[self._crossing(began)], (seat,), problem.key(genome))]
        return worked, children

    def _next_seated(self, problem: Problem, state: State) -> tuple[State, list[Child]]:
        """The state with the next lineage on its seat."""
        seat, streams = len(state.genomes), Streams(state.rng)
        donors = self.space.shuffled(self.limits[0]) if not seat else state.memory[f"{seat - 1}/best"]
        chance = first_chance(int(streams["walk"].integers(2**63)))
        lineage = ExchangeLineage(
            donors, donors, chance, np.zeros(2, np.int64), np.zeros(1, np.bool_), self._first_rates(), np.zeros(2),
            np.zeros((len(FIRST_RATES), 2)),
        )  # fmt: skip
        return seated(problem, state, lineage, self.space.genome(donors, self.encoding.names), streams)

    def _first_rates(self) -> NDArray[np.float64]:
        rates = np.array(FIRST_RATES)
        rates[REPLACE] *= bool(self.space.replaceable.any())
        return np.asarray(rates / rates.sum())

    def _crossing(self, run: int) -> bool:
        return run % CROSSED_EVERY == CROSSED_EVERY - 1

    def _crosses(self, lineage: ExchangeLineage, lineages: Sequence[ExchangeLineage]) -> bool:
        """Whether a run of a lineage begins now, with a crossover."""
        run, step = lineage.place.tolist()
        return step == 0 and self._crossing(run) and len(lineages) > 1

    def work(self, seat: int, lineage: ExchangeLineage) -> ExchangeLineage:
        """One quantum of a lineage: a block walks; after the last one of a run the cheaper file is kept."""
        run, step = lineage.place.tolist()
        blocks = self.space.blocks(run)
        rounds = min(FIRST_RUN << min(run, 20), LONGEST_RUN)
        turn, rows = step // len(blocks), blocks[step % len(blocks)]
        limits = self.space.limits(self.limits[seat])
        share, chance = len(rows) / len(self.space), lineage.chance.copy()
        held = self.space.loaded((seat, run, step % len(blocks)), rows, lineage.walk, limits)
        costs, tally = lineage.costs.copy(), np.zeros((len(FIRST_RATES), 2))
        if turn == 0:
            costs[0] = costs[0] * (step > 0) + share * self._cost_of_best(lineage, rows, limits, held)
        unit = 100.0 / (len(rows) * len(self.space.known))
        fall = (COLD / HOT) ** (1.0 / rounds)
        hot = HOT * unit * fall**turn
        pace = ExchangePace(WORK, hot, hot * fall, PRICE, int(self.aimed * (2**32 - 1)))
        around = ExchangeSurroundings(held.near, self.space.replaceable, rows.astype(np.int32), self.space.rules)
        rates = np.cumsum(lineage.rates)
        cost = walk_exchanges(held.file, held.counts, held.room, around, rates, pace, chance, tally)
        walk = lineage.walk.copy()
        walk[rows] = held.file.donors
        costs[1] = costs[1] * (step % len(blocks) > 0) + share * float(cost)
        after = replace(
            lineage,
            walk=walk, chance=chance, place=np.array([run, step + 1]), due=np.zeros(1, np.bool_), costs=costs,
            rates=self._followed(lineage.rates, tally), tried=lineage.tried + tally,
        )  # fmt: skip
        if step + 1 == rounds * len(blocks):
            return self._ended(after)
        shown = run == 0 and (step + 1) % (SHOWN_EVERY * len(blocks)) == 0
        return self._better(after) if shown else after

    def _cost_of_best(
        self, lineage: ExchangeLineage, rows: NDArray[np.int64], limits: NDArray[np.float64], held: LoadedBlock
    ) -> float:
        """What the best file costs in a block, before it walks."""
        file, counts = held.file, held.counts
        if not np.array_equal(lineage.walk, lineage.best):
            file = self.space.file(rows, lineage.best, limits)
            counts = self.space.counted(file)[0]
        return float(loss(file) + PRICE * excess(file, counts))

    def _better(self, lineage: ExchangeLineage) -> ExchangeLineage:
        """The file that walked is the best, and to be scored, if it costs less."""
        if lineage.costs[1] >= lineage.costs[0] - 1e-9:
            return lineage
        return replace(lineage, best=lineage.walk, due=np.array([True]), costs=lineage.costs[[1, 1]])

    def _ended(self, lineage: ExchangeLineage) -> ExchangeLineage:
        """A lineage after the last quantum of a run, which goes on from the best."""
        after = self._better(lineage)
        return replace(after, walk=after.best, place=np.array([after.place[0] + 1, 0]), costs=np.zeros(2))

    def _followed(self, rates: NDArray[np.float64], tally: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of the moves after their success in a quantum; none that is possible falls below the least."""
        if not self.adaptive:
            return rates
        possible = rates > 0
        success = np.where(possible, (tally[:, 1] + 1.0) / (tally[:, 0] + 2.0), 0.0)
        mixed = (1.0 - LEARNING) * rates + LEARNING * success / success.sum()
        mixed = np.where(possible, np.maximum(mixed, LEAST_RATE), 0.0)
        return np.asarray(mixed / mixed.sum())
