"""All nodes of a lattice by roll-up: each as a plain count has it, and none left out that could succeed."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import rollup
from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST
from crypsis.searches.pbg_ea import evaluation
from crypsis.table.lattice import Lattice
from lattice_tables import random_table, tables
from naive.equivalence_classes import group_by
from naive.nodes import figures, plain


@given(
    tables,
    st.sampled_from([0.0, 0.1, 0.3]),
    st.sampled_from([BY_SIZE, STRICTEST, DEMANDED]),
    st.sampled_from([1, 64]),
    st.sampled_from([0, 8]),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_every_node_is_that_of_a_plain_count_and_of_itself_alone(table, share, rule, tallied, tail, data):
    lattice, allowance = Lattice.of(table), int(share * len(table) + 1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MOST_TALLIED", tallied)
        patch.setattr(evaluation, "MOST_TAIL", tail)
        context = evaluation.prepare_lattice_evaluation(table, lattice, "illness", "label", True)
    read = context.judge_nodes(rule, allowance, 3, 2)
    with pytest.MonkeyPatch.context() as patch:  # a walk that stops after every node gives the same
        walk = partial(evaluation.roll_up, most=1)
        patch.setattr(evaluation, "roll_up", walk)
        for whole, cut in zip(read, context.judge_nodes(rule, allowance, 3, 2), strict=True):
            assert whole.tolist() == cut.tolist()
    for number in range(lattice.size):
        alone = context.judge_node(lattice.levels(number), rule, allowance, 3, 2)
        assert figures(read, number) == figures(alone, 0)
        assert read.loss[number] == pytest.approx(alone.loss[0], abs=1e-9)
    for number in data.draw(st.lists(st.integers(0, lattice.size - 1), min_size=1, max_size=6)):
        expected, loss = plain(table, lattice.levels(number), rule, allowance, (3, 2), "label")
        assert figures(read, number) == expected
        assert read.loss[number] == pytest.approx(loss, abs=1e-9)


@pytest.mark.parametrize("rows", [60, 300])
@pytest.mark.parametrize("seed", range(6))
def test_long_runs_are_merged_as_short_ones(seed, rows):
    """Up to eight leaves in four columns: several raises of a node alone, and stretches beyond what insertion sorts."""
    table = random_table(seed, rows, 4)
    lattice = Lattice.of(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MOST_TAIL", 0)
        context = evaluation.prepare_lattice_evaluation(table, lattice, "illness", "label", True)
    cells = np.stack([table.leaf_codes(name) for name in lattice.names], axis=1)
    for number in range(0, lattice.size, max(1, lattice.size // 12)):
        levels = lattice.levels(number)
        lifted = np.stack(
            [h.groups[level][cells[:, a]] for a, (h, level) in enumerate(zip(lattice.hierarchies, levels, strict=True))]
        )
        _, sizes = np.unique(lifted, axis=1, return_counts=True)
        read = context.judge_node(levels, BY_SIZE, 0)
        assert (read.classes[0], read.k[0], read.size_sum[0]) == (len(sizes), sizes.min(), (sizes**2).sum())


@given(tables, st.integers(2, 6), st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0, 8]))
@settings(max_examples=40, deadline=None)
def test_a_node_is_left_out_only_if_it_cannot_reach_k(table, k, share, tail):
    """Without a tail exactly those are: too many of their records stand in classes below k."""
    lattice, allowance = Lattice.of(table), int(share * len(table) + 1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MOST_TAIL", tail)
        context = evaluation.prepare_lattice_evaluation(table, lattice, "illness", "label", True)
    whole, pruned = context.judge_nodes(BY_SIZE, allowance), context.judge_nodes(BY_SIZE, allowance, prune=k)
    cells = [table.leaf_codes(name).tolist() for name in lattice.names]
    for number in range(lattice.size):
        levels = lattice.levels(number)
        lifts = [h.groups[level] for h, level in zip(lattice.hierarchies, levels, strict=True)]
        lifted = [
            tuple(-1 if c < 0 else int(lift[c]) for lift, c in zip(lifts, row, strict=True))
            for row in zip(*cells, strict=True)
        ]
        small = sum(len(members) for members in group_by(lifted).values() if len(members) < k)
        if pruned.classes[number] < 0:
            assert small > allowance
        else:
            assert tail or small <= allowance
            assert figures(pruned, number) == figures(whole, number)


@given(st.sampled_from([1, 2, 9, 32, 33, 34, 60]), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_runs_are_sorted_stably(n, seed):
    """Positions sorted by the rank of their row; what lies behind the first n is not touched."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, n + 1, 2))
    rank = rng.integers(0, rng.choice([2, 10, 100]), n).astype(np.int32)
    for a, b in ((0, cuts[0]), (cuts[0], cuts[1]), (cuts[1], n)):
        rank[a:b].sort()
    row = rng.permutation(n).astype(np.int32)
    by_row = np.empty(n, dtype=np.int32)
    by_row[row] = rank
    order, spare = np.append(np.arange(n), [77, 78]), np.zeros(n + 2, dtype=np.int64)
    rollup.sort_runs(order, n, spare, by_row, row)
    assert order.tolist() == [*sorted(range(n), key=lambda place: rank[place]), 77, 78]
