"""Declared uses: worked by hand, then against loops over records, then what cannot be used."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crypsis.errors import PlanError, TableError
from crypsis.measures import assess, measures
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.builders import build_hierarchy
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from naive.uses import correlation_change, interval_loss, means_change, table_distance

REGION = Hierarchy.from_rows([["a", "west", "*"], ["b", "west", "*"], ["c", "east", "*"], ["d", "east", "*"]])
USES = ("table-use", "means-use", "correlation-use", "regression-use")


def loss(name: str, original: Table, masked: Table, **chosen: object) -> float:
    return measures.build(name, **chosen).against(original).read(masked)


def people(regions: str, incomes: list[float | None], sexes: str = "") -> Table:
    """Region with a hierarchy, income, sex; a dot is missing."""
    sexes = sexes or "f" * len(regions)
    attributes = (
        Attribute("region", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c", "d"), REGION),
        Attribute("income", Kind.NUMERIC, Role.CONFIDENTIAL),
        Attribute("sex", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("f", "m")),
    )
    columns = (
        np.array(["abcd".find(region) for region in regions], dtype=np.int32),
        np.array([np.nan if value is None else value for value in incomes]),
        np.array(["fm".find(sex) for sex in sexes], dtype=np.int32),
    )
    return Table(attributes, columns)


def regions(table: Table, codes: str | list[int], level: int = 0) -> Table:
    values = ["abcd".find(c) for c in codes] if isinstance(codes, str) else codes
    return table.with_columns({"region": np.array(values, dtype=np.int32)}, levels={"region": level})


# -- by hand --


def test_a_table_by_hand() -> None:
    """aabc → abbc: shares ½ ¼ ¼ become ¼ ½ ¼; half of ¼ + ¼ is 25 %."""
    table = people("aabc", [1, 2, 3, 4])
    assert loss("table-use", table, regions(table, "abbc"), columns=("region",)) == pytest.approx(25)


def test_a_weighted_table_by_hand() -> None:
    """Weights 1, 2, 3, 4: a 3/10, b 3/10, c 4/10; moving the second record to b moves 2/10."""
    table = people("aabc", [1, 2, 3, 4])
    moved = regions(table, "abbc")
    assert loss("table-use", table, moved, columns=("region",), weights="income") == pytest.approx(20)
    tenths = people("aabc", [0.05, 0.1, 0.15, 0.2])
    moved = regions(tenths, "abbc")
    assert loss("table-use", tenths, moved, columns=("region",), weights="income") == pytest.approx(20), "½ in all"


def test_a_generalised_category_stands_evenly_for_what_it_covers() -> None:
    """aabc recoded to west, west, west, east: a, b, c, d get 3/8, 3/8, 1/8, 1/8; half of 1/8 + 1/8 + 1/8 + 1/8."""
    table = people("aabc", [1, 2, 3, 4])
    west, east = REGION.lift(np.array([0, 2], dtype=np.int32), 1)
    recoded = regions(table, [west, west, west, east], level=1)
    assert loss("table-use", table, recoded, columns=("region",)) == pytest.approx(25)
    # The same, recoded record by record: the node numbers of level 1 follow the four leaves.
    local = regions(table, [0, 0, 4 + west, 4 + east], level=LOCAL)
    # a 2/4 + 1/8, b 1/8, c 1/8, d 1/8 against ½ ¼ ¼ 0: half of 1/8 + 1/8 + 1/8 + 1/8.
    assert loss("table-use", table, local, columns=("region",)) == pytest.approx(25)


def test_suppressed_records_are_not_in_a_released_table() -> None:
    """aabc without its last record: shares 2/3 1/3 0 against ½ ¼ ¼: half of 1/6 + 1/12 + 1/4 is 25 %."""
    table = people("aabc", [1, 2, 3, 4])
    gone = table.without(np.array([False, False, False, True]))
    assert loss("table-use", table, gone, columns=("region",)) == pytest.approx(25)
    nobody = table.without(np.ones(4, dtype=bool))
    for name, chosen in (
        ("table-use", {"columns": ("region",)}),
        ("means-use", {"columns": ("income",), "by": ("region",)}),
    ):
        assert loss(name, table, nobody, **chosen) == 100


def test_means_by_hand() -> None:
    """Means of a and b are 15 and 40. They become 18 (20 %, two of four records) and 40: 10 %."""
    table = people("aabb", [10, 20, 30, 50])
    masked = table.with_columns({"income": np.array([16.0, 20.0, 30.0, 50.0])})
    assert loss("means-use", table, masked, columns=("income",), by=("region",)) == pytest.approx(10)


def test_a_lost_group_and_a_mean_of_zero_count_in_full() -> None:
    table = people("aabb", [10, 20, -5, 5])
    lost = table.without(np.array([True, True, False, False]))
    assert loss("means-use", table, lost, columns=("income",), by=("region",)) == pytest.approx(50)
    off = table.with_columns({"income": np.array([10.0, 20.0, -5.0, 6.0])})
    assert loss("means-use", table, off, columns=("income",), by=("region",)) == pytest.approx(50)


def test_small_means_change_by_their_own_size() -> None:
    """A mean of ½ that becomes 0.6 changes by a fifth; one of a quarter that becomes 0.3 too."""
    table = people("ab", [0.5, 0.25])
    masked = table.with_columns({"income": np.array([0.6, 0.3])})
    assert loss("means-use", table, masked, columns=("income",), by=("region",)) == pytest.approx(20)


def test_means_of_a_coarser_group_are_read_for_every_group_in_it() -> None:
    """West has mean 25 where a had 10 and b had 40: changes 100 % (of 150, capped) and 37.5 %."""
    table = people("ab", [10, 40])
    west = int(REGION.lift(np.array([0], dtype=np.int32), 1)[0])
    recoded = regions(table, [west, west], level=1)
    found = loss("means-use", table, recoded, columns=("income",), by=("region",))
    assert found == pytest.approx((100 + 37.5) / 2)


def test_a_reversed_correlation_is_lost_in_full() -> None:
    table = Table.from_columns({"x": [1, 2, 3], "y": [1, 2, 3], "z": [0, 1, 0]})
    turned = table.with_columns({"y": np.array([3.0, 2.0, 1.0])})
    assert loss("correlation-use", table, turned, columns=("x", "y")) == pytest.approx(100)
    # r(x,z) = 0 stays; r(y,z) = 0 stays: a third of the pairs is reversed.
    assert loss("correlation-use", table, turned, columns=("x", "y", "z")) == pytest.approx(100 / 3)


def test_an_interval_shifted_by_half_its_length_overlaps_by_half() -> None:
    """y = x + noise; adding c·x to y moves the slope by c and no residual, so the interval moves by exactly c."""
    x = np.arange(8.0)
    noise = np.array([1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
    table = Table.from_columns({"x": x, "y": 2 * x + noise})
    sxx = float(((x - x.mean()) ** 2).sum())  # 42; the noise is orthogonal to 1 and x: residual sum of squares 8
    length = 2 * 2.446911851 * (8 / 6 / sxx) ** 0.5  # t(0.975, 6) = 2.446911851
    shifted = table.with_columns({"y": table.column("y") + length / 2 * x})
    assert loss("regression-use", table, shifted, columns=("x",), target="y") == pytest.approx(25, abs=1e-6)
    apart = table.with_columns({"y": table.column("y") + 1.5 * length * x})
    assert loss("regression-use", table, apart, columns=("x",), target="y") == pytest.approx(75, abs=1e-6)
    far = table.with_columns({"y": table.column("y") + 2 * length * x})
    assert loss("regression-use", table, far, columns=("x",), target="y") == pytest.approx(100)


def test_a_perfect_fit_overlaps_only_with_itself() -> None:
    table = Table.from_columns({"x": [0, 1, 2, 3, 4], "y": [1, 3, 5, 7, 9]})
    assert loss("regression-use", table, table, columns=("x",), target="y") == 0
    steeper = table.with_columns({"y": np.array([1.0, 4.0, 7.0, 10.0, 13.0])})
    assert loss("regression-use", table, steeper, columns=("x",), target="y") == 100


def test_a_slope_the_released_file_cannot_estimate_is_lost() -> None:
    rng = np.random.default_rng(0)
    table = Table.from_columns({"x": rng.random(9), "z": rng.random(9), "y": rng.random(9)})
    flat = table.with_columns({"x": np.full(9, 0.5)})
    reading = measures.build("regression-use", columns=("x", "z"), target="y").against(table).explain(flat)
    assert reading.counts["slopes not estimable"] == 1
    assert reading.value >= 50


def test_generalised_numbers_are_read_as_the_middle_of_their_group() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0])
    attribute = Attribute("x", Kind.NUMERIC, Role.QUASI_IDENTIFIER)
    hierarchy = build_hierarchy("intervals:2", attribute, values)
    table = Table((attribute.but(hierarchy=hierarchy), Attribute("y", Kind.NUMERIC)), (values, np.array([0, 2, 1, 3])))
    recoded = table.with_columns({"x": hierarchy.lift(table.leaf_codes("x"), 1)}, levels={"x": 1})
    middles = table.with_columns({"x": np.array([0.5, 0.5, 2.5, 2.5])})
    for name, chosen in (
        ("correlation-use", {"columns": ("x", "y")}),
        ("regression-use", {"columns": ("x",), "target": "y"}),
        ("table-use", {"columns": ("x",), "bins": 4}),
        ("means-use", {"columns": ("x",), "by": ("y",)}),
    ):
        assert loss(name, table, recoded, **chosen) == pytest.approx(loss(name, table, middles, **chosen))


def test_a_number_spans_a_table_by_its_quantiles() -> None:
    """1…8 in four bins, cut at the quantiles 2.75, 4.5 and 6.25: two a bin. 1 moved to 8 moves an eighth."""
    table = Table.from_columns({"x": [1.0, 2, 3, 4, 5, 6, 7, 8]})
    moved = table.with_columns({"x": np.array([8.0, 2, 3, 4, 5, 6, 7, 8])})
    assert loss("table-use", table, moved, columns=("x",), bins=4) == pytest.approx(12.5)
    within = table.with_columns({"x": np.array([2.0, 2, 3, 4, 5, 6, 7, 99])})
    assert loss("table-use", table, within, columns=("x",), bins=4) == 0
    edge = table.with_columns({"x": np.array([2.75, 2, 3, 4, 5, 6, 7, 8])})
    assert loss("table-use", table, edge, columns=("x",), bins=4) == 0, "a bin holds its upper edge"
    blank = table.with_columns({"x": np.array([np.nan, 2, 3, 4, 5, 6, 7, 8])})
    assert loss("table-use", table, blank, columns=("x",), bins=4) == pytest.approx(12.5)
    last = table.with_columns({"x": np.array([1.0, 2, 3, 4, 5, 6, 7, np.nan])})
    assert loss("table-use", table, last, columns=("x",), bins=4) == pytest.approx(12.5)
    assert loss("table-use", last, table, columns=("x",), bins=4) == pytest.approx(12.5)
    assert loss("table-use", table, moved, columns=("x",)) == pytest.approx(12.5), "ten bins"
    empty = Table((Attribute("x", Kind.NUMERIC),), (np.full(3, np.nan),))
    assert loss("table-use", empty, empty, columns=("x",)) == 0


def test_missing_values_are_a_cell_at_every_level() -> None:
    """a, a, missing, c: as west, west, missing, east: a ¼, missing ¼, c and d ⅛ against ½, ¼, ¼: half of ¼ + ¼ + ¼."""
    table = people("aa.c", [1, 2, 3, 4])
    west, east = (int(code) for code in REGION.lift(np.array([0, 2], dtype=np.int32), 1))
    for codes, level in (([west, west, -1, east], 1), ([4 + west, 4 + west, -1, 4 + east], LOCAL)):
        recoded = regions(table, codes, level=level)
        assert loss("table-use", table, recoded, columns=("region",)) == pytest.approx(37.5)


@pytest.mark.parametrize(("west", "level"), [(0, 1), (2, LOCAL)])
def test_a_value_the_hierarchy_does_not_know_is_not_what_a_blank_stands_for(west: int, level: int) -> None:
    """a, b, z as west, west and a blank: z lost its third. With a blank before it: z lost its quarter to the blanks."""
    tree = Hierarchy.from_rows([["a", "west"], ["b", "west"]])
    known = Attribute("r", Kind.NOMINAL, Role.OTHER, ("a", "b"), tree)
    for codes, lost in (([0, 1, 2], 100 / 3), ([0, 1, 2, -1], 25)):
        table = Table((Attribute("r", Kind.NOMINAL, Role.OTHER, ("a", "b", "z")),), (np.array(codes, dtype=np.int32),))
        recoded = np.array([west, west, -1, -1][: len(codes)], dtype=np.int32)
        masked = table.with_columns({"r": recoded}, attributes={"r": known}, levels={"r": level})
        use = measures.build("table-use", columns=("r",)).against(table)
        assert use.read(masked) == pytest.approx(lost)


def test_a_table_of_more_cells_than_a_key_can_number() -> None:
    """Twelve columns of 90 values: 90^12 cells. Moving one record of ninety moves a ninetieth."""
    names = [f"c{j}" for j in range(12)]
    order = np.array([str(value) for value in range(90)])
    table = Table.from_columns({name: np.roll(order, j) for j, name in enumerate(names)})
    assert loss("table-use", table, table, columns=tuple(names)) == 0
    for name in (names[0], names[-1]):
        codes = table.column(name).copy()
        codes[0] = codes[1]
        moved = table.with_columns({name: codes})
        assert loss("table-use", table, moved, columns=tuple(names)) == pytest.approx(100 / 90)


def test_two_columns_recoded_record_by_record_are_spread_over_both() -> None:
    """(a, c) as (west, east): a quarter in each of its four cells; (b, b) as it is. Half of ⅜ + ⅜."""
    attributes = tuple(Attribute(name, Kind.NOMINAL, Role.OTHER, ("a", "b", "c", "d"), REGION) for name in ("p", "q"))
    table = Table(attributes, (np.array([0, 1], dtype=np.int32), np.array([2, 1], dtype=np.int32)))
    west, east = (int(code) for code in REGION.lift(np.array([0, 2], dtype=np.int32), 1))
    nodes = {"p": np.array([4 + west, 1]), "q": np.array([4 + east, 1])}
    local = table.with_columns(nodes, levels={"p": LOCAL, "q": LOCAL})
    assert loss("table-use", table, local, columns=("p", "q")) == pytest.approx(37.5)


def test_weighted_means_of_two_columns() -> None:
    """Group a: weights 1 and 3 of 10 and 20: 17.5; released 10 and 24: 20.5. Group b: 8 stays. Shares 4/5 and 1/5."""
    table = Table.from_columns({"g": ["a", "a", "b"], "x": [10.0, 20, 8], "z": [1.0, None, 2], "w": [1.0, 3, 1]})
    masked = table.with_columns({"x": np.array([10.0, 24, 8]), "z": np.array([2.0, np.nan, 2])})
    use = measures.build("means-use", columns=("x", "z"), by=("g",), weights="w")
    reading = use.against(table).explain(masked)
    of_x, of_z = 100 * 0.8 * 3 / 17.5, 100 * 0.8
    assert reading.value == pytest.approx((of_x + of_z) / 2)
    assert reading.counts == {
        "groups": 2,
        "change of x, %": pytest.approx(of_x),
        "change of z, %": pytest.approx(of_z),
        "records released": 3,
    }
    assert loss("means-use", table, table, columns=("x",), by=("x",), bins=2) == 0


def test_a_group_without_a_mean_takes_no_part() -> None:
    """Group b holds no number and weighs nothing; a changes by half. A file of no number at all has nothing to lose."""
    table = people("aab", [2, 2, None])
    masked = table.with_columns({"income": np.array([3.0, 3, 9])})
    assert loss("means-use", table, masked, columns=("income",), by=("region",)) == pytest.approx(50)
    nothing = people("ab", [None, None])
    assert loss("means-use", nothing, nothing, columns=("income",), by=("region",)) == 0
    far = table.with_columns({"income": np.array([90.0, 90, 9])})
    assert loss("means-use", table, far, columns=("income",), by=("region",)) == 100


def test_correlations_by_hand() -> None:
    """1, 2, 3 with 1, 2, 3 becomes 3, 2, 1: from 1 to -1, a full reversal; a constant column correlates 0."""
    table = Table.from_columns({"x": [1.0, 2, 3], "y": [1.0, 2, 3], "z": [1.0, 2, 3]})
    turned = table.with_columns({"y": np.array([3.0, 2, 1])})
    reading = measures.build("correlation-use", columns=("x", "y")).against(table).explain(turned)
    assert reading.value == pytest.approx(100)
    assert reading.counts == {"pairs": 1, "largest difference": pytest.approx(2), "records released": 3}
    flat = table.with_columns({"y": np.full(3, 5.0)})
    assert loss("correlation-use", table, flat, columns=("x", "y", "z")) == pytest.approx(50 * 2 / 3)
    nobody = table.without(np.ones(3, dtype=bool))
    gone = measures.build("correlation-use", columns=("x", "y")).against(table).explain(nobody)
    assert (gone.value, gone.counts) == (100, {"pairs": 1, "records released": 0})
    holes = table.with_columns({"y": np.array([np.nan, np.nan, np.nan])})
    assert loss("correlation-use", holes, table, columns=("x", "y")) == pytest.approx(50)


def test_correlations_of_large_numbers_with_small_differences() -> None:
    """A thousand million and 0, 1, 2, 3 correlate as 0, 1, 2, 3 do; a missing value has no say."""
    far, up = 1e9, np.arange(4.0)
    attributes = (Attribute("x", Kind.NUMERIC), Attribute("y", Kind.NUMERIC))
    table = Table(attributes, (far + np.append(up, np.nan), -3 * far + np.append(up, 1)))
    turned = table.with_columns({"y": -3 * far + np.append(up[::-1], 1)})
    assert loss("correlation-use", table, turned, columns=("x", "y")) == pytest.approx(100)
    crossed = table.with_columns({"y": -3 * far + np.array([1.0, 0, 3, 2, 1])})
    assert loss("correlation-use", table, crossed, columns=("x", "y")) == pytest.approx(20), "from 1 to 0.6"


def test_readings_explain_themselves() -> None:
    table = people("aabb", [1, 2, 3, 4], "fmfm")
    masked = table.without(np.array([True, False, False, False]))
    scopes = {
        "table-use": ({"columns": ("region",), "weights": "income"}, ("region", "income")),
        "means-use": ({"columns": ("income",), "by": ("sex",)}, ("income", "sex")),
        "regression-use": ({"columns": ("region",), "target": "income"}, ("income", "region")),
    }
    for name, (chosen, scope) in scopes.items():
        use = measures.build(name, **chosen)
        reading = use.against(table).explain(masked)
        assert (reading.measure, reading.unit, reading.better, reading.aim) == (name, "%", "low", "loss")
        assert (reading.scope, reading.definition, reading.missing) == (scope, use.definition, use.missing)
        assert reading.counts["records released"] == 3
        assert reading.value == use.against(table).read(masked)
    cells = measures.build("table-use", columns=("region",)).against(table)
    assert cells.explain(masked).counts == {"cells": 2, "records released": 3}
    assert cells.explain(table.without(np.ones(4, dtype=bool))).counts == {"cells": 2, "records released": 0}


# -- against the slow twins --


@st.composite
def files(draw: st.DrawFn) -> tuple[Table, Table]:
    """An original and a masked version: moved, blanked, generalised (whole column or cell by cell), suppressed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = int(rng.integers(12, 40))
    income = np.round(rng.normal(50, 20, n), 1)
    income[rng.random(n) < 0.1] = np.nan
    table = people(
        "".join(rng.choice(list("abcd."), n, p=[0.4, 0.3, 0.1, 0.1, 0.1])),
        [None if v != v else float(v) for v in income],
        "".join(rng.choice(list("fm"), n)),
    )
    age = Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER)
    table = Table((*table.attributes, age), (*table.columns, rng.integers(20, 60, n).astype(float)))
    masked = table.with_columns({"income": np.where(rng.random(n) < 0.5, income, income + rng.normal(0, 5, n))})
    masked = masked.with_columns({"age": table.column("age") + rng.integers(-2, 3, n)})
    how = int(rng.integers(0, 3))
    leaves = table.leaf_codes("region")
    if how == 0:
        masked = regions(masked, list(np.where(rng.random(n) < 0.7, leaves, rng.integers(-1, 4, n))))
    elif how == 1:
        masked = regions(masked, list(REGION.lift(leaves, 1)), level=1)
    else:
        levels = rng.integers(0, 3, n)
        nodes = [
            -1 if leaf < 0 else int(REGION.offsets[v] + REGION.groups[v][leaf])
            for leaf, v in zip(leaves, levels, strict=True)
        ]
        masked = regions(masked, nodes, level=LOCAL)
    return table, masked.without(rng.random(n) < 0.15)


