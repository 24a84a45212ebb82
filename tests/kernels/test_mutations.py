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
        home = files.ground.codes[row, attribute]
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
@given(st.data())
def test_changes_equal_their_definition(data):
    """Draws in eighths, so that every border is met; categories fewer than the codes, so that some lie outside."""
    p, n = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    sizes = [data.draw(st.integers(1, 4)) for _ in range(p)]
    ordinal = [data.draw(st.booleans()) for _ in range(p)]
    record = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    original, other, masked = (data.draw(st.lists(record, min_size=n, max_size=n)) for _ in range(3))
    files = Files(
        *(table(original, sizes, ordinal), [table(codes, sizes, ordinal) for codes in (other, masked)]), seven()
    )
    offered = [data.draw(st.sampled_from([size, max(size - 1, 1)])) for size in sizes]
    goal = data.draw(st.sampled_from([(1.0, 1.0, 1.0), (0.0, 1.0, 3.0), (1.0, 2.0, 1.0)]))
    pair = data.draw(st.sampled_from([(0.5, 0.5), (0.5, 0.495), (0.25, 0.5), (0.5, 0.25), (0.0, 0.0), (0.495, 0.5)]))
    files.trial.goals[1, :3], files.trial.pairs[1], files.trial.sizes[:] = goal, pair, offered
    linking = data.draw(st.booleans())
    files.stack.frame.chosen[4] = linking
    frame, tallies = files.stack.frame, files.stack.tallies
    far = costs(frame, masked)
    found = [far[row][row] == min(far[row]) for row in range(n)]
    assert [linked(frame, tallies, 1, row) for row in range(n)] == found
    side = naive.weightier(goal[1] * pair[0], goal[2] * pair[1]) if goal[0] else "either"
    standing = naive.Standing(masked, original, found if linking else [True] * n, offered, ordinal)
    eighths = st.integers(0, 7).map(lambda eighth: eighth / 8)
    draws = data.draw(st.lists(st.lists(eighths, min_size=7, max_size=7), min_size=1, max_size=8))
    aimed = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    chosen = moves(frame, tallies, files.trial, 1, np.array(draws), aimed)
    assert chosen.tolist() == [list(naive.move(standing, side, draw, aimed)) for draw in draws]
    assert chosen.dtype == np.int64
