"""Shuffling: the values of numbers are dealt out anew by ranks that a model draws, given columns that stay."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.stats
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.masking.method import Family, MaskingMethod, chosen_columns, methods
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

Floats = NDArray[np.float64]
MOST_LEVELS = 20
"""Categories of a given nominal column that have a coordinate of their own, the most frequent first."""


@methods.add("shuffling")
class Shuffling(MaskingMethod):
    """Numbers are dealt out anew so that their ranks relate to each other, and to given columns, as before.

    Every value stays in the file, so that each column keeps its distribution exactly. Ranks are drawn from a normal
    model of the ranks given the columns of `given`; beyond what those tell, the new order says nothing about the old
    one. Missing values stay where they are.

    Notes
    -----
    - Formula: z = normal scores; z' = E(z | given) + e, e of the covariance of the residuals; x' has the ranks of z'
    - Paper: Muralidhar and Sarathy (2006), Data shuffling
    - Cost: O(n log n + n q²) for q coordinates
    - Departures: a nominal column that is given has a coordinate for each of its 20 most frequent values

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [20, 30, 40, 50, 90]}, roles={"age": "quasi"})
    >>> masked = crypsis.Shuffling().mask(table, np.random.default_rng(0))
    >>> sorted(masked.column("age").tolist())
    [20.0, 30.0, 40.0, 50.0, 90.0]
    """

    family: ClassVar[Family] = Family.PERTURBATION
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC})

    given: tuple[str, ...] = Field(
        default=(),
        description="columns that stay as they are and to which the shuffled ones relate as before",
        examples=[("secret",), ("sex", "district")],
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        reason = "shuffling needs numbers; choose PRAM for categories"
        names = chosen_columns(table, self.columns, self.kinds, "shuffling", reason)
        both = [name for name in names if name in self.given]
        if both:
            raise TableError(f"shuffling: column {both[0]!r} is both shuffled and given; leave it out of one")
        drawn = self._draw_scores(table, names, rng)
        columns = {}
        for place, name in enumerate(names):
            values = table.column(name)
            able = np.flatnonzero(~np.isnan(values) & table.kept)
            columns[name] = values.copy()
            columns[name][able[np.argsort(drawn[able, place], kind="stable")]] = np.sort(values[able])
        return table.with_columns(columns)

    def _draw_scores(self, table: Table, names: list[str], rng: Generator) -> Floats:
        """float64[n, names]: scores drawn from the model."""
        scores = np.stack([_normal_scores(table.column(name)) for name in names], axis=1)
        known = [np.ones((len(table), 1)), *(_coordinates(table, name) for name in self.given)]
        design = np.concatenate(known, axis=1)
        effect, *_ = np.linalg.lstsq(design[table.kept], scores[table.kept], rcond=None)
        fitted = design @ effect
        residual = (scores - fitted)[table.kept]
        spread = residual.T @ residual / max(len(residual), 1)
        value, vector = np.linalg.eigh(spread)
        noise = rng.standard_normal(scores.shape) * np.sqrt(np.maximum(value, 0.0))
        return np.asarray(fitted + noise @ vector.T)


def _normal_scores(column: Floats) -> Floats:
    """float64[n]: normal quantiles of the mean ranks; 0 for a missing value."""
    present = ~np.isnan(column)
    scores = np.zeros(len(column))
    if present.any():
        ranks = scipy.stats.rankdata(column[present])
        scores[present] = scipy.stats.norm.ppf((ranks - 0.5) / present.sum())
    return scores


def _coordinates(table: Table, name: str) -> Floats:
    """float64[n, q]: a given column as coordinates: scores of numbers and orders, flags of the other categories."""
    if table.holds_numbers(name):
        return _normal_scores(table.column(name))[:, None]
    codes = table.column(name)
    if table.attribute(name).kind is Kind.ORDINAL:
        return _normal_scores(np.where(codes < 0, np.nan, codes.astype(np.float64)))[:, None]
    counts = np.bincount(codes[codes >= 0]) if (codes >= 0).any() else np.zeros(1, dtype=np.int64)
    often = np.argsort(-counts, kind="stable")[: min(MOST_LEVELS, len(counts))]
    return np.asarray((codes[:, None] == often[None, :]).astype(np.float64))
