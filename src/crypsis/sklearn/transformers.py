"""Microaggregation, generalisation, local recoding, rank swapping and post-randomisation as scikit-learn
transformers.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.randomisation import transitions
from crypsis.masking import pram
from crypsis.masking.coding import code_within_domain
from crypsis.masking.method import methods
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.partitioning import Partitioner, partitioners
from crypsis.masking.rank_swapping import RankSwapping
from crypsis.masking.scaling import Embedding
from crypsis.searches.pbg_ea import optimal_lattice_node, search_least_pbg_loss
from crypsis.sklearn.transformer import (
    ColumnHierarchy,
    MaskingTransformer,
    Spec,
    align_categories_to_fitted,
    check_transformer_k,
    turns_of_equal_rows,
)
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.equivalence_classes import classes_of, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.lattice import Lattice
from crypsis.table.precision import Scaling
from crypsis.table.suppression import allowed_records, suppress
from crypsis.table.table import LOCAL, Column, Table

# -- Microaggregation as a scikit-learn transformer.


class Microaggregator(MaskingTransformer):
    """Replace each row by the representative of a group of at least `k` similar rows.

    Parameters
    ----------
    k : int, default=5
        Size of the smallest group.
    columns : sequence of str or int, optional
        Names or positions of the quasi-identifiers; all columns unless named. Others pass through unchanged.
    partitioner : str or Partitioner, default="mdav"
        How rows are grouped: the name of a registered partitioner, or one with its settings, such as
        ``crypsis.masking.VMDAV(gamma=0.1)``.
    numbers : {"mean", "median", "mode", "spread", "calibrated"}, default="mean"
        What the numbers of a group become; "spread" keeps the variance of the column, "calibrated" distributions,
        totals and covariances of all columns.
    categories : {"typical", "median", "mode", "unanimous", "marginal", "calibrated"}, default="typical"
        What the categories of a group become: "typical" takes the lower median of ordered and the mode of unordered
        ones, "unanimous" nothing where they differ, "marginal" keeps the distribution of the column, "calibrated" also
        how columns go together.
    scaling : {"z", "range", "none"}, default="z"
        Weight of the columns in the distance between rows.
    random_state : int, RandomState instance or None, default=None
        Seed of partitioners that draw; "mdav" does not.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Group of each fitted row.
    columns_ : tuple of str

    Notes
    -----
    `fit_transform` is the protection: every row of its result shares its masked columns with at least k − 1 others.
    `transform` of a new row gives it the representative of the group whose centroid is nearest; a category that
    was not there when fitting pulls nowhere. New rows carry no guarantee of k, although each receives values that
    at least k fitted rows share. The fitted object holds original rows until `forget_rows` drops them: publish
    its output, never the object.

    Examples
    --------
    >>> from crypsis.sklearn import Microaggregator
    >>> masker = Microaggregator(k=2).fit([[1.0], [2.0], [10.0], [12.0]])
    >>> masker.transform([[1.0], [2.0], [10.0], [12.0], [9.0]]).ravel().tolist()
    [1.5, 1.5, 11.0, 11.0, 11.0]
    """

    def __init__(
        self,
        k: int = 5,
        *,
        columns: Sequence[str | int] | None = None,
        partitioner: str | Partitioner = "mdav",
        numbers: Literal["mean", "median", "mode", "spread", "calibrated"] = "mean",
        categories: Literal["typical", "median", "mode", "unanimous", "marginal", "calibrated"] = "typical",
        scaling: Scaling = "z",
        random_state: Any = None,
    ) -> None:
        self.k, self.columns, self.partitioner = k, columns, partitioner
        self.numbers, self.categories = numbers, categories
        self.scaling, self.random_state = scaling, random_state

    def _least_rows(self) -> int:
        return check_transformer_k(self.k)

    def _method(self) -> Microaggregation:
        name, settings = self.partitioner, {}
        if isinstance(self.partitioner, Partitioner):
            name, settings = partitioners.name_of(self.partitioner), self.partitioner.model_dump()
        method = methods.build(
            "microaggregation",
            k=self.k,
            columns=self.columns_,
            partitioner=name,
            partitioner_settings=settings,
            numbers=self.numbers,
            categories=self.categories,
            scaling=self.scaling,
        )
        assert isinstance(method, Microaggregation)
        return method

    def _learn(self, table: Table, rng: Generator) -> None:
        masked = self._method().mask(table, rng)
        classes = classes_of(masked, self.columns_)
        labels, sizes = classes.of, classes.sizes
        if sizes.min() < self.k:
            raise TableError(
                f"the partitioner left a group of {int(sizes.min())} rows, fewer than k = {self.k}; "
                f"choose another partitioner or other settings of this one"
            )
        self.labels_ = labels
        self._fitted, self._shared = table.take(np.arange(len(table))), masked.take(classes.first)
        self._space = Embedding.of(table, self.columns_, self.scaling)
        points = self._space.points(table)
        sums = np.stack([np.bincount(labels, weights=axis) for axis in points.T], axis=1)
        self._centroids = scipy.spatial.cKDTree(sums / sizes[:, None])

    def _forget(self) -> None:
        self._fitted, self.labels_ = self._fitted.take(np.zeros(0, dtype=np.intp)), self.labels_[:0]

    def _mask(self, table: Table) -> Table:
        table = align_categories_to_fitted(table, self._fitted)
        if self._forgotten:
            group = self._centroids.query(self._space.points(table))[1]
            return table.with_columns({name: self._shared.column(name)[group] for name in self.columns_})
        row = find_rows_transformers_fitted(_codes_among(self._fitted, self._fitted), _codes_among(self._fitted, table))
        group = np.where(row >= 0, self.labels_[row], -1)
        new = np.flatnonzero(row < 0)
        if len(new):
            group[new] = self._centroids.query(self._space.points(table.take(new)))[1]
        return table.with_columns({name: self._shared.column(name)[group] for name in self.columns_})


# -- Generalisation and local recoding as scikit-learn transformers.

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
        return check_transformer_k(self.k)

    def _learn(self, table: Table, rng: Generator) -> None:
        if self.intervals not in ("midpoint", "label"):
            raise TableError(f"intervals is {self.intervals!r}; it may be 'midpoint' or 'label'")
        strange = [name for name in self.hierarchies or {} if name not in self.columns_]
        if strange:
            raise TableError(f"a hierarchy is given for {strange[0]!r}, which is not among the masked columns")
        self._trees = [ColumnHierarchy.of(table, name, (self.hierarchies or {}).get(name)) for name in self.columns_]
        given = {tree.attribute.name: tree.attribute for tree in self._trees}
        self._find(table.take(np.arange(len(table))).with_columns({}, attributes=given), rng)

    def _mask(self, table: Table) -> Table:
        trees = [tree.extend_to(table) for tree in self._trees]
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
            levels = optimal_lattice_node(table, k, share, columns=names).levels
        else:
            levels = search_least_pbg_loss(table, rng, k=k, suppression=share, columns=names, evaluations=JUDGED).levels
        self.levels_ = dict(zip(self.columns_, levels, strict=True))
        leaf = np.stack([tree.leaves(table) for tree in self._trees], axis=1)
        classes = equivalence_classes(self._classes(self._trees, leaf))
        allowance = allowed_records(self.suppression, len(table))
        rare = suppress(classes.sizes, np.zeros_like(classes.sizes), "failing-class", allowance, self.k).left_out
        self.suppressed_ = rare[classes.of]
        self._rare = leaf[classes.first[rare]]
        for place, (tree, level) in enumerate(zip(self._trees, levels, strict=True)):  # what a class tells, no more
            self._rare[:, place] = tree.canonical(self._rare[:, place], np.full(len(self._rare), level, dtype=np.int8))

    def _forget(self) -> None:
        self.suppressed_ = self.suppressed_[:0]

    def _classes(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32]) -> NDArray[np.int32]:
        """Node of each cell at the fitted levels."""
        levels = zip(trees, self.levels_.values(), leaf.T, strict=True)
        return np.stack([tree.nodes(column, np.full(len(leaf), level)) for tree, level, column in levels], axis=1)

    def _levels(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32]) -> Levels:
        levels = np.tile(np.array(list(self.levels_.values()), dtype=np.int8), (len(leaf), 1))
        if len(self._rare):
            rare = np.stack([tree.moved[column] for tree, column in zip(trees, self._rare.T, strict=True)], axis=1)
            suppressed = find_rows_transformers_fitted(self._classes(trees, rare), self._classes(trees, leaf)) >= 0
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

    def _forget(self) -> None:
        self.levels_, leaf = self.levels_[self._first], self._leaf[self._first]
        pairs = zip(self._trees, leaf.T, self.levels_.T, strict=True)
        self._leaf = np.stack([tree.canonical(column, level) for tree, column, level in pairs], axis=1)
        self._first = np.arange(len(leaf))

    def _levels(self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32]) -> Levels:
        fitted = np.stack([tree.moved[column] for tree, column in zip(trees, self._leaf.T, strict=True)], axis=1)
        none = np.full(len(leaf), -1, dtype=np.int64)
        row = none if self._forgotten else find_rows_transformers_fitted(fitted, leaf)
        levels = self.levels_[row]
        new = np.flatnonzero(row < 0)
        if len(new):
            tuples = equivalence_classes(leaf[new])
            levels[new] = self._choose_levels(trees, leaf[new[tuples.first]], fitted[self._first])[tuples.of]
        return levels

    def _choose_levels(
        self, trees: list[ColumnHierarchy], leaf: NDArray[np.int32], members: NDArray[np.int32]
    ) -> Levels:
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


# -- Rank swapping and post-randomisation as scikit-learn transformers.

MOST_CATEGORIES = 2000
"""Most values of a column whose Markov matrix is kept: 2000 by 2000 numbers are 32 MB."""


class RankSwapper(MaskingTransformer):
    """Swap the values of each column between rows of nearly the same rank.

    Parameters
    ----------
    percent : float, default=5.0
        Largest difference of ranks between swapped values, in per cent of the rows; at least one rank.
    columns : sequence of str or int, optional
        Names or positions of the quasi-identifiers; all columns unless named. Others pass through unchanged. Only
        numbers, dates and ordered categories have ranks; other columns are refused.
    random_state : int, RandomState instance or None, default=None
        Seed of the swaps.

    Attributes
    ----------
    columns_ : tuple of str

    Notes
    -----
    `fit_transform` keeps the values of each column exactly and changes who holds which. Class sizes say nothing
    about a perturbed file: there is no k. `transform` gives a new row, column by column, what the nearest fitted
    value was swapped for (the first of equal ones), so that a value far outside the fitted range comes back inside
    it. New rows carry no guarantee. The fitted object holds original rows until `forget_rows` drops them: publish
    its output, never the object.

    Examples
    --------
    >>> from crypsis.sklearn import RankSwapper
    >>> RankSwapper(percent=50, random_state=0).fit_transform([[1], [2], [3], [4]]).ravel().tolist()
    [2, 1, 4, 3]
    """

    _masks_text = False
    _moves_values = True

    def __init__(
        self, percent: float = 5.0, *, columns: Sequence[str | int] | None = None, random_state: Any = None
    ) -> None:
        self.percent, self.columns, self.random_state = percent, columns, random_state

    def _learn(self, table: Table, rng: Generator) -> None:
        method = methods.build("rank-swapping", percent=self.percent, columns=self.columns_)
        assert isinstance(method, RankSwapping)
        one_rank = 100 * (1 + 1e-9) / len(table)
        if method.percent < one_rank:
            method = method.model_copy(update={"percent": one_rank})
        every = np.arange(len(table))
        self._fitted, self._swapped = table.take(every), method.mask(table, rng).take(every)

    def _forget(self) -> None:
        orders = {name: np.argsort(self._fitted.column(name), kind="stable") for name in self.columns_}
        self._swapped = self._swapped.with_columns({n: self._swapped.column(n)[orders[n]] for n in self.columns_})
        self._fitted = self._fitted.with_columns({n: self._fitted.column(n)[orders[n]] for n in self.columns_})

    def _mask(self, table: Table) -> Table:
        table = align_categories_to_fitted(table, self._fitted)
        row = np.full(len(table), -1, dtype=np.int64)
        if not self._forgotten:
            known = _codes_among(self._fitted, self._fitted)
            row = find_rows_transformers_fitted(known, _codes_among(self._fitted, table))
        new = row < 0
        columns: dict[str, Column] = {}
        for name in self.columns_:
            before, after, column = self._fitted.column(name), self._swapped.column(name), table.column(name)
            if not table.holds_numbers(name) and (column == MISSING).any():
                raise TableError(
                    f"column {name!r} holds a category that was not among those fitted, so that it has no rank; "
                    f"give the column the same ordered categories"
                )
            order = np.argsort(before, kind="stable")
            columns[name] = np.where(
                new, after[order][find_value_transformers_fitted(before[order], column)], after[row]
            )
        return table.with_columns(columns)


class PostRandomiser(MaskingTransformer):
    """Change each category at random by a Markov matrix (post-randomisation).

    Parameters
    ----------
    theta : float, default=0.2
        How much is moved: 0 nothing, 1 as much as the form allows.
    form : {"invariant", "two-stage", "plain"}, default="invariant"
        How the matrix is made: "invariant" and "two-stage" keep the expected frequencies of the fitted rows, "plain"
        leaves a category with probability theta for any other alike.
    columns : sequence of str or int, optional
        Names or positions of the quasi-identifiers; all columns unless named. Others pass through unchanged. Numbers
        count as categories, one for each fitted value.
    random_state : int, RandomState instance or None, default=None
        Seed of the moves.

    Attributes
    ----------
    matrices_ : dict of str to ndarray of shape (n_categories, n_categories)
        Markov matrix of each masked column; an analyst needs it to correct tables.
    categories_ : dict of str to ndarray of shape (n_categories,)
        What the rows and columns of each matrix stand for.
    columns_ : tuple of str

    Notes
    -----
    The fitted matrix applies to every row alike, fitted or new. A new number moves as the nearest fitted one; a
    category that was not there when fitting is replaced by a fitted one, drawn by frequency. There is no k, and
    new rows carry no guarantee. The draw of a row follows from `random_state`, its own values and the number of equal
    rows before it in the same call: repeated calls give the same answer, so they cannot be averaged to undo the
    masking, and equal rows of one call move independently. The matrix may be published, the seed may not.

    Examples
    --------
    >>> from crypsis.sklearn import PostRandomiser
    >>> masker = PostRandomiser(theta=0.6, random_state=0).fit([["a"], ["a"], ["a"], ["b"]])
    >>> masker.matrices_["x0"].round(2).tolist()
    [[0.8, 0.2], [0.6, 0.4]]
    """

    _moves_values = True

    def __init__(
        self,
        theta: float = 0.2,
        *,
        form: Literal["invariant", "two-stage", "plain"] = "invariant",
        columns: Sequence[str | int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.theta, self.form, self.columns = theta, form, columns
        self.random_state = random_state

    def _learn(self, table: Table, rng: Generator) -> None:
        method = methods.build("pram", theta=self.theta, form=self.form)
        assert isinstance(method, pram.Pram)
        self.matrices_: dict[str, NDArray[np.float64]] = {}
        self.categories_: dict[str, NDArray[Any]] = {}
        self._shares: dict[str, NDArray[np.float64]] = {}
        for name in self.columns_:
            attribute = table.attribute(name)
            labels = np.unique(table.column(name)) if attribute.numeric else np.array(attribute.categories)
            if len(labels) > MOST_CATEGORIES:
                raise TableError(
                    f"column {name!r} has {len(labels)} different values and PostRandomiser keeps a probability for "
                    f"every pair of at most {MOST_CATEGORIES}; round it or use RankSwapper"
                )
            codes = code_within_domain(labels, table.column(name)) if attribute.numeric else table.column(name)
            coded = Table((Attribute(name, Kind.NOMINAL, categories=tuple(map(str, range(len(labels))))),), (codes,))
            self.matrices_[name], self.categories_[name] = method.matrix(coded, name), labels
            self._shares[name] = np.cumsum(pram.count_pram_categories(coded, name)) / len(table)
        self._known = table.take(np.zeros(0, dtype=np.int64))
        self._seed = int(rng.integers(2**63))

    def _forget(self) -> None:
        """Nothing: frequencies and matrices are no rows."""

    def _mask(self, table: Table) -> Table:
        given, table = table, align_categories_to_fitted(table, self._known)
        draws = keyed_draws_of_transformer(np.stack([_keys(given, name) for name in self.columns_], axis=1), self._seed)
        columns: dict[str, Column] = {}
        for place, name in enumerate(self.columns_):
            cumulative = np.vstack([np.cumsum(self.matrices_[name], axis=1), self._shares[name]])
            cumulative[:, -1] = 1.0  # rounding must not let a draw fall off the end
            unseen = np.int32(len(cumulative) - 1)
            codes = self._codes(table, name)
            moved = transitions(
                np.where(codes == MISSING, unseen, codes), cumulative, np.ascontiguousarray(draws[:, place])
            )
            columns[name] = self.categories_[name][moved] if table.attribute(name).numeric else moved
        return table.with_columns(columns)

    def _codes(self, table: Table, name: str) -> NDArray[np.int32]:
        column = table.column(name)
        return (
            find_value_transformers_fitted(self.categories_[name], column).astype(np.int32)
            if table.attribute(name).numeric
            else column
        )


def find_value_transformers_fitted(domain: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    """Place in the values that scikit-learn rank swapping or post-randomisation fitted, nearest to each value."""
    above = np.minimum(np.searchsorted(domain, values), len(domain) - 1)
    above, below = (np.searchsorted(domain, domain[place]) for place in (above, np.maximum(above - 1, 0)))
    return np.where(values - domain[below] <= domain[above] - values, below, above)


def _keys(table: Table, name: str) -> NDArray[np.int64]:
    """A word for each value that does not depend on the other values: the bits of a number, a digest of a category."""
    column = table.column(name)
    if table.attribute(name).numeric:
        return (column + 0.0).view(np.int64)  # −0.0 equals 0.0
    digests = [hashlib.blake2b(label.encode(), digest_size=8).digest() for label in table.attribute(name).categories]
    return np.frombuffer(b"".join(digests), dtype=np.int64)[column]


def keyed_draws_of_transformer(keys: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """float64[n, p] uniform in [0, 1) for post-randomisation in scikit-learn: by seed, keys of the row and its turn.

    Words of 64 bits are stirred by the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
    """
    ranks = np.stack([np.unique(key, return_inverse=True)[1] for key in keys.T], axis=1)
    word = np.full(len(keys), seed, dtype=np.uint64)
    for key in (*keys.T, turns_of_equal_rows(equivalence_classes(ranks).of)):
        word = _mix_bits(word + key.astype(np.uint64))
    columns = np.arange(1, keys.shape[1] + 1).astype(np.uint64)
    words = _mix_bits(word[:, None] + columns * _GOLDEN) >> np.uint64(11)
    return words.astype(np.float64) * 2.0**-53


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix_bits(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of a word moved by every other."""
    word = word + _GOLDEN
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def _codes_among(fitted: Table, table: Table) -> NDArray[np.int32]:
    """int32[n, p]: each value as its place among the fitted values of its column; −1 where it is not among them."""
    pairs = zip(fitted.columns, table.columns, strict=True)
    return np.stack([code_within_domain(np.unique(before), column) for before, column in pairs], axis=1)


def find_rows_transformers_fitted(fitted: NDArray[np.int32], rows: NDArray[np.int32]) -> NDArray[np.int64]:
    """Microaggregation, recoding and swapping as transformers: the fitted row equal to each row, or −1."""
    of = equivalence_classes(np.concatenate([fitted, rows])).of
    known, asked = of[: len(fitted)], of[len(fitted) :]
    order = np.argsort(known, kind="stable")
    first, last = (np.searchsorted(known[order], asked, side=side) for side in ("left", "right"))
    count = last - first
    found = order[np.minimum(first + turns_of_equal_rows(asked) % np.maximum(count, 1), len(fitted) - 1)]
    return np.where((count > 0) & (rows >= 0).all(axis=1), found, -1)
