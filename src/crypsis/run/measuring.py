"""How points of a run are measured: decoded, described and judged, several at once on an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crypsis.encodings import Encoding
from crypsis.encodings.encoding import Description
from crypsis.evolution import Engine, Genome, Problem
from crypsis.measures.evaluation import Evaluation
from crypsis.measures.objective import Objective
from crypsis.run.finishing import Finishing


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
        masked = self.finish(self.encoding.decode(genome), self.family)
        return self.encoding.describe(genome, masked), self.objective.evaluate(masked, self.family)

    def all(self, problem: Problem, candidates: Sequence[Genome], engine: Engine) -> list[Measured]:
        """Measure candidates of a search, each once.

        problem  says which genome a candidate stands for
        engine  where they are measured
        """
        genomes = [problem.expressed(candidate) for candidate in candidates]
        found = []
        for candidate, genome, (description, evaluation) in zip(
            candidates, genomes, engine.map(_measure, genomes, self), strict=True
        ):
            own = problem.facts(candidate) if problem.facts is not None else {}
            facts = {**description.facts, **own}
            found.append(Measured(problem.key(candidate), genome, description.message, facts, evaluation))
        return found


def _measure(measuring: Measuring, genome: Genome) -> tuple[Description, Evaluation]:
    return measuring(genome)
