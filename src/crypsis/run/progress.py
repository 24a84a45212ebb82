"""What a run says of itself while it goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """What has just happened, for whoever watches."""

    what: str
    """'baseline', 'generation' or 'measured'."""
    title: str
    generation: int = 0
    evaluations: int = 0
    front: int = 0
    best: float = math.nan
    seconds: float = 0.0
    """Since the run began, over all sessions."""
    used: float = 0.0
    """Share of the budget, 0 to 1."""
