"""How far a rate can be trusted."""

from __future__ import annotations

import math
from statistics import NormalDist

NORMAL_95 = 1.959963984540054


def wilson(hits: float, trials: float, outside: float = 0.05) -> tuple[float, float]:
    """Wilson interval of a rate, in per cent; `hits` may be an expected number. Wilson (1927).

    outside  probability that the rate lies outside of the interval
    """
    if trials <= 0:
        return 0.0, 100.0
    normal = NORMAL_95 if outside == 0.05 else NormalDist().inv_cdf(1 - outside / 2)
    rate, square = hits / trials, normal**2
    centre = (rate + square / (2 * trials)) / (1 + square / trials)
    spread = rate * (1 - rate) / trials + square / (4 * trials**2)
    half = normal / (1 + square / trials) * math.sqrt(max(spread, 0.0))
    low = 0.0 if hits <= 0 else centre - half
    high = 1.0 if hits >= trials else centre + half
    return 100.0 * max(low, 0.0), 100.0 * min(high, 1.0)
