"""The search "partition": groups of similar records for a ladder of k, each made tighter generation by generation.

A genome is int32[n + 1]: the group of every kept record, and k. Its quick figures are the share of variance lost
within the groups and the share of groups among the records: the chance to pick the right one of a known group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.encodings.partition import PartitionEncoding, compact, partition_key
from crypsis.errors import TableError
from crypsis.evolution import Crowding, Genome, Problem, Scores
from crypsis.kernels.annealing import WalkContext
from crypsis.kernels.squares import sse
from crypsis.masking.blocks import LARGE, QUICK_BLOCK, Blocks, mend_borders
from crypsis.masking.heuristics import MDAV
from crypsis.masking.method import Family
from crypsis.masking.microaggregation import Microaggregation, Missing
from crypsis.measures.objective import Objective
from crypsis.searches.ladder import LadderSearch
from crypsis.searches.partitions.walk import Walk, survey
from crypsis.searches.search import ObjectiveScores, searches
from crypsis.table.scaling import Scaling
from crypsis.table.table import Table

WARM, TEPID, COLD = 0.3, 0.15, 0.06
"""Temperatures of a re-solved region, of a short reheating, and of rest, in units of the local spacing."""


@dataclass(frozen=True, eq=False)
class PartitionSpace:
    """The records to be partitioned, and what walks over partitions need: surveyed once for each k."""

    encoding: PartitionEncoding
    _contexts: dict[int, WalkContext] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {"encoding": self.encoding, "_contexts": {}}  # a worker surveys for itself

    @property
    def points(self) -> NDArray[np.float64]:
        return self.encoding.points

    def context(self, k: int) -> WalkContext:
        """Neighbour lists for walks at one k."""
        if k not in self._contexts:
            self._contexts[k] = survey(self.points, k)
        return self._contexts[k]

    @cached_property
    def total(self) -> float:
        """SST: what one group of all would lose."""
        return float(np.square(self.points - self.points.mean(axis=0)).sum())


@dataclass(frozen=True)
class QuickScores:
    """(SSE/SST, groups/records), both per cent: what the search minimises by itself."""

    space: PartitionSpace

    def __call__(self, genome: Genome) -> Scores:
        labels = compact(genome)
        lost = 100.0 * sse(self.space.points, labels) / self.space.total if self.space.total > 0 else 0.0
        return lost, 100.0 * (int(labels.max()) + 1) / len(labels)


@dataclass(frozen=True)
class Anneal:
    """A partition walks a while at a falling temperature, or regions of it are freed and solved again.

    Only a tighter partition is a child, so that the population holds no clones.
    """

    space: PartitionSpace = field(repr=False)
    steps: int
    region: int
    name: str = "anneal"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        parent = parents[0]
        k, labels = int(parent[-1]), compact(parent)
        sizes = np.bincount(labels)
        chance = np.array([rng.integers(2**63)], dtype=np.uint64) | np.uint64(1)
        if len(labels) < 2 * k or int(sizes.max()) >= 2 * k or int(sizes.min()) < k:
            return []
        walk = Walk(self.space.context(k), k, chance)
        before = walk.load(labels)
        each = max(100, min(700 * self.region, self.steps))
        if rng.random() < 0.5:
            walk.anneal(self.steps, TEPID, COLD)
        else:
            walk.resolve(max(1, self.steps // each), self.region, each, WARM, COLD)
        found = compact(np.append(walk.labels(), k))
        if sse(self.space.points, found) > before:
            return []
        return [np.append(found, np.int32(k)).astype(np.int32)]


@dataclass(frozen=True)
class Mend:
    """Records of near groups change places, within blocks of whole groups that are cut in a new direction each time.

    It needs no survey of the neighbours and works block by block, so its time grows as the table does.
    """

    space: PartitionSpace = field(repr=False)
    name: str = "mend"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        k, labels = int(parents[0][-1]), compact(parents[0])
        mended = mend_borders(self.space.points, labels, k, max(QUICK_BLOCK, 4 * k), rng, passes=1)
        return [] if np.array_equal(mended, labels) else [np.append(mended, np.int32(k)).astype(np.int32)]


@searches.add("partition")
class Partition(LadderSearch):
    """Which records should become alike? MDAV's groups for a ladder of k, each rung made ever tighter.

    Every solution keeps k-anonymity over the columns it masks; a larger k loses more and links less.
    """

    family: ClassVar[Family] = Family.AGGREGATION
    purpose: ClassVar[str] = "groups of at least k similar records"
    pace: ClassVar[int] = 3

    scaling: Scaling = Field(default="z", description="weight of the columns: by deviation, by range, or none")
    missing: Missing = Field(
        default="keep",
        description="missing values: keep them missing and blank a column for a whole group that lacks some; refuse; "
        "or aggregate, which fills in their group's value",
    )
    blocks: Literal["auto", "never", "always"] = Field(
        default="auto",
        description=f"never: groups begin as MDAV's over the whole table and are annealed; always: they begin as "
        f"MDAV's within blocks of {QUICK_BLOCK} near records, and near groups change records across ever new blocks; "
        f"auto: in blocks above {LARGE} records",
    )
    breedings: int = Field(default=8, ge=1, le=1000, description="group sizes made tighter in one generation")
    steps: int = Field(default=200, ge=1, le=100_000, description="moves tried per record when a partition is annealed")
    region: int = Field(default=120, ge=10, le=10_000, description="records freed at a time when a region is re-solved")

    @classmethod
    def first_settings(cls, table: Table, k: int) -> dict[str, Any]:
        return {"k": k} | ({"rungs": 4, "breedings": 2} if len(table) > LARGE else {})

    def obstacle(self, table: Table) -> str:
        try:
            self._method().check(table, self.names(table))
        except TableError as error:
            return str(error)
        return super().obstacle(table)

    def encoding(self, table: Table) -> PartitionEncoding:
        return PartitionEncoding(table, self.names(table), self._method())

    def problem(self, encoding: PartitionEncoding, objective: Objective | None, rng: Generator) -> Problem:
        records = int(encoding.table.kept.sum())
        ladder, space = self.ladder(records), PartitionSpace(encoding)
        in_blocks = self.blocks == "always" or (self.blocks == "auto" and records > LARGE)
        plain = Blocks(size=QUICK_BLOCK, mending=0) if in_blocks else MDAV()
        tighten = Mend(space) if in_blocks else Anneal(space, self.steps * records, self.region)

        def start() -> tuple[Genome, ...]:
            return tuple(np.append(plain.partition(space.points, k, rng), k).astype(np.int32) for k in ladder)

        return Problem(
            key=partition_key,
            strategy=Crowding(tighten, times=self.breedings, weights=np.ones_like, prefer=_tighter),
            start=start,
            evaluate=QuickScores(space) if objective is None else ObjectiveScores(encoding, objective),
            objectives=("loss", "risk"),
            remember=10 * (len(ladder) + self.breedings),
            notes={"ladder": list(ladder), "columns": list(encoding.names)},
        )

    def _method(self) -> Microaggregation:
        return Microaggregation(k=self.k, scaling=self.scaling, missing=self.missing)


def _tighter(child: NDArray[np.float64], parent: NDArray[np.float64]) -> bool:
    """Whether a child takes its parent's rung: less loss, or as much and less risk."""
    return tuple(child.tolist()) < tuple(parent.tolist())
