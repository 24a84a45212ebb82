"""Cell loss by hand: moved, widened, changed, blanked, suppressed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.measures.cell_loss import CellLoss, cell_losses
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

QUASI = Role.QUASI_IDENTIFIER
AGES = Hierarchy.from_rows(
    [["0", "0–9", "*"], ["5", "0–9", "*"], ["10", "10–19", "*"], ["20", "20–29", "*"]], np.array([0.0, 5, 10, 20])
)
PLACES = Hierarchy.from_rows([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])


def table() -> Table:
    return Table(
        (
            Attribute("age", Kind.NUMERIC, QUASI, hierarchy=AGES),
            Attribute("place", Kind.NOMINAL, QUASI, ("a", "b", "c"), PLACES),
            Attribute("grade", Kind.ORDINAL, QUASI, ("low", "mid", "high")),
        ),
        (
            np.array([0.0, 5, 10, 20, np.nan]),
            np.array([0, 1, 2, 2, -1], dtype=np.int32),
            np.array([0, 1, 2, -1, 0], dtype=np.int32),
        ),
    )


def test_moved_cells_by_hand() -> None:
    original = table()
    masked = original.with_columns(
        {
            "age": np.array([2.0, 2, 10, np.nan, 4]),
            "place": np.array([1, 1, 2, -1, -1], dtype=np.int32),
            "grade": np.array([2, 2, 2, -1, 1], dtype=np.int32),
        }
    )
    assert cell_losses(original, masked, "age").tolist() == pytest.approx([0.1, 0.15, 0, 1, 1])  # range 20
    assert cell_losses(original, masked, "place").tolist() == [1, 0, 0, 1, 0]
    assert cell_losses(original, masked, "grade").tolist() == [1, 0.5, 0, 0, 0.5]
    expected = 100 * (2.25 / 5 + 2 / 5 + 2 / 5) / 3
    assert CellLoss().against(original).read(masked) == pytest.approx(expected)


def test_widened_cells_by_hand() -> None:
    original = table()
    levels = original.with_columns(
        {"age": AGES.lift(original.leaf_codes("age"), 1), "place": PLACES.lift(original.leaf_codes("place"), 1)},
        levels={"age": 1, "place": 1},
    )
    assert cell_losses(original, levels, "age").tolist() == [0.25, 0.25, 0, 0, 0]  # 0–9 spans 0…5 of 0…20
    assert cell_losses(original, levels, "place").tolist() == [0.5, 0.5, 0, 0, 0]
    nodes = original.with_columns(
        {"place": np.array([0, 3, 5, 2, -1])}, levels={"place": LOCAL}
    )  # a, ab, *, c, missing
    assert cell_losses(original, nodes, "place").tolist() == [0, 0.5, 1, 0, 0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=5, max_size=5))
def test_the_untouched_file_loses_nothing_and_a_suppressed_record_everything(gone: list[bool]) -> None:
    original = table()
    masked = original.without(np.array(gone))
    assert CellLoss().against(original).read(masked) == pytest.approx(100 * sum(gone) / 5)
