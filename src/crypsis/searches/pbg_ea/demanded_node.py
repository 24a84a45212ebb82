"""The node of a counted lattice that meets what a plan demands: of all nodes, or by PBG-EA where there are too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.encodings.generalisation import levels_key
from crypsis.errors import SearchError, listing
from crypsis.evolution import Budget, Genome, Problem, Scores, evolve
from crypsis.kernels.nodes import DEMANDED
from crypsis.searches.pbg_ea.evaluation import (
    LatticeContext,
    Node,
    demand_beyond_all_nodes,
    evaluate_lattice,
    prepare_lattice_evaluation,
)
from crypsis.searches.pbg_ea.operators import draw_first_pbg_nodes
from crypsis.searches.pbg_ea.pbg_ea_search import feasible_pbg_strategy
from crypsis.table.attribute import attribute_weights
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import hierarchy_leaf_losses
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.lazy import Counts
from crypsis.table.suppression import allowed_records
from crypsis.text import node_text

MOST_ENUMERATED = 100_000
"""Nodes up to which all are evaluated; beyond, PBG-EA looks for the best."""
TRIED, POPULATION = 4000, 40
"""Nodes that the search evaluates at most, and those it keeps."""
CLOSE = 1e-9


@dataclass(frozen=True)
class NodeTerms:
    """What a node must meet beside the hierarchies; shares are per cent."""

    k: int = 1
    l: int = 0  # noqa: E741
    suppression: float = 0.01  # share of the records, 0 … 1
    risk: float = 100.0  # classes over published records, at most
    loss: float = 100.0  # mean information loss of the quasi-identifiers, at most
    most: Mapping[str, float] = field(default_factory=dict)  # column → its information loss, at most
    locked: frozenset[str] = frozenset()  # columns that stay as collected
    linked: Mapping[str, str] = field(default_factory=dict)  # column → the one whose level it takes

    @property
    def plain(self) -> bool:
        """Whether nothing but k, l and suppression is demanded."""
        return self == NodeTerms(self.k, self.l, self.suppression)


@dataclass(frozen=True)
class FoundNode:
    """The node of least loss that was found."""

    node: Node
    evaluated: int  # nodes that were evaluated, of how many
    nodes: int
    risk: float  # class risk and mean information loss, per cent
    losses: Mapping[str, float]

    @property
    def proven(self) -> bool:
        """Whether every node was evaluated, so that none loses less."""
        return self.evaluated == self.nodes


@dataclass(frozen=True, eq=False)
class CountedNodes:
    """The nodes of a counted table under the terms of a plan."""

    counts: Counts
    terms: NodeTerms

    @cached_property
    def lattice(self) -> Lattice:
        """All quasi-identifiers."""
        return Lattice(tuple(each for each in self.counts.attributes if each.role == "quasi"))

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Places of the columns whose levels are chosen: neither locked nor linked to another."""
        held = (*self.terms.locked, *self.terms.linked)
        return tuple(place for place, name in enumerate(self.lattice.names) if name not in held)

    @property
    def size(self) -> int:
        """Nodes that the terms leave."""
        return prod(self.lattice.heights[place] + 1 for place in self.free)

    @cached_property
    def allowance(self) -> int:
        """Records that may be suppressed."""
        return allowed_records(self.terms.suppression, self.counts.total)

    @cached_property
    def context(self) -> LatticeContext:
        """The lattice, prepared to judge single nodes."""
        confidential = next((each.name for each in self.counts.attributes if each.role == "confidential"), None)
        return prepare_lattice_evaluation(
            self.counts, self.lattice, confidential if self.terms.l else None, None, False
        )

    def levels(self, chosen: Sequence[int]) -> Levels:
        """The levels of every column, from those of the free ones."""
        levels = [0] * len(self.lattice.names)
        for place, level in zip(self.free, chosen, strict=True):
            levels[place] = int(level)
        for name, lead in self.terms.linked.items():
            place = self.lattice.names.index(name)
            levels[place] = min(levels[self.lattice.names.index(lead)], self.lattice.heights[place])
        return tuple(levels)

    def suppressed(self, levels: Sequence[int]) -> NDArray[np.bool_]:
        """bool[tuples]: tuples in a class with fewer than k records at a node."""
        classes = equivalence_classes(np.stack(self._lift(levels), axis=1))
        return np.asarray((classes.totals(self.counts.records) < self.terms.k)[classes.of])

    def _lift(self, levels: Sequence[int]) -> list[NDArray[np.int32]]:
        """int32[tuples] by column: the group of every tuple."""
        given = zip(self.lattice.hierarchies, levels, strict=True)
        return [each.lift(self.counts.codes[:, place], level) for place, (each, level) in enumerate(given)]

    def column_losses(self, levels: Sequence[int], gone: NDArray[np.bool_]) -> dict[str, float]:
        """The information loss of each column at a node, per cent, as `InformationLoss` reads it from the records.

        `gone` bool[tuples]: the suppressed tuples.
        """
        found, records = dict[str, float](), self.counts.records
        for place, (name, groups) in enumerate(zip(self.lattice.names, self._lift(levels), strict=True)):
            codes, (lost, blank) = self.counts.codes[:, place], self._costs[place]
            cells = np.where(codes < 0, 0.0, np.where(gone, blank[codes], lost[levels[place]][codes]))
            mean = float((cells * records).sum()) / max(int(records.sum()), 1)
            alone = len(np.unique(groups[~gone])) <= 1
            found[name] = 100.0 * (max(mean, 1.0) if mean > 0.0 and alone else mean)
        return found

    @cached_property
    def _costs(self) -> list[tuple[list[NDArray[np.float64]], NDArray[np.float64]]]:
        """By column: what a cell of each leaf loses at every level, and what it loses where it is suppressed."""
        found = []
        for place, (attribute, hierarchy) in enumerate(
            zip(self.lattice.attributes, self.lattice.hierarchies, strict=True)
        ):
            codes = self.counts.codes[:, place]
            held = np.bincount(codes[codes >= 0], self.counts.records[codes >= 0], hierarchy.size).astype(np.float64)
            total = max(float(held.sum()), 1.0)
            if attribute.numeric:
                blank = (hierarchy.values - float((held * hierarchy.values).sum()) / total) ** 2
                unit = float((held * blank).sum()) / total
            else:
                blank, unit = 1.0 - held / total, 1.0 - float(((held / total) ** 2).sum())
            lost = hierarchy_leaf_losses(hierarchy, held, attribute.numeric, unit or 1.0)
            found.append((lost, blank / unit if unit > 0.0 else np.ones(hierarchy.size)))
        return found

    def excess(self, levels: Sequence[int], classes: int, suppressed: int) -> float:
        """By how many points limits on risk and losses are exceeded; 0 where all are kept."""
        beyond = max(0.0, 100.0 * classes / max(self.counts.total - suppressed, 1) - self.terms.risk)
        if self.terms.most or self.terms.loss < 100.0:
            losses = self.column_losses(levels, self.suppressed(levels))
            beyond += sum(max(0.0, losses[name] - most) for name, most in self.terms.most.items())
            weights = attribute_weights(self.lattice.attributes)
            beyond += max(0.0, float(np.average(list(losses.values()), weights=weights)) - self.terms.loss)
        return beyond if beyond > CLOSE else 0.0

    def found(self, levels: Levels, evaluated: int) -> FoundNode:
        """A node with its figures."""
        terms = self.terms
        read = self.context.judge_node(levels, DEMANDED, self.allowance, terms.k, terms.l)
        gone, cells = int(read.suppressed[0]), self.counts.total * len(self.lattice.names)
        node = Node(
            levels, node_text(self.lattice, levels), "failing-class", int(read.k[0]), int(read.l[0]) or None,
            float(read.loss[0]) / cells, gone, self.allowance,
        )  # fmt: skip
        risk = 100.0 * int(read.classes[0]) / max(self.counts.total - gone, 1)
        return FoundNode(node, evaluated, self.size, risk, self.column_losses(levels, self.suppressed(levels)))


