from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.builders import build_hierarchy, centres_of_built_intervals
from crypsis.table.files import read_hierarchy
from crypsis.table.frames import wrap
from crypsis.table.hierarchy import Hierarchy
from reference import reference


def built(cells: list[Any], spec: str, **options: Any) -> Hierarchy:
    table = wrap(pl.DataFrame({"a": cells, "n": list(range(len(cells)))}), hierarchies={"a": spec}, **options)
    hierarchy = table.attribute("a").hierarchy
    assert hierarchy is not None
    return hierarchy


def path_of(hierarchy: Hierarchy, leaf: str) -> list[str]:
    """What a value is called at every level."""
    place = hierarchy.labels[0].index(leaf)
    return [labels[groups[place]] for groups, labels in zip(hierarchy.groups, hierarchy.labels, strict=True)]


def test_intervals_of_whole_numbers() -> None:
    hierarchy = built([23, 17, 40, None, -3, 20], "intervals:5,10,20")
    assert path_of(hierarchy, "17") == ["17", "15–19", "10–19", "0–19", "*"]
    assert path_of(hierarchy, "20") == ["20", "20–24", "20–29", "20–39", "*"]
    assert path_of(hierarchy, "-3") == ["-3", "-5–-1", "-10–-1", "-20–-1", "*"]
    assert hierarchy.values.tolist() == [-3, 17, 20, 23, 40]


