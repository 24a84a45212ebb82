from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.kernels.annealing import sse
from crypsis.kernels.classes import group_shortfall
from crypsis.privacy import AlphaKAnonymity, KAnonymity, LDiversity, PrivacyModel, TCloseness
from crypsis.privacy.demands import ClassDemands, class_demands
from crypsis.searches.memetic import Memetic
from crypsis.searches.partitions.refinements import ContentRefinement, refine_slice_groups
from crypsis.searches.partitions.space import PartitionSpace
from crypsis.table.table import Table

MODELS: list[PrivacyModel] = [
    LDiversity(l=2),
    LDiversity(l=2.5, kind="entropy"),
    TCloseness(t=0.25, distance="equal"),
    AlphaKAnonymity(alpha=0.6, k=2),
]


def people(seed: int, n: int) -> tuple[Table, np.ndarray]:
    """Records in clouds; the confidential value depends on the cloud, so that near records are too alike."""
    rng = np.random.default_rng(seed)
    cloud = rng.integers(0, 4, n)
    points = rng.normal(size=(n, 2)) + 4.0 * np.stack([cloud % 2, cloud // 2], axis=1)
    ills = np.where(rng.random(n) < 0.7, cloud, rng.integers(0, 4, n))
    table = Table.from_columns(
        {"x": points[:, 0], "y": points[:, 1], "ill": ills.astype(str)},
        {"x": "quasi", "y": "quasi", "ill": "confidential"},
    )
    return table, points


def refined(
    seed: int, n: int, k: int, models: list[PrivacyModel]
) -> tuple[ClassDemands, PartitionSpace, list[np.ndarray]]:
    table, points = people(seed, n)
    demands = class_demands(models, table, table.quasi_identifiers)
    space = PartitionSpace(points, (k,))
    refinement = ContentRefinement(Memetic(steps=0).refinement(), demands)
    chain = refinement.begin(space, k, seed)
    found = [chain.labels]
    for _ in range(4):
        chain = refinement.absorb(space, chain, [refinement.work(space, t) for t in refinement.tasks(space, chain)])
        found.append(chain.labels)
    return demands, space, found


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(seed=st.integers(0, 1_000), n=st.integers(20, 80))
@settings(max_examples=12, deadline=None)
def test_every_group_passes_and_no_quantum_makes_it_worse(model: PrivacyModel, seed: int, n: int) -> None:
    models = [KAnonymity(k=3), model]
    demands, space, found = refined(seed, n, 3, models)
    if demands.shortfall(np.arange(n)) > 0:
        return
    for labels in found:
        assert demands.shortfalls(labels).max() == 0
        assert np.bincount(labels).min() >= 3
        for group in range(int(labels.max()) + 1):
            rows = np.flatnonzero(labels == group).astype(np.int64)
            assert group_shortfall(demands.arrays, demands.room(), rows, len(rows)) == 0
    errors = [sse(space.points, labels) for labels in found]
    assert errors == sorted(errors, reverse=True)


def test_annealing_beats_merging() -> None:
    _, space, found = refined(5, 300, 4, [KAnonymity(k=4), LDiversity(l=2)])
    assert sse(space.points, found[-1]) < 0.8 * sse(space.points, found[0])


@given(st.integers(2, 6), st.integers(2, 8), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_slices_keep_the_bound_of_the_paper(slices: int, groups: int, seed: int) -> None:
    """Every group of one record per slice is within (n − k′) / (2 (n − 1) k′) of the table."""
    n, rng = slices * groups, np.random.default_rng(seed)
    labels = refine_slice_groups(rng.normal(size=(n, 2)), rng.permutation(n), slices)
    assert np.bincount(labels).tolist() == [slices] * groups
    pay = np.empty(n)
    labels = refine_slice_groups(rng.normal(size=(n, 2)), order := rng.permutation(n), slices)
    pay[order] = np.arange(n)
    table = Table.from_columns({"q": labels.astype(str), "pay": pay}, {"q": "quasi", "pay": "confidential"})
    bound = (n - slices) / (2 * (n - 1) * slices)
    assert np.nanmax(TCloseness(distance="ordered").levels(table)) <= bound + 1e-9


def test_a_surplus_goes_to_the_middle_slices() -> None:
    labels = refine_slice_groups(np.arange(11.0)[:, None], np.arange(11), 3)
    assert sorted(np.bincount(labels).tolist()) == [3, 4, 4]


def test_the_search_under_models_is_the_same_twice() -> None:
    models = [KAnonymity(k=3), TCloseness(t=0.2, confidential=("income",))]
    found = []
    for _ in range(2):
        with crypsis.evolve(crypsis.example(150), "memetic", models, budget="4 generations", seed=3) as run:
            own = [s for s in run.front.everything if s.title == "memetic"]
            assert own
            assert all(s.feasible for s in own)
            found.append([(s.figure("loss"), s.figure("risk")) for s in own])
    assert found[0] == found[1]
