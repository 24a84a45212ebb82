"""Local recoding: k and l re-judged on what would be published, and the yardstick of Adult."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adult import adult
from crypsis.errors import PlanError, TableError
from crypsis.masking.local_recoding import LocalRecoding, offered_nodes
from crypsis.measures.generalisation_loss import GeneralLoss
from crypsis.table.attribute import Role
from crypsis.table.table import LOCAL
from lattice_tables import random_table, tables


def published(masked, names):
    return [tuple(row) for row in masked.codes(names).tolist()]


@given(tables, st.integers(2, 6), st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_every_class_keeps_k_and_l_and_every_value_stays_true(table, k, l):  # noqa: E741
    names = table.quasi_identifiers
    if len(table) < k or len(set(table.column("illness").tolist())) < l:
        with pytest.raises(TableError):
            LocalRecoding(k=k, l=l).mask(table, np.random.default_rng(0))
        return
    masked = LocalRecoding(k=k, l=l).mask(table, np.random.default_rng(0))
    assert masked.kept.all()
    rows = published(masked, names)
    for row in set(rows):
        members = [place for place, other in enumerate(rows) if other == row]
        assert len(members) >= k
        assert len({int(table.column("illness")[place]) for place in members}) >= l
    for name in names:
        hierarchy = table.attribute(name).hierarchy
        assert masked.level(name) == LOCAL
        for leaf, node in zip(table.leaf_codes(name), masked.column(name), strict=True):
            if node >= 0:
                level = int(np.searchsorted(hierarchy.offsets, node, side="right")) - 1
                assert hierarchy.groups[level][leaf] == node - hierarchy.offsets[level]


@pytest.mark.parametrize("k, most", [(5, 3.47), (10, 5.05), (100, 13.18)])
def test_adult_loses_less_than_the_yardstick(k, most):
    table = adult()
    masked = LocalRecoding(k=k, loss="glm").mask(table, np.random.default_rng(3))
    assert masked.kept.all()
    sizes = np.unique(masked.codes(table.quasi_identifiers), axis=0, return_counts=True)[1]
    assert sizes.min() >= k
    assert GeneralLoss().against(table).read(masked) < most


def test_same_seed_same_table():
    table = random_table(4, 40, 3)
    one, other = (LocalRecoding(k=3).mask(table, np.random.default_rng(9)) for _ in range(2))
    assert one.fingerprint() == other.fingerprint()


def test_nodes_are_offered_in_order_of_loss():
    level_losses = [np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.5])]
    assert offered_nodes(level_losses, 10, np.random.default_rng(0)).tolist() == [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
        [2, 0],
        [2, 1],
    ]
    wide = [np.linspace(0, 1, 4)] * 9
    sampled = offered_nodes(wide, 500, np.random.default_rng(0))
    assert len(sampled) <= 501
    assert sampled[0].tolist() == [0] * 9
    assert sampled[-1].tolist() == [3] * 9


def test_refusals():
    table = random_table(4, 12, 3)
    with pytest.raises(TableError, match="12 records cannot form a class of 13"):
        LocalRecoding(k=13).mask(table, np.random.default_rng(0))
    with pytest.raises(PlanError, match="no column is confidential"):
        LocalRecoding(k=2, l=2).mask(table.with_roles({"illness": Role.OTHER}), np.random.default_rng(0))
    with pytest.raises(TableError, match="holds 2 values and l = 3"):
        LocalRecoding(k=2, l=3, confidential="label").mask(table, np.random.default_rng(0))
