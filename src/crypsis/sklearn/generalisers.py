"""Generalisation and local recoding as scikit-learn transformers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.masking.method import methods
from crypsis.searches.lattices import least_loss, optimum
from crypsis.sklearn.transformer import ColumnHierarchy, MaskingTransformer, Spec, checked_k, fitted_rows
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.lattice import Lattice
from crypsis.table.suppression import allowed_records, suppress
from crypsis.table.table import LOCAL, Table

MOST_NODES = 2_000_000
"""Lattices of more nodes are searched, not judged node by node."""
JUDGED = 500
"""Nodes such a search judges."""
AT_ONCE = 4_000_000
"""Pairs of a new row and a class compared at a time."""

Levels = NDArray[np.int8]


class _Generaliser(MaskingTransformer):
    """A level for each cell: what a row publishes is the ancestor of its own value at that level, hence true."""

    k: int
    hierarchies: Mapping[str, Spec] | None
    intervals: Literal["midpoint", "label"]

    @abstractmethod
    def _find(self, table: Table, rng: Generator) -> None:
        """Choose the levels of the fitted rows."""

    @abstractmethod
    def _levels(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32]) -> Levels:
        """int8[n, p]: a level for each cell of rows given by the leaves of the hierarchies."""

    def _least_rows(self) -> int:
        return checked_k(self.k)

    def _learn(self, table: Table, rng: Generator) -> None:
        if self.intervals not in ("midpoint", "label"):
            raise TableError(f"intervals is {self.intervals!r}; it may be 'midpoint' or 'label'")
        strange = [name for name in self.hierarchies or {} if name not in self.columns_]
        if strange:
            raise TableError(f"a hierarchy is given for {strange[0]!r}, which is not among the masked columns")
        self._trees = [ColumnHierarchy.of(table, name, (self.hierarchies or {}).get(name)) for name in self.columns_]
        given = {tree.attribute.name: tree.attribute for tree in self._trees}
        self._find(table.take(np.arange(len(table))).with_columns({}, attributes=given), rng)

    def _masked(self, table: Table) -> Table:
        trees = [tree.reaching(table) for tree in self._trees]
        leaf = np.stack([tree.leaves(table) for tree in trees], axis=1)
        levels = self._levels(trees, leaf)
        for place, tree in enumerate(trees):
            name, nodes = tree.attribute.name, tree.nodes(leaf[:, place], levels[:, place])
            if tree.attribute.numeric and not tree.attribute.dates and self.intervals == "midpoint":
                table = table.with_columns({name: tree.centres()[nodes]})
            else:
                table = table.with_columns({name: nodes}, {name: LOCAL}, {name: tree.attribute})
        return table


class LatticeGeneraliser(_Generaliser):
    """Generalise each column to one level of its hierarchy: the k-anonymous levels of least loss.

    Parameters
    ----------
    k : int, default=5
        Least number of fitted rows that share their masked values.
    columns : sequence of str or int, optional
        Names or positions of the quasi-identifiers; all columns unless named. Others pass through unchanged.
    hierarchies : mapping of str to str, Path or Hierarchy, optional
        Hierarchy of a column: a builder such as "intervals:5,10,20", "dates:month,year", "prefixes:3,2" or
        "merge:8,4", the path of a hierarchy file, or a ready `crypsis.Hierarchy`. Columns not named get intervals
        that double four times, months to years, prefixes, or merges of rare categories.
    suppression : float, default=0.0
        Share of the fitted rows that may be suppressed. A transformer cannot leave rows out: a suppressed row stays
        with every masked column at the root of its hierarchy, and counts in no class.
    intervals : {"midpoint", "label"}, default="midpoint"
        How a number that became an interval is written: as the number in its middle (of the lowest and highest value
        listed, for a given `Hierarchy`), or as text such as "20–29". Categories and dates are always text.
    random_state : int, RandomState instance or None, default=None
        Seed of the search; used only when the lattice has too many nodes to judge each.

    Attributes
    ----------
    levels_ : dict of str to int
        Level of each masked column; 0 is as collected.
    exact_ : bool
        Whether the levels are the optimum over all nodes; otherwise they are the best a search found.
    suppressed_ : ndarray of shape (n_samples,)
        Which fitted rows are suppressed.
    columns_ : tuple of str

    Notes
    -----
    `fit_transform` is the protection: every row of its result that is not suppressed shares its masked columns with
    at least k − 1 others. `transform` applies the fitted levels to new rows: a value the fitted hierarchy does not
    hold (a new category; a number outside a given `Hierarchy`) becomes the root "*", and a row whose class was
    suppressed is suppressed. New rows carry no guarantee of k: one may stand alone in its class. The fitted object
    holds original values: publish its output, never the object.

    Examples
    --------
    >>> from crypsis.sklearn import LatticeGeneraliser
    >>> masker = LatticeGeneraliser(k=2, hierarchies={"x0": "intervals:10,20"}, intervals="label")
    >>> masker.fit_transform([[21], [24], [33], [38]]).ravel().tolist()
    ['20–29', '20–29', '30–39', '30–39']
    >>> masker.transform([[47]]).ravel().tolist()
    ['40–49']
    """

    def __init__(
        self,
        k: int = 5,
        *,
        columns: Sequence[str | int] | None = None,
        hierarchies: Mapping[str, Spec] | None = None,
        suppression: float = 0.0,
        intervals: Literal["midpoint", "label"] = "midpoint",
        random_state: Any = None,
    ) -> None:
        self.k, self.columns, self.hierarchies = k, columns, hierarchies
        self.suppression, self.intervals, self.random_state = suppression, intervals, random_state

    def _find(self, table: Table, rng: Generator) -> None:
        k, share, names = int(self.k), self.suppression, self.columns_
        self.exact_ = Lattice.of(table, names).size <= MOST_NODES
        if self.exact_:
            levels = optimum(table, k, share, columns=names).levels
        else:
            levels = least_loss(table, rng, k=k, suppression=share, columns=names, evaluations=JUDGED).levels
        self.levels_ = dict(zip(self.columns_, levels, strict=True))
        leaf = np.stack([tree.leaves(table) for tree in self._trees], axis=1)
        classes = equivalence_classes(self._classes(self._trees, leaf))
        allowance = allowed_records(self.suppression, len(table))
        rare = suppress(classes.sizes, np.zeros_like(classes.sizes), "failing-class", allowance, self.k).left_out
        self.suppressed_ = rare[classes.of]
        self._rare = leaf[classes.first[rare]]

    def _classes(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32]) -> NDArray[np.int32]:
        """Node of each cell at the fitted levels."""
        levels = zip(trees, self.levels_.values(), leaf.T, strict=True)
        return np.stack([tree.nodes(column, np.full(len(leaf), level)) for tree, level, column in levels], axis=1)

    def _levels(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32]) -> Levels:
        levels = np.tile(np.array(list(self.levels_.values()), dtype=np.int8), (len(leaf), 1))
        if len(self._rare):
            rare = np.stack([tree.moved[column] for tree, column in zip(trees, self._rare.T, strict=True)], axis=1)
            suppressed = fitted_rows(self._classes(trees, rare), self._classes(trees, leaf)) >= 0
            levels[suppressed] = [tree.hierarchy.height for tree in trees]
        return levels


class LocalRecoder(_Generaliser):
    """Generalise each row no more than its class needs: different rows at different levels, nothing suppressed.

    Parameters
    ----------
    k : int, default=5
        Every fitted row shares its masked values with at least k − 1 others.
    columns : sequence of str or int, optional
        Names or positions of the quasi-identifiers; all columns unless named. Others pass through unchanged.
    hierarchies : mapping of str to str, Path or Hierarchy, optional
        Hierarchy of a column, as in `LatticeGeneraliser`.
    intervals : {"midpoint", "label"}, default="midpoint"
        How a number that became an interval is written, as in `LatticeGeneraliser`.
    effort : int, default=30_000_000
        Most comparisons spent on moving rows to cheaper classes; fewer is quicker and loses more.
    random_state : int, RandomState instance or None, default=None
        Seed of ties and, in very large lattices, of the nodes that are tried.

    Attributes
    ----------
    levels_ : ndarray of shape (n_samples, n_columns)
        Level of each cell of the fitted rows; 0 is as collected.
    columns_ : tuple of str

    Notes
    -----
    `fit_transform` is the protection: every row of its result shares its masked columns with at least k − 1 others.
    `transform` gives a new row the cheapest fitted class that covers it; where none does, the class that needs
    raising least, raised until it covers the row, so that what is published stays true. A value the fitted
    hierarchy does not hold becomes the root "*". New rows carry no guarantee of k. The fitted object holds original
    values: publish its output, never the object.

    Examples
    --------
    >>> from crypsis.sklearn import LocalRecoder
    >>> masker = LocalRecoder(k=2, hierarchies={"x0": "intervals:10,20"}, intervals="label", random_state=0)
    >>> masker.fit_transform([[21], [21], [33], [38]]).ravel().tolist()
    ['21', '21', '30–39', '30–39']
    """

    def __init__(
        self,
        k: int = 5,
        *,
        columns: Sequence[str | int] | None = None,
        hierarchies: Mapping[str, Spec] | None = None,
        intervals: Literal["midpoint", "label"] = "midpoint",
        effort: int = 30_000_000,
        random_state: Any = None,
    ) -> None:
        self.k, self.columns, self.hierarchies = k, columns, hierarchies
        self.intervals, self.effort, self.random_state = intervals, effort, random_state

    def _find(self, table: Table, rng: Generator) -> None:
        masked = methods.build("local-recoding", k=self.k, columns=self.columns_, effort=self.effort).mask(table, rng)
        nodes = [masked.column(name) for name in self.columns_]
        levels = [tree.level_of(column) for tree, column in zip(self._trees, nodes, strict=True)]
        self.levels_ = np.stack(levels, axis=1)
        self._leaf = np.stack([tree.leaves(table) for tree in self._trees], axis=1)
        self._first = equivalence_classes(np.stack(nodes, axis=1)).first

    def _levels(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32]) -> Levels:
        fitted = np.stack([tree.moved[column] for tree, column in zip(trees, self._leaf.T, strict=True)], axis=1)
        row = fitted_rows(fitted, leaf)
        levels = self.levels_[row]
        new = np.flatnonzero(row < 0)
        if len(new):
            tuples = equivalence_classes(leaf[new])
            levels[new] = self._covering(trees, leaf[new[tuples.first]], fitted[self._first])[tuples.of]
        return levels

    def _covering(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32], members: NDArray[np.int32]) -> Levels:
        """Levels of each row in its class: one that covers it before any other, then the least loss."""
        own = self.levels_[self._first]
        step = max(AT_ONCE // len(members), 1)
        chosen = []
        for start in range(0, len(leaf), step):
            rows = leaf[start : start + step]
            loss, raised = np.zeros((len(rows), len(members))), np.zeros((len(rows), len(members)), dtype=bool)
            needed = []
            for place, tree in enumerate(trees):
                level = tree.common_level(rows[:, place], members[:, place])
                raised |= level > own[:, place]
                needed.append(np.maximum(level, own[:, place]))
                loss += tree.losses[needed[-1], rows[:, place, None]]
            best = np.argmin(loss + len(trees) * raised, axis=1)
            chosen.append(np.stack([level[np.arange(len(rows)), best] for level in needed], axis=1))
        return np.concatenate(chosen)
