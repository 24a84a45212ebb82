"""The problem of partitioning records, with the scores it has where no objective is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from crypsis.encodings.partition import compact, partition_key
from crypsis.evolution import Genome, Problem, Scores
from crypsis.evolution.piecewise import PiecewiseScores
from crypsis.evolution.problem import Evaluate
from crypsis.kernels.squares import sse
from crypsis.pieces import Pieces, completed
from crypsis.searches.partitions.lineages import Lineages
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.searches.partitions.styles import Styles


@dataclass(frozen=True)
class SquaredErrors:
    """The SSE of a partition: what is minimised where there is one k."""

    space: PartitionSpace

    def __call__(self, genome: Genome) -> Scores:
        return (sse(self.space.points, compact(genome)),)


@dataclass(frozen=True)
class QuickScores:
    """(SSE/SST, groups/records), both per cent: what the search over a ladder of k minimises by itself."""

    space: PartitionSpace

    def __call__(self, genome: Genome) -> Scores:
        return completed(self.scoring(genome))

    def scoring(self, genome: Genome) -> Pieces[Scores]:
        """The same in pieces."""
        labels = compact(genome)
        [total] = yield [lambda: self.space.total]
        [squares] = yield [lambda: sse(self.space.points, labels)]
        return 100.0 * squares / total if total > 0 else 0.0, 100.0 * (int(labels.max()) + 1) / len(labels)

    def piecewise(self) -> PiecewiseScores:
        """The same, divided between quanta where the table is large."""
        return PiecewiseScores(self.scoring, partition_key, len(self.space))


def partition_problem(
    lineages: Lineages,
    evaluate: Evaluate,
    objectives: tuple[str, ...],
    rng: Generator,
    notes: Mapping[str, Any],
    styles: Styles | None = None,
) -> Problem:
    """The problem of partitioning records, whatever they are scored by."""
    return Problem(
        key=partition_key,
        strategy=lineages,
        start=lambda: lineages.first(rng),
        evaluate=evaluate,
        objectives=objectives,
        express=None if styles is None else styles.express,
        variants=None if styles is None else styles.variants,
        remember=10 * (len(lineages.space.ladder) + lineages.seats) * lineages.styles,
        notes=notes,
    )
