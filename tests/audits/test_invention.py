"""Values that nobody gave."""

from __future__ import annotations

import numpy as np

from crypsis.audits import Published
from crypsis.audits.invention import find_invented
from crypsis.audits.restatement import find_restated_missing
from crypsis.table.table import Table


def people() -> Table:
    return Table.from_columns(
        {"sex": ["f", "m", "f", "m"], "role": ["wife", "husband", "wife", None], "date": [10.0, None, 12.0, 14.0]},
        {"sex": "quasi", "role": "quasi", "date": "quasi"},
    )


def test_a_missing_cell_that_holds_a_value_is_found() -> None:
    original = people()
    published = original.with_columns({"date": np.array([11.0, 11.0, 13.0, 13.0])})
    (found,) = find_restated_missing(Published(published, original))
    assert (found.key, found.records, found.share, found.refuses) == ("filled:date", 1, 0.25, True)
    assert find_restated_missing(Published(original, original)) == []
    assert find_restated_missing(Published(published)) == []


def test_a_pair_nobody_holds_and_a_number_out_of_range_are_reported() -> None:
    original = people()
    roles = original.column("role")
    published = original.with_columns({"role": np.where(np.arange(4) == 0, roles[1], roles)})
    (pair,) = find_invented(Published(published, original))
    assert (pair.columns, pair.records, pair.refuses) == (("sex", "role"), 1, False)
    beyond = original.with_columns({"date": np.array([10.0, np.nan, 12.0, 15.0])})
    (number,) = find_invented(Published(beyond, original))
    assert (number.columns, number.records) == (("date",), 1)


def test_a_group_of_values_is_no_value_and_hides_no_pair_beside_it() -> None:
    original = people()
    roles = [*original.attribute("role").categories, "married"]
    attribute = original.attribute("role").but(categories=tuple(roles))
    codes = np.array([roles.index("husband"), roles.index("married"), roles.index("wife"), -1], dtype=np.int32)
    published = original.with_columns({"role": codes}, attributes={"role": attribute})
    (pair,) = find_invented(Published(published, original))
    assert (pair.columns, pair.records) == (("sex", "role"), 1), "the husband; of the married one nothing can be said"
