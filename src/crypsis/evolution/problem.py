"""What a search states about itself: candidates, operators, a strategy, and the problem posed to the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

if TYPE_CHECKING:
    from crypsis.evolution.state import State

Genome = NDArray[Any]
Scores = tuple[float, ...]
"""One number per objective, all minimised."""


class Operator(Protocol):
    """Makes new genomes from `arity` old ones, never changing them.

    With two parents the i-th child is taken to be the i-th parent's own child.
    """

    @property
    def name(self) -> str: ...

    @property
    def arity(self) -> int: ...

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]: ...


@dataclass(frozen=True)
class Child:
    """A proposed genome, who made it, and from whom.

    parents  positions in the population (beyond its end: in the frontier); the first is the child's own parent
    key      filled in by the loop
    """

    genome: Genome
    operator: str
    parents: tuple[int, ...]
    key: bytes = b""


class Streams(Mapping[str, Generator]):
    """A random stream for each operator and one for selection, so that silencing one leaves the others as they were."""

    def __init__(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        self._streams: dict[str, Generator] = {}
        for name, state in states.items():
            bits = PCG64()
            bits.state = cast(Any, dict(state))
            self._streams[name] = Generator(bits)

    @classmethod
    def seeded(cls, rng: Generator, names: Sequence[str]) -> Streams:
        """Independent streams, all determined by `rng`."""
        seed = SeedSequence([int(word) for word in rng.integers(0, 2**32, size=8)])
        return cls({name: PCG64(s).state for name, s in zip(names, seed.spawn(len(names)), strict=True)})

    def snapshot(self) -> dict[str, dict[str, Any]]:
        """Plain data from which the same streams go on."""
        return {name: dict(stream.bit_generator.state) for name, stream in self._streams.items()}

    def __getitem__(self, name: str) -> Generator:
        return self._streams[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._streams)

    def __len__(self) -> int:
        return len(self._streams)


SELECTION = "selection"
"""Name of the stream a strategy draws from when no single operator is concerned."""


class Strategy(Protocol):
    """How a search advances, one quantum of work at a time. Immutable: state goes in, state comes out.

    A quantum is fixed by the problem and the settings (so many children, moves or epochs), never by the clock: the
    clock only decides how many quanta run, so that any stop is clean and the same quanta give the same bits.
    """

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in the order of the tallies."""

    def fitness(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, m] → float64[n]: one number per row, minimised, independent of the other rows."""

    def begin(self, problem: Problem, rng: Generator, engine: Engine) -> State:
        """The state before the first quantum; all later randomness is derived from `rng` and kept in the state."""

    def advance(self, problem: Problem, state: State, engine: Engine) -> State:
        """The state after one more quantum."""


class Engine(Protocol):
    """Where pure functions run; results come back in order."""

    def map(self, function: Callable[[Any, Any], Any], items: Sequence[Any], shared: Any) -> list[Any]:
        """[function(shared, item) for item in items], with `shared` sent once to each worker."""


Evaluate = Callable[[Genome], Scores]
Assess = Callable[[Sequence[Child], "State", Engine], Sequence[Scores]]


@dataclass(frozen=True)
class Problem:
    """Everything the loop needs.

    key       equal for candidates that decode into the same thing (clones), different otherwise
    evaluate  a pure, picklable callable: candidate → scores; never draws a random number
    assess    optional quicker route for a whole batch (e.g. following its parents' ledgers); same values
    start     the first population, or how it is made: a run that goes on does not need it
    express   candidate → the genome that is stored and decoded: what took effort to find, written out in full; None
              where the candidate itself is that
    facts     candidate → figures of the search's own about it, by name
    boxes     side lengths of the frontier's boxes; () is plain dominance
    remember  how many scores are kept by key, so that clones cost nothing
    """

    key: Callable[[Genome], bytes]
    strategy: Strategy
    start: tuple[Genome, ...] | Callable[[], tuple[Genome, ...]]
    evaluate: Evaluate
    objectives: tuple[str, ...]
    boxes: tuple[float, ...] = ()
    assess: Assess | None = None
    express: Callable[[Genome], Genome] | None = None
    facts: Callable[[Genome], Mapping[str, float | int | str]] | None = None
    remember: int = 50_000
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What the search states about itself, as plain data."""

    def first(self) -> tuple[Genome, ...]:
        """The first population, made if need be."""
        return self.start() if callable(self.start) else self.start

    def expressed(self, candidate: Genome) -> Genome:
        """The genome that is stored and decoded."""
        return candidate if self.express is None else self.express(candidate)
