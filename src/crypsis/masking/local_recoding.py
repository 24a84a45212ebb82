"""Local recoding: different records at different levels, every class of at least k, nothing suppressed."""

from __future__ import annotations

import heapq
from collections.abc import Generator as Iteration
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import PlanError, TableError
from crypsis.kernels.classes import ContentDemands, make_class_content_room
from crypsis.kernels.recoding import (
    ClassDemand,
    ContentClasses,
    RecodedGroups,
    Tuples,
    assign_leftovers,
    freeze_contents,
    freeze_recoded_tuples,
    load_classes,
    make_recoding_groups,
    merge_failing,
    move_tuples,
    relocate_groups,
)
from crypsis.masking.method import Family, MaskingMethod, methods
from crypsis.masking.scaling import scaling_lock_obstacle, scaling_strata
from crypsis.registry import ColumnName
from crypsis.table.attribute import attribute_weights
from crypsis.table.equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.table.hierarchy import MISSING, Hierarchy, hierarchy_group_losses
from crypsis.table.lattice import Lattice
from crypsis.table.lookalikes import count_without_lookalikes
from crypsis.table.table import LOCAL, Column, Table
from crypsis.tasks import Tasks

FREEZING = 60_000_000
"""Cells of tuples that are looked up in one task: some 80 ms."""
MOVING = 2_000_000
"""Comparisons of one task in which records move: some 150 ms."""

ROUNDING = 1e-12
"""Part of a sum by which sums of the same losses differ."""


