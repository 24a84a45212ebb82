"""Freezing tuples at the cheapest good node, and moving them afterwards."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels.recoding import Demand, Tuples, freeze, house_leftovers, rehome, settle
from lattice_tables import random_hierarchy
from naive import recoding as naive


def problem(seed: int, m: int, s: int):
    """Random distinct tuples under random trees with one root each."""
    rng = np.random.default_rng(seed)
    lifts, cells, marks, start, position = [], [], [], np.zeros((s, 6), dtype=np.int64), 0
    for a in range(s):
        hierarchy = random_hierarchy(rng, int(rng.integers(1, 8)), int(rng.integers(0, 3)))
        levels = [*hierarchy.groups, np.zeros(hierarchy.size, dtype=np.int32)]
        lifts.append([level.tolist() for level in levels])
        for level, group in enumerate(levels):
            start[a, level] = position
            position += len(group)
            held = np.bincount(group)[group]
            cells.append((held - 1) / max(len(group) - 1, 1))
            marks.append(rng.integers(0, 2**64, size=int(group.max()) + 1, dtype=np.uint64)[group])
    sizes = [len(lift[0]) for lift in lifts]
    leaf = np.unique(np.stack([rng.integers(0, size, m) for size in sizes], axis=1), axis=0).astype(np.int32)
    records = rng.integers(1, 5, len(leaf))
    present = rng.integers(1, 16, (len(leaf), 1)).astype(np.uint64)
    flat = np.concatenate([np.array(level, dtype=np.int32) for lift in lifts for level in lift])
    height = np.array([len(lift) - 1 for lift in lifts])
    tuples = Tuples(leaf, records, present, start, height, flat, np.concatenate(cells), np.concatenate(marks))
    grid = np.stack(np.meshgrid(*[np.arange(h + 1) for h in height], indexing="ij"), axis=-1).reshape(-1, s)
    return tuples, lifts, grid[np.argsort(grid.sum(axis=1), kind="stable")].astype(np.int16)


@given(st.integers(0, 9999), st.integers(1, 40), st.integers(1, 3), st.integers(1, 8), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_tuples_freeze_where_a_plain_loop_freezes_them(seed, m, s, k, l):  # noqa: E741
    tuples, lifts, nodes = problem(seed, m, s)
    values = [{bit for bit in range(4) if int(word) >> bit & 1} for word in tuples.present[:, 0]]
    twin = naive.freeze(tuples.leaf.tolist(), tuples.records.tolist(), values, lifts, nodes.tolist(), k, l)
    owner = freeze(tuples, nodes, Demand(k, l))
    assert [place < 0 for place in owner] == [node is None for node in twin]
    for group in range(int(owner.max()) + 1):
        assert len({twin[place] for place in np.flatnonzero(owner == group)}) == 1


@given(st.integers(0, 9999), st.integers(1, 40), st.integers(1, 3), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_moves_keep_every_record_every_k_and_never_cost(seed, m, s, k):
    tuples, lifts, nodes = problem(seed, m, s)
    k = min(k, int(tuples.records.sum()))
    owner = freeze(tuples, nodes, Demand(k, 1))
    homes = settle(tuples, owner)
    house_leftovers(tuples, homes, owner, k, True)
    before = float((homes.size * homes.loss).sum())
    effort = 10_000
    while effort:
        effort = rehome(tuples, homes, k, True, effort)
    assert float((homes.size * homes.loss).sum()) <= before + 1e-9
    seen = np.zeros(len(tuples.leaf), dtype=int)
    for group in range(int(homes.used[1])):
        rows, held, entry = [], 0, int(homes.head[group])
        while entry >= 0:
            rows.append(int(homes.row[entry]))
            held += int(homes.held[entry])
            seen[homes.row[entry]] += homes.held[entry]
            entry = int(homes.following[entry])
        assert held == homes.size[group]
        assert held == 0 or held >= k
        for a in range(s):
            level = int(homes.level[group, a])
            assert len({lifts[a][level][tuples.leaf[row, a]] for row in rows}) <= 1
            assert level == 0 or not rows or len({lifts[a][level - 1][tuples.leaf[row, a]] for row in rows}) > 1
    assert seen.tolist() == tuples.records.tolist()
