"""One true level per column: by hand, on local recodings, false values, blanks and suppressed records."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

TOWNS = Hierarchy.from_rows([["Turku", "Finland", "*"], ["Espoo", "Finland", "*"], ["Tartu", "Estonia", "*"]])


def towns() -> Table:
    table = Table.from_columns({"town": ["Turku", "Espoo", "Tartu", "Turku"]}, roles={"town": "quasi"})
    order = tuple(TOWNS.labels[0].index(label) for label in table.attribute("town").categories)
    codes = np.array(order, dtype=np.int32)[table.column("town")]
    named = table.attribute("town").but(categories=TOWNS.labels[0], hierarchy=TOWNS)
    return table.with_columns({"town": codes}, attributes={"town": named})


def recoded(nodes: list[int]) -> Table:
    """Nodes: Turku, Espoo, Tartu, Finland, Estonia, everything."""
    return towns().with_columns({"town": np.array(nodes, dtype=np.int32)}, levels={"town": LOCAL})


@pytest.mark.parametrize(
    "nodes, breaks",
    [
        ([3, 3, 4, 3], 0),  # every town by its country
        ([0, 1, 2, 0], 0),  # as collected
        ([0, 3, 4, 3], 1),  # one town among countries
        ([0, 1, 4, 3], 2),  # two towns, two countries
        ([3, 3, 3, 3], 1),  # Tartu is not in Finland
        ([5, 5, 5, 5], 0),
    ],
)
def test_cells_off_the_level_of_their_column(nodes: list[int], breaks: int) -> None:
    measure = crypsis.MixedLevels().against(towns())
    assert measure.read(recoded(nodes)) == 100 * breaks / 4
    assert measure.explain(recoded(nodes)).counts == {"town": breaks}


def test_a_false_value_at_level_0_counts_and_a_suppressed_record_does_not() -> None:
    table = towns()
    false = table.with_columns({"town": table.column("town")[[1, 1, 2, 0]]})
    assert crypsis.MixedLevels().against(table).read(false) == 25
    first = np.array([True, False, False, False])
    assert crypsis.MixedLevels().against(table).read(false.without(first)) == 0


def test_lattice_nodes_have_one_level_and_groups_do_not() -> None:
    people = crypsis.example(120)
    for search, even in ((crypsis.PbgEaSearch(), True), (crypsis.MemeticSearch(k=5), False)):
        with crypsis.evolve(people, search, [], budget="2 generations", seed=1) as run:
            masked = run.decode(next(s for s in run.front.everything if not s.baseline and s.figure("loss")))
        assert (crypsis.MixedLevels().against(people).read(masked) == 0) is even
