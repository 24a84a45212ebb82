"""How points of a run are measured: decoded, described and judged, several at once on an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from crypsis.encodings import Encoding
from crypsis.encodings.encoding import Description
from crypsis.evolution import Engine, Genome, Problem
from crypsis.measures.evaluation import Evaluation
from crypsis.measures.objective import Objective
from crypsis.pieces import Pieces, Underway, completed, together
from crypsis.run.clock import charged_now
from crypsis.run.finishing import Finishing

MOMENT = 0.1
"""Seconds of pieces after which a step ends."""


def for_a_moment(work: Underway[Any], engine: Engine) -> bool:
    """Do pieces of work until a moment has passed.

    engine  where they are done
    returns  whether the work is done
    """
    started = charged_now()
    while not work.done and charged_now() - started < MOMENT:
        work.advance(engine, engine.workers)
    return work.done


class Measured(NamedTuple):
    """A measured candidate: what is stored and decoded, what it does, and its figures."""

    key: bytes
    genome: Genome
    message: str
    facts: Mapping[str, float | int | str]
    evaluation: Evaluation


@dataclass(frozen=True)
class Measuring:
    """Decodes, describes and measures genomes of one search.

    family  what its solutions do to values
    """

    encoding: Encoding
    objective: Objective
    family: str
    finish: Finishing

    def __call__(self, genome: Genome) -> tuple[Description, Evaluation]:
        """Decode a genome once, describe it and measure it."""
        return completed(self.in_pieces(genome))

    def in_pieces(self, genome: Genome) -> Pieces[tuple[Description, Evaluation]]:
        """The same in pieces."""
        [decoded] = yield [partial(self.encoding.decode, genome)]
        [masked] = yield [partial(self.finish, decoded, self.family)]
        [description] = yield [partial(self.encoding.describe, genome, masked)]
        return description, (yield from self.objective.evaluating(masked, self.family))

    def all(self, problem: Problem, candidates: Sequence[Genome], engine: Engine) -> Pieces[list[Measured]]:
        """Measure candidates of a search, each once; in pieces where the engine is in this process.

        problem  says which genome a candidate stands for
        engine  where they are measured
        """
        genomes = [problem.expressed(candidate) for candidate in candidates]
        if engine.here:
            read = yield from together([self.in_pieces(genome) for genome in genomes])
        else:
            read = engine.map(_measure, genomes, self)
        found = []
        for candidate, genome, (description, evaluation) in zip(candidates, genomes, read, strict=True):
            own = problem.facts(candidate) if problem.facts is not None else {}
            facts = {**description.facts, **own}
            found.append(Measured(problem.key(candidate), genome, description.message, facts, evaluation))
        return found


def _measure(measuring: Measuring, genome: Genome) -> tuple[Description, Evaluation]:
    return measuring(genome)