@dataclass(frozen=True, eq=False)
class _TermScores:
    """(loss, shortfall) of a node: no loss is finite while a demand is missed."""

    nodes: CountedNodes

    def __call__(self, genome: Genome) -> Scores:
        nodes, terms = self.nodes, self.nodes.terms
        levels = nodes.levels(genome.tolist())
        read = nodes.context.judge_node(levels, DEMANDED, nodes.allowance, terms.k, terms.l, strict=True)
        records = nodes.counts.total
        beyond = max(0, int(read.suppressed[0]) - nodes.allowance) if int(read.classes[0]) else records
        short = 100.0 * beyond / records
        short = short or nodes.excess(levels, int(read.classes[0]), int(read.suppressed[0]))
        return (np.inf, short) if short else (100.0 * float(read.loss[0]) / records / len(levels), 0.0)


def find_demanded_node(counts: Counts, terms: NodeTerms, seed: int = 0, seconds: float | None = None) -> FoundNode:
    """The node of least mean cell loss that meets the terms; SearchError where none does, or none was found.

    `seconds`: for the search that takes place where nodes are too many to evaluate all.
    """
    nodes = CountedNodes(counts, terms)
    _refuse_demand_beyond(nodes)
    if nodes.lattice.size <= MOST_ENUMERATED:
        return _least_of_all(nodes)
    return _least_found(nodes, seed, seconds)


