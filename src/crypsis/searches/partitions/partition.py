"""Groups for people with an array: one plain function over every registered partitioner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from crypsis.errors import PlanError, TableError, check_seed, listing
from crypsis.kernels.annealing import sse
from crypsis.masking.partitioning import partitioners
from crypsis.masking.scaling import scale_to_z_scores
from crypsis.searches.ga_microaggregation import renumber_ga_microaggregation_groups
from crypsis.searches.partitions.lower_bound import best_bound


@dataclass(frozen=True, eq=False)
class PartitionResult:
    """Groups of similar rows, and how good they provably are; as an array it is its labels.

    Parameters
    ----------
    labels : ndarray of int32
        Group 0, 1, … of each row, in order of first appearance.
    sse : float
        Sum of squared distances of the scaled rows to the means of their groups.
    k : int
        Least group size that was asked for.
    points : ndarray of shape (n, p)
        The scaled rows.

    Notes
    -----
    The lower bound is worked out when it is first asked for. No partition into groups of at least k has an SSE below
    it; (sse − bound) / sse is the share that might at most be saved.

    Examples
    --------
    >>> found = crypsis.partition([[1.0], [1.1], [5.0], [5.2]], k=2)
    >>> found.labels
    array([0, 0, 1, 1], dtype=int32)
    >>> found.bound_kind, round(found.gap, 6)
    ('optimum', 0.0)
    """

    labels: NDArray[np.int32]
    sse: float
    k: int
    points: NDArray[np.float64] = field(repr=False)

    @cached_property
    def _bound(self) -> tuple[float, str]:
        value, kind = best_bound(self.points, self.k, self.labels)
        return min(value, self.sse), kind  # rounding must not lift the bound of an optimum above it

    @property
    def bound(self) -> float:
        """No partition into groups of at least k has a smaller SSE."""
        return self._bound[0]

    @property
    def bound_kind(self) -> str:
        """Which bound that is: "optimum", "column-generation bound" or "nearest-neighbour bound"."""
        return self._bound[1]

    @property
    def gap(self) -> float:
        """The share of the SSE that might at most be saved: (sse − bound) / sse."""
        return max((self.sse - self.bound) / self.sse, 0.0) if self.sse > 0 else 0.0

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.labels, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.labels)

    def __str__(self) -> str:
        return f"SSE {self.sse:.6g}, at least {self.bound:.6g} ({self.bound_kind}), gap {100 * self.gap:.1f} %"


def partition(
    values: ArrayLike,
    k: int,
    method: str = "memetic",
    *,
    seconds: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    scale: bool = True,
    names: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> PartitionResult:
    """Group rows into clusters of at least ``k`` similar rows.

    Parameters
    ----------
    values : array_like of shape (n, p)
        Numbers (or a frame that numpy can read); neither missing nor infinite.
    k : int
        Smallest cluster size.
    method : str
        Name of a registered partitioner.
    seconds : float, optional
        Wall-clock seconds to spend, for methods that search; compiling is not counted. Zero gives their first
        partition.
    steps : int, optional
        Moves to try per record, for methods that take them: with a seed, the same groups every time.
    seed : int, optional
        None draws one from the operating system.
    scale : bool
        z-scores with the population deviation first, so that every column weighs the same and a constant one nothing.
    names : sequence of str, optional
        Names of the columns, for messages.
    settings : mapping, optional
        Further settings of the method.

    Returns
    -------
    PartitionResult
        Labels, sum of squared errors, and a lower bound with its relative gap; as an array, the labels.

    Raises
    ------
    TableError
        If the values cannot be grouped.
    PlanError
        If the method is unknown or does not take a setting.

    Examples
    --------
    >>> crypsis.partition([[1.0], [1.1], [5.0], [5.2]], k=2).labels
    array([0, 0, 1, 1], dtype=int32)
    """
    check_seed(seed)
    if isinstance(k, bool) or not isinstance(k, SupportsIndex) or int(k) < 1:
        raise PlanError("k: the smallest group is a whole number of records, at least 1; write e.g. k=5")
    k, numbers, chosen = int(k), _numbers(values, names), dict(settings or {})
    for name, value in (("seconds", seconds), ("steps", steps)):
        if value is not None:
            if name not in partitioners[method].model_fields:
                raise PlanError(f"partitioner {method!r} takes no {name}; leave it out or choose 'memetic'")
            chosen[name] = value
    points = scale_to_z_scores(numbers) if scale else numbers
    labels = renumber_ga_microaggregation_groups(
        partitioners.build(method, **chosen).partition(points, k, np.random.default_rng(seed))
    )
    return PartitionResult(labels, sse(points, labels), k, points)


def _numbers(values: ArrayLike, names: Sequence[str] | None) -> NDArray[np.float64]:
    columns = names if names is not None else getattr(values, "columns", None)
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers have no order")
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TableError(
            "values hold something that is not a number; give numeric columns only, for example after coding categories"
        ) from None
    if numbers.ndim == 1:
        numbers = numbers[:, None]
    if numbers.ndim != 2 or not numbers.shape[1]:
        raise TableError(f"values must be rows by columns; found an array of shape {numbers.shape}")
    bad = np.flatnonzero(~np.isfinite(numbers).all(axis=0))
    if len(bad):
        called = [repr(str(columns[place])) if columns is not None else f"number {place}" for place in bad.tolist()]
        raise TableError(
            f"missing or infinite values in column {listing(called)}; only finite numbers can be grouped: "
            f"fill them in or leave the column out"
        )
    return numbers
