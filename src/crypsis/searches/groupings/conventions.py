"""What exactly is scaled, clustered and counted when a grouping is judged, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError
from crypsis.kernels import partitions
from crypsis.masking.partition import Partitioner
from crypsis.table.scaling import Scales, z_scores

Floats = NDArray[np.float64]

ENDINGS = {"generic": partitions.GENERIC, "hybrid": partitions.HYBRID, "gomm": partitions.GOMM}
METRICS = {"euclidean": partitions.EUCLIDEAN, "manhattan": partitions.MANHATTAN}


@dataclass(frozen=True)
class Convention:
    """What exactly is scaled, clustered and counted.

    Parameters
    ----------
    scaling : str
        "z": mean 0, population deviation 1; "range": smallest 0, largest 1; constant columns become 0.
    ending, metric : str
        MDAV's last clusters and its distance.
    interval : str
        Protected value ± w % of: "deviation" the attribute's standard deviation, "value" the scaled protected value
        itself, "rank" the number of records, in ranks.
    partitioner : Partitioner or None
        None: MDAV with this ending and metric.
    loss_weight : float
        Weight of the loss in the score; the risk has the rest.
    interval_weight : float
        Weight of interval disclosure in the risk; linkage has the rest.
    """

    scaling: Literal["z", "range"] = "z"
    ending: Literal["generic", "hybrid", "gomm"] = "generic"
    metric: Literal["euclidean", "manhattan"] = "euclidean"
    interval: Literal["rank", "deviation", "value"] = "rank"
    partitioner: Partitioner | None = None
    loss_weight: float = 0.5
    interval_weight: float = 0.5

    def scaled(self, values: Floats) -> Floats:
        """Columns on a common scale; a constant column becomes 0."""
        if self.scaling == "z":
            return z_scores(values)
        return np.ascontiguousarray(Scales.of(values).in_unit_interval(values))


PAPER = Convention(scaling="range", ending="gomm", metric="manhattan", interval="value")
"""The convention that gives the tables of the GOMM paper (not the one of its text)."""


class Fitness(NamedTuple):
    """Loss and risk of a grouping, per cent, all to be minimised.

    Parameters
    ----------
    IL : float
        Information loss.
    ID : float
        Interval disclosure.
    DLD : float
        Distance-based linkage.
    score : float
        (IL + DR) / 2 with DR = (ID + DLD) / 2 under equal weights.
    """

    IL: float
    ID: float
    DLD: float
    score: float


class Anonymity(NamedTuple):
    """What splitting attributes leaves of k: smallest class over all attributes, share of unique records in %."""

    effective_k: int
    unique: float


def as_numbers(values: Any) -> Floats:
    """float64[n, p], or a refusal that names the attributes (never their values) that hold anything else."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.asarray(values, dtype=object)
    columns = cells.T if cells.ndim == 2 else ()
    words = [place for place, column in enumerate(columns) if not all(map(_is_number, column))]
    raise TableError(
        f"attributes {words or '(all)'} (numbered from 0) do not hold numbers and microaggregation averages; leave "
        f"them out, and protect them by generalisation or masking"
    )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def check_numbers(values: Floats) -> None:
    """Refuse what cannot be microaggregated."""
    if values.ndim != 2 or not values.size:
        raise TableError(f"a table of records by attributes is needed, but the values have shape {values.shape}")
    unusable = np.flatnonzero(~np.isfinite(values).all(axis=0)).tolist()
    if unusable:
        raise TableError(
            f"attributes {unusable} (numbered from 0) have missing or infinite values and distances need numbers; "
            f"drop those records, fill them in, or leave those attributes out"
        )


def check_size(records: int, k: int) -> None:
    """Refuse fewer records than a cluster needs."""
    if records < k:
        raise TableError(
            f"{records} records cannot form a cluster of {k}; give at least k records or choose a smaller k"
        )
