"""The same number by Crypsis and by a library of somebody else, on one random case at a time.

Libraries that live in the same environment as Crypsis: scipy, statsmodels, moocore. `differential.py` counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import moocore
import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist, pdist
from scipy.stats import entropy, rankdata, spearmanr, wasserstein_distance
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import proportion_confint

from crypsis.kernels import dominance
from crypsis.kernels.annealing import sse
from crypsis.measures import measures
from crypsis.measures.estimate_use import fit_regression_for_use
from crypsis.measures.intervals import wilson_interval
from crypsis.privacy import models
from crypsis.table.table import Table

Floats = NDArray[np.float64]
Pair = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Comparison:
    """What is computed twice; `case` gives ours and theirs."""

    library: str
    what: str
    case: Callable[[Generator], Pair]
    tolerance: float = 1e-9


def chance(case: int) -> Generator:
    return np.random.default_rng([20061, case])


def difference(ours: ArrayLike, theirs: ArrayLike) -> float:
    """The largest difference of two answers, relative above 1; infinite where the shapes differ."""
    one, other = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if one.shape != other.shape:
        return float("inf")
    gaps = np.where(one == other, 0.0, np.abs(one - other) / np.maximum(1.0, np.abs(other)))
    return float(np.nan_to_num(gaps, nan=np.inf).max(initial=0.0))


# -- random cases --


def people(rng: Generator) -> tuple[Table, NDArray[np.int64], NDArray[np.int64]]:
    n, classes, values = int(rng.integers(2, 60)), int(rng.integers(1, 8)), int(rng.integers(2, 6))
    known, secret = rng.integers(0, classes, n), rng.integers(0, values, n)
    table = Table.from_columns(
        {"q": [f"c{v}" for v in known], "s": secret.astype(float)}, {"q": "quasi", "s": "confidential"}
    )
    return table, known, secret


def numbers(values: Floats) -> Table:
    columns = {f"v{place}": column for place, column in enumerate(values.T)}
    return Table.from_columns(columns, dict.fromkeys(columns, "quasi"))


# -- moocore --


def fronts(rng: Generator) -> Pair:
    scores = rng.integers(0, 8, (int(rng.integers(1, 60)), int(rng.integers(1, 5)))).astype(float)
    ranks = dominance.fronts(scores)
    return ranks - ranks.min(), moocore.pareto_rank(scores)


# -- scipy --


def ordered_closeness(rng: Generator) -> Pair:
    table, known, secret = people(rng)
    place = np.unique(secret, return_inverse=True)[1]
    steps = max(place.max(), 1)
    worst = max(wasserstein_distance(place[known == c], place) / steps for c in np.unique(known))
    return models.build("t-closeness", distance="ordered").judge(table).attained, worst


def entropy_diversity(rng: Generator) -> Pair:
    table, known, secret = people(rng)
    least = min(np.exp(entropy(np.unique(secret[known == c], return_counts=True)[1])) for c in np.unique(known))
    return models.build("l-diversity", kind="entropy").judge(table).attained, least


def record_linkage(rng: Generator) -> Pair:
    n, p = int(rng.integers(2, 40)), int(rng.integers(1, 4))
    original = rng.integers(0, 6, (n, p)).astype(float)
    masked = np.clip(original + rng.integers(-2, 3, (n, p)), 0, 6)
    spread = original.std(axis=0)
    scale = np.where(spread > 0, spread, np.inf)
    gaps = cdist(original / scale, masked / scale, "sqeuclidean")
    least = gaps.min(axis=1, keepdims=True)
    near = gaps <= least + 1e-9 * np.maximum(1.0, least)
    expected = 100.0 * np.mean(near[np.arange(n), np.arange(n)] / near.sum(axis=1))
    return measures.build("record-linkage").against(numbers(original)).read(numbers(masked)), expected


def squares(rng: Generator) -> Pair:
    points = rng.standard_normal((int(rng.integers(1, 50)), int(rng.integers(1, 5))))
    labels = np.unique(rng.integers(0, 6, len(points)), return_inverse=True)[1].astype(np.int32)
    groups = [points[labels == label] for label in np.unique(labels)]
    return sse(points, labels), sum(pdist(group, "sqeuclidean").sum() / len(group) for group in groups)


def ranks_of_a_correlation(rng: Generator) -> Pair:
    """Pearson on ranks is Spearman on values: so much of a correlation is lost when values become ranks."""
    values = rng.standard_normal((int(rng.integers(5, 40)), 2))
    ranks = np.column_stack([rankdata(column) for column in values.T])
    bound = measures.build("correlation-use", columns=("v0", "v1")).against(numbers(values))
    lost = abs(spearmanr(values[:, 0], values[:, 1])[0] - np.corrcoef(values.T)[0, 1])
    return bound.read(numbers(ranks)), 50.0 * lost


# -- statsmodels --


def interval_of_a_share(rng: Generator) -> Pair:
    trials = int(rng.integers(1, 500))
    hits = int(rng.integers(0, trials + 1))
    expected = proportion_confint(hits, trials, alpha=0.05, method="wilson")
    return wilson_interval(hits, trials), [100 * bound for bound in expected]


def slopes_and_their_intervals(rng: Generator) -> Pair:
    n, p = int(rng.integers(12, 80)), int(rng.integers(1, 6))
    design = rng.standard_normal((n, p)) * rng.uniform(0.1, 10.0, p)
    target = design @ rng.standard_normal(p) + rng.standard_normal(n)
    mine, theirs = fit_regression_for_use(design, target), OLS(target, np.column_stack([np.ones(n), design])).fit()
    low, high = theirs.conf_int(0.05)[1:].T
    ours = np.stack([mine.estimate, mine.estimate - mine.half_width, mine.estimate + mine.half_width])
    return ours, np.stack([theirs.params[1:], low, high])


COMPARISONS = (
    Comparison("scipy", "ordered t-closeness (Wasserstein distance)", ordered_closeness),
    Comparison("scipy", "entropy l-diversity (entropy)", entropy_diversity),
    Comparison("scipy", "record linkage, % (all distances)", record_linkage),
    Comparison("scipy", "sum of squares within groups (pairwise distances)", squares),
    Comparison("scipy", "loss of a correlation by ranking (Spearman's ρ)", ranks_of_a_correlation),
    Comparison("statsmodels", "Wilson's interval, %", interval_of_a_share, 1e-8),
    Comparison("statsmodels", "slopes of a regression and their intervals", slopes_and_their_intervals),
    Comparison("moocore", "fronts of up to 60 points in 1 to 4 objectives", fronts),
)