def frozen(tuples: Tuples, nodes: NDArray[np.int16], demand: ClassDemand) -> Iteration[None, None, NDArray[np.int64]]:
    """What `freeze` gives, some nodes at a time: only tuples that are not frozen yet are offered the next."""
    owner = np.full(len(tuples.records), -1, dtype=np.int64)
    alive, node, groups = np.arange(len(owner)), 0, 0
    while node < len(nodes) and len(alive):
        some = max(1, FREEZING // max(1, len(alive) * tuples.leaf.shape[1]))
        part = tuples._replace(
            leaf=np.ascontiguousarray(tuples.leaf[alive]),
            records=tuples.records[alive],
            present=np.ascontiguousarray(tuples.present[alive]),
        )
        given = freeze_recoded_tuples(part, nodes[node : node + some], demand)
        owner[alive[given >= 0]] = groups + given[given >= 0]
        groups += int(given.max(initial=-1)) + 1
        alive, node = alive[given < 0], node + some
        yield
    return owner


def improve_local_recoding(tuples: Tuples, homes: RecodedGroups, k: int, effort: int) -> Iteration[None, None, None]:
    """Improve a local recoding as a masking: records change groups, dearest first, within an effort.

    Whether a group is worth giving up is estimated: two of its members may count on the same records of a third group.
    A pass after which more is lost than before is taken back and is the last one.
    """
    changed = True
    while changed and effort > 0:
        used = int(homes.used[1])
        order = np.argsort(-homes.loss[:used], kind="stable")
        tasks = np.cumsum(homes.size[order]) * used // MOVING
        before, known, changed = _total_loss(homes), [part.copy() for part in homes], False
        for group in np.split(order, np.flatnonzero(np.diff(tasks)) + 1):
            left = relocate_groups(group, tuples, homes, k, True, effort)
            changed |= left > 0
            effort -= int(homes.size[group].sum()) * used
            yield
            if effort <= 0:
                break
        if _total_loss(homes) > before * (1 + ROUNDING):
            for part, earlier in zip(homes, known, strict=True):
                part[...] = earlier
            return


def _total_loss(homes: RecodedGroups) -> float:
    """The loss of all records."""
    return float(np.sum(homes.size * homes.loss))


# -- Local recoding: different records at different levels, every class of at least k, nothing suppressed.


@methods.add("local-recoding")
class LocalRecoding(MaskingMethod):
    """Records freeze at the cheapest node of the lattice where their class meets k (and l); a few then move.

    Every class publishes the lowest common ancestor of its members, attribute by attribute. Members without one
    (a missing value beside a present one, or a hierarchy with several roots) publish a missing value there. Nothing
    is suppressed. With l demanded no record is lent from class to class, so a little more is lost.

    Notes
    -----
    - Formula: records freeze at the cheapest lattice node where their class has k members; every class publishes its
      lowest common ancestors
    - Paper: the idea of local recoding: LeFevre, DeWitt and Ramakrishnan (2006); the method is ours
    - Cost: one roll-up of the lattice, then O(n s) per node offered and per round of moves
    - Departures: own method: nothing is suppressed

    Examples
    --------
    >>> masked = crypsis.LocalRecoding(k=3).mask(crypsis.example(60, seed=1), np.random.default_rng(0))
    >>> crypsis.KAnonymity(k=3).judge(masked).holds
    True
    """

    family: ClassVar[Family] = Family.RECODING

    k: int = Field(
        default=5, ge=2, le=1_000_000_000, description="least number of records that publish the same values"
    )
    l: int = Field(default=1, ge=1, description="least number of confidential values in a class")  # noqa: E741
    confidential: ColumnName = Field(
        default="", description="column whose values l counts; empty: the first confidential one"
    )
    nodes: int = Field(
        default=100_000,
        ge=10,
        le=10_000_000,
        description="most lattice nodes offered; the cheapest, and a sample above",
    )
    loss: Literal["information-loss", "glm"] = Field(
        default="information-loss",
        description="what a generalised cell costs: the information that records of its group lose on average, or the "
        "general loss metric",
    )
    effort: int = Field(
        default=30_000_000, ge=0, description="most comparisons spent on moving records to cheaper classes afterwards"
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        names = self.names(table)
        return Publication(table, names).publish(self.solve(table, rng))

    def mask_tasks(self, table: Table, rng: Generator) -> Tasks[Table]:
        """`mask` in tasks.

        Parameters
        ----------
        table : Table
            The original.
        rng : Generator
            Source of randomness.

        Returns
        -------
        Generator
            Yields tasks; returns the Table.
        """
        work, classes = self.solve_tasks(table, rng), None
        while classes is None:
            [classes] = yield [partial(_advance, work)]
        [masked] = yield [partial(Publication(table, self.names(table)).publish, classes)]
        return self.record_step(masked, table)

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns that are recoded: those named, or every quasi-identifier with a hierarchy.

        Parameters
        ----------
        table : Table
            The table (suppressed records stay in place).

        Returns
        -------
        tuple of str
        """
        chosen = tuple(self.columns) or tuple(
            n for n in table.quasi_identifiers if table.attribute(n).hierarchy is not None and table.level(n) == 0
        )
        return tuple(name for name in chosen if not table.attribute(name).locked)

    def solve(self, table: Table, rng: Generator, contents: ContentDemands | None = None) -> LocalClasses:
        """The class of every kept record, and the levels each class publishes.

        Parameters
        ----------
        table : Table
            The original, with hierarchies.
        rng : Generator
            Ties, and nodes of large lattices.
        contents : ContentDemands, optional
            What every class must hold beside k and l; records are numbered among the kept ones.

        Returns
        -------
        LocalClasses
        """
        work, found = self.solve_tasks(table, rng, contents), None
        while found is None:
            found = _advance(work)
        return found

    def solve_tasks(self, table: Table, rng: Generator, contents: ContentDemands | None = None) -> Solving:
        """As `solve`, task by task: a generator that returns the classes after a number of short tasks.

        Parameters
        ----------
        table : Table
            As for `solve`.
        rng : Generator
            As for `solve`.
        contents : ContentDemands, optional
            As for `solve`.

        Returns
        -------
        generator
        """
        of = scaling_strata(table, table.quasi_identifiers)
        trees = _priced_trees(table, self.names(table), self.loss)
        if of is None:
            return (yield from self._solve_stratum(table, trees, rng, contents))
        if thin := scaling_lock_obstacle(table, table.quasi_identifiers, self.k):
            raise TableError(thin)
        # Only records that are equal in the locked columns may share a class.
        kept, found = np.flatnonzero(table.kept), list[LocalClasses]()
        labels = np.empty(len(kept), dtype=np.int32)
        for stratum in range(int(of.max(initial=-1)) + 1):
            code = None if contents is None else np.ascontiguousarray(contents.code[:, of == stratum])
            asked = None if contents is None or code is None else contents._replace(code=code)
            part = yield from self._solve_stratum(table.take(kept[of == stratum]), trees, rng, asked)
            labels[of == stratum] = part.labels + sum(len(each.levels) for each in found)
            found.append(part)
        return LocalClasses(labels, np.concatenate([part.levels for part in found]))

    def _solve_stratum(
        self, table: Table, trees: list[_PaddedTree], rng: Generator, contents: ContentDemands | None
    ) -> Solving:
        """The classes of records that may all share one."""
        kept = np.flatnonzero(table.kept)
        if len(kept) < self.k:
            raise TableError(f"{len(kept)} records cannot form a class of {self.k}; lower k or take more records")
        leaf = _leaf_table(table, self.names(table), trees, kept)
        classes = equivalence_classes(leaf)
        present = self._present(table, kept, classes)
        tuples = _tuples(leaf[classes.first], classes.sizes, present, trees, rng)
        nodes = offered_nodes([tree.level_loss(leaf[:, a]) for a, tree in enumerate(trees)], self.nodes, rng)
        yield
        if contents is not None:
            return (yield from self._under(tuples, nodes, classes, contents))
        owner = yield from frozen(tuples, nodes, ClassDemand(self.k, self.l))
        homes = make_recoding_groups(tuples, owner)
        assign_leftovers(tuples, homes, owner, self.k, self.l == 1)
        if self.l == 1:
            yield from improve_local_recoding(tuples, homes, self.k, self.effort)
        groups = _record_groups(homes, classes.of)
        used, labels = np.unique(groups, return_inverse=True)
        return LocalClasses(labels.astype(np.int32), homes.level[used].astype(np.int32))

    def _under(
        self, tuples: Tuples, nodes: NDArray[np.int16], classes: EquivalenceClasses, contents: ContentDemands
    ) -> Solving:
        """Classes of at least k that meet demands on their contents: tuples freeze, merge where they must, and move."""
        m, n = len(tuples.records), len(classes.of)
        row = np.argsort(classes.of, kind="stable").astype(np.int64)
        begin = np.concatenate([[0], np.cumsum(tuples.records)])
        found = ContentClasses(
            row, begin, np.full(m, -1, np.int64), np.full(m, -1, np.int64), np.zeros(m, np.int64),
            np.zeros((m, tuples.leaf.shape[1]), np.int64), np.zeros(m), np.zeros(m), np.empty(n, np.int64),
        )  # fmt: skip
        owner, room = np.empty(m, dtype=np.int64), make_class_content_room(contents)
        freeze_contents(tuples, nodes, found, self.k, contents, room, owner)
        yield
        load_classes(tuples, found, owner, contents, room)
        merge_failing(tuples, found, contents, room, np.empty(m))
        effort = self.effort
        while effort:
            yield
            effort = move_tuples(tuples, found, contents, room, effort)
        of = np.empty(m, dtype=np.int64)
        for group in np.flatnonzero(found.head >= 0).tolist():
            at = int(found.head[group])
            while at >= 0:
                of[at], at = group, int(found.after[at])
        used, labels = np.unique(of[classes.of], return_inverse=True)
        return LocalClasses(labels.astype(np.int32), found.level[used].astype(np.int32))

    def _present(self, table: Table, kept: NDArray[np.int64], classes: EquivalenceClasses) -> NDArray[np.uint64]:
        """One bit per confidential value that occurs with a tuple; nothing if l demands nothing."""
        if self.l == 1:
            return np.zeros((classes.count, 0), dtype=np.uint64)
        name = self.confidential or next(iter(table.confidential), "")
        if not name:
            raise PlanError("l was demanded but no column is confidential; name one or give it that role")
        contents = count_without_lookalikes(classes, table.take(kept), name)[1]
        if contents.values < self.l:
            raise TableError(f"column {name!r} holds {contents.values} values and l = {self.l} was demanded; lower l")
        return contents.bitsets


class LocalClasses(NamedTuple):
    """Classes of a local recoding."""

    labels: NDArray[np.int32]  # int32[n]: the class of every kept record
    # int32[classes, columns]: the level each class publishes; one above the hierarchy's top publishes nothing
    levels: NDArray[np.int32]


Solving = Iteration[None, None, LocalClasses]
"""Tasks that end in classes."""


def _advance(work: Solving) -> LocalClasses | None:
    """Do one task; the classes after the last."""
    try:
        next(work)
    except StopIteration as end:
        found: LocalClasses = end.value
        return found
    return None


@dataclass(frozen=True, eq=False)
class Publication:
    """Columns of a table made ready to stand at any levels, record by record."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # columns that are recoded, each with a hierarchy

    @cached_property
    def _leaves(self) -> NDArray[np.int32]:
        """int32[n, columns]: leaves of the kept records."""
        return _leaf_table(self.table, self.names, self._trees, np.flatnonzero(self.table.kept))

    @cached_property
    def _trees(self) -> list[_PaddedTree]:
        return _priced_trees(self.table, self.names)

    @cached_property
    def _nodes(self) -> list[NDArray[np.int32]]:
        return [tree.nodes() for tree in self._trees]

    def publish(self, classes: LocalClasses) -> Table:
        """The table in which every record stands at the levels of its class."""
        columns: dict[str, Column] = {}
        for a, name in enumerate(self.names):
            columns[name] = np.full(self.table.rows, MISSING, dtype=np.int32)
            columns[name][self.table.kept] = self._nodes[a][classes.levels[classes.labels, a], self._leaves[:, a]]
        return self.table.with_columns(columns, dict.fromkeys(columns, LOCAL))


def _leaf_table(
    table: Table, names: Sequence[str], trees: Sequence[_PaddedTree], kept: NDArray[np.int64]
) -> NDArray[np.int32]:
    """int32[n, columns]: leaves of the kept records."""
    return np.stack([_leaves(table, name, tree)[kept] for name, tree in zip(names, trees, strict=True)], axis=1)


@dataclass(frozen=True, eq=False)
class _PaddedTree:
    """A hierarchy with one leaf more for a missing value and, where it has no single root, one level more."""

    hierarchy: Hierarchy
    groups: list[NDArray[np.int32]]
    cells: list[NDArray[np.float64]]
    """float64[leaves + 1] for each level: what a cell published as the group of the leaf loses."""

    @classmethod
    def over(cls, hierarchy: Hierarchy, losses: list[NDArray[np.float64]], weight: float) -> _PaddedTree:
        """Pad a hierarchy; losses  float64[groups] for each level: what a cell published as each group loses."""
        groups, cells = [], []
        for level, codes in enumerate(hierarchy.groups):
            groups.append(np.append(codes, np.int32(len(hierarchy.labels[level]))))
            cells.append(weight * np.append(losses[level][codes], 0.0))
        groups.append(np.zeros(hierarchy.size + 1, dtype=np.int32))
        cells.append(np.full(hierarchy.size + 1, weight))
        return cls(hierarchy, groups, cells)

    def level_loss(self, leaf: NDArray[np.int32]) -> NDArray[np.float64]:
        """Mean loss of the column at each level; the blank level only where something needs it."""
        losses = [float(cell[leaf].mean()) for cell in self.cells]
        blank = len(np.unique(self.groups[-2][leaf])) > 1
        return np.array(losses if blank else losses[:-1])

    def nodes(self) -> NDArray[np.int32]:
        """int32[levels, leaves]: the number of the node above each leaf; missing at the blank level."""
        absent = np.int32(MISSING)
        table = [np.append(g[:-1] + self.hierarchy.offsets[lv], absent) for lv, g in enumerate(self.groups[:-1])]
        table.append(np.full(self.hierarchy.size + 1, absent))
        return np.stack(table).astype(np.int32)


def _priced_trees(table: Table, names: Sequence[str], loss: str = "information-loss") -> list[_PaddedTree]:
    """The hierarchies of columns with what a cell costs, weighed by the importance of the columns."""
    lattice, found = Lattice.of(table, tuple(names)), list[_PaddedTree]()
    for attribute, hierarchy, weight in zip(
        lattice.attributes, lattice.hierarchies, attribute_weights(lattice.attributes), strict=True
    ):
        if loss == "glm":
            held = [hierarchy.leaves(level) for level in range(hierarchy.height + 1)]
            losses = [(each - 1) / max(hierarchy.size - 1, 1) for each in held]
        else:
            leaf = table.leaf_codes(attribute.name)[table.kept]
            counts = np.bincount(leaf[leaf >= 0], minlength=hierarchy.size).astype(np.float64)
            losses = hierarchy_group_losses(hierarchy, counts, attribute.numeric)[0]
        found.append(_PaddedTree.over(hierarchy, losses, weight))
    return found


def _leaves(table: Table, name: str, tree: _PaddedTree) -> NDArray[np.int32]:
    leaf = table.leaf_codes(name)
    return np.where(leaf == MISSING, tree.hierarchy.size, leaf).astype(np.int32)


def _tuples(
    leaf: NDArray[np.int32],
    records: NDArray[np.int64],
    present: NDArray[np.uint64],
    trees: list[_PaddedTree],
    rng: Generator,
) -> Tuples:
    start = np.zeros((len(trees), max(len(tree.groups) for tree in trees)), dtype=np.int64)
    position, marks = 0, []
    for a, tree in enumerate(trees):
        for level, group in enumerate(tree.groups):
            start[a, level] = position
            position += len(group)
            marks.append(rng.integers(0, 2**64, size=int(group.max()) + 1, dtype=np.uint64)[group])
    return Tuples(
        np.ascontiguousarray(leaf),
        records,
        present,
        start,
        np.array([len(tree.groups) - 1 for tree in trees], dtype=np.int64),
        np.concatenate([group for tree in trees for group in tree.groups]),
        np.concatenate([cell for tree in trees for cell in tree.cells]),
        np.concatenate(marks),
    )


def offered_nodes(level_losses: list[NDArray[np.float64]], most: int, rng: Generator) -> NDArray[np.int16]:
    """Level vectors in order of loss: all of them, or the cheapest half of `most`, a random half and the top.

    `burdens`: mean loss of each attribute at each of its levels, ascending.
    """
    heights = [len(level_loss) for level_loss in level_losses]
    size = 1
    for height in heights:
        size *= height
    if size <= most:
        numbers, columns = np.arange(size, dtype=np.int64), []
        for height in reversed(heights):
            columns.append(numbers % height)
            numbers = numbers // height
        nodes = np.stack(columns[::-1], axis=1)
    else:
        cheap = _cheapest(tuple(tuple(losses.tolist()) for losses in level_losses), most // 2)
        drawn = np.stack([rng.integers(0, height, size=most - len(cheap)) for height in heights], axis=1)
        top = np.array([heights]) - 1
        nodes = np.concatenate([cheap, drawn, top])
        nodes = nodes[equivalence_classes(nodes).first]
    loss = sum((level_loss[nodes[:, a]] for a, level_loss in enumerate(level_losses)), np.zeros(len(nodes)))
    return np.ascontiguousarray(nodes[np.argsort(loss, kind="stable")].astype(np.int16))


@lru_cache(maxsize=8)
def _cheapest(level_losses: tuple[tuple[float, ...], ...], count: int) -> NDArray[np.int64]:
    """The `count` level vectors of least loss, found from the bottom upwards; alike for all candidates of a table."""
    bottom = (0,) * len(level_losses)
    heap, seen = [(0.0, bottom)], {bottom}
    found: list[tuple[int, ...]] = []
    while heap and len(found) < count:
        loss, node = heapq.heappop(heap)
        found.append(node)
        for a, level_loss in enumerate(level_losses):
            if node[a] + 1 < len(level_loss):
                above = (*node[:a], node[a] + 1, *node[a + 1 :])
                if above not in seen:
                    seen.add(above)
                    heapq.heappush(heap, (loss + (level_loss[node[a] + 1] - level_loss[node[a]]), above))
    return np.array(found, dtype=np.int64)


def _record_groups(homes: RecodedGroups, of: NDArray[np.int64]) -> NDArray[np.int64]:
    """The group of every record: records of a tuple fill its groups in turn, lower rows first."""
    group = np.flatnonzero(homes.head[: int(homes.used[1])] >= 0)
    entry, entries, groups = homes.head[group], list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    while len(entry):  # the chains of all groups, one link at a time
        entries.append(entry)
        groups.append(group)
        after = homes.following[entry]
        group, entry = group[after >= 0], after[after >= 0]
    at, of_group = np.concatenate(entries), np.concatenate(groups)
    order = np.lexsort((of_group, homes.row[at]))
    in_turn = np.repeat(of_group[order], homes.held[at][order])
    result = np.empty(len(of), dtype=np.int64)
    result[np.argsort(of, kind="stable")] = in_turn
    return result
