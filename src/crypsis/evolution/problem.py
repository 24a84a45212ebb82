"""The parts of a search: candidates, operators, a strategy, and the problem for the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from crypsis.engines import Engine
from crypsis.tasks import Tasks, Underway, complete, together

if TYPE_CHECKING:
    from crypsis.evolution.state import State

RECORDS = 100_000
"""Records that the tasks of one quantum read, unless one task for each worker reads more."""


@dataclass(eq=False)
class TaskScores:
    """An evaluation of candidates whose work can be divided between quanta."""

    scoring: Callable[[Genome], Tasks[Scores]]  # candidate → its scores, in tasks
    key: Callable[[Genome], bytes]  # candidate → bytes, equal for equal scores
    records: int  # of the table, which a task reads
    _keys: tuple[bytes, ...] = field(default=(), repr=False)
    _work: Underway[list[Scores]] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_keys": (), "_work": None}

    def __call__(self, candidate: Genome) -> Scores:
        """The scores: those that were worked out, or worked out now."""
        key = self.key(candidate)
        if self._work is not None and self._work.result is not None and key in self._keys:
            return self._work.result[self._keys.index(key)]
        return complete(self.scoring(candidate))

    def ready(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Work out a few tasks of the scores of all candidates; whether none is left."""
        if not engine.here or not candidates:
            return True
        keys = tuple(self.key(each) for each in candidates)
        if self._work is None or keys != self._keys:
            self._keys, self._work = keys, Underway(together([self.scoring(each) for each in candidates]))
        left = max(engine.workers, RECORDS // max(self.records, 1))
        while not self._work.done and left > 0:
            some = min(len(self._work.batch), left)
            self._work.advance(engine, some)
            left -= max(some, 1)
        return self._work.done


# -- The parts of a search: candidates, operators, a strategy, and the problem for the loop.

Genome = NDArray[Any]
Scores = tuple[float, ...]
"""One number per objective, all minimised."""


class Operator(Protocol):
    """Makes new genomes from old ones, which it never changes.

    With two parents, the i-th child is the child of the i-th parent.
    """

    @property
    def name(self) -> str:
        """Name of the operator."""

    @property
    def arity(self) -> int:
        """Number of parents."""

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        """Make children."""


@dataclass(frozen=True)
class Child:
    """A proposed genome."""

    genome: Genome
    operator: str  # the operator that made it
    # positions in the population, or beyond its end in the frontier; the first is the child's own parent
    parents: tuple[int, ...]
    key: bytes = b""  # set by the loop


class Streams(Mapping[str, Generator]):
    """A random stream for each operator and one for selection, so that disabling one does not change the others."""

    def __init__(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        self._streams: dict[str, Generator] = {}
        for name, state in states.items():
            bits = PCG64()
            bits.state = cast(Any, dict(state))
            self._streams[name] = Generator(bits)

    @classmethod
    def spawn(cls, rng: Generator, names: Sequence[str]) -> Streams:
        """Independent streams that are determined by one generator."""
        seed = SeedSequence([int(part) for part in rng.integers(0, 2**32, size=8)])
        return cls({name: PCG64(s).state for name, s in zip(names, seed.spawn(len(names)), strict=True)})

    def snapshot(self) -> dict[str, dict[str, Any]]:
        """States of the streams as plain data, from which they continue."""
        return {name: dict(stream.bit_generator.state) for name, stream in self._streams.items()}

    def __getitem__(self, name: str) -> Generator:
        return self._streams[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._streams)

    def __len__(self) -> int:
        return len(self._streams)


SELECTION = "selection"
"""Name of the random stream of selection."""


class Strategy(Protocol):
    """How a search advances, one quantum of work at a time; immutable.

    A quantum is fixed by the problem and the settings (a number of children, moves or epochs), never by the clock. The
    clock only decides how many quanta run, so that the same quanta always give the same result.
    """

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""

    def fitness(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """One number per row of scores, minimised and independent of the other rows.

        `scores` float64[n, m]; returns float64[n].
        """

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The state before the first quantum."""

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """The state after one more quantum."""


Evaluate = Callable[[Genome], Scores]
Assess = Callable[[Sequence[Child], "State", Engine], Sequence[Scores]]


@dataclass(frozen=True)
class Problem:
    """What the loop needs of a search."""

    key: Callable[[Genome], bytes]  # candidate → bytes, equal for candidates that decode into the same table
    strategy: Strategy  # how the search advances
    # the first population, or how it is made; a resumed run does not need it
    start: tuple[Genome, ...] | Callable[[], tuple[Genome, ...]]
    # candidate → scores; pure, picklable, without random numbers. `TaskScores` where scoring takes long
    evaluate: Evaluate
    objectives: tuple[str, ...]  # names of the scores
    boxes: tuple[float, ...] = ()  # side lengths of the boxes of the frontier; () for plain dominance
    assess: Assess | None = None  # A faster evaluation of a whole batch with the same values
    # candidate → the genome that is stored and decoded; None where the candidate is that genome
    express: Callable[[Genome], Genome] | None = None
    # candidate → candidates that differ in what the scores do not see, measured beside it
    variants: Callable[[Genome], Sequence[Genome]] | None = None
    # candidates and engine → whether they can be scored at once; if not, a task of what their scores need is worked
    # out. None where scoring is short
    ready: Callable[[Sequence[Genome], Engine], bool] | None = None
    # candidate → figures of the search about it, by name
    facts: Callable[[Genome], Mapping[str, float | int | str]] | None = None
    remember: int = 50_000  # number of scores that are kept by key
    together: int = 0  # candidates of a generation scored in one quantum; 0 for all
    notes: Mapping[str, Any] = field(default_factory=dict)  # what the search states about itself, as plain data

    def first(self) -> tuple[Genome, ...]:
        """The first population."""
        return self.start() if callable(self.start) else self.start

    def prepare(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Whether candidates can be measured at once; if not, a task of the work for it is done."""
        return self.ready is None or self.ready(candidates, engine)

    def scorable(self, candidates: Sequence[Genome], engine: Engine) -> bool:
        """Whether candidates can be scored at once; if not, a task of the work for it is done."""
        if not self.prepare(candidates, engine):
            return False
        return not isinstance(self.evaluate, TaskScores) or self.evaluate.ready(candidates, engine)

    def express_candidate(self, candidate: Genome) -> Genome:
        """The genome of a candidate that is stored and decoded."""
        return candidate if self.express is None else self.express(candidate)