@given(files())
@settings(max_examples=50, deadline=None)
def test_uses_are_what_their_definitions_say(pair: tuple[Table, Table]) -> None:
    original, masked = pair
    weights = [float(w) for w in original.column("age")]
    kept_weights = original.with_columns({"age": original.column("age")})
    assert loss("table-use", original, masked, columns=("region", "sex")) == pytest.approx(
        table_distance(original, masked, ["region", "sex"], [1.0] * len(original))
    )
    same_weights = masked.with_columns({"age": kept_weights.column("age")})
    assert loss("table-use", original, same_weights, columns=("region",), weights="age") == pytest.approx(
        table_distance(original, masked, ["region"], weights)
    )
    assert loss("means-use", original, masked, columns=("income",), by=("region", "sex")) == pytest.approx(
        means_change(original, masked, "income", ["region", "sex"])
    )
    assert loss("correlation-use", original, masked, columns=("income", "age")) == pytest.approx(
        correlation_change(original, masked, ["income", "age"])
    )


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_regression_is_the_textbook(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 60))
    x, group = rng.normal(1e4, 3, n), rng.integers(0, 4, n)
    table = people("".join("abcd"[g] for g in group), list(2 * x + group + rng.normal(0, 2, n)))
    number = Attribute("x", Kind.NUMERIC)
    table = Table((*table.attributes, number), (*table.columns, x))
    masked = table.with_columns({"x": x + rng.normal(0, 1, n)}).without(rng.random(n) < 0.1)
    masked = regions(masked, list(np.where(rng.random(n) < 0.8, group, rng.integers(0, 4, n))))
    there = np.unique(masked.column("region")[masked.kept])
    assume(len(there) == len(np.unique(table.column("region"))))  # a region nobody holds any more has no coefficient
    found = loss("regression-use", table, masked, columns=("x", "region"), target="income")
    # The design far from zero costs the plain normal equations digits, not the measure.
    assert found == pytest.approx(interval_loss(table, masked, "income", ["x", "region"]), abs=1e-3)


