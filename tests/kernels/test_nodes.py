"""A node of a lattice judged alone: every figure against a plain count of its classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.kernels import nodes
from crypsis.kernels.nodes import BY_SIZE, DEMANDED, STRICTEST, CellBlock
from crypsis.searches.pbg_ea import evaluation
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from lattice_tables import tables
from naive.nodes import figures, plain


@given(
    tables,
    st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    st.sampled_from([BY_SIZE, STRICTEST, DEMANDED]),
    st.sampled_from([1, 3, 64]),
    st.sampled_from([0, 8]),
    st.sampled_from(["label", "illness"]),
    st.data(),
)
@settings(max_examples=60, deadline=None)
def test_a_node_equals_a_plain_count(table, share, rule, tallied, tail, label, data):
    """Values tallied or listed, with a tail of dense cells or none, labels of their own or the confidential values."""
    lattice, allowance = Lattice.of(table), int(share * len(table) + 1e-9)
    k, l = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 3))  # noqa: E741
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MOST_TALLIED", tallied)
        patch.setattr(evaluation, "MOST_TAIL", tail)
        context = evaluation.prepare_lattice_evaluation(table, lattice, "illness", label, True)
        lean = evaluation.prepare_lattice_evaluation(table, lattice, "illness", label, False)
    for number in data.draw(st.lists(st.integers(0, lattice.size - 1), min_size=1, max_size=4)):
        levels = lattice.levels(number)
        expected, loss = plain(table, levels, rule, allowance, (k, l), label)
        read = context.judge_node(levels, rule, allowance, k, l)
        assert figures(read, 0) == expected
        assert read.loss[0] == pytest.approx(loss, abs=1e-9)
        strict = context.judge_node(levels, rule, allowance, k, l, strict=True).loss[0]
        assert strict == (read.loss[0] if read.suppressed[0] <= allowance else np.inf)
        unspread = figures(lean.judge_node(levels, rule, allowance, k, l), 0)
        assert {**unspread, "s_l": expected["s_l"]} == expected


def test_cells_are_added_up_by_hand() -> None:
    """Cells 0 and 2 become one, cell 1 the other; classes 1 and 2 of four are looked at; other cells stay."""
    size = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 1, 1, 9]], dtype=np.int32)
    words = [[0, 1, 2, 0], [0, 0, 16, 0], [0, 4, 4, 0], [0, 64, 0, 0], [0, 1, 8, 0], [0, 32, 0, 0]]
    present = np.array(words, dtype=np.uint64)
    tally = np.arange(24, dtype=np.int32).reshape(6, 4)
    room = np.full((3, 4), 99, np.int32), np.full((6, 4), 99, np.uint64), np.full((6, 4), 99, np.int32)
    step = np.array([[0, 0, 0], [1, 0, 1]])
    nodes.add_up(CellBlock(size, present, tally, 0, 3, 1, 3), step, 1, CellBlock(*room, 1, 2, 0, 2))
    assert room[0].tolist() == [[99] * 4, [6, 7, 99, 99], [3, 4, 99, 99]]
    assert room[1][:, :2].tolist() == [[99, 99], [99, 99], [4, 4], [64, 0], [1, 10], [32, 16]]
    assert room[2][2:, :2].tolist() == [[9, 10], [13, 14], [1 + 17, 2 + 18], [5 + 21, 6 + 22]]


def test_counts_of_cells_by_hand() -> None:
    """Two cells, of each two values and then two labels; the second and third of three classes count."""
    size = np.array([[9, 5, 4], [9, 0, 7]], dtype=np.int32)
    tally = np.array([[9, 3, 0], [9, 2, 4], [9, 1, 2], [9, 4, 2], [9, 0, 1], [9, 0, 6], [9, 0, 7], [9, 0, 0]])
    block = CellBlock(size, np.zeros((0, 3), dtype=np.uint64), tally.astype(np.int32), 0, 2, 1, 3)
    sizes, distinct, most = np.empty(4, dtype=np.int64), np.empty(4, dtype=np.int64), np.empty(2, dtype=np.int64)
    found = nodes.count_cells(block, 2, sizes, distinct, most)
    assert sizes.tolist() == [5, 4, 0, 7]
    assert distinct.tolist() == [2, 1, 0, 2]
    assert found == ((5 - 4) + (4 - 2) + 0 + (7 - 7), 9 + 4 + 16 + 1 + 36)
    words = np.array([[7, 3, 1], [0, 0, 2**63 + 6], [5, 0, 6], [1, 0, 1]], dtype=np.uint64)
    nodes.count_cells(CellBlock(size, words, tally[:0].astype(np.int32), 0, 2, 1, 3), 0, sizes, distinct, most)
    assert distinct.tolist() == [2, 4, 0, 3]


def test_listed_labels_leave_tallied_values_and_no_values_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places A and B: A holds two of two values and three labels of five, B one value and two labels."""
    place = Hierarchy((np.arange(2, dtype=np.int32),), (("A", "B"),))
    made = [
        Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("A", "B"), place),
        Attribute("illness", Kind.NOMINAL, Role.CONFIDENTIAL, ("x", "y")),
        Attribute("label", Kind.NOMINAL, Role.OTHER, tuple("vwabc")),
    ]
    codes = [[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 2, 3, 4, 4]]
    table = Table(tuple(made), tuple(np.array(column, dtype=np.int32) for column in codes))
    monkeypatch.setattr(evaluation, "MOST_TALLIED", 3)
    for spread in (True, False):
        context = evaluation.prepare_lattice_evaluation(table, Lattice.of(table), "illness", "label", spread)
        read = figures(context.judge_node((0,), STRICTEST, 0), 0)
        assert (read["k"], read["l"], read["cm"], read["suppressed"]) == (3, 1, 2 + 1, 0)
        read = figures(context.judge_node((0,), DEMANDED, 0, 2, 2), 0)
        assert (read["k"], read["l"], read["cm"], read["suppressed"]) == (4, 2, 2 + 3, 3)
    for label in ("label", None):
        read = figures(
            evaluation.prepare_lattice_evaluation(table, Lattice.of(table), None, label, True).judge_node(
                (0,), BY_SIZE, 3
            ),
            0,
        )
        assert (read["k"], read["l"], read["classes"], read["suppressed"]) == (4, 0, 1, 3)
        read = figures(
            evaluation.prepare_lattice_evaluation(table, Lattice.of(table), None, label, True).judge_node(
                (0,), BY_SIZE, 2
            ),
            0,
        )
        assert (read["k"], read["l"], read["classes"], read["suppressed"]) == (3, 0, 2, 0)
