"""The partitioners that need no search: MDAV, V-MDAV, CBFS, and the optimum along one direction."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError, listing
from crypsis.kernels import partitions
from crypsis.kernels.neighbours import mdav_by_tree
from crypsis.masking.partition import Partitioner, partitioners

TREE_FROM = 20_000
"""Records from which a kd-tree finds MDAV's neighbours sooner than a pass over all of them."""

WIDEST = 1e150
"""Greatest span of an attribute whose squared distances are still numbers."""

ENDINGS = {"generic": partitions.GENERIC, "hybrid": partitions.HYBRID, "gomm": partitions.GOMM}
METRICS = {"euclidean": partitions.EUCLIDEAN, "manhattan": partitions.MANHATTAN}


def checked(points: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The points as a contiguous float64[n, p], or a sentence that says why no partition of them can exist."""
    settled = np.ascontiguousarray(points, dtype=np.float64)
    if settled.ndim != 2 or not settled.shape[1]:
        raise TableError(
            f"points must be a matrix of records by at least one attribute; found the shape {settled.shape}"
        )
    if k < 1:
        raise TableError(f"a group needs at least 1 record and k = {k} was asked; choose k of 2 or more")
    if len(settled) < k:
        raise TableError(
            f"{len(settled)} records cannot form one group of k = {k}; "
            f"choose k of at most {len(settled)} or add records"
        )
    bad = np.flatnonzero(~np.isfinite(settled).all(axis=0))
    if len(bad):
        raise TableError(
            f"missing or infinite numbers in column position {listing(str(place) for place in bad)} "
            f"(counted from 0), where only finite ones can be grouped; fill them in or leave the columns out"
        )
    wide = np.flatnonzero(settled.max(axis=0) / 2 - settled.min(axis=0) / 2 > WIDEST / 2)
    if len(wide):
        raise TableError(
            f"numbers in column position {listing(str(place) for place in wide)} (counted from 0) span more than "
            f"{WIDEST:g}, beyond which squared distances overflow; scale them first"
        )
    return settled


def trivial(points: NDArray[np.float64], k: int) -> NDArray[np.int32] | None:
    """The only partition there can be (k = 1, or fewer than 2k records), or None where there is a choice."""
    if k == 1:
        return np.arange(len(points), dtype=np.int32)
    return np.zeros(len(points), dtype=np.int32) if len(points) < 2 * k else None


@partitioners.add("mdav")
class MDAV(Partitioner):
    """Maximum distance to average vector: groups of k, two at a time, from the outside in.

    Exact for any number of records; from some twenty thousand on a kd-tree finds the same groups sooner.

    Notes
    -----
    - Formula: repeat: r farthest from the mean, s farthest from r; each with its k − 1 nearest is a group
    - Paper: Domingo-Ferrer and Torra (2005); Algorithm 1 of Martínez-Ballesté et al. (2007)
    - Cost: O(n² p / k); from some twenty thousand records on a kd-tree gives the same groups sooner
    - Departures: `while RR < 2k − 1` of the 2007 paper is read as RR ≥ 2k; three endings (`generic`, `hybrid`,
      `gomm`); the last may leave a group below k and serves reproduction only

    Examples
    --------
    >>> from crypsis.masking import MDAV
    >>> MDAV().partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0], dtype=int32)
    """

    ending: Literal["generic", "hybrid", "gomm"] = Field(
        default="generic",
        description="what happens to the last records: generic (μ-Argus) makes one or two last groups; hybrid sends "
        "fewer than k to the nearest centroids; gomm leaves them as a group that may be smaller than k",
    )
    metric: Literal["euclidean", "manhattan"] = Field(
        default="euclidean", description="distance by which far and near are judged"
    )

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = checked(points, k)
        group = mdav_by_tree if len(points) >= TREE_FROM else partitions.mdav
        only = trivial(points, k)
        return group(points, k, ENDINGS[self.ending], METRICS[self.metric]) if only is None else only


@partitioners.add("v-mdav")
class VMDAV(Partitioner):
    """Variable-size MDAV: a group of k grows by records nearer to it than to anything else left.

    Notes
    -----
    - Formula: a group of k grows while its nearest outsider is nearer to it than `gamma` times to anything else
    - Paper: Solanas and Martínez-Ballesté (2006)
    - Cost: O(n² p)
    - Departures: none

    Examples
    --------
    >>> from crypsis.masking import VMDAV
    >>> VMDAV(gamma=0.2).partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0], dtype=int32)
    """

    gamma: float = Field(
        default=0.2,
        ge=0,
        le=100,
        description="how readily a group grows: 0 never, 0.2 suits scattered data, 1.1 clustered data",
    )

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = checked(points, k)
        only = trivial(points, k)
        return partitions.v_mdav(points, k, self.gamma) if only is None else only


@partitioners.add("cbfs")
class CBFS(Partitioner):
    """Centroid-based fixed size: groups of k, one at a time, around the record farthest from the mean of those left.

    Notes
    -----
    - Formula: repeat: the record farthest from the mean of those left, with its k − 1 nearest
    - Paper: Laszlo and Mukherjee (2005)
    - Cost: O(n² p / k)
    - Departures: none

    Examples
    --------
    >>> from crypsis.masking import CBFS
    >>> CBFS().partition(np.array([[1.0], [1.1], [5.0], [5.2]]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0], dtype=int32)
    """

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = checked(points, k)
        only = trivial(points, k)
        return partitions.cbfs(points, k) if only is None else only


@partitioners.add("univariate")
class Univariate(Partitioner):
    """The optimal partition of one attribute; of several, the best one along their first principal component.

    With one attribute the result has the least SSE of all partitions (Hansen and Mukherjee 2003). With more, records
    are put in order of their projection on the direction of greatest variance and cut where the SSE over all
    attributes is least: quick at any size, but no match for MDAV unless one direction says nearly all.

    Notes
    -----
    - Formula: shortest path over the sorted values, arcs of k … 2k − 1 records costing their SSE
    - Paper: Hansen and Mukherjee (2003)
    - Cost: O(n log n + n k)
    - Departures: more than one column: optimal along the first principal component only

    Examples
    --------
    >>> from crypsis.masking import Univariate
    >>> points = np.array([[1.0], [1.1], [5.0], [5.2]])
    >>> Univariate().partition(points, 2, np.random.default_rng(0))
    array([0, 0, 1, 1], dtype=int32)
    """

    def partition(self, points: NDArray[np.float64], k: int, rng: Generator) -> NDArray[np.int32]:
        points = checked(points, k)
        only = trivial(points, k)
        if only is not None:
            return only
        labels = np.empty(len(points), dtype=np.int32)
        if points.shape[1] == 1:
            order = np.argsort(points[:, 0], kind="stable")
            labels[order] = partitions.univariate_optimum(points[order, 0], k)
        else:
            order = np.argsort(first_component(points), kind="stable")
            labels[order] = partitions.path_optimum(points[order], k)
        return labels


def first_component(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Projection of each record on the direction of greatest variance; its largest loading counts as positive."""
    shifted = points - points.min(axis=0)
    centred = shifted - shifted.mean(axis=0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    heaviest = int(np.argmax(np.abs(direction)))
    return np.asarray(centred @ (direction * np.sign(direction[heaviest])))
