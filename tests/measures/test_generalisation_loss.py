"""Losses of generalisation by hand: four people, one tree, one suppressed."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.masking.generalisation import generalise
from crypsis.masking.recoding import LocalRecoding
from crypsis.measures.generalisation_loss import (
    AverageClassSize,
    ClassificationMetric,
    Discernibility,
    GeneralLoss,
    NonUniformEntropy,
    Precision,
)
from crypsis.searches.lattices import evaluate_lattice
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table


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
    assert "no label" in ClassificationMetric().obstacle(table.with_roles({"ill": Role.OTHER}))
    assert not GeneralLoss().obstacle(table)
