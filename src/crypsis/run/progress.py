"""Progress of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crypsis.run.gain import Found


@dataclass(frozen=True)
class Progress:
    """One step of a run.

    Attributes
    ----------
    what : str
        "posed", "generation", "measured" or "baseline"; "measuring" and "making" for those not complete yet.
    title : str
        The search or baseline.
    generation, evaluations, front : int
        Generation, candidates scored and size of the front of the search.
    best : float
        Best fitness of the search.
    seconds : float
        Seconds charged to the budget, over all sessions.
    used : float
        Share of the budget, 0 to 1.
    compiling : float
        Seconds of this session spent compiling kernels, which are not charged.
    beyond : float
        Seconds beyond the budget, for a first solution that may be released.
    found : Found
        What all searches have found so far.
    """

    what: str
    title: str
    generation: int = 0
    evaluations: int = 0
    front: int = 0
    best: float = math.nan
    seconds: float = 0.0
    used: float = 0.0
    compiling: float = 0.0
    beyond: float = 0.0
    found: Found = Found()  # noqa: RUF009 - immutable
