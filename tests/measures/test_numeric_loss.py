from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crypsis.errors import TableError
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, mdav
from crypsis.measures.measure import measures
from crypsis.measures.numeric_loss import ScaledAbsoluteError, SquaredError, SquaredErrorRatio
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table
from naive import measures as naive
from reference import numeric, standardised

NAN = float("nan")


def table(values: np.ndarray) -> Table:
    names = [f"v{j}" for j in range(values.shape[1])]
    return Table(
        tuple(Attribute(name, Kind.NUMERIC, Role.QUASI_IDENTIFIER) for name in names),
        tuple(values[:, j] for j in range(values.shape[1])),
    )


def gaps(values: np.ndarray) -> np.ndarray:
    """Every third cell of a diagonal pattern missing, but no column empty."""
    holed = values.copy()
    holed[np.add.outer(np.arange(len(values)), 2 * np.arange(values.shape[1])) % 5 == 4] = NAN
    holed[0] = values[0]
    return holed


cells = st.floats(-1e3, 1e3, allow_nan=False).map(lambda v: round(v, 3))
matrices = st.integers(2, 9).flatmap(
    lambda n: st.integers(1, 4).flatmap(lambda p: arrays(np.float64, (2, n, p), elements=cells))
)


def test_by_hand() -> None:
    """x = 0, 0, 4, 4 published as 0, 0, 2, 4: deviation 2, one squared difference of 1, SST 4."""
    original, masked = table(np.array([[0.0], [0], [4], [4]])), table(np.array([[0.0], [0], [2], [4]]))
    assert SquaredError().against(original).read(masked) == 1.0
    assert SquaredError(scaling="none").against(original).read(masked) == 4.0
    assert SquaredError(scaling="range").against(original).read(masked) == 0.25
    assert SquaredErrorRatio().against(original).read(masked) == 25.0
    assert ScaledAbsoluteError().against(original).read(masked) == pytest.approx(100 * 2 / (4 * np.sqrt(2) * 2))
    assert ScaledAbsoluteError(summary="sum").against(original).read(masked) == pytest.approx(1 / np.sqrt(2))
    assert ScaledAbsoluteError(divisor="value").against(original).read(masked) == pytest.approx(25.0)


def test_suppressed_record_counts_as_the_mean() -> None:
    original = table(np.array([[0.0], [0], [4], [4]]))
    masked = original.without(np.array([False, False, True, False]))
    assert SquaredErrorRatio().against(original).read(masked) == 25.0
    everything = original.without(np.ones(4, dtype=bool))
    assert SquaredErrorRatio().against(original).read(everything) == 100.0


def test_blanked_cell_is_a_loss_and_a_missing_original_is_left_out() -> None:
    original = table(np.array([[0.0], [0], [4], [4], [NAN]]))
    masked = table(np.array([[0.0], [0], [NAN], [4], [99]]))
    assert SquaredErrorRatio().against(original).read(masked) == 25.0
    assert ScaledAbsoluteError().against(original).explain(masked).counts["cells"] == 4


def test_generalised_number_is_read_as_the_middle_of_its_group() -> None:
    hierarchy = Hierarchy.from_rows([["0", "0-2"], ["2", "0-2"], ["4", "4-8"], ["8", "4-8"]], np.array([0.0, 2, 4, 8]))
    age = Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER, hierarchy=hierarchy)
    original = Table((age,), (np.array([0.0, 2, 4, 8]),))
    masked = original.with_columns({"age": np.array([0, 0, 1, 1])}, levels={"age": 1})
    assert SquaredError(scaling="none").against(original).read(masked) == 1 + 1 + 4 + 4
    mixed = original.with_columns({"age": np.array([0, 1, 5, 5])}, levels={"age": -1})
    assert SquaredError(scaling="none").against(original).read(mixed) == 8


