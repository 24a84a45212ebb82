"""A description of a masking, by hand and against counts made one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import crypsis
from crypsis.masking import TopCoding
from crypsis.measures.information_loss import information_losses
from crypsis.measures.masking_description import ClassCount, Treatment, describe_masking
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table


def people() -> Table:
    """Four people; two towns in one country each."""
    towns = Hierarchy.from_rows([["Turku", "Finland", "*"], ["Espoo", "Finland", "*"], ["Tartu", "Estonia", "*"]])
    table = Table.from_columns(
        {"age": [20, 30, 40, 60], "town": ["Turku", "Espoo", "Tartu", "Tartu"], "sex": ["f", "f", "m", "m"]},
        dict.fromkeys(("age", "town", "sex"), "quasi"),
    )
    return table.with_columns({}, attributes={"town": table.attribute("town").but(hierarchy=towns)})


def test_by_hand() -> None:
    original = people()
    masked = original.with_columns(
        {
            "age": np.array([20.0, 30.0, 50.0, 50.0]),
            "town": np.array([0, 0, 1, 1]),
            "sex": original.column("sex"),
        },
        levels={"town": 1},
    ).without(np.array([True, False, False, False]))
    found = describe_masking(original, masked, "recoding")
    age, town, sex = found.columns
    assert (age.treatment, town.treatment, sex.treatment) == (
        Treatment.MOVED,
        Treatment.GENERALISED,
        Treatment.UNCHANGED,
    )
    assert age.changed == pytest.approx(100 * 2 / 3)
    assert age.shift == pytest.approx(20 / 3 / np.std([20, 30, 40, 60]))  # 0, 10 and 10 of the published three
    assert sex.changed == 0
    assert sex.loss == 25  # one suppressed record of four
    assert town.levels[0].level.groups == 2
    assert found.suppressed == 1
    assert found.classes == (ClassCount(1, 1, 1), ClassCount(2, 2, 1))
    assert found.hardest is not None
    assert (found.hardest.records, found.hardest.unique, found.hardest.suppressed) == (1, 1, 1)
    assert found.reidentified is not None
    assert found.reidentified.columns == 3


def test_levels_of_a_locally_recoded_column() -> None:
    original = people()
    masked = original.with_columns({"town": np.array([3, 3, 2, 2])}, levels={"town": LOCAL})
    town = describe_masking(original, masked, "recoding").columns[1]
    assert town.treatment is Treatment.LOCALLY_RECODED
    assert [(each.share, each.level.level, each.level.unchanged) for each in town.levels] == [
        (50.0, 0, True),
        (50.0, 1, False),
    ]


def test_replaced_categories_and_no_classes_after_perturbation() -> None:
    original = people()
    masked = original.with_columns({"sex": np.array([1, 0, 0, 1])})
    found = describe_masking(original, masked, "perturbation")
    assert found.columns[2].treatment is Treatment.REPLACED
    assert found.columns[2].changed == 50
    assert found.classes == ()


def test_untouched_tables_have_no_hardest_records() -> None:
    found = describe_masking(people(), people(), "recoding")
    assert {column.treatment for column in found.columns} == {Treatment.UNCHANGED}
    assert found.hardest is None
    assert (
        describe_masking(people().with_roles(dict.fromkeys(people().names, "other")), people(), "recoding").columns
        == ()
    )


@pytest.mark.parametrize("seed", range(3))
def test_against_counts_one_by_one(seed: int) -> None:
    original = crypsis.example(90, seed)
    masked = crypsis.Microaggregation(k=3, missing="aggregate").mask(original, np.random.default_rng(seed))
    masked = masked.without(np.arange(90) % 17 == 0)
    found, names = describe_masking(original, masked, "aggregation"), original.quasi_identifiers
    losses = {name: information_losses(original, masked, name) for name in names}
    assert [column.loss for column in found.columns] == pytest.approx([100 * losses[name].mean() for name in names])
    rows = [tuple(row) for row in masked.codes(names)[masked.kept].tolist()]
    sizes = Counter(Counter(rows).values())
    for count in found.classes:
        assert count.classes == sum(n for size, n in sizes.items() if count.low <= size <= (count.high or size))
    assert sum(count.classes for count in found.classes) == sum(sizes.values())
    loss = np.mean(list(losses.values()), axis=0)
    worst = sorted(range(90), key=lambda row: (-loss[row], row))[:9]
    assert found.hardest is not None
    assert found.hardest.loss_share == pytest.approx(100 * loss[worst].sum() / loss.sum())
    assert found.hardest.unique == int((equivalence_class_sizes(original, names)[worst] == 1).sum())


def test_a_confidential_column_that_is_coded_by_itself_is_told() -> None:
    """Others that are published as collected are not listed."""
    columns = {"age": [20, 30, 40, 50], "visits": [0, 1, 2, 9], "pay": [1, 2, 3, 4]}
    table = Table.from_columns(columns, {"age": "quasi", "visits": "confidential", "pay": "confidential"})
    masked = TopCoding(columns=("visits",), percent=30).mask(table, np.random.default_rng(0))
    found = describe_masking(table, masked, "recoding").columns
    assert [(each.name, each.changed) for each in found] == [("age", 0.0), ("visits", 25.0)]