# -- what cannot be used --


@pytest.mark.parametrize("name", USES)
def test_a_use_without_columns_is_refused_in_a_sentence_and_skipped_by_assess(name: str) -> None:
    with pytest.raises(PlanError, match="is needed"):
        measures.build(name)
    table = people("aabb", [1, 2, 3, 4])
    assert "is needed" in assess(table, table).skipped[name]


def test_obstacles_name_the_column() -> None:
    table = people("aabb", [1, 2, 3, 4])
    assert "did you mean 'region'" in measures.build("table-use", columns=("regions",)).obstacle(table)
    assert "needs numbers" in measures.build("means-use", columns=("region",), by=("sex",)).obstacle(table)
    assert "needs numbers" in measures.build("table-use", columns=("sex",), weights="region").obstacle(table)
    assert "cannot explain itself" in measures.build("regression-use", columns=("income",), target="income").obstacle(
        table
    )
    no_records = "the table has no records; nothing can be compared"
    assert measures.build("table-use", columns=("sex",)).obstacle(table.take(np.arange(0))) == no_records
    for name, chosen in (
        ("table-use", {"columns": ("region",), "weights": "income"}),
        ("means-use", {"columns": ("income",), "by": ("sex",)}),
        ("correlation-use", {"columns": ("income", "income")}),
        ("regression-use", {"columns": ("region",), "target": "income"}),
    ):
        assert measures.build(name, **chosen).obstacle(table) == ""
    assert "no column 'weight'" in measures.build("table-use", columns=("sex",), weights="weight").obstacle(table)
    assert "no column 'town'" in measures.build("means-use", columns=("income",), by=("town",)).obstacle(table)
    assert "no column 'pay'" in measures.build("regression-use", columns=("sex",), target="pay").obstacle(table)
    assert "needs numbers" in measures.build("regression-use", columns=("income",), target="sex").obstacle(table)
    weighted = measures.build("means-use", columns=("income",), by=("region",), weights="sex")
    assert weighted.scope() == ("income", "region", "sex")
    assert weighted.obstacle(table).startswith("column 'sex' is nominal and this use needs numbers")
    assert "needs numbers" in measures.build("correlation-use", columns=("income", "sex")).obstacle(table)


