"""Cell suppression: single cells of quasi-identifiers are hidden until every person has k records alike."""

from __future__ import annotations

from collections.abc import Generator as Iteration
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import ClassVar, Literal

import numpy as np
import scipy.optimize
import scipy.sparse
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.cell_suppression import (
    BOTH_TARGET,
    PERSONS_TARGET,
    PERSONS_WILDCARD,
    ROOM,
    CellHoles,
    CellLines,
    begin_cover,
    cover_greedily,
    prune_all,
    recreate,
    show_superfluous,
)
from crypsis.masking.method import Family, MaskingMethod, methods
from crypsis.masking.scaling import scaling_lock_obstacle
from crypsis.table.attribute import attribute_weights
from crypsis.table.equivalence_classes import (
    EquivalenceClasses,
    count_target_class,
    count_wildcard_class,
    equivalence_classes,
)
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Column, Table

CellReading = Literal["target", "wildcard"]
"""Readings of a hidden cell under which cells are hidden."""

LINE_CELLS = 8_000_000
"""Tuples times patterns up to which sets of more columns are offered; below it every set is."""
TRIALS, TRIED_PATTERNS = 1000, 256
"""Trials of one quantum of improvement, and sets of columns up to which they are so many: some tenth of a second."""
COUNTED_SETS, CHAINS = 0.5, 8
"""Part of those cells for all sets up to a size where not all sets fit, and chains of growing sets beside them."""
COOL, WARM = 0.001, 0.3
"""Temperature of the last and of the first trial, in cells of mean weight."""
EXACT_CHOICES = 200_000
"""Choices of tuple and pattern up to which the least number of cells is worked out exactly."""
LEAST_WEIGHT = 1e-6
"""Weight of a cell whose column has no importance."""

RECORDS = 3
"""Demand that every record is contradicted by no cell of k persons, which is enough under `wildcard`."""
DEMANDS = {
    ("target", False): PERSONS_TARGET,
    ("wildcard", False): PERSONS_WILDCARD,
    ("target", True): BOTH_TARGET,
    ("wildcard", True): RECORDS,
}
"""What is demanded, by reading and whether both sides are."""

Flags = NDArray[np.bool_]
Solving = Iteration[None, None, Flags]
"""Tasks that end in the cells to hide."""


