"""Candidates that searches tried and did not measure: where each lies in loss and risk, as far as that is known.

A checkpoint remembers the scores of the candidates of its search. The loss a search works with may be a quick stand-in
for the loss that is measured. The solutions of the search have both, so that a rising curve through them (isotonic
regression) reads the loss of other candidates off their scores; how far it misses the solutions is told beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.evolution.state import read_known_scores
from crypsis.run.choosing import Solution
from crypsis.run.store import Store

FEWEST = 4
"""Solutions of a search by which the losses of its other candidates are read."""
SAME = 0.5
"""Per cent by which the risk of a score may differ from the measured one, at the median; else it is another figure."""
MOST_MISS = 5.0
"""Per cent of loss by which the curve may miss at the median; beyond it candidates of the search are not placed."""


@dataclass(frozen=True)
class TriedCandidates:
    """Candidates of one search that were scored and not measured."""

    search: int  # place of the search in the plan
    tried: int  # candidates that the checkpoint remembers, measured ones too
    points: NDArray[np.float64]  # float64[n, 2]: loss and risk, in the order in which they were tried
    miss: float  # per cent of loss by which solutions of the search differ from this reading, at the median


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
    nothing = TriedCandidates(search, len(known), np.empty((0, 2)), 0.0)
    both = [(*known[key][:2], *figures) for key, figures in measured.items() if key in known and len(known[key]) > 1]
    rest = np.array([scores[:2] for key, scores in known.items() if key not in measured and len(scores) > 1])
    if len(both) < FEWEST or not len(rest):
        return nothing
    score, risk, loss, found = np.array(sorted(both)).T
    if np.median(np.abs(risk - found)) > SAME:
        return nothing
    curve = np.asarray(scipy.optimize.isotonic_regression(loss).x)
    miss = float(np.median(np.abs(curve - loss)))
    inside = (rest[:, 0] >= score[0]) & (rest[:, 0] <= score[-1]) & np.isfinite(rest).all(axis=1)
    if miss > MOST_MISS:
        return nothing
    rest = rest[inside]
    return TriedCandidates(
        search, len(known), np.stack([np.interp(rest[:, 0], score, curve), rest[:, 1]], axis=1), miss
    )


def thin_evenly(points: NDArray[np.float64], most: int) -> NDArray[np.float64]:
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