def test_an_analysis_the_original_cannot_carry_is_skipped_with_its_reason() -> None:
    table = people("aaaa", [1, 2, 3, 4])
    uses = {"flat": measures.build("regression-use", columns=("region",), target="income")}
    assert "cannot be estimated" in assess(table, table, uses).skipped["flat"]
    negative = people("aabb", [1, -2, 3, 4])
    uses = {"weighted": measures.build("table-use", columns=("region",), weights="income")}
    assert "negative" in assess(negative, negative, uses).skipped["weighted"]
    weightless = people("aabb", [0, 0, None, 0])
    assert assess(weightless, weightless, uses).skipped["weighted"] == (
        "the weights of all records are 0 or missing, so there is no table; choose another weight"
    )
    lost = regions(table, [0, 0, 0, 0], level=1)
    lost = lost.with_columns({}, attributes={"region": lost.attribute("region").but(hierarchy=None)})
    for name, chosen in (
        ("table-use", {"columns": ("region",)}),
        ("means-use", {"columns": ("income",), "by": ("region",)}),
    ):
        with pytest.raises(TableError, match="column 'region' is generalised but has no hierarchy"):
            loss(name, table, lost, **chosen)
    with pytest.raises(TableError, match="keep suppressed records in place"):
        loss("table-use", table, table.take(np.arange(2)), columns=("region",))