def _refuse_demand_beyond(nodes: CountedNodes) -> None:
    """Refuse k and l that no node reaches."""
    if obstacle := demand_beyond_all_nodes(nodes.context, nodes.allowance, max(nodes.terms.k, 1), nodes.terms.l):
        raise SearchError(obstacle)


def _least_of_all(nodes: CountedNodes) -> FoundNode:
    """The best of all nodes; those of less loss are asked first for what takes longer."""
    terms, names = nodes.terms, nodes.lattice.names
    frame = evaluate_lattice(
        nodes.counts, terms.suppression, k=terms.k, l=terms.l or None, value_spread=False, prune=terms.k
    )
    frame = frame.filter("feasible")
    frame = frame.filter(*(pl.col(name) == 0 for name in terms.locked))
    for name, lead in terms.linked.items():
        height = nodes.lattice.heights[names.index(name)]
        frame = frame.filter(pl.col(name) == pl.min_horizontal(pl.col(lead), pl.lit(height)))
    for row in frame.sort("glm_sum", maintain_order=True).iter_rows(named=True):
        levels = tuple(int(row[name]) for name in names)
        if not nodes.excess(levels, row["classes"], row["suppressed"]):
            return nodes.found(levels, nodes.size)
    raise SearchError(_nothing(nodes, f"none of {nodes.size} nodes"))


def _least_found(nodes: CountedNodes, seed: int, seconds: float | None) -> FoundNode:
    """The best node that PBG-EA finds."""
    free = Lattice(tuple(nodes.lattice.attributes[place] for place in nodes.free))
    rng = np.random.default_rng(seed)
    problem = Problem(
        key=levels_key,
        strategy=feasible_pbg_strategy(free.heights, POPULATION),
        start=draw_first_pbg_nodes(free, rng, POPULATION),
        evaluate=_TermScores(nodes),
        objectives=("loss", "shortfall"),
    )
    tried = min(TRIED, nodes.size)  # of few nodes no more than there are
    budget = Budget(seconds=np.inf if seconds is None else seconds, evaluations=tried, generations=TRIED)
    *_, state = [None, *evolve(problem, rng, budget)]
    if state is None or state.best_scores[1] > 0:
        tried = 0 if state is None else state.evaluations
        raise SearchError(_nothing(nodes, f"none of {tried} nodes that were evaluated, of {nodes.size},"))
    return nodes.found(nodes.levels(state.best.tolist()), state.evaluations)


def _nothing(nodes: CountedNodes, which: str) -> str:
    """That no node meets the terms, and what to relax."""
    terms, relaxed = nodes.terms, ["the suppression"]
    relaxed += [f"the limit on risk ({terms.risk:g} %)"] if terms.risk < 100.0 else []
    relaxed += [f"the limit on loss ({terms.loss:g} %)"] if terms.loss < 100.0 else []
    relaxed += [f"at_most of {listing(terms.most)}"] if terms.most else []
    relaxed += [f"lock of {listing(sorted(terms.locked))}"] if terms.locked else []
    wanted = f"k = {terms.k}" + (f" and l = {terms.l}" if terms.l else "")
    return f"{which} keeps {wanted} within every limit; relax {listing(relaxed)}, or demand a lower k"
