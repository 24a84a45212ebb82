"""The search "local-recoding": different records at different levels, for a ladder of k.

A genome is int64[4]: k, l, how many lattice nodes are offered (a power of two), and the number of a random stream. The
stream decides which nodes are drawn where the lattice has more, so that two tries at one k differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from crypsis.errors import SearchError
from crypsis.evolution import Application, Budget, Elitist, Genome, Problem, Scores
from crypsis.evolution.selection import DominanceOrder
from crypsis.masking.method import Family
from crypsis.masking.recoding import LocalRecoding
from crypsis.measures.cell_loss import CellLoss
from crypsis.measures.measure import BoundMeasure, Measure
from crypsis.privacy.properties import class_sizes
from crypsis.searches.search import Account, Search, searches
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table

STREAMS = 1 << 40
KEPT = 12


@dataclass(frozen=True, eq=False)
class Recodings:
    """Local recodings of one table."""

    table: Table = field(repr=False)
    columns: tuple[str, ...]
    ladder: tuple[int, ...]
    diversity: int
    exponents: tuple[int, int]
    _kept: dict[bytes, Table] = field(default_factory=dict, repr=False)
    """The last few tables decoded, oldest first: a recoding is worth keeping for the questions that follow."""

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_kept": {}}

    def draw(self, rng: Generator, size: int) -> list[Genome]:
        low, high = self.exponents
        return [
            np.array([rng.choice(self.ladder), self.diversity, rng.integers(low, high + 1), rng.integers(STREAMS)])
            for _ in range(size)
        ]

    def key(self, genome: Genome) -> bytes:
        return np.asarray(genome, dtype=np.int64).tobytes()

    def decode(self, genome: Genome) -> Table:
        key = self.key(genome)
        if key not in self._kept:
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._recoded(genome)
        return self._kept[key]

    def _recoded(self, genome: Genome) -> Table:
        k, diversity, exponent, stream = (int(value) for value in genome)
        method = LocalRecoding(columns=self.columns, k=k, l=diversity, nodes=max(10, 1 << exponent))
        return method.mask(self.table, np.random.default_rng([k, exponent, stream]))

    def tell(self, genome: Genome) -> Account:
        masked = self.decode(genome)
        sizes = class_sizes(masked, masked.quasi_identifiers or list(self.columns))[masked.kept]
        classes = round(float((1.0 / sizes).sum())) if len(sizes) else 0
        least = int(sizes.min()) if len(sizes) else 0
        words = (
            f"each record generalised only as far as its class of at least {int(genome[0])} needs: {classes} classes, "
            f"the smallest of {least} records"
        )
        return Account(words, {"k": int(genome[0]), "effective_k": least, "classes": classes})


@dataclass(frozen=True)
class RecodingScores:
    """(mean loss, mean risk); without measures of the user's choice, cell loss and classes among records."""

    space: Recodings
    bound_measures: Mapping[str, tuple[str, BoundMeasure]]

    def __call__(self, genome: Genome) -> Scores:
        masked = self.space.decode(genome)
        read = {aim: [g.read(masked) for a, g in self.bound_measures.values() if a == aim] for aim in ("loss", "risk")}
        if not read["risk"]:
            sizes = class_sizes(masked, masked.quasi_identifiers or list(self.space.columns))[masked.kept]
            read["risk"] = [100.0 * float((1.0 / sizes).mean())]
        return float(np.mean(read["loss"])), float(np.mean(read["risk"]))


@dataclass(frozen=True)
class Redraw:
    """Another stream, and as likely as not another k or another number of nodes."""

    space: Recodings = field(repr=False)
    name: str = "redraw"
    arity: int = 1

    def apply(self, parents: Sequence[Genome], rng: Generator) -> list[Genome]:
        child = parents[0].copy()
        child[3] = rng.integers(STREAMS)
        if rng.random() < 0.5:
            low, high = self.space.ladder[0], self.space.ladder[-1]
            child[0] = int(np.clip(round(float(child[0]) * float(np.exp(rng.normal(0.0, 0.3)))), low, high))
        if rng.random() < 0.5:
            child[2] = rng.integers(self.space.exponents[0], self.space.exponents[1] + 1)
        return [child]


