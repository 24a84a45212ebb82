"""Every node of a lattice at once, and the best node for a demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import Any, Literal, SupportsIndex

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import PlanError, SearchError
from crypsis.kernels.arrays import Floats
from crypsis.kernels.compile import is_compiled
from crypsis.kernels.ledger import Listed
from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST, Leaves, NodeDemand, NodeReadings, TailNodes
from crypsis.kernels.rollup import Classes, read_one, roll_up, visit
from crypsis.table.attribute import attribute_weights
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import Hierarchy, hierarchy_group_losses
from crypsis.table.lattice import Lattice, Levels
from crypsis.table.lazy import Counts, count_distinct_lazily
from crypsis.table.lookalikes import merge_lookalikes
from crypsis.table.suppression import Rule, allowed_records, code_of_suppression_rule, share_for
from crypsis.table.table import Table
from crypsis.tasks import Tasks, complete
from crypsis.text import node_text

NodeLoss = Literal["information-loss", "glm"]
"""What a node loses: the share of information, or the general loss metric."""
MOST_TALLIED = 64
"""A column with more values than this is not tallied per class, value by value, but listed once and counted."""
ONE_BY_ONE = 30_000_000
"""Nodes times distinct tuples up to which nodes are judged one by one, in a second or two, while the walk over all of
them is not compiled: that takes longer."""
MOST_TAIL = 8
"""Most combinations of values the tail may have: dense blocks pay while few of their cells are empty."""
MOST_NODES = 20_000_000
"""Larger lattices are never enumerated: their readings alone would fill the memory. So they have no tail, whose cells
are many and mostly empty where nodes are judged one by one."""


@dataclass(frozen=True, eq=False)
class LatticeContext:
    """The lowest node of a lattice and all that never changes above it."""

    lattice: Lattice
    total: int
    classes: Classes
    leaves: Leaves
    tail: TailNodes
    head: tuple[int, ...]
    """Which attributes of the lattice are the head, in the roll-up's order."""
    tail_places: tuple[int, ...]
    """Which are the tail, the last varying fastest among its nodes."""
    values: int
    """Columns of a cell's tally that belong to the confidential attribute."""

    def judge_nodes(self, rule: int, allowance: int, k: int = 1, l: int = 0, prune: int = 0) -> NodeReadings:  # noqa: E741
        """Judge every node; a pruned one has −1 classes."""
        return complete(self.judge_nodes_tasks(rule, allowance, k, l, prune))

    def judge_nodes_tasks(
        self,
        rule: int,
        allowance: int,
        k: int = 1,
        l: int = 0,  # noqa: E741
        prune: int = 0,
    ) -> Tasks[NodeReadings]:
        """`judge_nodes` in tasks."""
        out, size = _empty_readings(self.lattice.size), self.lattice.size
        if not prune and size * len(self.classes.row) <= ONE_BY_ONE and not is_compiled(visit):
            step = max(1, ONE_BY_ONE // 8 // len(self.classes.row))
            for first in range(0, size, step):
                numbers = range(first, min(first + step, size))
                yield [partial(self._judge_some, numbers, out, (rule, allowance, k, l))]
            return out
        demand = NodeDemand(rule, allowance, k, l, self.values, prune, 0)
        tasks = roll_up(self.classes, self.leaves, self.tail, demand, out)
        while (yield [partial(next, tasks, False)])[0]:
            pass
        return out

    def _judge_some(self, numbers: range, out: NodeReadings, demand: tuple[int, int, int, int]) -> None:
        """Judge some nodes, one by one."""
        for number in numbers:
            one = self.judge_node(self.lattice.levels(number), *demand)
            for all_, single in zip(out, one, strict=True):
                all_[number] = single[0]

    def judge_node(
        self,
        levels: Sequence[int],
        rule: int,
        allowance: int,
        k: int = 1,
        l: int = 0,  # noqa: E741
        strict: bool = False,
    ) -> NodeReadings:
        """Judge one node alone; the same figures as among all nodes, in arrays of one entry."""
        self.lattice.check(levels)
        inside = np.array([int(levels[a]) for a in self.head], dtype=np.int64)
        node = 0
        for a in self.tail_places:
            node = node * (self.lattice.heights[a] + 1) + int(levels[a])
        out = _empty_readings(1)
        demand = NodeDemand(rule, allowance, k, l, self.values, 0, int(strict))
        read_one(self.classes, self.leaves, self.tail, inside, node, demand, out)
        return out


def _empty_readings(size: int) -> NodeReadings:
    """NodeReadings to be filled in."""
    return NodeReadings(
        k=np.zeros(size, dtype=np.int64),
        l=np.zeros(size, dtype=np.int64),
        suppressed=np.zeros(size, dtype=np.int64),
        size_sum=np.zeros(size, dtype=np.int64),
        value_sum=np.zeros(size, dtype=np.int64),
        misfits=np.zeros(size, dtype=np.int64),
        classes=np.full(size, -1, dtype=np.int64),
        loss=np.zeros(size),
    )


def prepare_lattice_evaluation(
    table: Table | Counts,
    lattice: Lattice,
    confidential: str | None,
    label: str | None,
    value_spread: bool,
    loss: NodeLoss = "glm",
) -> LatticeContext:
    """Reduce a table to its distinct tuples, once, so that every node of a lattice can be evaluated.

    The attribute with most values comes first; the last few, as long as their values make few combinations, are
    the tail. There is none where the confidential attribute or the label has too many values to tally, nor in a lattice
    too large to be enumerated.

    `value_spread`: keep how often every confidential value occurs in a class (for S_l), not only whether it does.
    """
    if isinstance(table, Table) and confidential and confidential not in lattice.names:
        table = merge_lookalikes(table, [confidential])
    extra = [name for name in dict.fromkeys((confidential, label)) if name and name not in lattice.names]
    counts = table if isinstance(table, Counts) else count_distinct_lazily(table, [*lattice.names, *extra])
    columns = [counts.codes[:, counts.place(name)] for name in lattice.names]
    given = zip(lattice.attributes, lattice.hierarchies, columns, attribute_weights(lattice.attributes), strict=True)
    trees = [
        _order_leaves(
            hierarchy,
            column,
            *evaluate_node_cell_costs(hierarchy, weight, loss, column, counts.records, attribute.numeric),
        )
        for attribute, hierarchy, column, weight in given
    ]
    order = sorted(range(len(trees)), key=lambda a: -trees[a].size)
    listed = [n for n in dict.fromkeys((confidential, label)) if n and _number_values(counts, n)[1] > MOST_TALLIED]
    cut = len(order)
    small = lattice.size <= MOST_NODES and not listed
    while small and cut > 1 and prod(trees[a].size for a in order[cut - 1 :]) <= MOST_TAIL:
        cut -= 1
    head, tail = order[:cut], order[cut:]
    leaf = np.stack([trees[a].rank[columns[a]] for a in head], axis=1)
    heads = equivalence_classes(leaf)
    first, inverse = heads.first, heads.of
    cell, cells = np.zeros(len(leaf), dtype=np.int64), 1
    for a in tail:
        cell, cells = cell * trees[a].size + trees[a].rank[columns[a]], cells * trees[a].size
    place = inverse * cells + cell
    tallied, labelled = (None if name in listed else name for name in (confidential, label))
    parts = [
        _tally(counts, tallied if value_spread else None, place, len(first) * cells, known=True),
        _tally(counts, labelled, place, len(first) * cells),
    ]
    present = _mark_values(counts, None if value_spread else tallied, place, len(first) * cells)
    kind = np.int32 if counts.total < 2**31 else np.int64
    size = np.bincount(place, weights=counts.records, minlength=len(first) * cells)
    leaf = leaf[first]
    differs = np.zeros(len(first), dtype=np.int32)
    differs[1:] = (leaf[1:] != leaf[:-1]).argmax(axis=1)
    classes = Classes(
        np.arange(len(first), dtype=np.int32),
        differs,
        _to_cell_major(size, len(first)).astype(kind),
        _to_cell_major(present, len(first)),
        _to_cell_major(np.concatenate(parts, axis=1), len(first)).astype(kind),
    )
    by_tuple, by_cell = (classes.size.sum(axis=axis, dtype=np.int64) for axis in (0, 1))
    lists = [
        _list_values(counts, confidential if confidential in listed else None, inverse, known=True),
        _list_values(counts, label if label in listed else None, inverse),
    ]
    if label == confidential and label and counts.codes[:, counts.place(label)].min(initial=0) >= 0:
        lists[1] = _list_values(counts, None, inverse)  # the same list
    places = lattice.places if lattice.size < 2**62 else (0,) * len(order)  # nodes beyond are never numbered
    leaves = _build_leaves(leaf, by_tuple, [trees[a] for a in head], [places[a] for a in head], lists)
    block = _build_tail([trees[a] for a in tail], [places[a] for a in tail], by_cell)
    return LatticeContext(lattice, counts.total, classes, leaves, block, tuple(head), tuple(tail), parts[0].shape[1])


def _to_cell_major(values: NDArray[Any], classes: int) -> NDArray[Any]:
    """Numbers per (class, cell) → one row per cell and number, one column per class."""
    return np.ascontiguousarray(values.reshape(classes, -1).T)


@dataclass(frozen=True, eq=False)
class _Tree:
    """A hierarchy with its leaves in tree order; a missing value is a last leaf of its own, at every level."""

    rank: NDArray[np.int32]
    """Position of each leaf code; the last entry is that of a missing value."""
    groups: list[NDArray[np.int32]]
    lost: list[NDArray[np.float64]]
    """What a published cell loses."""
    cells: list[NDArray[np.float64]]
    """1 less what it loses more by suppression."""
    size: int
    """Leaves, with the missing one if it occurs."""


def evaluate_node_cell_costs(
    hierarchy: Hierarchy,
    weight: float,
    loss: NodeLoss,
    codes: NDArray[np.int32],
    records: NDArray[np.int64],
    numbers: bool,
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """float64[groups + 1] by level: in the evaluation of all lattice nodes, what cells and suppression cost.

    `codes`, `records` int32[m]; `numbers`: whether the leaves are numbers.
    """
    if loss == "glm":
        held = [hierarchy.leaves(level) for level in range(hierarchy.height + 1)]
        cells = [weight * np.append((each - 1) / max(hierarchy.size - 1, 1), 0.0) for each in held]
        return cells, cells
    known = codes >= 0
    counts = np.bincount(codes[known], records[known], minlength=hierarchy.size).astype(np.float64)
    lost, more = hierarchy_group_losses(hierarchy, counts, numbers)
    return (
        [weight * np.append(each, 0.0) for each in lost],
        [1.0 - weight * np.append(each, 0.0) for each in more],
    )


def _order_leaves(
    hierarchy: Hierarchy,
    codes: NDArray[np.int32],
    lost: list[NDArray[np.float64]],
    cells: list[NDArray[np.float64]],
) -> _Tree:
    size = hierarchy.size + int(codes.min(initial=0) < 0)
    order = np.lexsort(hierarchy.groups)
    rank = np.empty(hierarchy.size + 1, dtype=np.int32)
    rank[order], rank[-1] = np.arange(hierarchy.size), hierarchy.size
    groups, of_groups = [], []
    for group in hierarchy.groups:
        ordered = group[order]
        changes = np.concatenate([[0], ordered[1:] != ordered[:-1], [1]])
        groups.append(np.cumsum(changes)[:size].astype(np.int32))
        of_groups.append(np.append(ordered, -1)[:size])
    return _Tree(
        rank,
        groups,
        [each[at] for each, at in zip(lost, of_groups, strict=True)],
        [each[at] for each, at in zip(cells, of_groups, strict=True)],
        size,
    )


def _build_leaves(
    leaf: NDArray[np.int32], size: NDArray[np.int64], trees: list[_Tree], places: list[int], lists: list[Listed]
) -> Leaves:
    heights, words = [len(tree.groups) - 1 for tree in trees], np.random.default_rng(0)
    start = np.zeros((len(trees), max(heights) + 1), dtype=np.int64)
    marginal = np.zeros(start.shape)
    position = 0
    for place, tree in enumerate(trees):
        records = np.bincount(leaf[:, place], weights=size, minlength=tree.size)
        for level, lost in enumerate(tree.lost):
            start[place, level] = position
            position += len(lost)
            marginal[place, level] = float((lost * records).sum())
    suffix = np.zeros((len(trees), len(leaf)), dtype=np.int32)
    for place in range(len(trees) - 2, -1, -1):
        suffix[place] = equivalence_classes(np.stack([leaf[:, place + 1], suffix[place + 1]], axis=1)).of
    return Leaves(
        np.ascontiguousarray(leaf.T),
        suffix,
        np.array(heights, dtype=np.int64),
        start,
        np.concatenate([group for tree in trees for group in tree.groups]),
        np.concatenate([words.integers(2**64, size=len(g), dtype=np.uint64)[g] for t in trees for g in t.groups]),
        np.concatenate([cell for tree in trees for cell in tree.cells]),
        marginal,
        np.array(places, dtype=np.int64),
        *lists,
    )


def _build_tail(trees: list[_Tree], places: list[int], records: NDArray[np.int64]) -> TailNodes:
    """Every combination of levels of the tail, each added up from the one a level lower in the attribute raised
    last.
    """
    nodes = list(product(*(range(len(tree.groups)) for tree in trees)))
    where = {node: number for number, node in enumerate(nodes)}
    leaf = np.array(list(product(*(range(tree.size) for tree in trees))), dtype=np.int64).reshape(len(records), -1)
    final = np.zeros((len(nodes), len(records)), dtype=np.int64)
    lost, cells = np.zeros((2, len(nodes), len(records)))
    for number, node in enumerate(nodes):
        for a, level in enumerate(node):
            group = trees[a].groups[level]
            final[number] = final[number] * (int(group.max()) + 1) + group[leaf[:, a]]
            lost[number] += trees[a].lost[level][leaf[:, a]]
            cells[number] += trees[a].cells[level][leaf[:, a]]
    below = np.zeros(len(nodes), dtype=np.int64)
    step, spared = np.zeros_like(final), np.zeros_like(lost)
    for number, node in enumerate(nodes):
        raised = next((a for a in reversed(range(len(node))) if node[a]), None)
        if raised is not None:
            below[number] = where[(*node[:raised], node[raised] - 1, *node[raised + 1 :])]
        step[number, final[below[number]]] = final[number]
        spared[number, final[number]] = len(trees) - cells[number]
    width = final.max(axis=1) + 1
    return TailNodes(
        below,
        step,
        width,
        spared,
        (lost * records).sum(axis=1),
        np.array([sum(p * level for p, level in zip(places, node, strict=True)) for node in nodes], dtype=np.int64),
        final,
        np.cumsum(width) - width - width[0],
    )


def _number_values(counts: Counts, name: str) -> tuple[NDArray[np.int64], int]:
    """A column's values from 0 on and how many there may be; a missing value is one value more."""
    codes = counts.codes[:, counts.place(name)].astype(np.int64)
    width = int(codes.max(initial=0)) + 1
    return np.where(codes < 0, width, codes), width + int(codes.min(initial=0) < 0)


def _tally(
    counts: Counts, name: str | None, inverse: NDArray[np.int64], tuples: int, *, known: bool = False
) -> NDArray[np.int32]:
    """int32[tuples, values]: records per value of a column; `known`: a missing value is none."""
    if name is None:
        return np.zeros((tuples, 0), dtype=np.int32)
    codes, width = _number_values(counts, name)
    flat = np.bincount(inverse * width + codes, weights=counts.records, minlength=tuples * width)
    tally = flat.reshape(tuples, width).astype(np.int32)
    return tally[:, : int(counts.codes[:, counts.place(name)].max(initial=-1)) + 1] if known else tally


def _mark_values(counts: Counts, name: str | None, inverse: NDArray[np.int64], tuples: int) -> NDArray[np.uint64]:
    """uint64[tuples, words]: one bit per value of a column that occurs; none for a missing value."""
    if name is None:
        return np.zeros((tuples, 0), dtype=np.uint64)
    codes, width = _number_values(counts, name)
    known = counts.codes[:, counts.place(name)] >= 0
    present = np.zeros((tuples, (width + 63) // 64), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (codes % 64).astype(np.uint64))
    np.bitwise_or.at(present, (inverse[known], codes[known] // 64), bits[known])
    return present


def _list_values(counts: Counts, name: str | None, inverse: NDArray[np.int64], *, known: bool = False) -> Listed:
    """The values of a column in order, each with the tuples that hold it; `known`: a missing value is none."""
    if name is None:
        return Listed(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
    tuples = int(inverse.max(initial=0)) + 1
    rows = np.flatnonzero(counts.codes[:, counts.place(name)] >= 0) if known else np.arange(len(counts.codes))
    pairs, where = np.unique((_number_values(counts, name)[0] * tuples + inverse)[rows], return_inverse=True)
    held = np.bincount(where, weights=counts.records[rows], minlength=len(pairs)).astype(np.int64)
    return Listed((pairs % tuples).astype(np.int32), (pairs // tuples).astype(np.int32), held)


# -- Every node of a lattice at once, and the best node for a demand.


def evaluate_lattice(
    table: Table | Counts | Frame,
    suppression: float = 0.01,
    rule: Rule = "failing-class",
    *,
    k: int | None = None,
    l: int | None = None,  # noqa: E741 (the letter of l-diversity)
    columns: tuple[str, ...] = (),
    confidential: str | None = None,
    label: str | None = None,
    value_spread: bool = True,
    prune: int = 0,
) -> pl.DataFrame:
    """Every node of the lattice: its levels, what it protects, what it loses and how many records it suppresses.

    Parameters
    ----------
    table : Table, Counts or frame
        The table, with roles and hierarchies.
    suppression : float
        Share of the records that may be suppressed, 0 … 1.
    rule : str
        "by-size": the smallest classes go, as many sizes as the limit allows, so that k is the largest the node can
        reach (the rule of PBG); l is what the survivors happen to have. "failing-class" with k or l demanded: exactly
        the classes that fail go, and `feasible` says whether that stayed within the limit. Without a demand: the
        largest k the limit allows and, with what is left of it, the largest l.
    k, l : int, optional
        What is demanded of every class.
    columns : tuple of str
        Quasi-identifiers; all of them unless named. Each needs a hierarchy.
    confidential : str, optional
        Column whose values l counts; the first confidential one unless named.
    label : str, optional
        Column whose majority the classification metric wants; the confidential one unless named.
    value_spread : bool
        Also sum how often each record's confidential value occurs in its class (s_l).
    prune : int
        Leave out nodes that cannot reach this k within the limit.

    Returns
    -------
    polars.DataFrame
        One row per node: a level per column, then k, l (of the surviving classes; 0 if none survives), glm (mean cell
        loss, 0 … 1), glm_sum (over records and attributes), cm, s_k, s_l (Σ over records of class size and of value
        count, the suppressed being one class of their own), classes, suppressed, feasible.

    Raises
    ------
    PlanError
        If l is demanded and no column is confidential, or the rule cannot keep it.

    Notes
    -----
    A cell that stands for a set of leaves loses (|set| − 1)/(|domain| − 1), a suppressed one 1. A missing value is a
    category of its own at every level and loses nothing until its record is suppressed.

    Examples
    --------
    >>> import crypsis
    >>> nodes = crypsis.evaluate_lattice(crypsis.example(200), suppression=0.1, k=5)
    >>> nodes.filter(nodes["feasible"])["k"].min()
    5
    """
    for name, value in (("k", k), ("l", l)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, SupportsIndex) or int(value) < 1):
            raise PlanError(f"{name}: what a class holds is a whole number of at least 1; write e.g. {name}=5")
    table = table if isinstance(table, Counts) else as_table(table)
    lattice = _find_lattice(table, columns)
    confidential = confidential or _first_confidential(table)
    if l is not None and confidential is None:
        raise PlanError(
            "l-diversity was demanded but no column is confidential; give one the role 'confidential' or name it"
        )
    if rule == "by-size" and l is not None:
        raise PlanError("rule 'by-size' suppresses by class size alone; to demand l use rule 'failing-class'")
    context = prepare_lattice_evaluation(table, lattice, confidential, label or confidential, value_spread)
    allowance = allowed_records(suppression, context.total)
    code = code_of_suppression_rule(rule, demanded=k is not None or l is not None)
    read = context.judge_nodes(code, allowance, k or 1, l or 0, prune)
    frame = _build_frame(context, read, confidential, label or confidential, value_spread)
    feasible = (pl.col("suppressed") <= allowance) & (pl.col("k") >= (k or 1))
    if l is not None:
        feasible &= pl.col("l") >= l
    frame = frame.with_columns(feasible=feasible)
    return frame.filter(pl.Series(read.classes >= 0)) if prune else frame


@dataclass(frozen=True)
class Node:
    """A node of a lattice with what it protects and loses."""

    levels: Levels  # level of each column
    message: str  # the node in words
    rule: Rule  # which classes are suppressed
    k: int  # of the surviving classes; l is None where nothing is confidential
    l: int | None  # noqa: E741
    glm: float  # mean cell loss, 0 … 1
    suppressed: int  # records suppressed, and how many may be
    allowance: int


def optimal_lattice_node(
    table: Table | Counts,
    k: int,
    suppression: float = 0.01,
    rule: Rule = "failing-class",
    *,
    l: int | None = None,  # noqa: E741
    columns: tuple[str, ...] = (),
    confidential: str | None = None,
) -> Node:
    """The node of a lattice with least mean cell loss that meets a demand within the suppression limit; ties: lower.

    `columns`: Quasi-identifiers; all of them unless named.

    >>> import crypsis
    >>> optimal_lattice_node(crypsis.example(200), k=5, suppression=0.1).k >= 5
    True
    """
    frame = evaluate_lattice(
        table, suppression, rule, k=k, l=l, columns=columns, confidential=confidential, value_spread=False, prune=k
    )
    lattice = _find_lattice(table, columns)
    total = table.total if isinstance(table, Counts) else int(table.kept.sum())
    allowance = allowed_records(suppression, total)
    feasible = frame.filter(pl.col("feasible"))
    if feasible.is_empty():
        counted = (confidential or _first_confidential(table)) if l else None
        raise SearchError(
            demand_beyond_all_nodes(
                prepare_lattice_evaluation(table, lattice, counted, None, False), allowance, k, l or 0
            )
        )
    best = feasible.row(int(feasible["glm_sum"].arg_min() or 0), named=True)
    levels = tuple(int(best[name]) for name in lattice.names)
    return Node(
        levels, node_text(lattice, levels), rule, best["k"], best.get("l"), best["glm"], best["suppressed"], allowance
    )


def _find_lattice(table: Table | Counts, columns: tuple[str, ...]) -> Lattice:
    if isinstance(table, Table):
        return Lattice.of(table, columns)
    chosen = columns or tuple(a.name for a in table.attributes if a.role == "quasi")
    return Lattice(tuple(table.attributes[table.place(name)] for name in chosen))


def _first_confidential(table: Table | Counts) -> str | None:
    return next((attribute.name for attribute in table.attributes if attribute.role == "confidential"), None)


def _build_frame(
    context: LatticeContext, read: NodeReadings, confidential: str | None, label: str | None, value_spread: bool
) -> pl.DataFrame:
    nodes = context.lattice.nodes()
    data: dict[str, object] = {name: nodes[:, place] for place, name in enumerate(context.lattice.names)}
    data["k"] = read.k
    if confidential:
        data["l"] = read.l
    cells = max(context.total * len(context.lattice.names), 1)
    data["glm"], data["glm_sum"] = read.loss / cells, read.loss
    if label:
        data["cm"] = read.misfits
    data["s_k"] = read.size_sum
    if confidential and value_spread:
        data["s_l"] = read.value_sum
    data["classes"], data["suppressed"] = read.classes, read.suppressed
    return pl.DataFrame(data)


def demand_beyond_all_nodes(context: LatticeContext, allowance: int, k: int, l: int = 0) -> str:  # noqa: E741
    """Why no node of a lattice meets a demand: what comes closest, and what to relax; empty if one does.

    Classes only grow towards the highest node, so that it is the closest to any k and l.
    """
    top, total = context.lattice.top, context.total
    highest = context.judge_node(top, DEMANDED, allowance, k, l)
    need = int(highest.suppressed[0])
    if need <= allowance and int(highest.classes[0]):
        return ""
    wanted = " and ".join(f"{name} = {value}" for name, value in (("k", k), ("l", l)) if value > 1)
    found = f"no node reaches {wanted} while suppressing at most {allowance} of {total} records"
    reached = context.judge_node(top, STRICTEST if l else BY_SIZE, allowance)
    within = f"k = {int(reached.k[0])}" + (f" with l = {int(reached.l[0])}" if l else "")
    if need >= total:
        return f"{found}; with every column at its highest level {within} is the most; lower the demand to that"
    return (
        f"{found}; the closest, every column at its highest level, would suppress {need} ({100 * need / total:.2f} %); "
        f"raise the suppression limit to {share_for(need, total):g}, or lower the demand: {within} is within reach"
    )


def evaluated_node_boxes(indices: Floats, sides: Sequence[float]) -> Floats:
    """Evaluation of every node of a lattice: the box in which its indices lie, by a discretisation vector."""
    return np.asarray(np.floor(indices / np.array(sides)))


def convergence_error_of_nodes(found: Floats, truth: Floats) -> float:
    """CE against every node of a lattice: Σ over nodes found of the distance to the nearest true minimal node."""
    scale = np.where(truth.max(axis=0) > 0, truth.max(axis=0), 1.0)
    a, b = found / scale, truth / scale
    return float(np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)).min(axis=1).sum())
