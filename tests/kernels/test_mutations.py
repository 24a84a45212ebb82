"""Where a change goes."""

from __future__ import annotations

import numpy as np
import pytest

from categories import table
from crypsis.kernels.mutations import moves
from crypsis.searches.maskings.files import Files, seven


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
