"""Information loss: hand cases, and against its definition written out cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.measures.information_loss import information_losses
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from naive.composite import covered_loss


def number(values: list[float]) -> Table:
    return Table.from_columns({"x": values}, {"x": "quasi"})


def test_the_ruined_column_is_not_the_cheaper_one() -> None:
    """x = 0, 0, 0, 10: published as 0 it misleads (100 / 75), as its mean it has lost all; cell loss prefers 0."""
    table = number([0.0, 0, 0, 10])
    bound = crypsis.InformationLoss().against(table)
    assert bound.read(table.with_columns({"x": np.zeros(4)})) == pytest.approx(400 / 3)
    assert bound.read(table.with_columns({"x": np.full(4, 2.5)})) == pytest.approx(100.0)
    assert bound.read(table.with_columns({"x": np.full(4, np.nan)})) == pytest.approx(100.0)
    assert bound.read(table.without(np.ones(4, bool))) == pytest.approx(100.0)
    assert bound.read(table) == 0.0
    cell = crypsis.CellLoss().against(table)
    assert cell.read(table.with_columns({"x": np.zeros(4)})) < cell.read(table.with_columns({"x": np.full(4, 2.5)}))


def test_categories_by_hand() -> None:
    """a, a, b, c: 1 − Σp² = 1 − (4 + 1 + 1)/16 = 5/8; one wrong cell of four is 1/4 over 5/8."""
    table = Table.from_columns({"c": ["a", "a", "b", "c"]}, {"c": "quasi"})
    bound = crypsis.InformationLoss().against(table)
    assert bound.read(table.with_columns({"c": np.array([0, 0, 1, 1])})) == pytest.approx(40.0)
    assert bound.read(table.with_columns({"c": np.array([-1, -1, -1, -1])})) == pytest.approx(100.0)
    assert bound.read(table.with_columns({"c": np.array([0, 0, 0, 0])})) == pytest.approx(100.0), "one value is left"


def test_a_filled_cell_is_lost_and_a_missing_one_is_not() -> None:
    table = number([1.0, 2.0, np.nan, 3.0])
    losses = information_losses(table, table.with_columns({"x": np.array([1.0, 2.0, 2.0, 3.0])}), "x")
    assert losses.tolist() == [0.0, 0.0, 1.0, 0.0]
    assert information_losses(table, table, "x").tolist() == [0.0] * 4


def test_importance_weighs_columns() -> None:
    table = Table.from_columns({"x": [0.0, 1.0], "y": [0.0, 1.0]}, {"x": "quasi", "y": "quasi"})
    table = table.with_columns({}, attributes={"x": table.attribute("x").but(importance=3.0)})
    masked = table.with_columns({"x": np.array([0.5, 0.5])})
    assert crypsis.InformationLoss().against(table).read(masked) == pytest.approx(75.0)


TREE = [["1", "a", "*"], ["2", "a", "*"], ["3", "b", "*"], ["7", "b", "*"]]


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 6)), min_size=2, max_size=14), st.sampled_from(list(Kind))
)
@settings(max_examples=80, deadline=None)
def test_locally_recoded_cells_equal_the_definition(cells: list[tuple[int, int]], kind: Kind) -> None:
    """Every record at any node, its own or another one's: a draw from the original values the node covers."""
    numeric = kind is Kind.NUMERIC
    leaves: list[float | str] = [1.0, 2.0, 3.0, 7.0] if numeric else ["1", "2", "3", "7"]
    codes, nodes = np.array([code for code, _ in cells]), np.array([node for _, node in cells], dtype=np.int32)
    hierarchy = Hierarchy.from_rows(TREE, np.array([1.0, 2, 3, 7]) if numeric else None)
    attribute = Attribute("v", kind, Role.QUASI_IDENTIFIER, () if numeric else tuple(map(str, leaves)), hierarchy)
    column = np.append(np.array([1.0, 2, 3, 7]), np.nan)[codes] if numeric else codes.astype(np.int32)
    table = Table((attribute,), (column,))
    masked = table.with_columns({"v": nodes}, {"v": LOCAL})
    known = [leaves[code] for code in codes if code >= 0]
    covers = [[leaf] for leaf in leaves] + [leaves[:2], leaves[2:], leaves]
    losses = information_losses(table, masked, "v")
    varied = len(set(known)) > 1
    for code, node, lost in zip(codes, nodes, losses, strict=True):
        if code < 0:
            assert lost == (0.0 if node < 0 else 1.0)
        elif varied:
            inside = known if node < 0 else [value for value in known if value in covers[node]]
            if inside or not numeric:
                wanted = covered_loss(leaves[code], inside or [covers[node][0]], known)
                assert lost == pytest.approx(wanted)