@methods.add("cell-suppression")
class CellSuppression(MaskingMethod):
    """Single cells of quasi-identifiers are hidden, as few as possible, until every person has k records alike.

    A hidden cell is published as a missing value. Under the reading `target`, the intruder knows the true values of a
    person, and at least k published records contradict them in no cell. Under `wildcard`, the convention of sdcMicro,
    a hidden cell equals every value, the person's own included: fewer cells are hidden, and intruders who know what was
    hidden may still find a person alone. Either count can be reached by blanking some k records, which protects
    nobody: a complete record that nobody else could have given stays one. So every published record must also be
    contradicted by no cell of at least k persons, unless `sides` says otherwise. A cell costs the importance of its
    column. k is judged over all quasi-identifiers; only the named columns are hidden, and a locked column never is.

    Notes
    -----
    - Formula: min Σ importance of hidden cells, such that #{j: z_j agrees with x_i where it shows a cell} ≥ k for
      every person i (target), and #{i: z_j agrees with x_i where it shows a cell} ≥ k for every record j
    - Paper: Gionis, Mazza and Tassa (2008), (k,k)-anonymity; Templ, Kowarik and Meindl (2015) for `wildcard`
    - Cost: O(T P) for T distinct records and P sets of columns, and as much for every round of improvement
    - Departures: own method; greedy cover, removal of superfluous cells, ruin and recreation; exact where asked

    Examples
    --------
    >>> people = {"sex": ["f", "f", "f", "m"], "town": ["a", "a", "b", "b"]}
    >>> table = crypsis.Table.from_columns(people, roles={"sex": "quasi", "town": "quasi"})
    >>> masked = crypsis.CellSuppression(k=2).mask(table, np.random.default_rng(0))
    >>> sum(int(masked.missing(name).sum()) for name in table.quasi_identifiers)
    2
    """

    family: ClassVar[Family] = Family.RECODING

    k: int = Field(default=5, ge=2, le=1_000_000_000, description="least number of records alike with every person")
    missing: CellReading = Field(
        default="target",
        description="which records are alike where cells are hidden; target: not contradicted by the true values of "
        "the person, which the intruder knows; wildcard: a hidden cell equals every value, which overstates protection",
    )
    sides: Literal["both", "persons"] = Field(
        default="both",
        description="both: every person has k records alike, and every record k persons; persons: the first alone, "
        "which some k blank records reach and which protects nobody by itself",
    )
    solver: Literal["improved", "greedy", "exact"] = Field(
        default="improved",
        description="improved: a greedy cover that is improved as long as `effort` says; greedy: the cover alone; "
        "exact: fewest weighted cells by integer programming, for small tables",
    )
    effort: int = Field(
        default=20,
        ge=1,
        le=1_000_000,
        description="thousands of trials in which the greedy cover is improved; fewer where more than 256 sets of "
        "columns may be hidden",
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        return hide_cells(table, self.names(table), self.solve(table, rng))

    def names(self, table: Table) -> tuple[str, ...]:
        """The columns whose cells may be hidden.

        Parameters
        ----------
        table : Table
            The original; its locked columns are left out.

        Returns
        -------
        tuple of str
        """
        chosen = self.columns or tuple(table.quasi_identifiers)
        if not chosen:
            raise TableError("cell suppression: the table has no quasi-identifier; give columns the role 'quasi'")
        open_names = tuple(name for name in chosen if not table.attribute(name).locked)
        if not open_names:
            raise TableError("cell suppression: every column that would be masked is locked; unlock one")
        return open_names

    def solve(self, table: Table, rng: Generator) -> Flags:
        """Which cells to hide.

        Parameters
        ----------
        table : Table
            The original.
        rng : Generator
            Chance of the improvement.

        Returns
        -------
        bool[n, columns]
            In the order of `names`; never True for a record that is suppressed or a cell that is missing already.
        """
        work = self.solve_tasks(table, rng)
        while True:
            try:
                next(work)
            except StopIteration as end:
                found: Flags = end.value
                return found

    def solve_tasks(self, table: Table, rng: Generator) -> Solving:
        """As `solve`, task by task: a generator that returns the cells after a number of short tasks.

        Parameters
        ----------
        table, rng
            As for `solve`.

        Returns
        -------
        generator
        """
        scene = CellScene.of(table, self.names(table), self.k, self.missing, self.sides == "both")
        yield
        if scene.demand == RECORDS:
            return scene.spread_out(hide_for_own(scene))
        if self.solver == "exact":
            return scene.spread_out(solve_exactly(scene))
        cover = scene.cover(rng)
        for quantum in range(self.effort if self.solver == "improved" else 0):
            if cover.optimal:
                break
            yield
            cover.improve(scene.trials, 1.0 - quantum / self.effort)
        return scene.spread_out(cover.needed_patterns())


def hide_cells(table: Table, names: Sequence[str], hidden: Flags) -> Table:
    """The table with some cells missing; `hidden` bool[n, columns]."""
    columns: dict[str, Column] = {}
    for place, name in enumerate(names):
        if hidden[:, place].any():
            columns[name] = table.column(name).copy()
            columns[name][hidden[:, place]] = np.nan if table.holds_numbers(name) else MISSING
    return table.with_columns(columns)


def _unreachable(k: int) -> str:
    return f"k = {k} cannot be reached by hiding cells of the named columns; lower k or name more columns"


# -- What is to be covered: distinct records, the sets of columns that may be hidden, and who is alike then.


@dataclass(frozen=True, eq=False)
class CellScene:
    """The kept records of a table as tuples, lines and weights, for one k and one reading."""

    lines: CellLines
    classes: EquivalenceClasses  # of the kept records, by every column an intruder knows
    kept: Flags  # bool[n]
    codes: NDArray[np.int32]  # int32[kept, columns known]: hideable columns first
    k: int
    demand: int
    needy: NDArray[np.int64] = field(repr=False)  # int64[…]: tuples with fewer than k before anything is hidden

    @classmethod
    def of(cls, table: Table, names: Sequence[str], k: int, reading: CellReading, both: bool) -> CellScene:
        """Prepare a table; one that cannot reach k is refused."""
        known = [*names, *(name for name in table.quasi_identifiers if name not in names)]
        codes = np.ascontiguousarray(table.codes(known)[table.kept])
        if len(codes) < k:
            raise TableError(f"{len(codes)} records cannot form a class of {k}; lower k or take more records")
        if len(names) > 60:
            raise TableError(f"cell suppression treats up to 60 columns and {len(names)} were given; name fewer")
        if thin := scaling_lock_obstacle(table, known, k):
            raise TableError(thin)
        classes = equivalence_classes(codes)
        cell = np.maximum(attribute_weights([table.attribute(name) for name in names]), LEAST_WEIGHT)
        lines = make_lines(codes[classes.first], classes.sizes, cell, k, both)
        demand = DEMANDS[reading, both]
        counts = count_wildcard_class(codes) if reading == "wildcard" else count_target_class(codes, codes)
        return cls(lines, classes, table.kept, codes, k, demand, np.flatnonzero(counts[classes.first] < k))

    @property
    def trials(self) -> int:
        """Trials of one quantum; each looks at every set of columns."""
        return max(10, min(TRIALS, TRIALS * TRIED_PATTERNS // len(self.lines.mask)))

    def cover(self, rng: Generator) -> CellCover:
        """A first set of hidden cells under which k holds."""
        return CellCover.of(self, rng)

    def spread_out(self, patterns: NDArray[np.int64]) -> Flags:
        """bool[n, columns]: `patterns` int64[kept], columns as bits, of every record of the table."""
        width = self.lines.codes.shape[1]
        bits = (patterns[:, None] >> np.arange(width)) & 1
        hidden = np.zeros((len(self.kept), width), dtype=np.bool_)
        hidden[self.kept] = (bits > 0) & (self.codes[:, :width] != MISSING)
        return hidden


def make_lines(
    tuples: NDArray[np.int32], sizes: NDArray[np.int64], cell: NDArray[np.float64], k: int, both: bool
) -> CellLines:
    """Lines of tuples; `tuples` int32[T, known], hideable columns first; `cell` float64[m]: weights of those.

    Where both sides are demanded, every record must hide enough to leave k persons.
    """
    width, count = len(cell), len(tuples)
    missing = (tuples[:, :width] == MISSING) @ (np.int64(1) << np.arange(width))
    masks = np.unique([*_offered_patterns(tuples, sizes, cell, k), *missing.tolist()]).astype(np.int64)
    line = np.empty((count, len(masks)), dtype=np.int32)
    first, members, held, ends = [0], list[NDArray[np.int64]](), list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    for place, mask in enumerate(masks.tolist()):
        shown = [c for c in range(tuples.shape[1]) if c >= width or not mask >> c & 1]
        alike = equivalence_classes(tuples[:, shown]) if shown else equivalence_classes(tuples[:, :0] * 0)
        of = alike.of if shown else np.zeros(count, dtype=np.int64)
        lines = int(of.max()) + 1
        line[:, place] = first[-1] + of
        members.append(np.argsort(of, kind="stable"))
        ends.append(place * count + np.cumsum(np.bincount(of, minlength=lines)))
        held.append(np.bincount(of, weights=sizes, minlength=lines).astype(np.int64))
        first.append(first[-1] + lines)
    weight, own = ((masks[:, None] >> np.arange(width)) & 1) @ cell, np.searchsorted(masks, missing).astype(np.int32)
    lightest = _lightest_patterns(line, masks, weight, own, np.concatenate(held), k if both else 0)
    return CellLines(
        np.ascontiguousarray(tuples[:, :width]),
        sizes.astype(np.int64),
        masks,
        weight,
        cell,
        line,
        np.array(first, dtype=np.int64),
        np.concatenate([[0], *ends]).astype(np.int64),
        np.concatenate(members).astype(np.int32),
        np.concatenate(held),
        own,
        weight[lightest] - weight[own],
    )


def _lightest_patterns(
    line: NDArray[np.int32],
    masks: NDArray[np.int64],
    weight: NDArray[np.float64],
    own: NDArray[np.int32],
    held: NDArray[np.int64],
    k: int,
) -> NDArray[np.int64]:
    """int64[T]: the lightest pattern of every tuple that leaves k persons, with what it lacks from the start."""
    lacking = masks[own][:, None]
    allowed = (held[line] >= k) & ((masks & lacking) == lacking)
    return np.asarray(np.where(allowed, weight, np.inf).argmin(axis=1))


def _offered_patterns(
    tuples: NDArray[np.int32], sizes: NDArray[np.int64], cell: NDArray[np.float64], k: int
) -> Iterator[int]:
    """Sets of columns as bits: the empty one, the whole, and all sets up to a size that fits.

    Where not all fit, also sets in which rare tuples differ from their nearest, and chains from one column to all.
    """
    width, count = len(cell), len(tuples)
    yield from (0, (1 << width) - 1)
    offered = 0
    for size in range(1, width + 1):
        more = comb(width, size)
        if size > 1 and (offered + more) * count > LINE_CELLS * (1 if size >= width - 1 else COUNTED_SETS):
            break
        offered += more
        yield from (sum(1 << c for c in chosen) for chosen in combinations(range(width), size))
    else:
        return
    values = np.array([len(np.unique(tuples[:, c])) for c in range(width)])
    for turn in range(CHAINS):  # the columns with most values first, then each other way round the circle
        order = np.roll(np.argsort(-values / cell, kind="stable"), -turn * max(1, width // CHAINS))
        yield from np.cumsum(np.int64(1) << order.astype(np.int64)).tolist()
    most = max(0, LINE_CELLS // count - offered - CHAINS * width)
    rare = np.flatnonzero(sizes < k)
    for row in rare[:: max(1, -(-len(rare) // max(most, 1)))][:most].tolist():
        yield _near_pattern(tuples, sizes, cell, k, row)


def _near_pattern(
    tuples: NDArray[np.int32], sizes: NDArray[np.int64], cell: NDArray[np.float64], k: int, row: int
) -> int:
    """The columns in which a tuple differs from its nearest ones, as many of them as hold k records, as bits."""
    width = len(cell)
    able = np.flatnonzero((tuples[:, width:] == tuples[row, width:]).all(axis=1))
    differs = tuples[able, :width] != tuples[row, :width]
    order = np.argsort(differs @ cell, kind="stable")
    enough = int(np.searchsorted(np.cumsum(sizes[able][order]), k)) + 1
    return int(differs[order[:enough]].any(axis=0) @ (np.int64(1) << np.arange(width)))


# -- A cover that is improved in quanta.


@dataclass(frozen=True, eq=False)
class CellCover:
    """Hidden cells under which k holds, and the chance by which they are improved."""

    scene: CellScene
    state: CellHoles
    random_state: NDArray[np.uint64]

    @classmethod
    def of(cls, scene: CellScene, rng: Generator) -> CellCover:
        """A greedy cover without superfluous cells."""
        lines, records = scene.lines, int(scene.lines.size.sum())
        tuples, room = len(lines.size), 4 * scene.k + 65_536 + ROOM
        state = CellHoles(
            np.zeros(tuples, np.int64), np.zeros(len(lines.held), np.int64), np.zeros(tuples, np.int64),
            np.zeros(tuples, np.int64), np.zeros(records, np.int32), np.zeros(records, np.int32),
            np.array([0, 0, 0, scene.k]), np.zeros(1), np.zeros((room, 4), np.int32), np.zeros(tuples, np.int32),
            np.zeros(tuples, np.bool_), scene.demand,
        )  # fmt: skip
        random_state = rng.integers(1, 2**63, size=1, dtype=np.uint64)
        begin_cover(lines, state)
        if not cover_greedily(lines, state, random_state):
            raise TableError(_unreachable(scene.k))
        cover = cls(scene, state, random_state)
        prune_all(lines, state, cover._heaviest_first)
        return cover

    @property
    def _heaviest_first(self) -> NDArray[np.int64]:
        return np.argsort(-self.scene.lines.weight, kind="stable")

    def improve(self, trials: int, heat: float) -> None:
        """Some trials; `heat` falls from 1 to 0 in the course of all of them."""
        if not len(self.scene.needy):
            return
        mean = float(self.scene.lines.cell.mean())
        temperature = mean * COOL * (WARM / COOL) ** heat
        recreate(self.scene.lines, self.state, self.scene.needy, trials, temperature, self.random_state)
        prune_all(self.scene.lines, self.state, self._heaviest_first)

    @property
    def cost(self) -> float:
        """Weight of the hidden cells."""
        return float(self.state.cost[0])

    @property
    def optimal(self) -> bool:
        """Whether nobody hides more than each must by itself."""
        return self.cost <= float(self.scene.lines.least @ self.scene.lines.size) * (1.0 + 1e-9)

    def patterns(self) -> NDArray[np.int64]:
        """int64[kept]: columns hidden in every record, as bits, without the cells that were missing."""
        lines, used = self.scene.lines, int(self.state.used[0])
        tuple_of, pattern = self.state.tuple_of[:used], self.state.pattern[:used]
        return place_patterns(self.scene.classes, tuple_of.astype(np.int64), lines.mask[pattern])

    def needed_patterns(self) -> NDArray[np.int64]:
        """The same without cells that matches of two hidden cells make superfluous under `wildcard`."""
        masks = self.patterns()
        if self.scene.demand == PERSONS_WILDCARD:
            show_superfluous(self.scene.codes, masks, self.scene.lines.cell, self.scene.k)
        return masks


def place_patterns(
    classes: EquivalenceClasses, tuple_of: NDArray[np.int64], masks: NDArray[np.int64]
) -> NDArray[np.int64]:
    """int64[records]: patterns of tuples given to the first records of each; `tuple_of`, `masks` int64[…]."""
    found = np.zeros(len(classes.of), dtype=np.int64)
    rows = np.argsort(classes.of, kind="stable")
    begin = np.concatenate([[0], np.cumsum(classes.sizes)])
    order = np.argsort(tuple_of, kind="stable")
    turn = np.arange(len(order)) - np.searchsorted(tuple_of[order], tuple_of[order])
    found[rows[begin[tuple_of[order]] + turn]] = masks[order]
    return found


# -- Every record by itself: the lightest cells that leave k persons.


def hide_for_own(scene: CellScene) -> NDArray[np.int64]:
    """int64[kept]: columns hidden in every record as bits, of least weight such that k persons may have given each."""
    lines = scene.lines
    if (lines.held[lines.line[:, -1]] < scene.k).any():
        raise TableError(_unreachable(scene.k))
    lightest = _lightest_patterns(lines.line, lines.mask, lines.weight, lines.own, lines.held, scene.k)
    return lines.mask[lightest][scene.classes.of]


# -- Exactly: how many records of each tuple hide which pattern, as integers.


def solve_exactly(scene: CellScene) -> NDArray[np.int64]:
    """int64[kept]: columns hidden in every record as bits, of least weight under `target`."""
    lines, k = scene.lines, scene.k
    if scene.demand == PERSONS_WILDCARD:
        raise TableError(
            "cell suppression is not solved exactly under wildcard for persons alone; choose solver = 'improved'"
        )
    if (lines.own > 0).any():
        raise TableError("cell suppression is solved exactly for tables without missing cells; choose another solver")
    short = np.flatnonzero(lines.size < k)
    if not len(short):
        return np.zeros(len(scene.codes), dtype=np.int64)
    both, rare = scene.demand == BOTH_TARGET, lines.size < k
    wanted = np.zeros(len(lines.held), dtype=np.bool_)
    wanted[lines.line[short][:, 1:]] = True  # lines on which somebody needs records
    choosable = wanted[lines.line] & (~rare[:, None] | (lines.held[lines.line] >= k) | (not both))
    choosable[:, 0] = False
    provider, pattern = np.nonzero(choosable)
    if len(provider) > EXACT_CHOICES:
        raise TableError(
            f"{len(provider)} choices are too many to be solved exactly, which treats {EXACT_CHOICES}; "
            f"choose solver = 'improved'"
        )
    choices = len(provider)
    covered = _find_covering_cells(lines, short, provider, pattern)
    once = scipy.sparse.csr_matrix((np.ones(choices), (provider, np.arange(choices))), shape=(len(lines.size), choices))
    found = scipy.optimize.milp(
        lines.weight[pattern],
        integrality=np.ones(choices, dtype=np.int64),
        bounds=scipy.optimize.Bounds(0, lines.size[provider]),
        constraints=[
            scipy.optimize.LinearConstraint(covered, k - lines.size[short], np.inf),
            scipy.optimize.LinearConstraint(once, np.where(rare & both, lines.size, 0), lines.size),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        raise TableError(_unreachable(k))
    times = np.round(found.x).astype(np.int64)
    tuple_of, masks = np.repeat(provider, times), np.repeat(lines.mask[pattern], times)
    return place_patterns(scene.classes, tuple_of, masks)


def _find_covering_cells(
    lines: CellLines, short: NDArray[np.int64], provider: NDArray[np.int64], pattern: NDArray[np.int64]
) -> scipy.sparse.csr_matrix:
    """One row per short tuple, one column per choice: 1 where a record of the provider is alike with the tuple."""
    line = lines.line[provider, pattern]
    by_line = np.argsort(line, kind="stable")
    rows, columns = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    for row, t in enumerate(short):
        low, high = (np.searchsorted(line[by_line], lines.line[t, 1:], side=side) for side in ("left", "right"))
        covering = np.concatenate([by_line[a:b] for a, b in zip(low, high, strict=True)])
        covering = covering[provider[covering] != t]
        rows.append(np.full(len(covering), row))
        columns.append(covering)
    ones = np.ones(sum(map(len, columns)))
    return scipy.sparse.csr_matrix((ones, (np.concatenate(rows), np.concatenate(columns))), (len(short), len(provider)))
