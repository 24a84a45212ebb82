"""What each search contributed to the front of a run; and, where nothing may be released, what comes closest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.evolution.contribution import Contribution, contributions
from crypsis.measures.constraint import excess
from crypsis.measures.evaluation import Complaint
from crypsis.run.front import Front
from crypsis.run.solution import Solution


def family_contributions(front: Front) -> list[Contribution]:
    """Points on the front and hypervolume lost without each search, over the solutions that may be released.

    The most missed first; baselines are no search and are left out. A search none of whose solutions may be released is
    listed with no points.
    """
    own = [solution for solution in front.everything if not solution.baseline]
    rows = [(s.title, [s.figure(axis) for axis in front.axes]) for s in own if s.feasible]
    known = [(title, row) for title, row in rows if None not in row]
    found = contributions([title for title, _ in known], np.array([row for _, row in known], dtype=np.float64))
    absent = dict.fromkeys(s.title for s in own if s.title not in {each.name for each in found})
    return found + [Contribution(title, 0, 0, 0.0) for title in absent]


@dataclass(frozen=True)
class Closest:
    """The solution that misses least of what is demanded, and what would have to be allowed for it."""

    solution: Solution
    changes: tuple[Complaint, ...]


def closest(solutions: Sequence[Solution]) -> Closest | None:
    """The solution nearest to release: the least change of all that misses one demand, else the least of all.

    Parameters
    ----------
    solutions : sequence of Solution
        Measured solutions, of which none may be released.

    Returns
    -------
    Closest or None
        None where nothing was measured.
    """
    tried = [s for s in solutions if not s.baseline and s.evaluation.complaints]
    if not tried:
        return None
    nearest = min(tried, key=lambda s: (sum(map(missed, s.evaluation.complaints)), s.figure("loss") or 0.0, s.number))
    return Closest(nearest, nearest.evaluation.complaints)


def missed(complaint: Complaint) -> float:
    """How far a demand is missed, 0 … 1; 1 where no change of its threshold would help."""
    required, attained = complaint.required, complaint.attained
    if required is None or attained is None:
        return 1.0
    if complaint.sense == "at least":
        return min(max((required - attained) / max(required, 1e-9), 0.0), 1.0)
    return excess(attained, required)
