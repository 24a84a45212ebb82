"""Who is near whom: exact for tables of ordinary size, nearly so for large ones, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial

EXACT_UP_TO = 12_000
"""Records up to which a walk gets exact neighbour lists; above, a kd-tree in ten dimensions would eat the budget."""
LEAF, SPLITS = 800, 3
PIECE = 40_000_000
"""Coordinates compared in one piece of a survey: some 50 ms."""
MERGED, MERGED_AT_A_TIME = 1500, 4
"""Records whose lists are merged together, and how many such blocks in one piece."""

Near = tuple[NDArray[np.float64], NDArray[np.int32]]


class Located(Protocol):
    """Records and where they lie."""

    @property
    def points(self) -> NDArray[np.float64]:
        """float64[n, p]: the records."""

    @property
    def near(self) -> NDArray[np.float64]:
        """float64[n, d]: the records on their directions of greatest variance."""


def nearest(points: NDArray[np.float64], count: int) -> Near:
    """Squared distances to the nearest other records, and which these are: [n, count] each, nearest first."""
    return _queried((scipy.spatial.cKDTree(points), points, count), np.arange(len(points)))


def _queried(tree: tuple[scipy.spatial.cKDTree, NDArray[np.float64], int], rows: NDArray[np.int64]) -> Near:
    """What `nearest` gives for some records."""
    kd, points, count = tree
    found = kd.query(points[rows], np.arange(1, count + 2))
    distances, others = np.asarray(found[0]), np.asarray(found[1])
    own = others == rows[:, None]
    own[~own.any(axis=1), -1] = True
    keep = (~own).nonzero()
    shape = len(rows), count
    return np.square(distances[keep].reshape(shape)), others[keep].reshape(shape).astype(np.int32)


@dataclass
class Survey:
    """Neighbour lists of all records: exact by rows, or merged from the leaves of a few random splittings.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        The records in the space of the survey.
    count : int
        Neighbours wanted.
    stretch : float
        By what the squared distances are multiplied: what the space leaves out of the variance.
    exact : bool
        Whether all records are looked at; otherwise only those that share a leaf.
    """

    points: NDArray[np.float64]
    count: int
    stretch: float = 1.0
    exact: bool = True
    _pieces: list[NDArray[np.int64]] | None = field(default=None, repr=False)
    _splits: list[Near] = field(default_factory=list, repr=False)
    _blocks: list[Near] = field(default_factory=list, repr=False)
    _done: int = 0
    _near: Near | None = field(default=None, repr=False)

    @classmethod
    def of(cls, located: Located, count: int) -> Survey:
        """The survey of some records: exact in the full space, or nearly so on the directions of greatest variance."""
        if len(located.points) <= EXACT_UP_TO:
            return cls(located.points, count)
        shown, whole = float(np.square(located.near).sum()), float(located.points.var(axis=0).sum()) * len(located.near)
        return cls(located.near, count, whole / shown if shown > 0 else 1.0, exact=False)

    def complete(self) -> Near:
        """The neighbour lists: squared distances and rows, [n, count] each, nearest first."""
        while not self.more(Serial()):
            pass
        if self._near is None:
            raise AssertionError("a survey that is done has its lists")
        return self._near

    def more(self, engine: Engine) -> bool:
        """Do the next piece, if any is left; whether nothing is left.

        engine  where it is done
        """
        if self._near is not None:
            return True
        n = len(self.points)
        if self._pieces is None:
            empty = (np.full((n, self.count), np.inf), np.zeros((n, self.count), np.int32))
            self._splits = [(empty[0].copy(), empty[1].copy()) for _ in range(1 if self.exact else SPLITS)]
            self._pieces = self._rows() if self.exact else self._leaves()
        if self._done < len(self._pieces):
            self._compare(self._pieces[self._done : self._done + self._at_a_time()], engine)
        elif not self.exact:
            self._merge(engine)
        if self.exact and self._done == len(self._pieces):
            self._near = self._splits[0]
        if self._near is not None:
            self._splits, self._pieces, self._blocks = [], [], []
        return self._near is not None

    def _compare(self, some: list[NDArray[np.int64]], engine: Engine) -> None:
        """The nearest others of the records of some pieces."""
        shared = (self._tree, self.points, self.count)
        pieces = len(self._pieces or some)
        for place, (rows, (squares, others)) in enumerate(zip(some, engine.map(_near_of, some, shared), strict=True)):
            split = self._splits[(self._done + place) * len(self._splits) // pieces]
            split[0][rows], split[1][rows] = squares, others
        self._done += len(some)

    @cached_property
    def _tree(self) -> scipy.spatial.cKDTree | None:
        return scipy.spatial.cKDTree(self.points) if self.exact else None

    def _merge(self, engine: Engine) -> None:
        """The nearest of all splittings for the next blocks of records; the lists are done after the last."""
        n = len(self.points)
        first = MERGED * len(self._blocks)
        some = [slice(at, at + MERGED) for at in range(first, n, MERGED)][:MERGED_AT_A_TIME]
        self._blocks += engine.map(_merged, some, (self._splits, self.stretch, self.count))
        if MERGED * len(self._blocks) >= n:
            squares, rows = zip(*self._blocks, strict=True)
            self._near = np.concatenate(squares), np.concatenate(rows)

    def _at_a_time(self) -> int:
        """Pieces of one quantum."""
        n, p = self.points.shape
        each = n * n * p // (8 * len(self._pieces or [0])) if self.exact else LEAF * LEAF * p
        return int(max(1, PIECE // max(each, 1)))

    def _rows(self) -> list[NDArray[np.int64]]:
        """All records, a thousand at a time."""
        return np.array_split(np.arange(len(self.points)), -(-len(self.points) // 1000))

    def _leaves(self) -> list[NDArray[np.int64]]:
        """The leaves of all splittings: each halves the records again and again along a random direction.

        The directions are always the same ones, so that the same points have the same neighbours.
        """
        rng, leaves = np.random.default_rng(20061), list[NDArray[np.int64]]()
        for _ in range(SPLITS):
            waiting = [np.arange(len(self.points))]
            while waiting:
                part = waiting.pop()
                if len(part) > max(LEAF, 3 * (self.count + 1)):
                    along = np.einsum("ij,j", self.points[part], rng.standard_normal(self.points.shape[1]))
                    order = part[np.argsort(along, kind="stable")]
                    waiting += [order[: len(part) // 2], order[len(part) // 2 :]]
                else:
                    leaves.append(part)
        return leaves


def _merged(shared: tuple[list[Near], float, int], block: slice) -> Near:
    """The nearest of all splittings, each record once, for a block of records."""
    splits, stretch, count = shared
    squares = np.concatenate([one[0][block] for one in splits], axis=1) * stretch
    rows = np.concatenate([one[1][block] for one in splits], axis=1)
    by_row = np.argsort(rows, axis=1, kind="stable")
    squares, rows = np.take_along_axis(squares, by_row, 1), np.take_along_axis(rows, by_row, 1)
    squares[:, 1:][rows[:, 1:] == rows[:, :-1]] = np.inf
    by_distance = np.argsort(squares, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(squares, by_distance, 1), np.take_along_axis(rows, by_distance, 1)


def _near_of(shared: tuple[scipy.spatial.cKDTree | None, NDArray[np.float64], int], part: NDArray[np.int64]) -> Near:
    """The nearest others of some records: of all, or among themselves."""
    tree, points, count = shared
    if tree is not None:
        return _queried((tree, points, count), part)
    # Not by a matrix product: its threads would wait for each other on a busy machine.
    apart = scipy.spatial.distance.cdist(points[part], points[part], "sqeuclidean")
    np.fill_diagonal(apart, np.inf)
    near = np.argpartition(apart, count - 1, axis=1)[:, :count]
    return np.take_along_axis(apart, near, 1), part[near].astype(np.int32)
