from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.masking.local_recoding import LocalRecoding, Publication
from crypsis.privacy import BetaLikeness, KAnonymity, LDiversity, PrivacyModel, TCloseness
from crypsis.privacy.demands import class_demands
from crypsis.table.table import Table
from lattice_tables import random_table

MODELS: list[PrivacyModel] = [
    LDiversity(l=2),
    LDiversity(l=2.5, kind="entropy"),
    LDiversity(l=2, kind="recursive"),
    TCloseness(t=0.25, distance="equal"),
    BetaLikeness(beta=2.0, kind="basic"),
]


def recoded(table: Table, models: list[PrivacyModel], k: int = 2, effort: int = 100_000) -> tuple[Table, np.ndarray]:
    names = tuple(table.quasi_identifiers)
    method = LocalRecoding(k=k, columns=names, nodes=500, effort=effort)
    arrays = class_demands(models, table, names).arrays
    found = method.solve(table, np.random.default_rng(0), arrays)
    return Publication(table, names).publish(found), found.labels


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(seed=st.integers(0, 10_000), rows=st.integers(6, 60), missing=st.booleans())
@settings(max_examples=20, deadline=None)
def test_every_class_passes_where_the_whole_file_does(model: PrivacyModel, seed: int, rows: int, missing: bool) -> None:
    table = random_table(seed, rows, 3, missing)
    models = [KAnonymity(k=3), model]
    masked, labels = recoded(table, models, k=3)
    whole = class_demands(models, table, table.quasi_identifiers).shortfall(np.arange(rows))
    if whole == 0:
        assert all(each.judge(masked).holds for each in models)
        assert np.bincount(labels).min() >= 3
    assert masked.kept.all()


@given(seed=st.integers(0, 1_000))
@settings(max_examples=15, deadline=None)
def test_a_class_publishes_the_lowest_common_ancestors_of_its_records(seed: int) -> None:
    table = random_table(seed, 40, 3)
    names = tuple(table.quasi_identifiers)
    arrays = class_demands([KAnonymity(k=3), LDiversity(l=2)], table, names).arrays
    found = LocalRecoding(k=3, columns=names, nodes=500).solve(table, np.random.default_rng(0), arrays)
    for number, levels in enumerate(found.levels):
        rows = np.flatnonzero(found.labels == number)
        for name, level in zip(names, levels, strict=True):
            groups = table.attribute(name).hierarchy.groups  # type: ignore[union-attr]
            leaves = table.leaf_codes(name)[rows]
            lowest = next((h for h, g in enumerate(groups) if len(set(g[leaves].tolist())) == 1), len(groups))
            assert level == lowest


def test_moves_never_cost_more() -> None:
    table = crypsis.example(300)
    models = [KAnonymity(k=5), TCloseness(t=0.3, confidential=("diagnosis",))]
    loss = crypsis.CellLoss().against(table)
    moved, merged = recoded(table, models, 5)[0], recoded(table, models, 5, effort=0)[0]
    assert loss.read(moved) < loss.read(merged)


def test_the_search_finds_solutions_that_meet_t() -> None:
    models = [KAnonymity(k=3), TCloseness(t=0.3, confidential=("diagnosis",))]
    search = crypsis.LocalRecodingSearch(k=3, k_values=3, nodes=128)
    with crypsis.evolve(crypsis.example(200), search, models, budget="2 generations", seed=1) as run:
        found = [s for s in run.front.everything if s.title == "local-recoding"]
        assert found
        assert all(s.feasible for s in found)
