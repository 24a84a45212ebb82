"""Microaggregation as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy
from numpy.random import Generator

from crypsis.errors import TableError
from crypsis.masking.method import methods
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.partitioning import Partitioner, partitioners
from crypsis.masking.scaling import Embedding
from crypsis.sklearn.transformer import MaskingTransformer, align_categories, checked_k, codes_among, fitted_rows
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.precision import Scaling
from crypsis.table.table import Table


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
    at least k fitted rows share. The fitted object holds original values: publish its output, never the object.

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
        return checked_k(self.k)

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

    def _masked(self, table: Table) -> Table:
        table = align_categories(table, self._fitted)
        row = fitted_rows(codes_among(self._fitted, self._fitted), codes_among(self._fitted, table))
        group = np.where(row >= 0, self.labels_[row], -1)
        new = np.flatnonzero(row < 0)
        if len(new):
            group[new] = self._centroids.query(self._space.points(table.take(new)))[1]
        return table.with_columns({name: self._shared.column(name)[group] for name in self.columns_})
