"""The score of a masked file: its mean loss and mean risk as one number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mean_score(losses: Sequence[float], risks: Sequence[float]) -> float:
    """(mean loss + mean risk) / 2: a bad side can be bought back by the other."""
    return float(np.mean(losses) + np.mean(risks)) / 2


def max_score(losses: Sequence[float], risks: Sequence[float]) -> float:
    """The worse of mean loss and mean risk: rewards balance."""
    return float(max(np.mean(losses), np.mean(risks)))
