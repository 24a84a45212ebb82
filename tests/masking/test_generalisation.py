"""Full-domain generalisation: a worked table, both suppression rules, and agreement with the lattice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.masking.generalisation import Generalisation
from crypsis.searches.pbg_ea import evaluate_lattice
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from lattice_tables import random_table, tables

RNG = np.random.default_rng(0)


def towns() -> Table:
    """Three in Turku, two in Tampere, one abroad."""
    tree = Hierarchy.from_rows([["Turku", "Finland", "*"], ["Tampere", "Finland", "*"], ["Tartu", "Estonia", "*"]])
    home = Attribute("home", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("Tampere", "Tartu", "Turku"), tree)
    ill = Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, ("no", "yes"))
    columns = (np.array([2, 2, 2, 0, 0, 1]), np.array([0, 0, 0, 0, 1, 1]))
    return Table((home, ill), columns)


def test_by_hand():
    masked = Generalisation(levels={"home": 1}, suppression=0.2).mask(towns(), RNG)
    assert masked.levels == (1, 0)
    assert [masked.labels("home")[code] for code in masked.column("home")] == ["Finland"] * 5 + ["Estonia"]
    assert masked.kept.tolist() == [True] * 5 + [False]
    assert Generalisation(level=2).mask(towns(), RNG).kept.all()


def test_rules_differ_in_what_they_spare():
    table = towns()
    by_size = Generalisation(levels={"home": 0}, suppression=0.5, rule="by-size").mask(table, RNG)
    assert by_size.kept.tolist() == [True] * 3 + [False] * 3
    for_k = Generalisation(levels={"home": 0}, suppression=0.5, k=2).mask(table, RNG)
    assert for_k.kept.tolist() == [True] * 5 + [False]
    for_l = Generalisation(levels={"home": 0}, suppression=0.7, l=2).mask(table, RNG)
    assert for_l.kept.tolist() == [False] * 3 + [True, True, False]


@given(
    tables, st.sampled_from([0.0, 0.1, 0.3, 1.0]), st.sampled_from(["by-size", "failing-class"]), st.integers(0, 10**6)
)
@settings(max_examples=40, deadline=None)
def test_a_decoded_node_is_the_node_the_lattice_judged(table, share, rule, pick):
    lattice = Lattice.of(table)
    levels = lattice.levels(pick % lattice.size)
    row = evaluate_lattice(table, share, rule).row(lattice.number(levels), named=True)
    method = Generalisation(levels=dict(zip(lattice.names, levels, strict=True)), suppression=share, rule=rule)
    masked = method.mask(table, RNG)
    assert int((~masked.kept).sum()) == row["suppressed"]
    classes = np.unique(masked.codes(lattice.names)[masked.kept], axis=0, return_counts=True)[1]
    assert classes.min() == row["k"]
    assert len(classes) == row["classes"]


def test_refusals():
    with pytest.raises(TableError, match="suppresses 3 of 6 records and the limit allows 0"):
        Generalisation(levels={"home": 0}, suppression=0.1, k=3).mask(towns(), RNG)
    with pytest.raises(TableError, match="has no level 3"):
        Generalisation(levels={"home": 3}).mask(towns(), RNG)
    with pytest.raises(PlanError, match="'ill', which this does not generalise"):
        Generalisation(levels={"ill": 1}).mask(towns(), RNG)
    with pytest.raises(PlanError, match="no column is confidential"):
        Generalisation(l=2).mask(towns().with_roles({"ill": Role.OTHER}), RNG)
    with pytest.raises(TableError, match="at least one quasi-identifier"):
        Generalisation().mask(random_table(1, 5, 1).with_roles({"q0": Role.OTHER}), RNG)
