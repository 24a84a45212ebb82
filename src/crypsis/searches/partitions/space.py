"""The records to be partitioned, and what walks over their partitions need to know: surveyed once for every k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.kernels.annealing import WalkContext
from crypsis.kernels.partitions import path_optimum
from crypsis.kernels.tsp import tour
from crypsis.pieces import Pieces, Underway
from crypsis.searches.partitions.neighbourhoods import Survey

TEPID = 1e-3
"""Least warmth of a record, in medians: duplicates have no spacing, yet must be able to move."""
TOUR_UP_TO = 100_000
"""Coordinates of all records up to which a tour is worth its time."""
WIDE = 200
"""Coordinates of greatest variance among which directions are looked for."""
COMPONENTS = 24
"""Directions of greatest variance by which records are near or far at first."""
SPACED = 5000
"""Records from which these directions are found."""
LOCATED = 40_000_000
"""Products of coordinates that one piece of locating the records takes."""
AT_ONCE = 20_000
"""Records of all pieces of one quantum, unless one piece for each worker has more."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PartitionSpace:
    """Scaled records and the group sizes they are partitioned into.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        Finite and already scaled.
    ladder : tuple of int
        Every k a partition is wanted for.
    """

    points: NDArray[np.float64]
    ladder: tuple[int, ...]
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {"points": self.points, "ladder": self.ladder, "_kept": {}}  # a worker surveys for itself

    def kept(self, name: Any, make: Callable[[], T]) -> T:
        """What follows from the points alone, made once."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]  # type: ignore[no-any-return]

    @cached_property
    def near(self) -> NDArray[np.float64]:
        """float64[n, d]: the records on their directions of greatest variance, the greatest first.

        The directions are those of evenly spaced records, and no matrix product is used: its threads would make the
        last bits differ from worker to worker.
        """
        while not self.located(Serial()):
            pass
        found: NDArray[np.float64] | None = self._locating.result
        if found is None:
            raise AssertionError("records that are located have their places")
        return found

    def located(self, engine: Engine) -> bool:
        """Whether `near` is known; if not, a piece of it is worked out.

        engine  where it is done
        """
        left = max(1, AT_ONCE // len(self.points))
        while not self._locating.done and left > 0:
            self._locating.advance(engine if engine.here else Serial(), engine.workers)
            left -= 1
        return self._locating.done

    @property
    def _locating(self) -> Underway[NDArray[np.float64]]:
        return self.kept("locating", lambda: Underway(self._located()))

    def _located(self) -> Pieces[NDArray[np.float64]]:
        """`near` in pieces: the directions, then a stretch of records at a time."""
        [(chosen, middle, directions)] = yield [self._directions]
        step = max(1, LOCATED // max(directions.size, 1))
        parts = yield [
            partial(_projected, self.points[at : at + step], chosen, middle, directions)
            for at in range(0, len(self.points), step)
        ]
        return np.concatenate(parts)

    def _directions(self) -> tuple[NDArray[np.int64] | None, NDArray[np.float64], NDArray[np.float64]]:
        """Coordinates that count (all if None), the mean, and the directions of greatest variance."""
        middle, chosen = self.middle, None
        some = self.points[:: max(1, len(self.points) // SPACED)] - middle
        if len(middle) > WIDE:  # columns of many categories, most of which hardly anybody holds
            spread = np.square(self.points - middle).mean(axis=0)
            chosen = np.sort(np.argsort(-spread, kind="stable")[:WIDE])
            some, middle = np.ascontiguousarray(some[:, chosen]), middle[chosen]
        directions = np.linalg.eigh(np.einsum("ij,ik->jk", some, some))[1][:, ::-1][:, :COMPONENTS]
        heaviest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
        return chosen, middle, np.round(directions * np.where(heaviest < 0, -1.0, 1.0), 6)

    @cached_property
    def middle(self) -> NDArray[np.float64]:
        """float64[p]: the mean of the records."""
        return np.asarray(self.points.mean(axis=0))

    def __len__(self) -> int:
        return len(self.points)

    def context(self, k: int) -> WalkContext:
        """Neighbour lists and the local warmth, for walks at one k."""
        return self.kept(k, lambda: self._context(k))

    def _context(self, k: int) -> WalkContext:
        squares, rows = self._survey.complete()
        warmth = squares[:, : k - 1].mean(axis=1)
        floor = TEPID * float(np.median(warmth))
        return WalkContext(
            self._padded,
            np.ascontiguousarray(rows[:, : reach(k)]),
            np.maximum(warmth, floor if floor > 0 else max(float(warmth.mean()), 1.0)),
        )

    def surveyed(self, engine: Engine) -> bool:
        """Whether it is known who is near whom; if not, a piece of the survey is done.

        engine  where it is done
        """
        return self._survey.more(engine)

    def along_tour(self, k: int) -> NDArray[np.int32] | None:
        """The best groups of k … 2k − 1 records that follow each other on a short tour; None for very large tables."""
        if self.points.size > TOUR_UP_TO:
            return None
        labels = np.empty(len(self), np.int32)
        labels[self._tour] = path_optimum(self.points[self._tour], k)
        return labels

    @cached_property
    def _tour(self) -> NDArray[np.int32]:
        """The records in the order of a short tour that begins at the outermost."""
        context = self.context(min(self.ladder))
        outermost = int(np.square(self.points - self.points.mean(axis=0)).sum(axis=1).argmax())
        return tour(context.points, context.neighbours, outermost)

    @cached_property
    def _survey(self) -> Survey:
        """Who is near whom, as far as the largest k asks."""
        return Survey.of(self, min(len(self) - 1, reach(max(self.ladder))))

    @cached_property
    def _padded(self) -> NDArray[np.float64]:
        """The points, with zero columns up to a multiple of four."""
        n, p = self.points.shape
        padded = np.zeros((n, max(-(-p // 4) * 4, 4)))
        padded[:, :p] = self.points
        return padded

    @cached_property
    def total(self) -> float:
        """SST: what one group of all would lose."""
        apart = self.points - self.middle
        return float(np.square(apart, out=apart).sum())


def _projected(
    points: NDArray[np.float64],
    chosen: NDArray[np.int64] | None,
    middle: NDArray[np.float64],
    directions: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Records on their directions."""
    some = points if chosen is None else np.ascontiguousarray(points[:, chosen])
    return np.ascontiguousarray(np.einsum("ij,jk->ik", some - middle, directions))


def reach(k: int) -> int:
    """Neighbours listed for each record: 3k, but beyond sixty half of that, which finds groups as tight."""
    return max(10, min(3 * k, 60), 3 * k // 2)