@given(matrices, st.sampled_from(["z", "range", "none"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_equal_to_the_plain_loops(both: np.ndarray, scaling: str, holes: bool) -> None:
    x, y = (gaps(both[0]), gaps(both[1][::-1])[::-1]) if holes else (both[0], both[1])
    original, masked = table(x), table(y)
    sse, sst = naive.sse(x, y, scaling), naive.sst(x, scaling)
    assert SquaredError(scaling=scaling).against(original).read(masked) == pytest.approx(sse, rel=1e-6, abs=1e-9)
    ratio = SquaredErrorRatio(scaling=scaling).against(original).read(masked)
    assert ratio == pytest.approx(100 * sse / sst if sst > 0 else 0.0, rel=1e-6, abs=1e-9)
    il1s = 100 * naive.il1s(x, y)
    assert ScaledAbsoluteError().against(original).read(masked) == pytest.approx(il1s, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e9, 1e12])
def test_an_offset_changes_nothing(offset: float) -> None:
    x = np.round(np.random.default_rng(1).standard_normal((200, 3)) * 1000)
    y = np.round(x + np.random.default_rng(2).standard_normal((200, 3)) * 100)
    plain = SquaredErrorRatio().against(table(x)).read(table(y))
    assert SquaredErrorRatio().against(table(x + offset)).read(table(y + offset)) == pytest.approx(plain, rel=1e-9)


def test_constant_column_takes_no_part() -> None:
    x = np.array([[0.1, 0], [0.1, 1], [0.1, 2]])
    assert SquaredError().against(table(x)).read(table(x + np.array([5, 0]))) == 0.0
    assert SquaredErrorRatio().against(table(x[:, :1])).read(table(x[:, :1] + 3)) == 0.0


def test_mdav_on_census_equals_the_literature() -> None:
    x = numeric("census.csv")
    labels = mdav(standardised(x), 3, GENERIC, EUCLIDEAN)
    sizes = np.bincount(labels)
    y = np.stack([np.bincount(labels, weights=column) / sizes for column in x.T], axis=1)[labels]
    assert SquaredError().against(table(x)).read(table(y)) == pytest.approx(799.18, abs=0.005)
    assert SquaredErrorRatio().against(table(x)).read(table(y)) == pytest.approx(5.692186278770807, rel=1e-9)


def test_obstacles_say_what_to_do() -> None:
    mixed = Table.from_columns({"a": [1, 2], "b": ["x", "y"]}, {"b": "quasi"})
    assert "role 'quasi'" in measures.build("sse").obstacle(mixed)
    assert "is nominal" in SquaredError(columns=("b",)).obstacle(mixed)
    assert "no column 'z'" in SquaredError(columns=("z",)).obstacle(mixed)
    assert SquaredError(columns=("a",)).obstacle(mixed) == ""
    no_records = "the table has no records; nothing can be compared"
    assert SquaredError().obstacle(table(np.empty((0, 1)))) == no_records


def test_rows_must_correspond_and_categories_cannot_be_numbers() -> None:
    bound = SquaredError().against(table(np.zeros((3, 1))))
    with pytest.raises(TableError, match="3"):
        bound.read(table(np.zeros((2, 1))))
    with pytest.raises(TableError, match="holds categories"):
        bound.read(Table.from_columns({"v0": ["x", "y", "z"]}))


def test_a_reading_explains_itself() -> None:
    x = np.arange(6.0).reshape(3, 2)
    reading = SquaredErrorRatio().against(table(x)).explain(table(x + 1))
    assert (reading.measure, reading.unit, reading.better, reading.aim) == ("sse-ratio", "%", "low", "loss")
    assert reading.scope == ("v0", "v1")
    assert "missing" in reading.missing
    assert reading.counts["SST"] == pytest.approx(6)


def test_infinite_values_are_refused_and_minus_999_is_a_value() -> None:
    fine, endless = table(np.array([[1.0], [-999.0]])), table(np.array([[1.0], [np.inf]]))
    assert SquaredError().against(fine).read(fine) == 0
    assert SquaredError(scaling="none").against(fine).read(table(np.array([[1.0], [0.0]]))) == 999**2
    with pytest.raises(TableError, match="infinite"):
        SquaredError().against(endless)
    with pytest.raises(TableError, match="infinite"):
        SquaredError().against(fine).read(endless)


def test_a_reading_counts_cells_and_records() -> None:
    original = table(np.array([[0.0], [0], [4], [4], [NAN]]))
    masked = original.without(np.array([False, False, True, False, False]))
    assert SquaredError().against(original).explain(masked).counts == {"cells": 4, "records": 5, "suppressed": 1}
    ratio = SquaredErrorRatio().against(original).explain(masked).counts
    assert ratio == {"SSE": pytest.approx(1), "SST": pytest.approx(4), "records": 5, "suppressed": 1}
    by_value = ScaledAbsoluteError(divisor="value", summary="sum").against(original).explain(masked)
    assert by_value.counts == {"cells": 2, "records": 5, "suppressed": 1}


@pytest.mark.parametrize(
    ("options", "unit"),
    [({}, "% of √2 sd"), ({"divisor": "value"}, "% of the value"), ({"summary": "sum"}, "sum of ratios")],
)
def test_the_unit_follows_the_settings(options: dict[str, str], unit: str) -> None:
    x = table(np.arange(6.0).reshape(3, 2))
    assert ScaledAbsoluteError(**options).against(x).explain(x).unit == unit
