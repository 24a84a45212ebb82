"""Groups for people with an array: one plain function over every registered partitioner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crypsis.errors import PlanError, TableError, listing
from crypsis.masking.partition import partitioners
from crypsis.table.scaling import z_scores


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
    **settings: Any,
) -> NDArray[np.int32]:
    """Group the rows of an array so that every group has at least k of them and its rows are alike.

    values    numbers [n, p] (or a frame that numpy can read); neither missing nor infinite
    method    name of a registered partitioner; `settings` are passed on to it
    seconds   CPU seconds to spend, for methods that take a time budget
    steps     moves to try per record, for methods that take a step budget: with a seed, the same groups every time
    seed      None draws one from the operating system
    scale     z-scores with the population deviation first, so that every column weighs the same; a constant one nothing
    →         int32[n]: labels 0, 1, …, in order of first appearance
    """
    numbers = _numbers(values, names)
    for name, value in (("seconds", seconds), ("steps", steps)):
        if value is not None:
            if name not in partitioners[method].model_fields:
                raise PlanError(f"partitioner {method!r} takes no {name}; leave it out or choose 'memetic'")
            settings[name] = value
    if method == "memetic" and seconds == 0:
        settings["steps"] = 0
    labels = partitioners.build(method, **settings).partition(
        z_scores(numbers) if scale else numbers, k, np.random.default_rng(seed)
    )
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse]


def _numbers(values: ArrayLike, names: Sequence[str] | None) -> NDArray[np.float64]:
    columns = names if names is not None else getattr(values, "columns", None)
    try:
        numbers = np.asarray(values, dtype=np.float64)
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
