"""A lattice of hundreds of columns, whose number of nodes is beyond any float."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

import crypsis
from crypsis.searches.search import searches
from crypsis.table.lattice import Lattice


@pytest.fixture(scope="module")
def wide() -> crypsis.Table:
    rng = np.random.default_rng(1)
    columns = {f"c{place}": rng.integers(0, 40, 12) for place in range(450)}
    trees = dict.fromkeys(columns, "intervals:2,4,8,16")
    return crypsis.wrap(pl.DataFrame(columns), quasi_identifiers=list(columns), hierarchies=trees)


def test_the_number_of_nodes_is_exact_as_a_whole_number_and_the_largest_float_as_a_float(wide: crypsis.Table) -> None:
    lattice = Lattice.of(wide)
    assert lattice.size == 6**450
    assert lattice.approximate_size == sys.float_info.max
    assert Lattice.of(wide, ["c0", "c1"]).approximate_size == 36.0


@pytest.mark.parametrize("method", ["auto", "nsga2"])
def test_450_columns_are_searched(wide: crypsis.Table, method: str) -> None:
    search = searches.build("pbg-ea", method=method, population=10)
    assert search.candidates(wide) == sys.float_info.max
    models = [crypsis.KAnonymity(k=2)]
    with crypsis.evolve(wide, search, models, budget="1 generations", seed=1) as run:
        assert [each for each in run.front.everything if not each.baseline]


def test_every_node_of_450_columns_is_refused_in_a_sentence(wide: crypsis.Table) -> None:
    refused = searches.build("pbg-ea", method="exact").obstacle(wide)
    assert refused.startswith("its lattice has 1.798e+308 nodes, too many to judge each")
