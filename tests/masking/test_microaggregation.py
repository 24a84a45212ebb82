"""Microaggregation of tables: mixed kinds, aggregates, attribute groups, missing values, and others' mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.masking.calibration import calibration_means, calibration_medians, calibration_modes
from crypsis.masking.method import Family, methods
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.scaling import Embedding, embed
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table
from reference import numeric

QUASI = Role.QUASI_IDENTIFIER


def numbers(values: Any, **more: Any) -> Table:
    """A table of numeric quasi-identifiers a, b, …"""
    values = np.asarray(values, dtype=float)
    attributes = tuple(Attribute(name, Kind.NUMERIC, QUASI, **more) for name in "abcdefghijklm"[: values.shape[1]])
    return Table(attributes, tuple(values.T))


def mixed(n: int, seed: int, missing: float = 0.0) -> Table:
    rng = np.random.default_rng(seed)
    attributes = (
        Attribute("age", Kind.NUMERIC, QUASI),
        Attribute("schooling", Kind.ORDINAL, QUASI, ("none", "some", "much")),
        Attribute("region", Kind.NOMINAL, QUASI, ("n", "e", "s", "w")),
        Attribute("income", Kind.NUMERIC, Role.CONFIDENTIAL),
    )
    columns = [
        rng.integers(18, 90, n).astype(float),
        rng.integers(0, 3, n).astype(np.int32),
        rng.integers(0, 4, n).astype(np.int32),
        rng.lognormal(10, 1, n),
    ]
    for column in columns[:3]:
        column[rng.random(n) < missing] = np.nan if column.dtype == float else -1
    return Table(attributes, tuple(columns))


def mask(table: Table, **settings_of: Any) -> Table:
    return Microaggregation(**settings_of).mask(table, np.random.default_rng(0))


def test_by_hand() -> None:
    table = numbers([[0], [10], [50], [1], [11], [51], [2], [12], [52]])
    masked = mask(table, k=3)
    assert masked.column("a").tolist() == [1, 11, 51, 1, 11, 51, 1, 11, 51]


def test_census_loses_the_published_share() -> None:
    table = numbers(numeric("census.csv"))
    masked = mask(table, k=3)
    values = table.numbers(table.names)
    change = (values - masked.numbers(table.names)) / values.std(axis=0)
    assert float((change**2).sum()) == pytest.approx(799.1829535394, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(4, 50),
    st.integers(2, 4),
    st.sampled_from(["mdav", "v-mdav", "cbfs", "univariate", "blocks"]),
    st.sampled_from(["z", "range", "none"]),
    st.sampled_from(["typical", "mode", "common-ancestor", "unanimous", "marginal", "cheapest"]),
    st.integers(0, 2**32),
)
def test_every_record_hides_among_k_and_the_rest_is_untouched(
    n: int, k: int, partitioner: str, scaling: str, categories: str, seed: int
) -> None:
    table = mixed(n, seed, missing=0.2)
    before = table.fingerprint()
    asked = {"k": k, "partitioner": partitioner, "scaling": scaling, "categories": categories, "missing": "aggregate"}
    masked = mask(table, **asked)
    assert np.unique(masked.codes(table.quasi_identifiers), axis=0, return_counts=True)[1].min() >= k
    assert masked.column("income").tobytes() == table.column("income").tobytes()
    assert table.fingerprint() == before
    assert masked.fingerprint() == mask(table, **asked).fingerprint()


def test_aggregates_by_hand() -> None:
    labels = np.array([0, 0, 0, 0, 2, 2, 2])
    values = np.array([3.0, 1, 1, 7, 0.1, 0.1, 0.1])
    assert calibration_means(values, labels, 3)[0].tolist() == [3.0, 0.0, 0.1]
    assert calibration_means(values, labels, 3)[1].tolist() == [True, False, True]
    assert calibration_medians(values, labels, 3, lower=False)[0].tolist() == [2.0, 0.0, 0.1]
    assert calibration_medians(values, labels, 3, lower=True)[0].tolist() == [1.0, 0.0, 0.1]
    assert calibration_modes(np.array([2, 1, 2, 1, 0, 3, 3]), labels, 3)[0].tolist() == [
        1,
        0,
        3,
    ]  # a tie: first in domain order
    assert calibration_modes(np.array([], dtype=np.int32), np.array([], dtype=np.int32), 2)[1].tolist() == [
        False,
        False,
    ]


def test_kinds_take_their_own_aggregate() -> None:
    table = Table(
        (
            Attribute("number", Kind.NUMERIC, QUASI),
            Attribute("order", Kind.ORDINAL, QUASI, ("a", "b", "c", "d")),
            Attribute("name", Kind.NOMINAL, QUASI, ("u", "v", "w")),
        ),
        (np.array([1.0, 1, 7, 7]), np.array([3, 0, 1, 3], dtype=np.int32), np.array([2, 1, 1, 2], dtype=np.int32)),
    )
    masked = mask(table, k=4)
    assert [masked.column(name)[0] for name in table.names] == [4.0, 1, 1]
    assert [mask(table, k=4, numbers="mode", categories="mode").column(name)[0] for name in table.names] == [1.0, 3, 1]
    numeric_only = mask(table, k=4, numbers="median", categories="median", columns=("number", "order"))
    assert (numeric_only.column("number")[0], numeric_only.column("order")[0]) == (4.0, 1)
    with pytest.raises(TableError, match="'name' is nominal and has no median"):
        mask(table, k=4, categories="median")


def test_the_stated_distance() -> None:
    table = mixed(40, 3)
    points = embed(table, ["age"], "range")
    assert np.ptp(points) == pytest.approx(1.0)
    ranks = embed(table, ["schooling"], "none")
    assert abs(ranks[table.column("schooling") == 0][0] - ranks[table.column("schooling") == 2][0]) == pytest.approx(1)
    places = embed(table, ["region"], "range")
    one, two = places[table.column("region") == 0][0], places[table.column("region") == 3][0]
    assert ((one - two) ** 2).sum() == pytest.approx(1.0)
    for name in table.quasi_identifiers:
        assert embed(table, [name], "z").var(axis=0).sum() == pytest.approx(1.0)


def test_two_categories_count_as_zero_and_one() -> None:
    codes = np.array([0, 1, 1, 0, 1, 1, 1, 0], dtype=np.int32)
    named = Table((Attribute("x", Kind.NOMINAL, QUASI, ("no", "yes")),), (codes,))
    counted = numbers(codes[:, None])
    gap_named = embed(named, ["x"], "z")[0] - embed(named, ["x"], "z")[1]
    gap_counted = embed(counted, ["a"], "z")[0] - embed(counted, ["a"], "z")[1]
    assert (gap_named**2).sum() == pytest.approx((gap_counted**2).sum())


def test_constant_and_empty_columns_weigh_nothing() -> None:
    table = numbers([[5, 1], [5, 2], [5, 8], [5, 9]])
    assert (embed(table, ["a"], "z") == 0).all()
    assert mask(table, k=2).column("b").tolist() == [1.5, 1.5, 8.5, 8.5]
    assert (embed(numbers([[np.nan], [np.nan]]), ["a"], "z") == 0).all()


@pytest.mark.parametrize("scaling", ["z", "range", "none"])
def test_records_of_another_table_are_placed_in_the_space_of_the_first(scaling: Any) -> None:
    table, names = mixed(40, 1, missing=0.1), ["age", "schooling", "region"]
    space = Embedding.of(table, names, scaling)
    some = np.array([3, 17, 5])
    assert np.array_equal(space.points(table), embed(table, names, scaling))
    assert np.array_equal(space.points(table.take(some)), embed(table, names, scaling)[some])
    far = Embedding.of(numbers([[0], [10]]), ["a"], "range").points(numbers([[0], [30], [np.nan]]))
    assert far.ravel().tolist() == [-0.5, 2.5, 0.0]


def test_attribute_groups_are_partitioned_on_their_own() -> None:
    table = numbers(np.random.default_rng(1).standard_normal((30, 3)))
    together = mask(table, k=3)
    apart = mask(table, k=3, groups=(("a",), ("b", "c")))
    alone = mask(table, k=3, columns=("a",))
    assert apart.column("a").tolist() == alone.column("a").tolist()
    assert apart.column("a").tolist() != together.column("a").tolist()
    assert alone.column("b").tobytes() == table.column("b").tobytes()


def test_bad_settings_are_refused_in_a_sentence() -> None:
    for settings_of, words in (
        ({"k": 1}, "k: "),
        ({"partitioner": "mdaw"}, "did you mean 'mdav'"),
        ({"partitioner_settings": {"endng": "hybrid"}}, "did you mean 'ending'"),
        ({"groups": (("a",), ("a", "b"))}, "named twice"),
        ({"groups": (("a",), ())}, "is empty"),
        ({"groups": (("a",),), "columns": ("a", "b")}, "different columns"),
        ({"numbers": "sum"}, "numbers"),
    ):
        with pytest.raises(PlanError, match=words):
            methods.build("microaggregation", **settings_of)
    assert Microaggregation.family is Family.AGGREGATION


def test_bad_tables_are_refused_by_column() -> None:
    with pytest.raises(TableError, match="2 records cannot form one group of k = 3"):
        mask(numbers([[1], [2]]), k=3)
    with pytest.raises(TableError, match="'b' has 1 infinite value"):
        mask(numbers([[1, np.inf], [2, 0], [3, 0]]), k=3)
    with pytest.raises(TableError, match=r"'b' has 1 missing value and .* set missing = 'keep'"):
        mask(numbers([[1, np.nan], [2, 0], [3, 0]]), k=3, missing="refuse")
    with pytest.raises(TableError, match="no quasi-identifier"):
        mask(Table.from_columns({"x": [1, 2, 3]}), k=3)
    with pytest.raises(TableError, match="no column 'agee'"):
        mask(mixed(9, 0), columns=("agee",))


def test_missing_values_stay_missing_and_blank_the_column_for_their_group() -> None:
    table = numbers([[0, 1], [1, np.nan], [2, 3], [50, np.nan], [51, np.nan], [52, np.nan]])
    masked = mask(table, k=3)
    assert masked.column("a").tolist() == [1, 1, 1, 51, 51, 51]
    assert np.isnan(masked.column("b")).all(), "the second of the first three lacks it, so none of them has it"
    town = Table((Attribute("town", Kind.NOMINAL, QUASI, ("n", "s")),), (np.array([0, 0, 0, -1], dtype=np.int32),))
    assert mask(town, k=2).column("town").tolist() == [-1, 0, 0, -1], "any other goes along"


def test_records_that_lack_the_same_values_are_grouped() -> None:
    values = np.array([[0, 1], [1, np.nan], [2, 3], [3, np.nan], [4, 5], [5, np.nan]])
    masked = mask(numbers(values), k=3)
    assert masked.column("a").tolist() == [2, 3, 2, 3, 2, 3]
    assert masked.column("b")[::2].tolist() == [3, 3, 3]
    assert np.isnan(masked.column("b")).tolist() == np.isnan(values[:, 1]).tolist(), "nothing is blanked"


def test_the_distance_of_missing_values() -> None:
    table = numbers([[0, 1], [10, 1], [np.nan, np.nan], [10, 1]])
    assert embed(table, ["a"], "none").ravel().tolist() == pytest.approx([-20 / 3, 10 / 3, 10 / 3 + 20, 10 / 3])
    points = embed(table, ["a", "b"], "none")
    assert points[:, 1].tolist() == [0, 0, 20, 0], "twice the span of a"
    assert points[:, 3].tolist() == [0, 0, 2, 0], "a constant counts as if its span were one"
    assert embed(table, ["a", "b"], "none", apart=False).shape == (4, 2)
    assert (
        embed(mixed(40, 3), ["age", "region"], "z").tobytes()
        == embed(mixed(40, 3), ["age", "region"], "z", False).tobytes()
    )


def test_missing_values_receive_the_group_s_value_where_filling_is_asked_for() -> None:
    table = numbers([[0, 1], [1, np.nan], [2, 3], [50, np.nan], [51, np.nan], [52, np.nan]])
    masked = mask(table, k=3, missing="aggregate")
    assert masked.column("b")[:3].tolist() == [2.0, 2.0, 2.0]
    assert np.isnan(masked.column("b")[3:]).all()
    assert masked.column("a").tolist() == [1, 1, 1, 51, 51, 51]


def test_minus_999_is_a_number_like_any_other() -> None:
    masked = mask(numbers([[-999], [-998], [-997], [5], [6], [7]]), k=3)
    assert masked.column("a").tolist() == [-998, -998, -998, 6, 6, 6]


@pytest.mark.parametrize("scaling", ["z", "range", "none"])
def test_a_shift_by_a_million_million_changes_no_group(scaling: str) -> None:
    values = np.random.default_rng(4).integers(0, 500, (60, 3)).astype(float)
    near, far = (mask(numbers(v), k=3, scaling=scaling) for v in (values, values + 1e12))
    assert (near.codes("abc") == far.codes("abc")).all()
    assert np.abs(far.column("a") - 1e12 - near.column("a")).max() < 1e-3


def test_very_large_numbers_are_scaled_not_lost() -> None:
    values = np.array([[0.0], [1], [2], [10], [11], [12]])
    assert (mask(numbers(values * 1e307), k=3).codes("a") == mask(numbers(values), k=3).codes("a")).all()


def test_dates_stay_whole_and_suppressed_records_take_no_part() -> None:
    table = numbers([[100], [101], [999], [103], [104]], dates="date").without(np.array([0, 0, 1, 0, 0], dtype=bool))
    masked = mask(table, k=2)
    assert masked.column("a").tolist() == [100, 100, 999, 104, 104]
    assert masked.kept.tolist() == [True, True, False, True, True]
