"""Where a change goes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import table
from crypsis.kernels.mutations import linked, moves
from crypsis.searches.maskings.files import Files, seven
from naive import mutations as naive


def posed(masked, ordinal=(True, False)):
    original = table([(0, 0), (1, 1), (2, 2), (3, 0)] * 5, [4, 3], ordinal)
    return Files(original, [table(masked * 5, [4, 3], ordinal)], seven())


def chosen(files, aimed, strokes=400):
    draws = np.random.default_rng(1).random((strokes, 12))
    return moves(files.stack.frame, files.stack.tallies, files.trial, 0, draws, aimed)


@pytest.mark.parametrize("aimed", [0.0, 1.0])
def test_changes_are_valid_and_change_something(aimed):
    files = posed([(0, 0), (1, 1), (2, 2), (0, 1)])
    for row, attribute, code in chosen(files, aimed):
        assert 0 <= code < (4, 3)[attribute]
        assert code != files.codes(0)[row, attribute]


def test_changes_at_random_reach_every_category():
    files = posed([(0, 0), (1, 1), (2, 2), (0, 1)])
    assert {(int(j), int(code)) for _, j, code in chosen(files, 0.0)} >= {(0, c) for c in range(4)} | {(1, 0), (1, 2)}


def test_where_risk_weighs_more_linked_records_move_one_step():
    """The identity: all risk; every ordered move is to a neighbour."""
    files = posed([(0, 0), (1, 1), (2, 2), (3, 0)])
    for row, attribute, code in chosen(files, 1.0):
        if attribute == 0:
            assert abs(code - files.codes(0)[row, 0]) == 1


def test_where_loss_weighs_more_changed_cells_go_home():
    """A constant mask: all loss; a change of the ordered attribute goes to or towards the original."""
    files = posed([(0, 0), (0, 0), (0, 0), (0, 0)])
    for row, attribute, code in chosen(files, 1.0):
        home = files.context.codes[row, attribute]
        here = files.codes(0)[row, attribute]
        assert abs(code - home) < abs(here - home) or attribute == 1 or here == home


def test_an_attribute_of_one_category_is_left_alone():
    original = table([(0,), (0,)], [1], [True])
    files = Files(original, [original], seven())
    assert (chosen(files, 0.0)[:, 2] == 0).all()


def costs(frame, masked):
    """How far every masked record lies from every original, from the table of costs and where its pairs stand."""
    at, wide, home = frame.shape.at, frame.shape.wide, frame.tuples[frame.members]
    return [
        [sum(frame.costs[0, at[j] + m * wide[j] + o] for j, (o, m) in enumerate(zip(one, other, strict=True)))
         for other in masked]
        for one in home
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_changes_equal_their_definition(seed):
    """Draws in eighths, so that every border is met; categories fewer than the codes, so that some lie outside."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    sizes, ordinal = rng.integers(1, 6, p).tolist(), rng.integers(0, 2, p).astype(bool).tolist()
    original, other, masked = (rng.integers(0, sizes, (n, p)).tolist() for _ in range(3))
    files = Files(table(original, sizes, ordinal), [table(codes, sizes, ordinal) for codes in (other, masked)], seven())
    offered = [int(max(size - rng.integers(0, 2), 1)) for size in sizes]
    goal = [(1.0, 1.0, 1.0), (0.0, 1.0, 3.0), (1.0, 2.0, 1.0), (1.0, 1.0, 2.0)][rng.integers(4)]
    loss, risk = [(0.5, 0.5), (0.5, 0.495), (0.5, 0.48), (0.25, 0.5), (0.5, 0.25), (0.0, 0.5), (0.0, 0.0)][
        rng.integers(7)
    ]
    files.trial.goals[1], files.trial.pairs[1], files.trial.sizes[:] = (*goal, 9.0), (loss, risk), offered
    linking = bool(rng.integers(4))
    files.stack.frame.chosen[4] = linking
    frame, tallies = files.stack.frame, files.stack.tallies
    far = costs(frame, masked)
    found = [far[row][row] == min(far[row]) for row in range(n)]
    assert [linked(frame, tallies, 1, row) for row in range(n)] == found
    side = naive.weightier(goal[1] * loss, goal[2] * risk) if goal[0] else "either"
    standing = naive.Standing(masked, original, found if linking else [True] * n, offered, ordinal)
    draws, aimed = rng.integers(0, 8, (40, 7)) / 8, [0.0, 0.5, 1.0, 1.0][rng.integers(4)]
    chosen = moves(frame, tallies, files.trial, 1, draws, aimed)
    assert chosen.tolist() == [list(naive.move(standing, side, draw, aimed)) for draw in draws.tolist()]
    assert chosen.dtype == np.int64