def test_intervals_equal_the_reference_hierarchy_of_ages() -> None:
    """Bands of 5, 10, 20, 40 and 80 years, as in the published file built by hand."""
    listed = read_hierarchy(reference("dgh/adult_age.csv"))
    hierarchy = built(list(range(17, 91)), "intervals:5,10,20,40,80")
    assert [[label.replace("–", "-") for label in labels] for labels in hierarchy.labels] == [
        list(labels) for labels in listed.labels
    ]
    for ours, theirs in zip(hierarchy.groups, listed.groups, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_intervals_from_an_origin_and_of_width_one() -> None:
    hierarchy = built([18, 22, 23, 30], "intervals:1,5,10@18")
    assert path_of(hierarchy, "22") == ["22", "22", "18–22", "18–27", "*"]
    assert path_of(hierarchy, "30") == ["30", "30", "28–32", "28–37", "*"]


@pytest.mark.parametrize("power", [80, -60])
def test_very_wide_and_very_narrow_intervals_have_short_names(power: int) -> None:
    built_up = built([float(f"1e{power}"), float(f"7e{power}")], f"intervals:5e{power},10e{power}")
    assert built_up.labels[1] == (f"[0, 5e{power:+d})", f"[5e{power:+d}, 1e{power + 1:+d})")


def test_intervals_of_decimals_are_exact_at_their_edges() -> None:
    hierarchy = built([0.1, 0.3, 0.7, 1.75, 2.0], "intervals:0.1,0.5")
    assert path_of(hierarchy, "0.3") == ["0.3", "[0.3, 0.4)", "[0.0, 0.5)", "*"]
    assert path_of(hierarchy, "0.7") == ["0.7", "[0.7, 0.8)", "[0.5, 1.0)", "*"]
    assert path_of(hierarchy, "2") == ["2", "[2.0, 2.1)", "[2.0, 2.5)", "*"]
    assert path_of(built([1.5, 7.25], "intervals:5"), "7.25") == ["7.25", "[5, 10)", "*"]


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=30),
    width=st.integers(1, 50),
    factors=st.lists(st.integers(2, 6), max_size=3),
    origin=st.integers(-100, 100),
    digits=st.integers(0, 3),
)
def test_intervals_hold_their_values(
    values: list[int], width: int, factors: list[int], origin: int, digits: int
) -> None:
    """Every value lies in the interval its label states, at every level; integers do the arithmetic."""
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    unit = 10**digits
    texts = ",".join(f"{w / unit:.{digits}f}" for w in widths)
    hierarchy = built([value / unit for value in values], f"intervals:{texts}@{origin / unit:.{digits}f}")
    for level, wide in enumerate(widths, start=1):
        groups: dict[int, set[int]] = {}
        for value in values:
            leaf = int(np.searchsorted(hierarchy.values, value / unit))
            groups.setdefault(int(hierarchy.groups[level][leaf]), set()).add((value - origin) // wide)
        assert all(len(bins) == 1 for bins in groups.values())
        assert len(groups) == len({(value - origin) // wide for value in values}) == len(hierarchy.labels[level])


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=30),
    widths=st.sampled_from([[1, 4], [5, 10, 20], [7]]),
    origin=st.integers(-100, 100),
    digits=st.integers(0, 2),
    whole=st.booleans(),
)
def test_the_centre_of_an_interval_is_halfway(
    values: list[int], widths: list[int], origin: int, digits: int, whole: bool
) -> None:
    """Integers do the arithmetic; an interval of whole numbers ends one below the next."""
    unit = 10**digits
    text = ",".join(f"{w / unit:.{digits}f}" for w in widths) + f"@{origin / unit:.{digits}f}"
    found = centres_of_built_intervals(text, Attribute("a", Kind.NUMERIC), np.array(values) / unit, whole=whole)
    assert len(found) == len(widths)
    for width, centres in zip(widths, found, strict=True):
        lows = [(value - origin) // width * width + origin for value in values]
        inset = 1 if whole and digits == 0 else 0
        assert centres == pytest.approx([(2 * low + width - inset) / 2 / unit for low in lows])


def test_dates() -> None:
    days = [dt.date(2020, 2, 29), dt.date(2020, 3, 1), dt.date(1969, 12, 31), None]
    hierarchy = built(days, "dates:day,month,quarter,year,decade")
    assert path_of(hierarchy, "2020-02-29") == ["2020-02-29", "2020-02", "2020-Q1", "2020", "2020s", "*"]
    assert path_of(hierarchy, "1969-12-31") == ["1969-12-31", "1969-12", "1969-Q4", "1969", "1960s", "*"]
    moments = [dt.datetime(2020, 1, 1, 23, 59), dt.datetime(2020, 1, 1, 0, 0), dt.datetime(1969, 12, 31, 12)]
    timed = built(moments, "dates:day,year")
    assert [len(level) for level in timed.labels] == [3, 2, 2, 1]
    assert timed.labels[1] == ("1969-12-31", "2020-01-01")


def test_prefixes() -> None:
    hierarchy = built(["12345", "12399", "12", "99999"], "prefixes:3,2")
    assert path_of(hierarchy, "12345") == ["12345", "123**", "12***", "*"]
    assert path_of(hierarchy, "12") == ["12", "12***", "12***", "*"]
    numbers = built([8001, 8002, 28080], "prefixes:2")
    assert path_of(numbers, "8001") == ["8001", "80***", "*"]
    assert numbers.values.tolist() == [8001, 8002, 28080]


def test_merges_join_the_rarest_and_do_not_name_them() -> None:
    cells = ["a"] * 10 + ["b"] * 8 + ["c"] * 3 + ["d"] * 2 + ["e"]
    hierarchy = built(cells, "merge:4,2")
    assert path_of(hierarchy, "a") == ["a", "a", "a", "*"]
    assert path_of(hierarchy, "e") == ["e", "other (2 values)", "other (4 values)", "*"]
    assert path_of(hierarchy, "c") == ["c", "c", "other (4 values)", "*"]
    assert path_of(hierarchy, "b") == ["b", "b", "other (4 values)", "*"]
    taken = built(["other (2 values)"] * 5 + ["b", "c"], "merge:2")
    assert path_of(taken, "b") == ["b", "other (2 values), group 2", "*"]


def test_merged_groups_are_named_by_members_that_are_few_short_and_not_rare() -> None:
    cells = ["nurse"] * 20 + ["clerk"] * 4 + ["sales"] * 3
    assert path_of(built(cells, "merge:2"), "clerk") == ["clerk", "clerk or sales", "*"]
    assert path_of(built([*cells, *["cook"] * 3], "merge:2"), "cook") == ["cook", "clerk, cook or sales", "*"]
    four = built([*cells, *["cook"] * 3, *["smith"] * 3], "merge:2")
    assert path_of(four, "cook") == ["cook", "other (4 values)", "*"]
    assert path_of(built([*cells[:-1]], "merge:2"), "clerk") == ["clerk", "other (2 values)", "*"], (
        "sales are two people"
    )
    genuine = built([*cells, *["clerk or sales"] * 9], "merge:3")
    assert path_of(genuine, "clerk") == ["clerk", "other (2 values)", "*"], "a genuine category has that name"
    wordy = built(["x"] * 9 + ["y" * 30] * 3 + ["z" * 30] * 3, "merge:2")
    assert path_of(wordy, "z" * 30)[1] == "other (2 values)"


def test_merges_of_ordered_categories_join_neighbours() -> None:
    cells = ["none"] * 2 + ["basic"] + ["high"] * 9 + ["phd"]
    hierarchy = built(cells, "merge:3,2", kinds={"a": ["none", "basic", "high", "phd"]})
    assert path_of(hierarchy, "basic") == ["basic", "other (2 values)", "other (2 values)", "*"], (
        "two have none, one has basic"
    )
    assert path_of(hierarchy, "phd") == ["phd", "phd", "high and rarer", "*"], "the one phd is not named"
    common = built(cells * 3, "merge:3,2", kinds={"a": ["none", "basic", "high", "phd"]})
    assert path_of(common, "basic") == ["basic", "none – basic", "none – basic", "*"]
    assert path_of(common, "phd") == ["phd", "phd", "high – phd", "*"]


@settings(max_examples=40, deadline=None)
@given(
    cells=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=60),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True),
    ordinal=st.booleans(),
)
def test_merges_have_the_groups_asked_for(cells: list[str], sizes: list[int], ordinal: bool) -> None:
    falling = sorted(sizes, reverse=True)
    kinds = {"a": list("abcdefghij")} if ordinal else {"a": "nominal"}
    hierarchy = built(cells, f"merge:{','.join(map(str, falling))}", kinds=kinds)
    for size, labels in zip(falling, hierarchy.labels[1:], strict=False):
        assert len(labels) == min(size, hierarchy.size)
        assert len(set(labels)) == len(labels)
    rare = {cell for cell in cells if cells.count(cell) < 3}
    for level, labels in enumerate(hierarchy.labels[1:-1], start=1):
        merged = [label for label, held in zip(labels, hierarchy.leaves(level), strict=True) if held > 1]
        assert not any(set(label.split()) & rare for label in merged), "a label names who hardly anybody is"


