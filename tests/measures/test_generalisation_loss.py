"""Losses of generalisation by hand: four people, one tree, one suppressed."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.errors import TableError
from crypsis.masking.generalisation import generalise
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.measures.generalisation_loss import (
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    GeneralLoss,
    NonUniformEntropy,
    Precision,
)
from crypsis.measures.measure import measures
from crypsis.searches.pbg_ea import evaluate_lattice
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import LOCAL, Table


def four() -> Table:
    """b, b, a, c under {a, b} and {c}; the last one is to be suppressed."""
    tree = Hierarchy.from_rows([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])
    place = Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c"), tree)
    ill = Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, ("no", "yes"))
    return Table((place, ill), (np.array([1, 1, 0, 2]), np.array([0, 0, 1, 1])))


def masked() -> Table:
    table = four()
    return generalise(table, Lattice.of(table), [1]).without(np.array([False, False, False, True]))


@pytest.mark.parametrize(
    "measure, value",
    [
        (GeneralLoss(form="sum"), 3 * 0.5 + 1),
        (GeneralLoss(), 100 * 2.5 / 4),
        (Precision(), 100 * (3 * 0.5 + 1) / 4),
        (NonUniformEntropy(), 100 * ((2 * np.log2(3 / 2) + np.log2(3)) / 1.5 + 1) / 4),
        (ClassificationMetric(), 2.0),
        (ClassificationMetric(form="mean"), 0.5),
        (Discernibility(), 9 + 4.0),
        (Discernibility(form="mean"), 13 / 16),
        (AverageClassSize(k=2), 1.0),
    ],
)
def test_by_hand(measure, value):
    assert measure.against(four()).read(masked()) == pytest.approx(value)
    assert measure.against(four()).explain(masked()).value == pytest.approx(value)


def test_untouched_cells_lose_nothing_and_full_generalisation_loses_all():
    table = four()
    hidden = generalise(table, Lattice.of(table), [2])
    for measure in (GeneralLoss(), Precision(), NonUniformEntropy()):
        assert measure.against(table).read(table) == 0
        assert measure.against(table).read(hidden) == pytest.approx(100)


def test_the_lattice_and_the_measure_agree():
    table = four()
    frame = evaluate_lattice(table, 0.25, "by-size", label="ill")
    row = frame.row(1, named=True)
    assert row["glm_sum"] == pytest.approx(GeneralLoss(form="sum").against(table).read(masked()))
    assert row["cm"] == ClassificationMetric().against(table).read(masked())


def test_local_recoding_is_read_record_by_record():
    table = four()
    recoded = LocalRecoding(k=2).mask(table, np.random.default_rng(0))
    assert GeneralLoss(form="sum").against(table).read(recoded) == pytest.approx(2.0)


def test_obstacles():
    table = four()
    assert "no column 'town'" in GeneralLoss(columns=("town",)).obstacle(table)
    assert "no hierarchy" in GeneralLoss(columns=("ill",)).obstacle(table)
    no_label = "no column is confidential, so there is no label to predict; name one"
    assert ClassificationMetric().obstacle(table.with_roles({"ill": Role.OTHER})) == no_label
    assert GeneralLoss().obstacle(table) == ""
    bare = table.with_roles({"place": Role.OTHER})
    no_hierarchy = "no quasi-identifier has a hierarchy, by which this loss is measured; give one"
    assert GeneralLoss().obstacle(bare) == no_hierarchy
    assert GeneralLoss(columns=("place",)).obstacle(bare) == ""
    no_records = "the table has no records; nothing can be compared"
    assert GeneralLoss().obstacle(table.take(np.arange(0))) == no_records
    no_role = "the table has no quasi-identifier to compare; name columns or give them the role 'quasi'"
    for measure in (Discernibility, ClassificationMetric, AverageClassSize):
        assert measure().obstacle(table) == ""
        assert "no column 'town'" in measure(columns=("town",)).obstacle(table)
        assert measure().obstacle(bare) == no_role
        assert measure(columns=("place",)).obstacle(bare) == ""
        assert measure().obstacle(table.take(np.arange(0))) == no_records
    assert "no column 'sick'" in ClassificationMetric(label="sick").obstacle(table)
    assert ClassificationMetric(label="place").obstacle(table.with_roles({"ill": Role.OTHER})) == ""
    for measure in (GeneralLoss(), Discernibility()):
        with pytest.raises(TableError, match="keep suppressed records in place"):
            measure.against(table).read(table.take(np.arange(2)))


AGES = Hierarchy.from_rows([["1", "1-2", "*"], ["2", "1-2", "*"], ["5", "5", "*"]], np.array([1.0, 2, 5]))


def ages() -> Table:
    """1, 2, 5, missing, and a column of one value only."""
    age = Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER, hierarchy=AGES)
    lone = Attribute("lone", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a",), Hierarchy.from_rows([["a", "x", "*"]], None))
    return Table((age, lone), (np.array([1.0, 2, 5, np.nan]), np.zeros(4, dtype=np.int32)))


@pytest.mark.parametrize(
    "measure, group", [(GeneralLoss(form="sum"), 0.5), (Precision(form="sum"), 0.5), (NonUniformEntropy(), None)]
)
def test_missing_blanked_and_suppressed_cells(measure, group):
    """A missing value loses nothing until its record goes; a blanked one loses all, as numbers and as groups."""
    table = ages()
    bound = measure.model_copy(update={"columns": ("age",)}).against(table)
    blank = table.with_columns({"age": np.array([1.0, np.nan, 5, np.nan])})
    assert bound.cells(blank)[:, 0].tolist() == [0, 1, 0, 0]
    recoded = table.with_columns({"age": np.array([0, -1, 1, -1])}, levels={"age": 1})
    half = group if group is not None else 1 / np.log2(3)
    assert bound.cells(recoded)[:, 0].tolist() == pytest.approx(
        [half, 1, 0.5 if isinstance(measure, Precision) else 0, 0]
    )
    gone = table.without(np.array([False, False, False, True]))
    assert bound.cells(gone)[:, 0].tolist() == [0, 0, 0, 1]
    nodes = table.with_columns({"age": np.array([0, 3, 5, -1])}, levels={"age": LOCAL})
    assert bound.cells(nodes)[:, 0].tolist() == pytest.approx([0, half, 1, 0])


def test_missing_names_and_filled_cells():
    """b, missing, c, missing; the second blanked still, the last filled: a filled cell was never known, so not lost."""
    tree = Hierarchy.from_rows([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"], ["d", "d", "*"]])
    place = Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c", "d"), tree)
    table = Table((place,), (np.array([1, -1, 2, -1], dtype=np.int32),))
    for level, codes in ((0, [1, -1, -1, 0]), (1, [0, -1, -1, 0]), (LOCAL, [4, -1, -1, 4])):
        masked = table.with_columns({"place": np.array(codes, dtype=np.int32)}, levels={"place": level})
        for measure in (GeneralLoss(), Precision(), NonUniformEntropy()):
            cells = measure.against(table).cells(masked)[:, 0]
            assert cells[1:].tolist() == [0, 1, 0]
            assert (cells[0] > 0) == (level != 0 and not isinstance(measure, NonUniformEntropy))


def test_two_values_and_one_level():
    """a three times and b once, both as *: GLM and precision lose all, entropy log2(4/3) and 2 bits of 0.811."""
    tree = Hierarchy.from_rows([["a", "*"], ["b", "*"]])
    place = Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b"), tree)
    table = Table((place,), (np.array([0, 0, 0, 1], dtype=np.int32),))
    top = table.with_columns({"place": np.zeros(4)}, levels={"place": 1})
    for measure in (GeneralLoss(), Precision()):
        assert measure.against(table).cells(top)[:, 0].tolist() == [1, 1, 1, 1]
    most = 0.75 * np.log2(4 / 3) + 0.25 * 2
    expected = [np.log2(4 / 3) / most] * 3 + [2 / most]
    assert NonUniformEntropy().against(table).cells(top)[:, 0].tolist() == pytest.approx(expected)


def test_one_record_is_a_class_of_its_own():
    place = Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a",))
    ill = Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, ("no", "yes"))
    one = Table((place, ill), (np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)))
    gone = one.without(np.array([True]))
    assert Discernibility(form="mean").against(one).read(one) == 1
    assert ClassificationMetric(form="mean").against(one).read(gone) == 1
    assert AverageClassSize(k=1, form="mean").against(one).read(one) == 1


def test_a_column_of_one_value_has_nothing_to_lose_but_height():
    table = ages()
    top = table.with_columns({"lone": np.zeros(4)}, levels={"lone": 2})
    assert GeneralLoss(columns=("lone",)).against(table).read(top) == 0
    assert NonUniformEntropy(columns=("lone",)).against(table).read(top) == 0
    assert Precision(columns=("lone",)).against(table).read(top) == 100
    flat = Attribute("flat", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b"), Hierarchy.from_rows([["a"], ["b"]]))
    untouched = Table((flat,), (np.array([0, 1], dtype=np.int32),))
    assert Precision().against(untouched).read(untouched) == 0


def test_entropy_counts_records_and_not_values():
    """a 1, b 3, c 4 records: a of four in {a, b} loses log2 4, b log2(4/3); H = 1/8·3 + 3/8·log2(8/3) + 1/2."""
    tree = Hierarchy.from_rows([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])
    place = Attribute("place", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c"), tree)
    table = Table((place,), (np.array([0, 1, 1, 1, 2, 2, 2, 2], dtype=np.int32),))
    most = 3 / 8 + 3 / 8 * np.log2(8 / 3) + 1 / 2
    lost = np.array([2, *[np.log2(4 / 3)] * 3, 0, 0, 0, 0]) / most
    recoded = table.with_columns({"place": tree.lift(table.column("place"), 1)}, levels={"place": 1})
    assert NonUniformEntropy().against(table).cells(recoded)[:, 0] == pytest.approx(lost)
    assert NonUniformEntropy(form="sum").against(table).read(recoded) == pytest.approx(lost.sum())
    top = table.with_columns({"place": np.zeros(8)}, levels={"place": 2})
    assert NonUniformEntropy().against(table).read(top) == pytest.approx(100)


def test_class_measures_by_their_settings():
    """Classes of 3 and one suppressed of 4: two classes, 2 records each; the label 'place' splits the class 2 to 1."""
    table, recoded = four(), masked()
    assert AverageClassSize(k=1).against(table).read(recoded) == 2
    assert AverageClassSize(k=2, form="mean").against(table).read(recoded) == pytest.approx(2 / 4 / 2)
    assert AverageClassSize(k=1).against(table).read(generalise(table, Lattice.of(table), [2])) == 4
    assert ClassificationMetric(label="place").against(table).read(recoded) == 1 + 1
    assert Discernibility(columns=("ill",)).against(table).read(recoded) == 2**2 + 1 + 4
    everything = table.without(np.ones(4, dtype=bool))
    assert ClassificationMetric().against(table).read(everything) == 4
    assert Discernibility(form="mean").against(table).read(everything) == 1
    assert AverageClassSize(k=1).against(table).read(everything) == 4


def test_readings_explain_themselves():
    table, recoded = four(), masked()
    for measure, unit in ((GeneralLoss(), "%"), (Precision(form="sum"), "cells"), (NonUniformEntropy(), "%")):
        reading = measure.against(table).explain(recoded)
        assert (reading.measure, reading.unit, reading.better, reading.aim) == (
            measures.name_of(measure),
            unit,
            "low",
            "loss",
        )
        assert (reading.scope, reading.definition) == (("place",), measure.definition)
        assert set(reading.counts) == {"place", "suppressed records"}
        assert reading.counts["suppressed records"] == 1
        assert "fully generalised" in reading.missing
    assert GeneralLoss().against(table).explain(recoded).counts["place"] == pytest.approx(62.5)
    for measure, unit in (
        (Discernibility(), "pairs"),
        (ClassificationMetric(form="mean"), "share of the worst"),
        (AverageClassSize(), "classes of k"),
    ):
        reading = measure.against(table).explain(recoded)
        assert (reading.measure, reading.unit, reading.better, reading.aim) == (
            measures.name_of(measure),
            unit,
            "low",
            "loss",
        )
        assert (reading.scope, reading.definition) == (("place",), measure.definition)
        assert reading.counts == {"suppressed records": 1}
        no_class = "a missing value is a category of its own; suppressed records belong to no class"
        assert reading.missing == no_class
