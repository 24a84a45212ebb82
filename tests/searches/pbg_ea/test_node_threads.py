"""Nodes of a lattice that threads judge side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np

from crypsis.privacy import PersonKAnonymity
from crypsis.privacy.demands import class_demands
from crypsis.searches import PbgEaSearch
from crypsis.searches.pbg_ea.scores import NodeContents
from crypsis.table.builders import build_hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table


def visits() -> Table:
    """Three visits of each of 900 patients."""
    rng, patients = np.random.default_rng(1), np.repeat(np.arange(900), 3)
    columns = {name: rng.integers(0, 60, len(patients)).tolist() for name in ("a", "b", "c")}
    roles = dict.fromkeys(("a", "b", "c"), "quasi") | {"patient": "household"}
    table = Table.from_columns({**columns, "patient": patients.tolist()}, roles)
    trees = {
        name: build_hierarchy("intervals:5,10,20,40", table.attribute(name), table.column(name)) for name in columns
    }
    return table.with_columns({}, attributes={n: table.attribute(n).but(hierarchy=t) for n, t in trees.items()})


def test_nodes_judged_side_by_side_are_those_judged_one_after_another() -> None:
    table = visits()
    lattice = Lattice.of(table, ())
    demands = class_demands([PersonKAnonymity(k=3)], table, lattice.names)
    contents = NodeContents(table, lattice, demands, 50, "information")
    nodes = [levels for levels in product(*(range(3) for _ in lattice.names)) if sum(levels) > 2]
    alone = [contents.judge_node(levels) for levels in nodes]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(contents.judge_node, nodes)) == alone


def test_too_many_persons_are_not_counted_at_every_node() -> None:
    few = PbgEaSearch(suppression=0.2).under((PersonKAnonymity(k=3),))
    assert not few.obstacle(visits())
    many = visits().take(np.tile(np.arange(2700), 2))
    columns = {"patient": np.arange(5400.0)}
    assert "too many to be counted" in few.obstacle(many.with_columns(columns))