def test_the_order_of_a_hierarchy_orders_an_ordinal_column() -> None:
    hierarchy = Hierarchy.from_rows([["none", "low", "*"], ["basic", "low", "*"], ["high", "top", "*"]])
    table = wrap(
        pl.DataFrame({"a": ["high", "none", None, "basic"]}), kinds={"a": "ordinal"}, hierarchies={"a": hierarchy}
    )
    assert table.attribute("a").categories == ("none", "basic", "high")
    assert table.attribute("a").kind is Kind.ORDINAL
    assert table.column("a").tolist() == [2, 0, -1, 1]


@pytest.mark.parametrize(
    ("cells", "spec", "sentence"),
    [
        ([1, 2], "intervals:5,7", "width 5 does not divide the next, 7"),
        ([1, 2], "intervals:10,5", "does not divide the next"),
        ([1, 2], "intervals:0,5", "not above 0"),
        ([1, 2], "intervals:-5", "not above 0"),
        ([1, 2], "intervals:x", "intervals:x is not readable"),
        ([1, 2], "intervals:", "is not readable"),
        ([1, 2], "intervals:inf", "is not readable"),
        (["a", "b"], "intervals:5", "holds nominal and intervals need numbers"),
        ([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], "intervals:5", "use dates:month,year"),
        ([1, 2], "dates:month", "holds no dates"),
        ([dt.date(2020, 1, 1)], "dates:moth", "did you mean 'month'"),
        ([dt.date(2020, 1, 1)], "dates:year,month", "from fine to coarse"),
        (["a", "b"], "prefixes:2,3", "must list decreasing numbers"),
        (["a", "b"], "prefixes:0", "must list decreasing numbers"),
        ([1.5, 2.0], "prefixes:1", "prefixes need codes"),
        ([1, 2], "merge:2", "merges need categories"),
        (["a", "b"], "merge:two", "must list decreasing numbers of groups"),
        (["a", "b"], "interval:5", r"neither a hierarchy file nor a builder \(did you mean 'intervals'\?\)"),
        (["a", "b"], "nowhere.csv", "there is no file nowhere.csv"),
    ],
)
def test_refusals(cells: list[Any], spec: str, sentence: str) -> None:
    with pytest.raises(TableError, match=sentence):
        built(cells, spec)


def test_numbers_absent_from_a_hierarchy() -> None:
    ready = build_hierarchy("intervals:5", *_column([1, 2, 3]))
    with pytest.raises(TableError, match=r"row 4, column 'a': .* lacks '9' \(5 records\) and 1 rare value"):
        wrap(pl.DataFrame({"a": [1, 2, 3, 7, 9, 9, 9, 9, 9]}), hierarchies={"a": ready})


def _column(cells: list[Any]) -> tuple[Any, Any]:
    table = wrap(pl.DataFrame({"a": cells}))
    return table.attribute("a"), table.column("a")