@searches.add("local-recoding")
class LocalRecodings(Search):
    """How far must each record be generalised? Records stay as fine as their class of k allows; none is suppressed."""

    family: ClassVar[Family] = Family.RECODING

    k: int = Field(default=5, ge=2, le=1_000_000, description="least class size: the lowest rung of the ladder")
    rungs: int = Field(default=6, ge=1, le=100, description="how many class sizes the search begins with")
    largest_k: int = Field(default=0, ge=0, description="highest rung; 0 means ten times k, or a tenth of the records")
    l: int = Field(default=1, ge=1, description="least number of confidential values in a class")  # noqa: E741
    columns: tuple[str, ...] = Field(
        default=(), description="columns to recode; empty means every quasi-identifier, each of which needs a hierarchy"
    )
    nodes: int = Field(default=16_384, ge=16, le=10_000_000, description="most lattice nodes offered to the records")
    breedings: int = Field(default=4, ge=1, le=1000, description="recodings tried in one generation")
    generations: int = Field(default=20, ge=1, description="generations, where no other budget is given")

    def names(self, table: Table) -> tuple[str, ...]:
        return self.columns or tuple(table.quasi_identifiers)

    def obstacle(self, table: Table) -> str:
        names = self.names(table)
        if not names:
            return "the table has no quasi-identifier to recode; give columns the role 'quasi' or name columns"
        bare = [name for name in names if table.attribute(name).hierarchy is None]
        if bare:
            return (
                f"column {bare[0]!r} has no hierarchy and recoding needs one for each; give one, e.g. "
                f'hierarchy = "intervals:5,10,20", or leave the column out'
            )
        if int(table.kept.sum()) < self.k:
            return f"{int(table.kept.sum())} records cannot form a class of {self.k}; choose a smaller k"
        if self.largest_k and self.largest_k < self.k:
            return f"the ladder cannot go from {self.k} to {self.largest_k}; give largest_k of at least k, or 0"
        if self.l > 1 and not table.confidential:
            return "l was demanded but no column is confidential; give one that role or leave l out"
        return ""

    def pose(self, table: Table, measures: Mapping[str, Measure], rng: Generator) -> Problem:
        obstacle = self.obstacle(table)
        if obstacle:
            raise SearchError(f"search 'local-recoding': {obstacle}")
        names = self.names(table)
        most = int(np.log2(self.nodes))
        space = Recodings(table, names, self.ladder(int(table.kept.sum())), self.l, (min(8, most), most))
        picked: dict[str, Measure] = dict(measures) or {"cell-loss": CellLoss(columns=names)}
        bound_measures = {name: (measure.aim, measure.against(table)) for name, measure in picked.items()}
        if measures and {aim for aim, _ in bound_measures.values()} < {"loss", "risk"}:
            raise SearchError(
                "search 'local-recoding' weighs a loss against a risk; name one of each at least, or none"
            )
        start = tuple(np.array([k, self.l, most, 0], dtype=np.int64) for k in space.ladder)
        return Problem(
            space=space,
            strategy=Elitist(max(len(start), 2), (Application(Redraw(space), self.breedings),), order=DominanceOrder()),
            start=start,
            evaluate=RecodingScores(space, bound_measures),
            objectives=("loss", "risk"),
            notes={"ladder": list(space.ladder), "columns": list(names), "nodes": float(Lattice.of(table, names).size)},
        )

    def ladder(self, records: int) -> tuple[int, ...]:
        """Class sizes from k upwards, each about the same factor larger; none above half of the records."""
        top = self.largest_k or max(self.k, min(10 * self.k, records // 10))
        top = max(self.k, min(top, max(records // 2, self.k)))
        sizes = np.geomspace(self.k, top, self.rungs) if self.rungs > 1 else np.array([self.k])
        return tuple(dict.fromkeys(round(float(size)) for size in sizes))

    def budget(self) -> Budget:
        return Budget(generations=self.generations)
