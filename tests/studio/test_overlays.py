"""Solutions of different sorts over the same values."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.studio.overlays import ORIGINAL, overlay
from crypsis.table.builders import build_hierarchy
from crypsis.table.table import LOCAL, Table


@pytest.fixture
def original() -> Table:
    ages = [20.0] * 20 + [27.0] * 20 + [31.0] * 20 + [48.0] * 20
    table = Table.from_columns({"age": ages, "sex": ["f", "m"] * 40}, roles={"age": "quasi", "sex": "quasi"})
    hierarchy = build_hierarchy("intervals:5,10,20", table.attribute("age"), table.column("age"))
    return table.with_columns({}, attributes={"age": table.attribute("age").but(hierarchy=hierarchy)})


def raised(table: Table, level: int) -> Table:
    hierarchy = table.attribute("age").hierarchy
    assert hierarchy is not None
    return table.with_columns({"age": hierarchy.lift(table.leaf_codes("age"), level)}, levels={"age": level})


def test_every_file_stands_in_the_coarsest_groups(original: Table) -> None:
    averaged = original.with_columns({"age": np.where(original.column("age") < 30, 23.5, 39.5)})
    found = overlay(original, {1: raised(original, 2), 2: raised(original, 3), 3: averaged}, "age")
    assert found is not None
    assert found.labels == ("20–39", "40–59")
    assert found.series == {
        ORIGINAL: (60.0, 20.0),
        "solution 1": (60.0, 20.0),
        "solution 2": (60.0, 20.0),
        "solution 3": (80.0, 0.0),  # half-way between two values counts as the lower
    }
    assert found.absent == {}


def test_an_averaged_number_takes_the_nearest_value(original: Table) -> None:
    averaged = original.with_columns({"age": np.where(original.column("age") < 30, 23.0, 45.0)})
    found = overlay(original, {1: raised(original, 3), 2: averaged}, "age")
    assert found is not None
    assert found.series["solution 2"] == (40.0, 40.0)  # 23 is near 20, 45 near 48


def test_what_cannot_be_drawn_is_told(original: Table) -> None:
    hidden = raised(original, 4)
    found = overlay(original, {1: original, 2: hidden}, "age")
    assert found is not None
    assert list(found.series) == [ORIGINAL, "solution 1"]
    assert found.absent == {2: "suppressed"}
    assert overlay(original, {2: hidden}, "age") is None


def test_a_column_recoded_record_by_record_is_drawn_at_the_level_most_of_it_reaches(original: Table) -> None:
    hierarchy = original.attribute("age").hierarchy
    assert hierarchy is not None
    leaves, levels = original.leaf_codes("age"), np.repeat([0, 2, 2, 4], 20)
    levels[75:] = (
        0  # 15 of 80 are hidden; 5 more than one in ten, so that only the level below the top is reached by most
    )
    nodes = np.array([hierarchy.offsets[v] + hierarchy.groups[v][leaf] for leaf, v in zip(leaves, levels, strict=True)])
    local = original.with_columns({"age": nodes.astype(np.int32)}, levels={"age": LOCAL})
    found = overlay(original, {1: local}, "age")
    assert found is not None
    assert found.labels == hierarchy.labels[3]
    assert found.series == {ORIGINAL: (60.0, 20.0), "solution 1": (60.0, 5.0)}
    assert "18.8 % of the records, in coarser groups, are left out" in found.message[0]
    few = original.with_columns(
        {"age": np.where(np.arange(80) < 4, hierarchy.offsets[4], leaves).astype(np.int32)}, levels={"age": LOCAL}
    )
    fine = overlay(original, {1: few}, "age")
    assert fine is not None
    assert sum(fine.series["solution 1"]) == 76.0, "as numbers, without the four that are hidden"
    towns = original.with_columns({"sex": np.append(np.full(2, 2), original.column("sex")[2:]).astype(np.int32)})
    sexes = build_hierarchy("merge:1", original.attribute("sex"), original.column("sex"))
    lifted = {"sex": original.attribute("sex").but(hierarchy=sexes)}
    whole = original.with_columns({}, attributes=lifted)
    both = overlay(whole, {1: towns.with_columns({}, levels={"sex": LOCAL}, attributes=lifted)}, "sex")
    assert both is not None
    assert both.series["solution 1"] == (39.0, 39.0)


def test_a_missing_value_stays_missing(original: Table) -> None:
    ages = original.column("age").copy()
    ages[:20] = np.nan
    found = overlay(original, {1: raised(original, 3), 2: original.with_columns({"age": ages})}, "age")
    assert found is not None
    assert sum(found.series["solution 2"]) == 60.0


def test_left_out_records_are_not_counted(original: Table) -> None:
    without = original.without(original.column("age") == 48)
    age, sex = (overlay(original, {1: without}, name) for name in ("age", "sex"))
    assert age is not None
    assert sex is not None
    assert sum(age.series["solution 1"]) == 60.0
    assert sum(sex.series[ORIGINAL]) == 80.0
