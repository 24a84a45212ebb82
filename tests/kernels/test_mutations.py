"""Where a change goes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import ledgers, table
from crypsis.kernels.mutations import aim, is_linked
from naive import mutations as naive


def posed(masked, ordinal=(True, False)):
    original = table([(0, 0), (1, 1), (2, 2), (3, 0)] * 5, [4, 3], ordinal)
    return ledgers(original, [table(masked * 5, [4, 3], ordinal)])


def now(files):
    return files.stack.tallies.codes[0]


def chosen(files, aimed, strokes=400):
    """Changes of any record, in each column in turn, aimed."""
    draws = np.random.default_rng(1).random((strokes, 11))
    changes = np.stack([np.arange(strokes) % 20, np.arange(strokes) % 2, np.full(strokes, -1)], axis=1)
    aim(files.stack.frame, files.stack.tallies, files.trial, 0, changes, draws, aimed)
    return changes


def test_aimed_changes_are_valid_and_change_something():
    files = posed([(0, 0), (1, 1), (2, 2), (0, 1)])
    for row, attribute, code in chosen(files, 1.0):
        assert 0 <= code < (4, 3)[attribute]
        assert code != now(files)[row, attribute]


def test_what_is_not_aimed_stays_as_it_was():
    files = posed([(0, 0), (1, 1), (2, 2), (0, 1)])
    assert (chosen(files, 0.0)[:, 2] == -1).all()
    some = (chosen(files, 0.3)[:, 2] == -1).mean()
    assert 0.6 < some < 0.8


def test_where_risk_weighs_more_linked_records_move_one_step():
    """The identity: all risk; every ordered move is to a neighbour."""
    files = posed([(0, 0), (1, 1), (2, 2), (3, 0)])
    for row, attribute, code in chosen(files, 1.0):
        if attribute == 0:
            assert abs(code - now(files)[row, 0]) == 1


def test_where_loss_weighs_more_changed_cells_go_home():
    """A constant mask: all loss; a change of the ordered attribute goes to or towards the original."""
    files = posed([(0, 0), (0, 0), (0, 0), (0, 0)])
    for row, attribute, code in chosen(files, 1.0):
        home = files.stack.context.codes[row, attribute]
        here = now(files)[row, attribute]
        assert abs(code - home) < abs(here - home) or attribute == 1 or here == home


def test_an_attribute_of_one_category_is_left_alone():
    original = table([(0,), (0,)], [1], [True])
    files, changes = ledgers(original, [original]), np.array([[1, 0, -1]])
    aim(files.stack.frame, files.stack.tallies, files.trial, 0, changes, np.zeros((1, 4)), 1.0)
    assert changes.tolist() == [[0, 0, 0]], "found, and nothing else to be"


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
    files = ledgers(table(original, sizes, ordinal), [table(codes, sizes, ordinal) for codes in (other, masked)])
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
    assert [is_linked(frame, tallies, 1, row) for row in range(n)] == found
    side = naive.weightier(goal[1] * loss, goal[2] * risk) if goal[0] else "either"
    standing = naive.Standing(masked, original, found if linking else [True] * n, offered, ordinal)
    draws, aimed = rng.integers(0, 8, (40, 6)) / 8, [0.0, 0.5, 1.0, 1.0][rng.integers(4)]
    changes = rng.integers(0, (n, p, 9), (40, 3))
    pairs = zip(changes.tolist(), draws.tolist(), strict=True)
    expected = [list(naive.aimed_change(standing, side, tuple(change), draw, aimed)) for change, draw in pairs]
    aim(frame, tallies, files.trial, 1, changes, draws, aimed)
    assert changes.tolist() == expected
