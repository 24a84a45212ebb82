"""The strategy of the search for mixed masked files: a chain for each limit on what attacks may find.

A quantum anneals one block of one chain. Chains take turns run by run, the highest limit first; each begins from what
the one before it found. At the end of a run the file is kept and scored if it costs less than the best so far. Now and
then a run begins with a crossover: some records take what they publish in the file of a neighbouring limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.encodings.masked_file import ExchangeEncoding, cycles_between_masked_files
from crypsis.evolution import Engine, Genome, Problem, State
from crypsis.evolution.focus import Focus, find_focused
from crypsis.evolution.problem import Child, Streams
from crypsis.kernels.exchanges import REPLACE, ExchangeContext, ExchangeSettings, anneal_exchanges, excess, loss
from crypsis.masking.repairing import find_records_to_repair
from crypsis.searches.chains import (
    AnnealingChain,
    ChainStrategy,
    add_chain,
    advance_chain,
    initial_chain_random_state,
    pack_chains,
    unpack_chains,
)
from crypsis.searches.mixed_masking.space import ExchangeSpace, LoadedBlock

Donors = NDArray[np.int32]
ENOUGH = 2.0
"""A cycle that would exchange this many times the stretch is left out."""


def cross_annealing_chains(
    one: Donors, other: Donors, codes: NDArray[np.int32], share: float, rng: Generator
) -> Donors:
    """Annealing of mixed masked files: cross a chain's best file with another in a stretch of records.

    `one`, `other` int32[n, u]; `codes` int32[n, u].
    """
    n, child = len(one), one.copy()
    long = max(1, round(share * n))
    start = int(rng.integers(n))
    stretch = np.zeros(n, np.bool_)
    stretch[(start + np.arange(long)) % n] = True
    for unit in range(one.shape[1]):
        mine, theirs = codes[one[:, unit], unit], codes[other[:, unit], unit]
        if np.array_equal(np.sort(mine), np.sort(theirs)):
            cycle = cycles_between_masked_files(mine, theirs)
            touched = np.bincount(cycle[stretch & (mine != theirs)], minlength=cycle.max() + 1) > 0
            small = np.bincount(cycle[mine != theirs], minlength=len(touched)) <= ENOUGH * long
            taken = (touched & small)[cycle]
        else:
            taken = stretch
        child[taken, unit] = other[taken, unit]
    return child


# -- The chains, one for each limit.

WORK = 60_000_000
"""Coordinates read in a quantum: some 60 ms."""
FIRST_RUN, LONGEST_RUN = 24, 96
"""Quanta of each block in the first run of a chain; every later one is twice as long, up to the longest."""
SHOWN_EVERY = 8
"""Rounds of the first run after which the file is scored as it stands."""
HOT, COLD = 1.0, 0.05
"""Temperatures at which a run begins and ends, in what one lost cell costs."""
PRICE = 0.3
"""What one per cent of the records found beyond a limit costs, in per cent of loss."""
FOCUSED = 2
"""Chains that are annealed at least under a focus: those whose files are nearest to its box."""
FIRST_RATES = (0.5, 0.15, 0.15, 0.2)
"""How often each kind of move is tried at first."""
LEAST_RATE, LEARNING = 0.04, 0.2
"""The least share of a kind of move, and how quickly shares follow its success."""
CROSSED_EVERY, CROSSED = 3, 0.25
"""A crossover begins every so many runs, and exchanges this share of the records, about."""


@dataclass(frozen=True, eq=False)
class ExchangeChain(AnnealingChain):
    """A chain of one limit, with the donor of each record and unit."""

    rates: NDArray[np.float64]  # float64[4]: shares of the moves
    costs: NDArray[np.float64]  # float64[2]: of best and current, in this run's blocks
    tried: NDArray[np.float64]  # float64[4, 2]: tries and improvements of each kind of move, in all


@dataclass(frozen=True, eq=False)
class ExchangeChains(ChainStrategy[ExchangeChain]):
    """A strategy with a chain for each limit; a quantum advances one of them."""

    operators: ClassVar[tuple[str, ...]] = ("anneal", "cross")
    """Annealing runs, and those that began with a crossover."""

    space: ExchangeSpace = field(repr=False)  # records, units and attacks
    encoding: ExchangeEncoding = field(repr=False)  # how genomes become tables
    limits: tuple[float, ...]  # per cent of the records that an attack may find, the largest first
    aimed: float = 0.8  # share of the changes aimed at records that are found too often
    adaptive: bool = True  # whether rates of moves follow their success
    focus: Focus | None = None  # chains in it or next to it are annealed; all if None

    def first(self) -> tuple[Genome, ...]:
        """The file from which the first chain begins."""
        return (self.space.genome(self.space.shuffle_within_groups(self.limits[0]), self.encoding.names),)

    def prefer(self, child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
        """A file that costs less by its limit and all attacks is preferred, whatever the objective reads."""
        return True

    def propose(self, problem: Problem, state: State, engine: Engine) -> tuple[State, list[Child]]:
        """One block of the chain whose turn it is is annealed; a chain begins when the one before it ended a run."""
        chains = unpack_chains(ExchangeChain, state)
        if not chains or (len(chains) < len(self.limits) and chains[-1].place[0] > 0):
            return self._add_next_chain(problem, state)
        near = find_focused(self.focus, state.scores, FOCUSED).tolist()
        number = min(near, key=lambda each: (int(chains[each].place[0]), each))
        streams = Streams(state.rng)
        chain = chains[number]
        if self._crosses(chain, chains):
            other = chains[number - 1 if number else 1].best
            child = cross_annealing_chains(chain.best, other, self.space.codes, CROSSED, streams["cross"])
            chain = chain if find_records_to_repair(self.space.rules, child).any() else replace(chain, current=child)
        chains[number] = engine.map(advance_chain, [(number, chain)], self)[0]
        worked = replace(state, memory=pack_chains(chains), rng=streams.snapshot())
        if not chains[number].improved[0]:
            return replace(worked, generation=state.generation + 1, idle=0), []
        genome = self.space.genome(chains[number].best, self.encoding.names)
        began = max(int(chains[number].place[0]) - 1, 0)
        children = [Child(genome, self.operators[self._is_crossed(began)], (number,), problem.key(genome))]
        return worked, children

    def _add_next_chain(self, problem: Problem, state: State) -> tuple[State, list[Child]]:
        """The state with the next chain."""
        number, streams = len(state.genomes), Streams(state.rng)
        donors = self.space.shuffle_within_groups(self.limits[0]) if not number else state.memory[f"{number - 1}/best"]
        random_state = initial_chain_random_state(int(streams["anneal"].integers(2**63)))
        chain = ExchangeChain(
            best=donors,
            current=donors,
            random_state=random_state,
            place=np.zeros(2, np.int64),
            improved=np.zeros(1, np.bool_),
            rates=self._first_rates(),
            costs=np.zeros(2),
            tried=np.zeros((len(FIRST_RATES), 2)),
        )
        return add_chain(problem, state, chain, self.space.genome(donors, self.encoding.names), streams)

    def _first_rates(self) -> NDArray[np.float64]:
        rates = np.array(FIRST_RATES)
        rates[REPLACE] *= bool(self.space.replaceable.any())
        return np.asarray(rates / rates.sum())

    def _is_crossed(self, run: int) -> bool:
        return run % CROSSED_EVERY == CROSSED_EVERY - 1

    def _crosses(self, chain: ExchangeChain, chains: Sequence[ExchangeChain]) -> bool:
        """Whether a run of a chain begins now, with a crossover."""
        run, step = chain.place.tolist()
        return step == 0 and self._is_crossed(run) and len(chains) > 1

    def work(self, number: int, chain: ExchangeChain) -> ExchangeChain:
        """One quantum of a chain: a block is annealed; after the last one of a run the cheaper file is kept."""
        run, step = chain.place.tolist()
        blocks = self.space.blocks(run)
        rounds = min(FIRST_RUN << min(run, 20), LONGEST_RUN)
        turn, rows = step // len(blocks), blocks[step % len(blocks)]
        limits = self.space.limits(self.limits[number])
        share, random_state = len(rows) / len(self.space), chain.random_state.copy()
        held = self.space.load_block((number, run, step % len(blocks)), rows, chain.current, limits)
        costs, tally = chain.costs.copy(), np.zeros((len(FIRST_RATES), 2))
        if turn == 0:
            costs[0] = costs[0] * (step > 0) + share * self._cost_of_best(chain, rows, limits, held)
        unit = 100.0 / (len(rows) * len(self.space.known))
        fall = (COLD / HOT) ** (1.0 / rounds)
        hot = HOT * unit * fall**turn
        settings = ExchangeSettings(WORK, hot, hot * fall, PRICE, int(self.aimed * (2**32 - 1)))
        context = ExchangeContext(held.near, self.space.replaceable, rows.astype(np.int32), self.space.rules)
        rates = np.cumsum(chain.rates)
        cost = anneal_exchanges(held.file, held.counts, held.workspace, context, rates, settings, random_state, tally)
        current = chain.current.copy()
        current[rows] = held.file.donors
        costs[1] = costs[1] * (step % len(blocks) > 0) + share * float(cost)
        after = replace(
            chain,
            current=current,
            random_state=random_state,
            place=np.array([run, step + 1]),
            improved=np.zeros(1, np.bool_),
            costs=costs,
            rates=self._adapt_rates(chain.rates, tally),
            tried=chain.tried + tally,
        )
        if step + 1 == rounds * len(blocks):
            return self._end_run(after)
        shown = run == 0 and (step + 1) % (SHOWN_EVERY * len(blocks)) == 0
        return self._keep_better(after) if shown else after

    def _cost_of_best(
        self, chain: ExchangeChain, rows: NDArray[np.int64], limits: NDArray[np.float64], held: LoadedBlock
    ) -> float:
        """What the best file costs in a block, before it is annealed."""
        file, counts = held.file, held.counts
        if not np.array_equal(chain.current, chain.best):
            file = self.space.file(rows, chain.best, limits)
            counts = self.space.count_links(file)[0]
        return float(loss(file) + PRICE * excess(file, counts))

    def _keep_better(self, chain: ExchangeChain) -> ExchangeChain:
        """The annealed file is the best, and to be scored, if it costs less."""
        if chain.costs[1] >= chain.costs[0] - 1e-9:
            return chain
        return replace(chain, best=chain.current, improved=np.array([True]), costs=chain.costs[[1, 1]])

    def _end_run(self, chain: ExchangeChain) -> ExchangeChain:
        """A chain after the last quantum of a run, which goes on from the best."""
        after = self._keep_better(chain)
        return replace(after, current=after.best, place=np.array([after.place[0] + 1, 0]), costs=np.zeros(2))

    def _adapt_rates(self, rates: NDArray[np.float64], tally: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of the moves after their success in a quantum; none that is possible falls below the least."""
        if not self.adaptive:
            return rates
        possible = rates > 0
        success = np.where(possible, (tally[:, 1] + 1.0) / (tally[:, 0] + 2.0), 0.0)
        mixed = (1.0 - LEARNING) * rates + LEARNING * success / success.sum()
        mixed = np.where(possible, np.maximum(mixed, LEAST_RATE), 0.0)
        return np.asarray(mixed / mixed.sum())
