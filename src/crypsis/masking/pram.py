"""Post-randomisation: every category moves by the row of a Markov matrix, and the matrix may be published.

Gouweleeuw, Kooiman, Willenborg and de Wolf (1998). Invariant matrices keep the expected frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field, field_validator

from crypsis.errors import PlanError, TableError
from crypsis.kernels.randomisation import transitions
from crypsis.masking.method import Family, MaskingMethod, chosen_columns, methods
from crypsis.table.attribute import Kind
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

Matrix = NDArray[np.float64]


@methods.add("pram")
class Pram(MaskingMethod):
    """Each category k becomes l with probability P[k, l]. Missing values stay missing.

    invariant   the one-parameter form: T'P = T' for the observed frequencies T
    two-stage   any matrix made invariant by a second step (R = P·Q), then damped towards the identity
    plain       stay with probability 1 − theta, else any other category alike
    Given matrices replace the one-parameter ones, column by column.

    Notes
    -----
    - Formula: P(x' = l | x = k) = P[k, l]; invariant: Tᵀ P = Tᵀ for the observed frequencies T
    - Paper: Gouweleeuw, Kooiman, Willenborg and de Wolf (1998)
    - Cost: O(n) per column
    - Departures: none; the matrix can be published and its effect on tables undone on average

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"sex": ["f", "m", "f", "m", "f"]}, roles={"sex": "quasi"})
    >>> masked = crypsis.Pram(theta=0.5).mask(table, np.random.default_rng(0))
    >>> [masked.labels("sex")[code] for code in masked.column("sex")]
    ['f', 'f', 'f', 'f', 'm']
    """

    family: ClassVar[Family] = Family.PERTURBATION
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.ORDINAL, Kind.NOMINAL})

    theta: float = Field(
        default=0.2, ge=0, le=1, description="how much is moved: 0 nothing, 1 as much as the form allows"
    )
    form: Literal["invariant", "two-stage", "plain"] = Field(default="invariant", description="how the matrix is made")
    damping: float = Field(default=1.0, ge=0, le=1, description="two-stage form: a in a·R + (1 − a)·I")
    matrices: dict[str, tuple[tuple[float, ...], ...]] = Field(
        default_factory=dict, description="column → Markov matrix over its categories; rows sum to one"
    )

    @field_validator("matrices")
    @classmethod
    def _rows_sum_to_one(
        cls, value: dict[str, tuple[tuple[float, ...], ...]]
    ) -> dict[str, tuple[tuple[float, ...], ...]]:
        for name, rows in value.items():
            for number, row in enumerate(rows):
                if len(row) != len(rows):
                    raise ValueError(
                        f"the matrix of {name!r} is not square: row {number} has {len(row)} of {len(rows)} entries"
                    )
                if min(row) < 0 or abs(sum(row) - 1) > 1e-9:
                    raise ValueError(
                        f"row {number} of the matrix of {name!r} sums to {sum(row):g}; probabilities sum to 1"
                    )
        return value

    def apply(self, table: Table, rng: Generator) -> Table:
        reason = "PRAM moves categories; for numbers choose noise or rank swapping"
        names = chosen_columns(table, self.columns, self.kinds, "PRAM", reason)
        strange = [name for name in self.matrices if name not in names]
        if strange:
            raise PlanError(f"PRAM: a matrix is given for {strange[0]!r}, which is not among the masked columns")
        moved = {}
        for name in names:
            cumulative = np.cumsum(self.matrix(table, name), axis=1)
            cumulative[:, -1] = 1.0  # rounding must not let a draw fall off the end
            moved[name] = transitions(table.column(name), cumulative, rng.random(len(table)))
        return table.with_columns(moved)

    @classmethod
    def list_strengths(cls, table: Table, columns: Sequence[str]) -> Iterator[Self]:
        # θ = 0.1, 0.2, … 0.9.
        names = cls.treatable(table, columns)
        if names:
            yield from (cls(columns=names, theta=step / 10) for step in range(1, 10))

    def matrix(self, table: Table, name: str) -> Matrix:
        """The Markov matrix this method applies to a column; an analyst needs it to correct tables.

        Parameters
        ----------
        table : Table
            Its frequencies make the matrix.
        name : str
            A column of categories, which are its rows and columns.

        Returns
        -------
        ndarray of shape (categories, categories)
        """
        size = len(table.attribute(name).categories)
        frequencies = count_pram_categories(table, name)
        if name in self.matrices:
            given = np.array(self.matrices[name])
            if len(given) != size:
                raise TableError(
                    f"PRAM: column {name!r} has {size} categories and its matrix {len(given)} rows; give one row each"
                )
            return two_stage(given, frequencies, self.damping) if self.form == "two-stage" else given
        if self.form == "plain":
            return _uniform(self.theta, size)
        if self.form == "two-stage":
            return two_stage(_uniform(self.theta, size), frequencies, self.damping)
        return one_parameter(self.theta, frequencies)


def count_pram_categories(table: Table, name: str) -> NDArray[np.float64]:
    """How many kept records hold each category that post-randomisation moves."""
    codes = table.column(name)[table.kept]
    return np.bincount(codes[codes != MISSING], minlength=len(table.attribute(name).categories)).astype(np.float64)


def _uniform(theta: float, size: int) -> Matrix:
    if size < 2:
        return np.eye(size)
    return (1 - theta) * np.eye(size) + theta / (size - 1) * (1 - np.eye(size))


def one_parameter(theta: float, frequencies: NDArray[np.float64]) -> Matrix:
    """p_kk = 1 − θ T(K)/T(k), p_kl = θ T(K)/((K−1) T(k)), T(K) the smallest positive frequency; unused: identity."""
    matrix = np.eye(len(frequencies))
    used = np.flatnonzero(frequencies > 0)
    if len(used) < 2:
        return matrix
    least = frequencies[used].min()
    for k in used:
        matrix[k, used] = theta * least / ((len(used) - 1) * frequencies[k])
        matrix[k, k] = 1 - theta * least / frequencies[k]
    return matrix


def two_stage(matrix: Matrix, frequencies: NDArray[np.float64], damping: float) -> Matrix:
    """a·P·Q + (1 − a)·I with q_lk = p_kl T(k) / Σ_m p_ml T(m): invariant whatever P. Unused categories: identity."""
    size = len(frequencies)
    used = frequencies > 0
    first = np.where(used[:, None], matrix, np.eye(size))
    joint = first * frequencies[:, None]
    arrived = joint.sum(axis=0)
    second = np.where(arrived[:, None] > 0, joint.T / np.where(arrived > 0, arrived, 1)[:, None], np.eye(size))
    invariant = np.where(used[:, None], first @ second, np.eye(size))
    return damping * invariant + (1 - damping) * np.eye(size)


def unbiased_counts(masked_counts: NDArray[np.float64], matrix: Matrix) -> NDArray[np.float64]:
    """(P⁻¹)' T': the original frequencies, estimated without bias from the masked file and its matrix."""
    if np.linalg.cond(matrix) > 1e12:
        raise TableError(
            "this Markov matrix cannot be inverted, so the original frequencies cannot be estimated from it"
        )
    return np.linalg.solve(matrix.T, masked_counts).astype(np.float64)
