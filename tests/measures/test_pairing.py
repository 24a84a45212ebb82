from __future__ import annotations

import numpy as np
import pytest

from crypsis.errors import TableError
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.measure import Numbers, check_measured_rows, middles_every_measure_reads
from crypsis.measures.numeric_loss import names_for_numeric_loss
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table

NAN = float("nan")


def test_middles_of_groups_at_one_level_and_at_all() -> None:
    hierarchy = Hierarchy.from_rows([["1", "1-2"], ["2", "1-2"], ["7", "7"]], np.array([1.0, 2, 7]))
    assert middles_every_measure_reads(hierarchy, 1).tolist() == pytest.approx([1.5, 7, NAN], nan_ok=True)
    assert middles_every_measure_reads(hierarchy, LOCAL).tolist() == pytest.approx([1, 2, 7, 1.5, 7, NAN], nan_ok=True)


def test_scales_of_columns_with_holes() -> None:
    table = Table.from_columns({"a": [1, None, 3], "b": [5, 5, 5], "c": [None, None, None]})
    numbers = Numbers.of(table, ["a", "b", "c"])
    assert numbers.scales.mean.tolist() == [2, 5, 0]
    assert numbers.scales.deviation.tolist() == [1, 0, 0]
    assert (numbers.rows, numbers.present.sum(axis=0).tolist()) == (3, [2, 3, 0])


def test_published_numbers_follow_the_original_s_holes() -> None:
    original = Table.from_columns({"a": [1, None, 3, 5]})
    masked = Table.from_columns({"a": [2, 9, None, 6]}).without(np.array([False, False, False, True]))
    shown = Numbers.of(original, ["a"]).read_published(masked)[:, 0]
    assert shown.tolist() == pytest.approx([2, NAN, 3, 3], nan_ok=True)


def test_labels_meet_whatever_their_codes() -> None:
    def column(categories: tuple[str, ...], codes: list[int]) -> Table:
        return Table((Attribute("t", Kind.NOMINAL, Role.OTHER, categories),), (np.array(codes, dtype=np.int32),))

    original = column(("a", "b", "c"), [0, 1, 2])
    codes, same = number_masked_categories(original, column(("c", "a"), [0, 1, -1]), "t")
    assert (codes.tolist(), same) == ([2, 0, -1], True)
    codes, same = number_masked_categories(original, column(("a", "b or c"), [0, 1, 1]), "t")
    assert (codes.tolist(), codes.dtype, same) == ([0, 3, 3], np.int32, False)
    codes, same = number_masked_categories(original, original, "t")
    assert (codes.tolist(), same) == ([0, 1, 2], True)


def test_names_default_to_numeric_quasi_identifiers() -> None:
    table = Table.from_columns({"a": [1], "b": ["x"], "c": [2]}, {"a": "quasi", "b": "quasi"})
    assert names_for_numeric_loss((), table) == ["a"]
    assert names_for_numeric_loss(("c",), table) == ["c"]
    with pytest.raises(TableError, match="keep suppressed records in place"):
        check_measured_rows(2, table)
