"""Freezing tuples at the cheapest good node, and moving them afterwards."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crypsis.kernels.recoding import (
    ClassDemand,
    Tuples,
    assign_leftovers,
    freeze_recoded_tuples,
    make_recoding_groups,
    relocate_group,
    relocate_groups,
    widened_loss,
)
from crypsis.masking.local_recoding import improve_local_recoding
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
    owner = freeze_recoded_tuples(tuples, nodes, ClassDemand(k, l))
    assert [place == -1 for place in owner] == [node is None for node in twin]
    assert sorted(set(owner.tolist()) - {-1}) == list(range(int(owner.max()) + 1))
    for group in range(int(owner.max()) + 1):
        assert len({twin[place] for place in np.flatnonzero(owner == group)}) == 1


@given(st.integers(0, 9999), st.integers(1, 40), st.integers(1, 3), st.integers(1, 8))
@settings(max_examples=200)
@example(3437, 10, 3, 3)  # two members of a group count on the same records of a third
def test_moves_keep_every_record_every_k_and_never_cost(seed, m, s, k):
    tuples, lifts, nodes = problem(seed, m, s)
    k = min(k, int(tuples.records.sum()))
    owner = freeze_recoded_tuples(tuples, nodes, ClassDemand(k, 1))
    homes = make_recoding_groups(tuples, owner)
    assign_leftovers(tuples, homes, owner, k, True)
    before = float((homes.size * homes.loss).sum())
    for _ in improve_local_recoding(tuples, homes, k, 10_000):
        pass
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


def one_pass(tuples, homes, k, effort):
    """One pass over the groups, dearest first."""
    order = np.argsort(-homes.loss[: int(homes.used[1])], kind="stable")
    return relocate_groups(order, tuples, homes, k, True, effort)


def told(homes):
    """What the kernel's chains hold: per group its [tuple, records] from the head on."""
    groups = []
    for group in range(int(homes.used[1])):
        groups.append([])
        entry = int(homes.head[group])
        while entry >= 0:
            groups[-1].append([int(homes.row[entry]), int(homes.held[entry])])
            entry = int(homes.following[entry])
    return groups


def agree(homes, twin):
    assert told(homes) == twin.groups
    for group, held in enumerate(twin.groups):
        assert homes.size[group] == sum(count for _, count in held)
        if held:
            assert homes.level[group].tolist() == twin.levels[group]
            assert homes.loss[group] == twin.loss(group)


@given(st.integers(0, 9999), st.integers(2, 30), st.integers(1, 3), st.integers(1, 5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_moves_are_those_of_plain_lists(seed, m, s, k, lending):
    """Losses in eighths, so that sums are exact and what ties in theory ties."""
    tuples, lifts, nodes = problem(seed, m, s)
    cells = [[[(level.count(group) - 1) / 8 for group in level] for level in lift] for lift in lifts]
    tuples = tuples._replace(cell=np.array([cell for lift in cells for level in lift for cell in level]))
    k = min(k, int(tuples.records.sum()))
    owner = freeze_recoded_tuples(tuples, nodes, ClassDemand(k, 1))
    twin = naive.Homes(tuples.leaf.tolist(), tuples.records.tolist(), lifts, cells, owner.tolist())
    homes = make_recoding_groups(tuples, owner)
    agree(homes, twin)
    for row in np.flatnonzero(owner < 0):
        count = int(tuples.records[row])
        twin.move(int(row), count, twin.best_home(int(row), count, -1, k, lending, float("inf")), k)
    assign_leftovers(tuples, homes, owner, k, lending)
    agree(homes, twin)
    for group in range(len(twin.groups)):
        for row in range(len(tuples.leaf)):
            wanted = twin.with_tuple(group, row)
            assert widened_loss(tuples, homes, group, row, wanted) == wanted
            assert widened_loss(tuples, homes, group, row, wanted - 0.01) == np.inf
    for group in range(len(twin.groups)):
        if twin.groups[group]:
            assert relocate_group(tuples, homes, group, k, lending) == twin.rehome_group(group, k, lending)
            agree(homes, twin)


@given(st.integers(0, 9999), st.integers(2, 30), st.integers(1, 3), st.integers(1, 4), st.integers(1, 200))
@settings(max_examples=100, deadline=None)
def test_a_pass_takes_the_dearest_first_until_its_effort_is_spent(seed, m, s, k, effort):
    """Pass after pass, as long as no two groups are equally dear: which of those comes first is left open."""
    tuples, lifts, nodes = problem(seed, m, s)
    cells = [
        [[(level.count(group) - 1) / 8 + a * step / 64 for group in level] for step, level in enumerate(lift)]
        for a, lift in enumerate(lifts)
    ]
    tuples = tuples._replace(cell=np.array([cell for lift in cells for level in lift for cell in level]))
    k = min(k, int(tuples.records.sum()))
    owner = freeze_recoded_tuples(tuples, nodes, ClassDemand(k, 1))
    twin = naive.Homes(tuples.leaf.tolist(), tuples.records.tolist(), lifts, cells, owner.tolist())
    homes = make_recoding_groups(tuples, owner)
    assign_leftovers(tuples, homes, owner, k, True)
    for row in np.flatnonzero(owner < 0):
        count = int(tuples.records[row])
        twin.move(int(row), count, twin.best_home(int(row), count, -1, k, True, float("inf")), k)
    left = effort
    while left:
        dear = [twin.loss(group) for group in range(len(twin.groups)) if twin.loss(group)]
        if len(set(dear)) < len(dear):
            break
        before = left
        left = one_pass(tuples, homes, k, before)
        assert left == twin.rehome(k, True, before)
        agree(homes, twin)


def test_a_pass_without_room_to_grow_changes_nothing():
    """One column of four leaves: {0, 3} at the root would part at once; with no entry or no group to spare it stays."""
    leaf = np.array([[0], [1], [2], [3]], dtype=np.int32)
    group = np.array([0, 1, 2, 3, 0, 0, 1, 1, 0, 0, 0, 0], dtype=np.int32)
    cell = np.repeat([0.0, 0.5, 1.0], 4)
    tuples = Tuples(
        leaf, np.full(4, 2), np.zeros((4, 0), dtype=np.uint64), np.array([[0, 4, 8]]), np.array([2]), group, cell,
        np.zeros(12, dtype=np.uint64),
    )  # fmt: skip
    for full in (False, True):
        for which in ("entries", "groups"):
            homes = make_recoding_groups(tuples, np.array([0, 1, 2, 0]))
            entries, groups = (int(used) + 2 + (not full) for used in homes.used)
            if which == "entries":
                homes = homes._replace(
                    **{name: getattr(homes, name)[:entries] for name in ("row", "held", "following")}
                )
            else:
                homes = homes._replace(
                    **{name: getattr(homes, name)[:groups] for name in ("head", "size", "level", "loss")}
                )
            one_pass(tuples, homes, 2, 1000)
            assert (told(homes)[0] == [[3, 2], [0, 2]]) == full
