"""Rank swapping and post-randomisation as scikit-learn transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels.randomisation import transitions
from crypsis.masking import pram
from crypsis.masking.method import methods
from crypsis.masking.rank_swapping import RankSwapping
from crypsis.sklearn.transformer import (
    MaskingTransformer,
    align_categories,
    codes_among,
    codes_within,
    fitted_rows,
    turns,
)
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Column, Table

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
    it. New rows carry no guarantee. The fitted object holds original values: publish its output, never the object.

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

    def _masked(self, table: Table) -> Table:
        table = align_categories(table, self._fitted)
        row = fitted_rows(codes_among(self._fitted, self._fitted), codes_among(self._fitted, table))
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
            columns[name] = np.where(new, after[order][nearest(before[order], column)], after[row])
        return table.with_columns(columns)


class Pram(MaskingTransformer):
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
    >>> from crypsis.sklearn import Pram
    >>> masker = Pram(theta=0.6, random_state=0).fit([["a"], ["a"], ["a"], ["b"]])
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
                    f"column {name!r} has {len(labels)} different values and Pram keeps a probability for every pair "
                    f"of at most {MOST_CATEGORIES}; round it or use RankSwapper"
                )
            codes = codes_within(labels, table.column(name)) if attribute.numeric else table.column(name)
            coded = Table((Attribute(name, Kind.NOMINAL, categories=tuple(map(str, range(len(labels))))),), (codes,))
            self.matrices_[name], self.categories_[name] = method.matrix(coded, name), labels
            self._shares[name] = np.cumsum(pram.category_counts(coded, name)) / len(table)
        self._known = table.take(np.zeros(0, dtype=np.int64))
        self._seed = int(rng.integers(2**63))

    def _masked(self, table: Table) -> Table:
        given, table = table, align_categories(table, self._known)
        draws = keyed_draws(np.stack([_keys(given, name) for name in self.columns_], axis=1), self._seed)
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
        return nearest(self.categories_[name], column).astype(np.int32) if table.attribute(name).numeric else column


def nearest(domain: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int64]:
    """Place of the entry of an ascending domain that is nearest to each value; the first of equals, then the lower."""
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


def keyed_draws(keys: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """float64[n, p] uniform in [0, 1): a function of the seed, the keys of the row and how many equal rows precede it.

    Words of 64 bits are stirred by the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
    """
    ranks = np.stack([np.unique(key, return_inverse=True)[1] for key in keys.T], axis=1)
    word = np.full(len(keys), seed, dtype=np.uint64)
    for key in (*keys.T, turns(equivalence_classes(ranks).of)):
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
