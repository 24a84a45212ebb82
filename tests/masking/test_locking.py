"""Locked columns stay as collected and split groups; linked columns never contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.errors import SearchError, TableError
from crypsis.masking.local_recoding import LocalRecoding
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.representatives import CATEGORIES, Representative
from crypsis.masking.scaling import cut_scaled_groups, scaling_lock_obstacle
from crypsis.searches.search import searches
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.example import example
from crypsis.table.links import follow_linked_lead, links
from crypsis.table.table import LOCAL, Table, lock_table_columns


def test_groups_are_cut_by_hand() -> None:
    """Five of one stratum in groups of two and three, the three with one stranger, who joins his own."""
    labels, of = np.array([0, 0, 1, 1, 1, 1, 2, 2]), np.array([0, 0, 0, 0, 0, 1, 1, 1])
    points = np.array([[0.0], [0], [5], [5], [5], [5], [9], [9]])
    assert cut_scaled_groups(labels.astype(np.int32), of.astype(np.int32), points, 2).tolist() == [
        0,
        0,
        1,
        1,
        1,
        2,
        2,
        2,
    ]
    with pytest.raises(TableError, match="fewer than 4"):
        cut_scaled_groups(labels.astype(np.int32), of.astype(np.int32), points, 4)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32))
def test_every_part_is_within_a_stratum_and_large_enough(n: int, many: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    of = np.unique(rng.integers(0, many, n), return_inverse=True)[1].astype(np.int32)
    if np.bincount(of).min() < k:
        return
    labels = cut_scaled_groups(rng.integers(0, n, n).astype(np.int32), of, rng.standard_normal((n, 2)), k)
    assert np.bincount(labels).min() >= k
    assert all(len(set(of[labels == label].tolist())) == 1 for label in range(int(labels.max()) + 1))


@pytest.mark.parametrize("method", [Microaggregation(k=3), LocalRecoding(k=3)])
def test_a_locked_column_is_published_as_collected_and_k_still_holds(method: crypsis.MaskingMethod) -> None:
    table = lock_table_columns(example(400, seed=3), ["sex", "marital"])
    masked = method.mask(table, np.random.default_rng(0))
    for name in ("sex", "marital"):
        assert masked.column(name).tolist() == table.column(name).tolist()
    assert equivalence_class_sizes(masked, masked.quasi_identifiers).min() >= 3


@pytest.mark.parametrize("name", ["memetic", "local-recoding", "pbg-ea"])
def test_searches_leave_a_locked_column_alone(name: str) -> None:
    table = lock_table_columns(example(300, seed=3), ["sex"])
    with crypsis.evolve(table, search=searches.build(name, k=4), budget="2 generations", seed=1) as run:
        found = [solution for solution in run.solutions if not solution.baseline]
        assert found
        for solution in found:
            masked = run.decode(solution)
            assert masked.column("sex")[masked.kept].tolist() == table.column("sex")[masked.kept].tolist()
            assert solution.figure("k") >= 4


def test_a_lock_that_cannot_hold_is_refused_in_a_sentence() -> None:
    table = lock_table_columns(example(300, seed=3), ["age"])
    assert "'age' would stay as collected" in scaling_lock_obstacle(table, table.quasi_identifiers, 5)
    with pytest.raises(SearchError, match="'age' would stay as collected"):
        crypsis.evolve(table, search=searches.build("memetic", k=5), budget="1 generations", seed=1)


# -- links --


def linked(n: int, seed: int, missing: float = 0.0) -> Table:
    """Towns in countries, with the number of each town and the dialling prefix of each country."""
    rng = np.random.default_rng(seed)
    towns = ["Turku", "Espoo", "Tartu", "Narva", "Riga"]
    of = {"Turku": "Finland", "Espoo": "Finland", "Tartu": "Estonia", "Narva": "Estonia", "Riga": "Latvia"}
    town = [towns[code] for code in rng.integers(0, 5, n)]
    hole = rng.random((3, n)) < missing
    columns = {
        "age": rng.integers(20, 80, n).tolist(),
        "town": [None if gap else each for each, gap in zip(town, hole[0], strict=True)],
        "country": [None if gap else of[each] for each, gap in zip(town, hole[1], strict=True)],
        "number": [None if gap else 100 + towns.index(each) for each, gap in zip(town, hole[2], strict=True)],
        "colour": rng.choice(["red", "blue"], n).tolist(),
    }
    table = Table.from_columns(columns, dict.fromkeys(columns, "quasi"))
    tree = crypsis.Hierarchy.from_rows([[each, of[each], "*"] for each in sorted(set(towns))])
    attributes = {name: table.attribute(name).but(linked="town") for name in ("country", "number")}
    return table.with_columns({}, attributes={**attributes, "town": table.attribute("town").but(hierarchy=tree)})


def test_links_are_found_and_chance_is_not() -> None:
    found = links(linked(80, 1), ["age", "town", "country", "number", "colour"])
    assert [(link.name, link.lead) for link in found] == [("country", "town"), ("number", "town")]
    assert links(linked(4, 1), ["town", "country", "number"]) == (), "four records show nothing"
    few = Table.from_columns({"a": list("abcdefghij"), "b": list("xyxyxyxyxy")})
    assert links(few, few.names) == (), "a column with a value for each record determines everything"


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from([each for each in CATEGORIES if each is not Representative.MEDIAN]),
    st.floats(0, 0.2),
    st.integers(0, 2**32),
)
def test_linked_columns_never_contradict(categories: Representative, missing: float, seed: int) -> None:
    table = linked(60, seed, missing)
    masked = Microaggregation(k=4, categories=categories.value).mask(table, np.random.default_rng(0))
    before = {(a, b, c) for a, b, c in zip(*(table.column(n) for n in ("town", "country", "number")), strict=True)}
    town = masked.column("town")
    for row in range(len(table)):
        if town[row] < 0:
            assert masked.column("country")[row] < 0
            assert np.isnan(masked.column("number")[row])
        elif masked.level("town") != LOCAL or town[row] < 5:
            code = int(town[row])
            country, number = masked.column("country")[row], masked.column("number")[row]
            assert country < 0 or any(a == code and b == country for a, b, _ in before)
            assert np.isnan(number) or any(a == code and c == number for a, _, c in before)
    assert equivalence_class_sizes(masked, masked.quasi_identifiers).min() >= 4


def test_a_link_that_does_not_hold_is_refused() -> None:
    table = linked(60, 1)
    with pytest.raises(TableError, match="is linked to 'age', which holds numbers"):
        follow_linked_lead(table, "town", "age")
    with pytest.raises(TableError, match="records hold another value of 'colour'"):
        follow_linked_lead(table, "colour", "town")
