"""Labels that the custodian gives to codes."""

from __future__ import annotations

import pytest

from crypsis.errors import TableError
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table
from crypsis.table.value_labels import label_codes

AREAS = Table.from_columns({"area": ["1", "2", "3", "1"], "age": [1.0, 2.0, 3.0, 4.0]})


def test_leaves_and_groups_that_are_named_after_codes_get_the_labels() -> None:
    rows = [("1", "1 or 2", "*"), ("2", "1 or 2", "*"), ("3", "3", "*")]
    given = AREAS.attribute("area").but(hierarchy=Hierarchy.from_rows(rows))
    table = AREAS.with_columns({}, attributes={"area": given})
    made = label_codes(table, "area", {"1": "town", "2": "city"}).attribute("area")
    assert made.categories == ("town", "city", "3")
    assert made.codes == (("town", 1.0), ("city", 2.0), ("3", 3.0))
    assert made.hierarchy is not None
    assert made.hierarchy.labels == (("town", "city", "3"), ("town or city", "3"), ("*",))


@pytest.mark.parametrize(
    ("name", "labels", "words"),
    [
        ("area", {"9": "sea"}, "9 is no value"),
        ("area", {"1": "3"}, "stands for several values"),
        ("age", {"1": "young"}, "it holds numbers"),
    ],
)
def test_labels_that_do_not_fit_are_refused(name: str, labels: dict[str, str], words: str) -> None:
    with pytest.raises(TableError, match=words):
        label_codes(AREAS, name, labels)
