"""What stands for a group: every representative by hand, and against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.representatives import CATEGORIES, NUMBERS, Representative, Representatives, represent_column
from crypsis.measures.information_loss import CellLoss, information_losses
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from naive import marginals as naive

QUASI = Role.QUASI_IDENTIFIER
TOWNS = Hierarchy.from_rows(
    [["Turku", "Finland", "*"], ["Espoo", "Finland", "*"], ["Tartu", "Estonia", "*"], ["Narva", "Estonia", "*"]]
)
NAMES = ("Turku", "Espoo", "Tartu", "Narva")


def towns(codes: list[int], kind: Kind = Kind.NOMINAL, hierarchy: Hierarchy | None = TOWNS) -> Table:
    return Table((Attribute("town", kind, QUASI, NAMES, hierarchy),), (np.array(codes, dtype=np.int32),))


def labels_of(masked: Table) -> list[str]:
    names = masked.labels("town")
    return [names[code] if code >= 0 else "" for code in masked.column("town").tolist()]


def shown(table: Table, groups: list[int], representative: Representative) -> list[str]:
    found = represent_column(table, "town", np.array(groups, dtype=np.int32), representative)
    return labels_of(table.with_columns({"town": found.column}, {"town": found.level}))


@pytest.mark.parametrize(
    "representative,expected",
    [
        ("typical", ["Turku", "Turku", "Turku", "Tartu"]),
        ("mode", ["Turku", "Turku", "Turku", "Tartu"]),
        ("common-ancestor", ["Turku", "Finland", "*", "Estonia"]),
        ("unanimous", ["Turku", "", "", ""]),
        ("cheapest", ["Turku", "Finland", "Turku", "Estonia"]),
    ],
)
def test_groups_by_hand(representative: str, expected: list[str]) -> None:
    """One town; two of one country; three of one town and one abroad; two of another country."""
    table = towns([0, 0, 0, 1, 0, 0, 0, 2, 2, 3])
    groups = [0, 0, 1, 1, 2, 2, 2, 2, 3, 3]
    assert shown(table, groups, Representative(representative)) == [expected[group] for group in groups]


def test_a_missing_value_blanks_its_group_unless_it_is_filled_in() -> None:
    table = towns([0, -1, 2, 3])
    groups = np.array([0, 0, 1, 1], dtype=np.int32)
    for representative in set(CATEGORIES) - {Representative.MEDIAN}:
        found = represent_column(table, "town", groups, representative)
        assert found.column[:2].tolist() == [-1, -1]
        filled = represent_column(table, "town", groups, representative, filling=True)
        assert filled.column[:2].tolist() == [0, 0], "Turku, as a value and as a node"


def test_without_a_hierarchy_different_values_have_no_common_ancestor() -> None:
    table = towns([0, 1, 2, 2], hierarchy=None)
    assert shown(table, [0, 0, 1, 1], Representative.COMMON_ANCESTOR) == ["", "", "Tartu", "Tartu"]
    assert shown(table, [0, 0, 1, 1], Representative.CHEAPEST) == ["Turku", "Turku", "Tartu", "Tartu"]


def test_suppressed_records_take_no_part() -> None:
    table = towns([3, 0, 0, 1]).without(np.array([True, False, False, False]))
    found = represent_column(table, "town", np.zeros(3, dtype=np.int32), Representative.COMMON_ANCESTOR)
    assert found.level == LOCAL
    assert [TOWNS.node_labels[code] if code >= 0 else "" for code in found.column] == ["", *["Finland"] * 3]
    assert represent_column(table, "town", np.zeros(3, dtype=np.int32), Representative.MODE).column.tolist() == [
        3,
        0,
        0,
        0,
    ]


def test_a_column_has_representatives_of_its_kind() -> None:
    numbers = Table.from_columns({"x": [1, 2]}, {"x": "quasi"})
    for table, name, representative in ((numbers, "x", "marginal"), (towns([0, 1]), "town", "mean")):
        with pytest.raises(TableError, match=f"has no {representative}"):
            represent_column(table, name, np.zeros(2, dtype=np.int32), Representative(representative))


def test_codes_of_a_genome() -> None:
    every = [Representatives(numbers, categories) for numbers in NUMBERS for categories in CATEGORIES]
    assert [Representatives.of_code(each.code) for each in every] == every
    assert Representatives().code == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32))
def test_spread_keeps_mean_and_variance_within_the_range(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Table.from_columns({"x": rng.normal(50, 10, n).tolist()}, {"x": "quasi"})
    groups = np.sort(rng.integers(0, max(1, n // 3), n))
    groups = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    before = table.column("x")
    after = represent_column(table, "x", groups, Representative.SPREAD).column
    plain = represent_column(table, "x", groups, Representative.MEAN).column
    assert before.min() <= after.min()
    assert after.max() <= before.max()
    cut = (after == before.min()) | (after == before.max())
    if len(np.unique(groups)) > 1 and not cut.any():
        assert after.mean() == pytest.approx(before.mean())
        assert after.std() == pytest.approx(before.std())
    assert after.std() >= plain.std() - 1e-9
    assert len(np.unique(after)) <= len(np.unique(groups)), "a group publishes one value"


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**32), st.sampled_from([Kind.NOMINAL, Kind.ORDINAL]))
def test_ancestors_are_true_and_lowest_and_the_cheapest_costs_least(n: int, seed: int, kind: Kind) -> None:
    rng = np.random.default_rng(seed)
    table = towns(rng.integers(-1, 4, n).tolist(), kind)
    groups = np.unique(rng.integers(0, max(1, n // 2), n), return_inverse=True)[1].astype(np.int32)
    paths = [
        [name, *(TOWNS.labels[level][TOWNS.groups[level][leaf]] for level in (1, 2))] for leaf, name in enumerate(NAMES)
    ]
    published = shown(table, groups.tolist(), Representative.COMMON_ANCESTOR)
    for group in range(int(groups.max()) + 1):
        held = table.column("town")[groups == group].tolist()
        found = None if -1 in held else naive.ancestor([paths[leaf] for leaf in held])
        assert {published[row] for row in np.flatnonzero(groups == group)} == {found[1] if found else ""}
    losses = {}
    for representative in (Representative.MODE, Representative.COMMON_ANCESTOR, Representative.CHEAPEST):
        found_ = represent_column(table, "town", groups, representative)
        masked = table.with_columns({"town": found_.column}, {"town": found_.level})
        losses[representative] = np.bincount(groups, information_losses(table, masked, "town"))
    least = np.minimum(losses[Representative.MODE], losses[Representative.COMMON_ANCESTOR])
    assert losses[Representative.CHEAPEST] == pytest.approx(least)


def test_importance_weighs_distance_and_loss() -> None:
    """Pairs by age or pairs by hours, whichever column counts."""
    table = Table.from_columns({"age": [20, 21, 60, 61], "hours": [1, 40, 2, 41]}, {"age": "quasi", "hours": "quasi"})

    def weighed(age: float, hours: float) -> Table:
        changed = {
            "age": table.attribute("age").but(importance=age),
            "hours": table.attribute("hours").but(importance=hours),
        }
        return table.with_columns({}, attributes=changed)

    def groups(of: Table) -> list[int]:
        return Microaggregation(k=2).partitions(of, np.random.default_rng(0))[0].tolist()

    by_age, by_hours = groups(weighed(5, 0)), groups(weighed(0, 5))
    assert by_age[0] == by_age[1] != by_age[2]
    assert by_hours[0] == by_hours[2] != by_hours[1]
    masked = table.with_columns({"age": np.array([20.5, 20.5, 60.5, 60.5]), "hours": np.full(4, 21.0)})
    age, hours = 100 * 0.5 / 41, 100 * np.mean([20, 19, 19, 20]) / 40
    for weights in ((1, 1), (3, 1), (0, 1), (5, 0)):
        expected = (weights[0] * age + weights[1] * hours) / sum(weights)
        assert CellLoss().against(weighed(*weights)).read(masked) == pytest.approx(expected)
    assert CellLoss(columns=("age",)).against(weighed(0, 1)).read(masked) == pytest.approx(age), "read alone it counts"


@pytest.mark.parametrize("way", [Representative.MEDIAN, Representative.MODE])
def test_an_amount_that_one_person_has_is_not_published(way: Representative) -> None:
    """Group 0: the middle 20 is one person's, and the mean is published; in group 1 several people have 7."""
    table = Table.from_columns({"pay": [10.0, 20.0, 33.0, 7.0, 7.0, 8.0]}, {"pay": "quasi"})
    column = represent_column(table, "pay", np.array([0, 0, 0, 1, 1, 1], dtype=np.int32), way).column
    assert column.tolist() == [21.0, 21.0, 21.0, 7.0, 7.0, 7.0]


@given(st.lists(st.integers(0, 30), min_size=6, max_size=40), st.integers(2, 5), st.sampled_from(["median", "mode"]))
@settings(max_examples=40, deadline=None)
def test_single_amounts_only_where_they_are_means(amounts: list[int], k: int, numbers: str) -> None:
    table = Table.from_columns({"pay": [float(each) for each in amounts]}, {"pay": "quasi"})
    method = Microaggregation(k=k, numbers=numbers)
    labels = method.partitions(table, np.random.default_rng(0))[0]
    published = method.aggregate(table, [labels]).column("pay")
    for group in range(labels.max() + 1):
        held = [each for each, of in zip(amounts, labels, strict=True) if of == group]
        value = published[labels == group][0]
        assert amounts.count(value) != 1 or value == pytest.approx(np.mean(held))
