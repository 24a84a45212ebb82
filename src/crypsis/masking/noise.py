"""Additive noise for numbers, each column by itself or with the correlations of the data.

Kim (1986); Brand (2002). Missing values stay missing.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.masking.method import Family, MaskingMethod, chosen_columns, methods
from crypsis.table.attribute import Kind
from crypsis.table.precision import Scales
from crypsis.table.table import Table


@methods.add("noise")
class Noise(MaskingMethod):
    """x + e with e normal, of covariance amount² · diag(variances), or amount² · (covariances) when correlated.

    Notes
    -----
    - Formula: x' = x + e, e ~ N(0, amount² · Σ), Σ the covariances or their diagonal
    - Paper: Kim (1986); Brand (2002)
    - Cost: O(n p²)
    - Departures: none

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"age": [20, 30, 40, 50, 90]}, roles={"age": "quasi"})
    >>> np.round(crypsis.Noise(amount=0.1).mask(table, np.random.default_rng(0)).column("age"), 1).tolist()
    [20.3, 29.7, 41.5, 50.3, 88.7]
    """

    family: ClassVar[Family] = Family.PERTURBATION
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NUMERIC})

    amount: float = Field(
        default=0.1, gt=0, le=10, description="standard deviation of the noise as a part of the column's own"
    )
    correlated: bool = Field(
        default=False, description="give the noise the correlations of the data, which keeps them in the file"
    )

    def apply(self, table: Table, rng: Generator) -> Table:
        reason = "noise is added to numbers; for categories choose PRAM"
        names = chosen_columns(table, self.columns, self.kinds, "noise", reason)
        values = table.numbers(names)
        scales = Scales.of(values)
        if self.correlated:
            if np.isnan(values).any():
                gap = names[int(np.argmax(np.isnan(values).any(axis=0)))]
                raise TableError(
                    f"noise: column {gap!r} has missing values and correlated noise needs complete ones; "
                    f"set correlated = false"
                )
            centred = scales.scale(values, "none")
            root = _square_root(centred.T @ centred / len(values))
        else:
            root = np.diag(scales.deviation)
        noisy = values + self.amount * (rng.standard_normal(values.shape) @ root)
        return table.with_columns({name: noisy[:, place] for place, name in enumerate(names)})


def _square_root(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Symmetric root; works for constant and collinear columns, where a Cholesky factor does not exist."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root: NDArray[np.float64] = (vectors * np.sqrt(np.clip(eigenvalues, 0, None))) @ vectors.T
    return root
