"""The masking search as a plan names it: it starts from many methods, improves, and tells what it did."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from crypsis.errors import SearchError
from crypsis.evolution import Budget, evolve
from crypsis.searches.maskings import Masking
from crypsis.searches.search import searches
from crypsis.table.example import example
from crypsis.table.table import Table

QUICK = Masking(largest_k=3, depths=1, swappings=1, prams=2, batch=4)


def test_it_is_registered_under_the_name_a_plan_uses() -> None:
    assert searches["masking"] is Masking


def test_the_best_never_gets_worse_and_solutions_decode_and_are_described() -> None:
    table = example(60, seed=2)
    problem = QUICK.pose(table, None, np.random.default_rng(1))
    states = list(evolve(problem, np.random.default_rng(2), Budget(generations=30)))
    fitness = [state.best_fitness for state in states]
    assert all(later <= earlier for earlier, later in pairwise(fitness))
    assert fitness[-1] < fitness[0]
    encoding = QUICK.encoding(table)
    masked = encoding.decode(states[-1].best)
    assert isinstance(masked, Table)
    assert masked.names == table.names
    for name in ("age", "income", "diagnosis"):  # numbers and confidential columns stay
        assert np.array_equal(masked.column(name), table.column(name), equal_nan=name != "diagnosis")
    assert "cells changed" in encoding.describe(states[-1].best, masked).message
    assert problem.evaluate(states[-1].best) == pytest.approx(states[-1].best_scores, abs=0)


def test_a_table_without_categories_is_refused_in_a_sentence() -> None:
    table = Table.from_columns({"x": [1, 2, 3], "y": [3, 4, 5]}, {"x": "quasi", "y": "quasi"})
    with pytest.raises(SearchError, match="categor"):
        QUICK.pose(table, None, np.random.default_rng(0))
