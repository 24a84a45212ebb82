"""Exact optima and exact counts: the paper's Table I, its example, and what its Equation 6 misses."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from crypsis.errors import SearchError, TableError
from crypsis.searches.partitions.lower_bound import (
    MOST_RECORDS,
    count_partitions,
    count_representative_partitions,
    optimal_partition,
    paper_bound_probability,
    paper_partition_bound,
    probability_of_candidate_partition,
)
from naive.subsets import optimum, partitions
from naive.subsets import representatives as printed

TABLE_I = {
    10: (2, 2, 1),
    20: (6, 6, 5),
    30: (11, 14, 14),
    40: (18, 27, 29),
    50: (26, 45, 56),
    100: (94, 272, 520),
    500: (2134, 26477, 197549),
    1000: (8434, 205037, 2953389),
}


@pytest.mark.parametrize(("n", "row"), TABLE_I.items(), ids=str)
def test_table_one(n: int, row: tuple[int, int, int]) -> None:
    assert tuple(count_representative_partitions(n, k) for k in (3, 4, 5)) == row


def test_representatives_are_equation_four() -> None:
    for n, k in product(range(2, 40), (2, 3, 4)):
        if n >= k:
            assert count_representative_partitions(n, k) == printed(n, k, k)


def test_example_one() -> None:
    assert paper_partition_bound(30, 3) == 1208883745669600000
    assert float(paper_bound_probability(30, 3)) == pytest.approx(13.2977212023656e-12, rel=1e-13)


def test_equation_six_is_no_upper_bound() -> None:
    assert float(probability_of_candidate_partition(30, 3)) == pytest.approx(1.6e-3, rel=0.01)
    assert float(probability_of_candidate_partition(11, 3)) == pytest.approx(0.352, abs=5e-4)
    assert probability_of_candidate_partition(30, 3) > paper_bound_probability(30, 3)
    assert count_partitions(30, 3) > count_representative_partitions(30, 3) * paper_partition_bound(30, 3)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (7, 2), (8, 3), (9, 3), (10, 4), (5, 1)])
def test_counts_by_enumeration(n: int, k: int) -> None:
    assert count_partitions(n, k) == sum(1 for _ in partitions(tuple(range(n)), k))


@pytest.mark.parametrize(("n", "k"), [(6, 2), (7, 3), (8, 3)])
def test_probability_by_enumeration(n: int, k: int) -> None:
    letters = n // k
    good = 0
    for genes in product(range(letters), repeat=n):
        sizes = [genes.count(letter) for letter in set(genes)]
        good += all(k <= size < 2 * k for size in sizes)
    assert probability_of_candidate_partition(n, k) * letters**n == good


def test_optimum_of_eleven_records_is_the_best_of_all_10395() -> None:
    points = np.random.default_rng(5).uniform(-1, 1, (11, 2))
    assert count_partitions(11, 3) == 10395
    assert optimal_partition(points, 3)[1] == pytest.approx(optimum(points, 3), rel=1e-12)


def test_degenerate_input() -> None:
    points = np.random.default_rng(0).standard_normal((5, 2))
    assert optimal_partition(points, 1)[0].tolist() == [0, 1, 2, 3, 4]
    assert optimal_partition(points, 3)[0].tolist() == [0] * 5
    assert optimal_partition(np.ones((12, 2)), 3)[1] == 0
    with pytest.raises(TableError, match="5 records cannot form"):
        optimal_partition(points, 6)
    with pytest.raises(SearchError, match=f"feasible up to {MOST_RECORDS}"):
        optimal_partition(np.zeros((MOST_RECORDS + 1, 1)), 3)
