"""Candidates that searches tried and did not measure: where each lies in loss and risk, as far as that is known.

A checkpoint remembers the scores of the candidates of its search, which may be quick stand-ins for what is measured.
The solutions of the search have both. Scores that are loss and risk stay as they are. Where the second alone is the
risk, a rising curve through the solutions (isotonic regression) reads the loss off the first. Where the scores are
other figures, loss and risk are those of the measured solutions with the nearest scores. How far the reading misses a
solution that it is not told is said beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from crypsis.evolution.state import read_known_scores
from crypsis.kernels.arrays import Floats
from crypsis.run.choosing import Solution
from crypsis.run.store import Store

FEWEST = 2
"""Measured solutions of a search by which its other candidates are placed."""
NEIGHBOURS = 3
"""Measured solutions with the nearest scores, by which both figures are read; at least twice as many are needed."""
SAME = 0.5
"""Per cent by which a score may differ from what is measured, at the median; else it is another figure."""
MOST_MISS = 5.0
"""Per cent by which the reading may miss at the median; beyond it candidates of the search are not placed."""
MOST_PLACED = 4_000
"""Candidates of one search that are placed, evenly spaced in the order of trying."""


@dataclass(frozen=True)
class TriedCandidates:
    """Candidates of one search that were scored and not measured."""

    search: int  # place of the search in the plan
    tried: int  # candidates that the checkpoint remembers and that are not measured
    points: Floats  # float64[n, 2]: loss and risk, in the order in which they were tried
    miss: float  # per cent by which a solution that the reading is not told differs from it, at the median


def place_candidates(
    search: int, known: Mapping[bytes, Sequence[float]], measured: Mapping[bytes, tuple[float, float]]
) -> TriedCandidates:
    """The candidates of one search that are not measured; none where their scores say nothing of loss and risk.

    `known`: scores by key; `measured`: loss and risk of its solutions by key.

    >>> known = {b"a": (1.0, 9.0), b"b": (2.0, 7.0), b"c": (3.0, 5.0), b"d": (4.0, 3.0), b"e": (2.5, 6.0)}
    >>> measured = {b"a": (10.0, 9.0), b"b": (20.0, 7.0), b"c": (30.0, 5.0), b"d": (40.0, 3.0)}
    >>> place_candidates(0, known, measured).points.tolist()
    [[25.0, 6.0]]
    """
    both = np.array([(*known[key][:2], *found) for key, found in measured.items() if key in known]).reshape(-1, 4)
    others = [scores[:2] for key, scores in known.items() if key not in measured and len(scores) > 1]
    nothing = TriedCandidates(search, len(others), np.empty((0, 2)), 0.0)
    if len(both) < FEWEST or not others:
        return nothing
    rest = thin_evenly(np.array(others), MOST_PLACED)
    rest = rest[np.isfinite(rest).all(axis=1)]
    loss_off, risk_off = np.median(np.abs(both[:, :2] - both[:, 2:]), axis=0)
    if risk_off > SAME:
        points, miss = _read_by_neighbours(both, rest)
    elif loss_off <= SAME:
        points, miss = rest, float(loss_off)
    else:
        points, miss = _read_losses(both, rest)
    return TriedCandidates(search, len(others), points, miss) if miss <= MOST_MISS else nothing


def _read_losses(both: Floats, rest: Floats) -> tuple[Floats, float]:
    """Losses read off the first score between the measured ones; the second score is the risk.

    `both` float64[n, 4]: scores, then loss and risk; `rest` float64[m, 2]: scores; returns float64[l, 2] and the miss.
    """
    score, _, loss, _ = both[np.lexsort(both.T[::-1])].T
    curve = np.asarray(scipy.optimize.isotonic_regression(loss).x)
    if len(score) > FEWEST:  # each between its neighbours, as if it had not been measured
        span = np.maximum(score[2:] - score[:-2], 1e-12)
        between = curve[:-2] + (curve[2:] - curve[:-2]) * np.clip((score[1:-1] - score[:-2]) / span, 0.0, 1.0)
        miss = float(np.median(np.abs(between - loss[1:-1])))
    else:
        miss = float(curve[-1] - curve[0]) / 2.0
    inside = rest[(rest[:, 0] >= score[0]) & (rest[:, 0] <= score[-1])]
    return np.stack([np.interp(inside[:, 0], score, curve), inside[:, 1]], axis=1), miss


def _read_by_neighbours(both: Floats, rest: Floats) -> tuple[Floats, float]:
    """Losses and risks of the measured solutions with the nearest scores, by ranks, the nearer the more.

    `both` float64[n, 4]: scores, then loss and risk; `rest` float64[m, 2]: scores; returns float64[m, 2] and the miss.
    """
    if len(both) < 2 * NEIGHBOURS:
        return np.empty((0, 2)), 0.0
    ends = np.sort(both[:, :2], axis=0)
    ours, theirs = (
        np.stack([np.searchsorted(ends[:, axis], scores[:, axis]) for axis in (0, 1)], axis=1) / len(both)
        for scores in (both, rest)
    )

    def read(places: Floats, skip_self: bool) -> Floats:
        far = np.abs(places[:, None, :] - ours[None, :, :]).sum(axis=2)
        if skip_self:
            np.fill_diagonal(far, np.inf)
        near = np.argpartition(far, NEIGHBOURS - 1, axis=1)[:, :NEIGHBOURS]
        weights = 1.0 / (np.take_along_axis(far, near, axis=1) + 0.5 / len(both))
        return np.asarray((both[near, 2:] * weights[:, :, None]).sum(axis=1) / weights.sum(axis=1)[:, None])

    miss = float(np.median(np.abs(read(ours, skip_self=True) - both[:, 2:]), axis=0).max())
    return read(theirs, skip_self=False), miss


def thin_evenly(points: Floats, most: int) -> Floats:
    """At most so many rows, evenly spaced in their order."""
    if len(points) <= most:
        return points
    return points[np.unique(np.linspace(0, len(points) - 1, most).astype(np.intp))]


class CandidateReader:
    """Candidates of the searches of a run; a checkpoint is read again only if it is another one."""

    def __init__(self) -> None:
        self._placed: dict[int, tuple[tuple[bytes, int], TriedCandidates]] = {}

    def read(self, store: Store, solutions: Sequence[Solution]) -> list[TriedCandidates]:
        """What every search tried so far."""
        figures = {
            s.number: (float(s.figure("loss") or 0.0), float(s.figure("risk") or 0.0))
            for s in solutions
            if s.figure("loss") is not None and s.figure("risk") is not None
        }
        found = []
        for search, digest in sorted(store.checkpoint_digests().items()):
            numbers = store.solution_numbers(search)
            state = digest, len(numbers)
            if search not in self._placed or self._placed[search][0] != state:
                data = store.state(search)
                measured = {key: figures[number] for key, number in numbers.items() if number in figures}
                known = {} if data is None else read_known_scores(data)
                self._placed[search] = state, place_candidates(search, known, measured)
            found.append(self._placed[search][1])
        return found
