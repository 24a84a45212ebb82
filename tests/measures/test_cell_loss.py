"""Cell loss by hand: moved, widened, changed, blanked, suppressed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.measures.information_loss import CellLoss, cell_information_losses
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.example import example
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from naive.cell_loss import Scale, node_of, recoded_cell

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
    assert cell_information_losses(original, masked, "age").tolist() == pytest.approx([0.1, 0.15, 0, 1, 1])  # range 20
    assert cell_information_losses(original, masked, "place").tolist() == [1, 0, 0, 1, 0]
    assert cell_information_losses(original, masked, "grade").tolist() == [1, 0.5, 0, 0, 0.5]
    expected = 100 * (2.25 / 5 + 2 / 5 + 2 / 5) / 3
    assert CellLoss().against(original).read(masked) == pytest.approx(expected)


def test_widened_cells_by_hand() -> None:
    original = table()
    levels = original.with_columns(
        {"age": AGES.lift(original.leaf_codes("age"), 1), "place": PLACES.lift(original.leaf_codes("place"), 1)},
        levels={"age": 1, "place": 1},
    )
    assert cell_information_losses(original, levels, "age").tolist() == [0.25, 0.25, 0, 0, 0]  # 0–9 spans 0…5 of 0…20
    assert cell_information_losses(original, levels, "place").tolist() == [0.5, 0.5, 0, 0, 0]
    nodes = original.with_columns(
        {"place": np.array([0, 3, 5, 2, -1])}, levels={"place": LOCAL}
    )  # a, ab, *, c, missing
    assert cell_information_losses(original, nodes, "place").tolist() == [0, 0.5, 1, 0, 0]


def test_a_group_that_excludes_the_original_is_a_lost_cell() -> None:
    original = table()  # ages 0, 5, 10, 20, missing; places a, b, c, c, missing
    levels = original.with_columns(
        {"age": np.array([0, 1, 1, 1, -1]), "place": np.array([1, 0, 0, 1, -1])}, levels={"age": 1, "place": 1}
    )
    assert cell_information_losses(original, levels, "age").tolist() == [0.25, 1, 0, 1, 0]  # 5 and 20 are not in 10–19
    assert cell_information_losses(original, levels, "place").tolist() == [1, 0.5, 1, 0, 0]
    nodes = original.with_columns({"place": np.array([4, 3, 3, 5, -1])}, levels={"place": LOCAL})  # c, ab, ab, *
    assert cell_information_losses(original, nodes, "place").tolist() == [1, 0.5, 1, 1, 0]


def test_another_leaf_of_a_recoded_column_is_a_value_that_moved() -> None:
    """As in a column that is not generalised at all: numbers by their range, grades by their ranks, places entirely."""
    original = table()
    nodes = {"age": np.array([1, 1, 0, 3, -1]), "place": np.array([1, 1, 0, 2, -1])}
    masked = original.with_columns(nodes, levels=dict.fromkeys(nodes, LOCAL))
    assert cell_information_losses(original, masked, "age").tolist() == [0.25, 0, 0.5, 0, 0]
    assert cell_information_losses(original, masked, "place").tolist() == [1, 0, 1, 0, 0]
    ranks = Hierarchy.from_rows([["high", "*"], ["low", "*"], ["mid", "*"], ["none", "*"]])
    graded = original.with_columns({}, attributes={"grade": original.attribute("grade").but(hierarchy=ranks)})
    swapped = graded.with_columns({"grade": np.array([0, 0, 0, -1, 3])}, levels={"grade": LOCAL})
    assert cell_information_losses(graded, swapped, "grade").tolist() == [1, 0.5, 0, 0, 1]  # a leaf that is no grade: 1


def test_a_value_the_hierarchy_lacks_belongs_to_no_group() -> None:
    original = Table.from_columns({"age": [0.0, 7, 20], "place": ["a", "d", "c"]}, {"age": "quasi", "place": "quasi"})
    attributes = {"age": original.attribute("age").but(hierarchy=AGES)}
    attributes["place"] = original.attribute("place").but(hierarchy=PLACES)
    top = original.with_columns(
        {"age": np.zeros(3), "place": np.zeros(3)}, levels={"age": 1, "place": 2}, attributes=attributes
    )
    assert cell_information_losses(original, top, "age").tolist() == [0.25, 1, 1]
    assert cell_information_losses(original, top, "place").tolist() == [1, 1, 1]


def test_shuffling_values_before_recoding_is_seen() -> None:
    """The fault this measure had: districts shuffled first, then recoded, counted as cheaper than the true ones."""
    people, rng = example(300), np.random.default_rng(0)
    shuffled = people.with_columns({"district": rng.permutation(people.column("district"))})
    bound = CellLoss(columns=("district",)).against(people)
    true, false = (bound.read(LocalRecoding(k=5, loss="glm").mask(each, rng)) for each in (people, shuffled))
    assert false > true + 20


@st.composite
def recoded_columns(draw):
    """A column of any kind, its hierarchy, and what became of it: one level, or nodes record by record."""
    size = draw(st.integers(1, 6))
    first = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    rows = [[str(leaf), f"group {group}", "*"] for leaf, group in enumerate(first)]
    kind = draw(st.sampled_from(list(Kind)))
    values = np.cumsum(draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))).astype(np.float64)
    hierarchy = Hierarchy.from_rows(rows, values if kind is Kind.NUMERIC else None)
    n = draw(st.integers(1, 8))
    leaf = np.array(draw(st.lists(st.integers(-1, size - 1), min_size=n, max_size=n)), dtype=np.int32)
    level = draw(st.sampled_from([1, 2, LOCAL]))
    most = (int(hierarchy.offsets[-1]) if level == LOCAL else len(hierarchy.labels[level])) - 1
    codes = np.array(draw(st.lists(st.integers(-1, most), min_size=n, max_size=n)), dtype=np.int32)
    labels = draw(st.permutations([row[0] for row in rows]))
    if kind is Kind.NUMERIC:
        column = np.append(values, np.nan)[leaf]
        attribute = Attribute("x", kind, QUASI, hierarchy=hierarchy)
    else:
        column = np.array([*(labels.index(row[0]) for row in rows), -1], dtype=np.int32)[leaf]
        attribute = Attribute("x", kind, QUASI, tuple(labels), hierarchy)
    original = Table((attribute,), (column,))
    return original, original.with_columns({"x": codes}, levels={"x": level}), leaf


@settings(deadline=None)
@given(recoded_columns())
def test_every_recoded_cell_as_its_slow_twin_says(drawn) -> None:
    original, masked, leaves = drawn
    hierarchy, kind = original.attribute("x").hierarchy, original.attribute("x").kind
    named = hierarchy.values.tolist() if kind is Kind.NUMERIC else hierarchy.labels[0]
    values = [None if leaf < 0 else named[leaf] for leaf in leaves]
    scale = Scale(kind, values, original.attribute("x").categories)
    level = masked.level("x")
    codes = [int(code) for code in masked.column("x")]
    nodes = [None if code < 0 else node_of(hierarchy, code) if level == LOCAL else (level, code) for code in codes]
    expected = [recoded_cell(hierarchy, node, value, scale) for node, value in zip(nodes, values, strict=True)]
    assert cell_information_losses(original, masked, "x").tolist() == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=5, max_size=5))
def test_the_untouched_file_loses_nothing_and_a_suppressed_record_everything(gone: list[bool]) -> None:
    original = table()
    masked = original.without(np.array(gone))
    assert CellLoss().against(original).read(masked) == pytest.approx(100 * sum(gone) / 5)


def test_blanked_and_filled_cells_lose_all_at_any_level() -> None:
    original = table()
    levels = original.with_columns(
        {"age": np.array([0, -1, 1, 2, 0]), "place": np.array([0, 0, -1, 1, 1])}, levels={"age": 1, "place": 1}
    )
    assert cell_information_losses(original, levels, "age").tolist() == [0.25, 1, 0, 0, 1]
    assert cell_information_losses(original, levels, "place").tolist() == [0.5, 0.5, 1, 0, 1]
    nodes = original.with_columns({"place": np.array([0, -1, 5, 2, 5])}, levels={"place": LOCAL})
    assert cell_information_losses(original, nodes, "place").tolist() == [0, 1, 1, 0, 1]


def test_a_number_moved_beyond_the_range_loses_all_and_no_more() -> None:
    original = Table.from_columns({"v": [10.0, 12, 14]}, {"v": "quasi"})
    masked = original.with_columns({"v": np.array([11.0, 99, -99])})
    assert cell_information_losses(original, masked, "v").tolist() == [0.25, 1, 1]


def test_scales_of_small_domains() -> None:
    """A range of ½; two grades, one of them blanked and one filled; two towns; numbers that start at 10."""
    narrow = Table.from_columns({"v": [1.0, 1.25, 1.5]}, {"v": "quasi"})
    assert cell_information_losses(narrow, narrow.with_columns({"v": np.array([1.25, 1.25, 1.0])}), "v").tolist() == [
        0.5,
        0,
        1,
    ]
    pass_fail = Table((Attribute("g", Kind.ORDINAL, QUASI, ("no", "yes")),), (np.array([0, 1, 1, -1], np.int32),))
    moved = pass_fail.with_columns({"g": np.array([1, 1, -1, 0], dtype=np.int32)})
    assert cell_information_losses(pass_fail, moved, "g").tolist() == [1, 0, 1, 1]
    two = Hierarchy.from_rows([["a", "*"], ["b", "*"]])
    towns = Table((Attribute("t", Kind.NOMINAL, QUASI, ("a", "b"), two),), (np.array([0, 1], np.int32),))
    assert cell_information_losses(towns, towns.with_columns({"t": np.zeros(2)}, levels={"t": 1}), "t").tolist() == [
        1,
        1,
    ]
    late = Hierarchy.from_rows([["10", "x", "*"], ["15", "x", "*"], ["30", "y", "*"]], np.array([10.0, 15, 30]))
    ages = Table((Attribute("n", Kind.NUMERIC, QUASI, hierarchy=late),), (np.array([10.0, 15, 30]),))
    recoded = ages.with_columns({"n": np.array([0, 0, 1])}, levels={"n": 1})
    assert cell_information_losses(ages, recoded, "n").tolist() == [0.25, 0.25, 0]


def test_constant_and_empty_columns_of_numbers() -> None:
    constant = Table.from_columns({"v": [3.0, 3, 3]}, {"v": "quasi"})
    assert cell_information_losses(
        constant, constant.with_columns({"v": np.array([3.0, 4, np.nan])}), "v"
    ).tolist() == [0, 1, 1]
    holes = Table((Attribute("v", Kind.NUMERIC, QUASI),), (np.full(2, np.nan),))
    assert cell_information_losses(holes, holes.with_columns({"v": np.array([np.nan, 1.0])}), "v").tolist() == [0, 1]


def test_categories_of_another_list_are_compared_by_label() -> None:
    """Ordinal with a label the original lacks: equal or not; with the same labels: ranks, whatever their codes."""
    original = Table((Attribute("g", Kind.ORDINAL, QUASI, ("low", "mid", "high")),), (np.array([0, 1, 2], np.int32),))
    merged = Table((Attribute("g", Kind.ORDINAL, QUASI, ("low", "mid or high")),), (np.array([0, 1, 1], np.int32),))
    assert cell_information_losses(original, merged, "g").tolist() == [0, 1, 1]
    turned = Table((Attribute("g", Kind.ORDINAL, QUASI, ("high", "low", "mid")),), (np.array([0, 0, 0], np.int32),))
    assert cell_information_losses(original, turned, "g").tolist() == [1, 0.5, 0]
    lone = Table((Attribute("g", Kind.ORDINAL, QUASI, ("all",)),), (np.array([0, 0, -1], np.int32),))
    assert cell_information_losses(lone, lone, "g").tolist() == [0, 0, 0]


def test_a_hierarchy_of_one_value_loses_nothing() -> None:
    one = Hierarchy.from_rows([["a", "*"]])
    original = Table((Attribute("p", Kind.NOMINAL, QUASI, ("a",), one),), (np.array([0, 0], np.int32),))
    assert cell_information_losses(
        original, original.with_columns({"p": np.array([0, 0])}, levels={"p": 1}), "p"
    ).tolist() == [
        0,
        0,
    ]
    number = Hierarchy.from_rows([["7", "*"]], np.array([7.0]))
    sevens = Table((Attribute("n", Kind.NUMERIC, QUASI, hierarchy=number),), (np.array([7.0, 7.0]),))
    assert cell_information_losses(
        sevens, sevens.with_columns({"n": np.array([0, 0])}, levels={"n": 1}), "n"
    ).tolist() == [0, 0]


def test_a_reading_explains_itself() -> None:
    original = table()
    masked = original.without(np.array([True, False, False, False, False]))
    reading = CellLoss(columns=("age", "place")).against(original).explain(masked)
    assert (reading.measure, reading.unit, reading.better, reading.aim) == ("cell-loss", "%", "low", "loss")
    assert reading.value == pytest.approx(20)
    assert reading.counts == {"age": pytest.approx(20), "place": pytest.approx(20)}
    assert (reading.scope, reading.definition) == (("age", "place"), CellLoss.definition)
    assert "blanked by the masking" in reading.missing


def test_refusals_and_obstacles() -> None:
    original = table()
    with pytest.raises(TableError, match="keep suppressed records in place"):
        CellLoss().against(original).read(original.take(np.arange(3)))
    words = Table.from_columns({"age": list("abcde")})
    with pytest.raises(TableError, match="column 'age' is numeric in the original and not in the masked table"):
        CellLoss(columns=("age",)).against(original).read(words)
    lost = original.with_columns({"place": np.zeros(5)}, levels={"place": 1})
    lost = lost.with_columns({}, attributes={"place": lost.attribute("place").but(hierarchy=None)})
    with pytest.raises(TableError, match="column 'place' is generalised but has no hierarchy"):
        CellLoss().against(original).read(lost)
    assert CellLoss().obstacle(original) == ""
    assert "no column 'town'" in CellLoss(columns=("town",)).obstacle(original)
    bare = Table.from_columns({"a": [1]})
    no_role = "the table has no quasi-identifier to compare; name columns or give them the role 'quasi'"
    assert CellLoss().obstacle(bare) == no_role
    assert CellLoss(columns=("a",)).obstacle(bare) == ""
    assert CellLoss().obstacle(original.take(np.arange(0))) == "the table has no records; nothing can be compared"
