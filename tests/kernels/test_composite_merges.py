"""Composite groups that miss a demand join near ones: which, and what is left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.kernels.composite import STEP, Costing, find_best_partner
from crypsis.masking.representatives import Representative
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.closeness import TCloseness
from crypsis.privacy.demands import class_demands
from crypsis.privacy.diversity import LDiversity
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.composite.annealing import CompositeAnnealer
from crypsis.searches.composite.space import PRICE, CompositeSpace
from crypsis.table.attribute import attribute_weights
from crypsis.table.table import Table


def space_of(table: Table, model: PrivacyModel, strata: np.ndarray | None = None) -> CompositeSpace:
    names = tuple(table.quasi_identifiers)
    attributes = [table.attribute(name) for name in names]
    profile = tuple(Representative.MEDIAN if each.numeric else Representative.CHEAPEST for each in attributes)
    apart = np.zeros(len(table), np.int32) if strata is None else strata
    demands = class_demands((model,), table, names)
    return CompositeSpace(table, names, (profile,), (3,), attribute_weights(attributes), apart, demands)


def slow_cost(space: CompositeSpace, rows: np.ndarray) -> float:
    """What some records cost as a group with what they are charged."""
    labels = np.arange(1, len(space) + 1, dtype=np.int32)
    labels[rows] = 0  # records alone cost nothing
    missed = space.demands.shortfall(rows)
    charge = PRICE * sum(space.weights) * len(rows) * (STEP + missed) if missed else 0.0
    return space.cost(0, np.unique(labels, return_inverse=True)[1].astype(np.int32)) + charge


def test_who_lacks_diversity_joins_the_nearest_group_with_which_both_have_it() -> None:
    """0 0, all ill with a: next to 1 1 (all a) and 2 2 (a, b); 9 9 (a, b) is farther."""
    table = Table.from_columns(
        {"x": [0.0, 0, 1, 1, 2, 2, 9, 9], "ill": list("aaaaabab")}, {"x": "quasi", "ill": "confidential"}
    )
    space = space_of(table, LDiversity(l=2))
    annealer = CompositeAnnealer(space, 0, 2, np.ones(1, np.uint64))
    annealer.load(np.repeat(np.arange(4, dtype=np.int32), 2))
    annealer.merge_short()
    labels = annealer.labels()
    assert labels[6] == labels[7]
    assert len(set(labels[:6].tolist())) == 1
    assert labels[0] != labels[6]


def test_groups_that_are_too_small_join_the_nearest() -> None:
    table = Table.from_columns({"x": [0.0, 0, 1, 1, 8, 8, 9, 9]}, {"x": "quasi"})
    space = space_of(table, KAnonymity(k=2))
    annealer = CompositeAnnealer(space, 0, 2, np.ones(1, np.uint64))
    annealer.load(np.repeat(np.arange(4, dtype=np.int32), 2))
    annealer.merge_short(4)
    labels = annealer.labels()
    assert labels[[0, 2, 4, 6]].tolist() == labels[[1, 3, 5, 7]].tolist()
    assert labels[0] == labels[2] != labels[4] == labels[6]


@given(st.integers(0, 10_000), st.sampled_from([LDiversity(l=3), TCloseness(t=0.3), TCloseness(t=0.05)]))
@settings(max_examples=25, deadline=None)
def test_partners_cost_least_and_groups_are_unions_that_meet_the_demand(seed: int, model: PrivacyModel) -> None:
    table = crypsis.example(90, seed=seed % 11)
    strata = (np.random.default_rng(seed).random(90) < 0.5).astype(np.int32)
    space = space_of(table, model, strata)
    annealer = CompositeAnnealer(space, 0, 3, np.ones(1, np.uint64))
    before = space.halve(0, 3)
    annealer.load(before)
    group, stamp = seed % (int(before.max()) + 1), np.zeros(len(annealer.groups.sizes) + 1, np.int32)
    rows = np.flatnonzero(before == group)
    for anybody in (False, True):
        found = find_best_partner(
            annealer.groups,
            Costing(annealer.charges, annealer.cells, annealer.workspace),
            annealer.context,
            group,
            stamp,
            anybody,
        )
        others = np.arange(len(space)) if anybody else np.unique(annealer.context.near[rows])
        able = set(before[others[strata[others] == strata[rows[0]]]].tolist()) - {group}
        rises = {
            g: slow_cost(space, np.flatnonzero((before == group) | (before == g)))
            - slow_cost(space, np.flatnonzero(before == g))
            for g in able
        }
        assert found == -1 if not able else rises[found] == pytest.approx(min(rises.values()))
    annealer.merge_short()
    after = annealer.labels()
    assert all(len(set(after[before == g].tolist())) == 1 for g in range(int(before.max()) + 1)), "whole groups join"
    assert all(len(set(strata[after == g].tolist())) == 1 for g in range(int(after.max()) + 1))
    for g in np.flatnonzero(space.demands.shortfalls(after) > 0.0):
        assert (strata == strata[after == g][0]).sum() == (after == g).sum(), "short only where all of a stratum are"
    assert annealer.costs().sum() == pytest.approx(annealer.load(after))
