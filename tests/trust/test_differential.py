"""The same number by somebody else's code: scipy, statsmodels and moocore on random cases.

`CRYPSIS_CASES=2000 pytest tests/trust/test_differential.py` tries more of each.
`python benchmarks/differential.py` does the same against pycanon, which needs an environment of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import moocore
import numpy as np
import pytest
from numpy.random import Generator
from scipy.spatial.distance import cdist, pdist
from scipy.stats import entropy, rankdata, spearmanr, wasserstein_distance
from statsmodels.stats.proportion import proportion_confint

from crypsis.kernels import dominance
from crypsis.kernels.squares import sse
from crypsis.measures import measures
from crypsis.measures.intervals import wilson
from crypsis.privacy import models
from crypsis.table.table import Table

CASES = int(os.environ.get("CRYPSIS_CASES", "150"))


def cases() -> Iterator[Generator]:
    for seed in range(CASES):
        yield np.random.default_rng([20061, seed])


def people(rng: Generator) -> tuple[Table, np.ndarray, np.ndarray]:
    n, classes, values = int(rng.integers(2, 60)), int(rng.integers(1, 8)), int(rng.integers(2, 6))
    known, secret = rng.integers(0, classes, n), rng.integers(0, values, n)
    table = Table.from_columns(
        {"q": [f"c{v}" for v in known], "s": secret.astype(float)}, {"q": "quasi", "s": "confidential"}
    )
    return table, known, secret


def numbers(values: np.ndarray) -> Table:
    columns = {f"v{place}": column for place, column in enumerate(values.T)}
    return Table.from_columns(columns, dict.fromkeys(columns, "quasi"))


def test_fronts_and_the_best_of_them_by_moocore() -> None:
    for rng in cases():
        scores = rng.integers(0, 8, (int(rng.integers(1, 60)), int(rng.integers(1, 5)))).astype(float)
        ranks = dominance.fronts(scores)
        assert np.array_equal(ranks - ranks.min(), moocore.pareto_rank(scores))


def test_ordered_closeness_by_the_wasserstein_distance() -> None:
    for rng in cases():
        table, known, secret = people(rng)
        place = np.unique(secret, return_inverse=True)[1]
        steps = max(place.max(), 1)
        worst = max(wasserstein_distance(place[known == c], place) / steps for c in np.unique(known))
        found = models.build("t-closeness", distance="ordered").judge(table).attained
        assert found == pytest.approx(worst, abs=1e-12)


def test_entropy_diversity_by_scipy() -> None:
    for rng in cases():
        table, known, secret = people(rng)
        least = min(np.exp(entropy(np.unique(secret[known == c], return_counts=True)[1])) for c in np.unique(known))
        assert models.build("l-diversity", kind="entropy").judge(table).attained == pytest.approx(least)


def test_record_linkage_by_all_distances() -> None:
    for rng in cases():
        n, p = int(rng.integers(2, 40)), int(rng.integers(1, 4))
        original = rng.integers(0, 6, (n, p)).astype(float)
        masked = np.clip(original + rng.integers(-2, 3, (n, p)), 0, 6)
        spread = original.std(axis=0)
        scale = np.where(spread > 0, spread, np.inf)
        gaps = cdist(original / scale, masked / scale, "sqeuclidean")
        least = gaps.min(axis=1, keepdims=True)
        near = gaps <= least + 1e-9 * np.maximum(1.0, least)
        expected = 100.0 * np.mean(near[np.arange(n), np.arange(n)] / near.sum(axis=1))
        found = measures.build("record-linkage").against(numbers(original)).read(numbers(masked))
        assert found == pytest.approx(expected, abs=1e-7)


def test_squares_within_groups_by_pairwise_distances() -> None:
    for rng in cases():
        points = rng.standard_normal((int(rng.integers(1, 50)), int(rng.integers(1, 5))))
        labels = np.unique(rng.integers(0, 6, len(points)), return_inverse=True)[1].astype(np.int32)
        by_pairs = sum(
            pdist(points[labels == label], "sqeuclidean").sum() / (labels == label).sum() for label in np.unique(labels)
        )
        assert sse(points, labels) == pytest.approx(by_pairs, abs=1e-9)


def test_wilson_s_interval_by_statsmodels() -> None:
    for rng in cases():
        trials = int(rng.integers(1, 500))
        hits = int(rng.integers(0, trials + 1))
        expected = proportion_confint(hits, trials, alpha=0.05, method="wilson")
        assert wilson(hits, trials) == pytest.approx([100 * bound for bound in expected], abs=1e-6)


def test_what_ranks_lose_of_a_correlation_by_scipy() -> None:
    """Pearson on ranks is Spearman on values: so much of a correlation is lost when values become ranks."""
    for rng in cases():
        values = rng.standard_normal((int(rng.integers(5, 40)), 2))
        ranks = np.column_stack([rankdata(column) for column in values.T])
        table, ranked = numbers(values), numbers(ranks)
        loss = measures.build("correlation-use", columns=("v0", "v1")).against(table).read(ranked)
        pearson = np.corrcoef(values.T)[0, 1]
        assert loss == pytest.approx(50.0 * abs(spearmanr(values[:, 0], values[:, 1])[0] - pearson), abs=1e-7)
