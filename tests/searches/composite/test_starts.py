"""Where walks of composite groups begin."""

from __future__ import annotations

import numpy as np

import crypsis
from crypsis.kernels.annealing import sse
from crypsis.masking.scaling import embed
from crypsis.privacy.diversity import LDiversity
from crypsis.searches.composite.annealing import compact_composite_groups, quanta_compacting_composites
from crypsis.searches.composite.space import CompositeSpace
from crypsis.searches.search import searches
from crypsis.table.table import Table


def space_of(table: Table, *models: crypsis.PrivacyModel) -> CompositeSpace:
    search = searches.build("composite", k=4).under(list(models))
    found: CompositeSpace = search.pose(table, None, np.random.default_rng(1)).strategy.space
    return found


def test_compacted_groups_have_k_records_and_less_squared_distance() -> None:
    table = crypsis.example(300)
    space = space_of(table)
    first = space.halve(0, 4)
    found = compact_composite_groups(space, 4, first, np.array([3], np.uint64), 0)
    assert quanta_compacting_composites(space) == 1
    assert np.bincount(found).min() >= 4
    points = np.ascontiguousarray(embed(table, space.names, "range"))
    assert sse(points, found) < 0.95 * sse(points, first)
    assert np.array_equal(found, compact_composite_groups(space, 4, first, np.array([3], np.uint64), 0))


def test_groups_that_must_meet_more_than_k_and_large_tables_stay_as_they_are() -> None:
    table = crypsis.example(300)
    assert quanta_compacting_composites(space_of(table, LDiversity(l=2))) == 0
    assert (
        quanta_compacting_composites(
            space_of(table.with_columns({}, attributes={"sex": table.attribute("sex").but(locked=True)}))
        )
        == 0
    )
    assert quanta_compacting_composites(space_of(crypsis.example(3000))) > 1
    assert quanta_compacting_composites(space_of(crypsis.example(20_000))) == 0
