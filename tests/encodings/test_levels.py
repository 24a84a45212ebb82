"""One level per column: a node by hand, and every node and rule as the masking method has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crypsis.encodings import LevelEncoding
from crypsis.encodings.generalisation import levels_key
from crypsis.errors import TableError
from crypsis.masking import Generalisation
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from lattice_tables import tables


def small() -> Table:
    """Ages 20, 21, 30, 31 with decades above them; one town is rare."""
    ages = Hierarchy.from_rows(
        [["20", "20-29", "*"], ["21", "20-29", "*"], ["30", "30-39", "*"], ["31", "30-39", "*"]],
        np.array([20.0, 21.0, 30.0, 31.0]),
    )
    towns = Hierarchy.from_rows([["x", "*"], ["y", "*"]])
    return Table(
        (
            Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER, hierarchy=ages),
            Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("x", "y"), towns),
            Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, ("a", "b")),
        ),
        (np.array([20.0, 21.0, 30.0, 31.0, 31.0]), np.array([0, 0, 0, 0, 1]), np.array([0, 1, 0, 1, 0])),
    )


def encoding(table: Table, **settings: object) -> LevelEncoding:
    lattice = Lattice.of(table)
    return LevelEncoding(table, lattice, Generalisation(columns=lattice.names, **settings))


def test_a_node_by_hand() -> None:
    decades = encoding(small(), suppression=0.2, k=2)
    masked = decades.decode(np.array([1, 0], dtype=np.int16))
    assert [masked.labels("age")[code] for code in masked.column("age")] == ["20-29", "20-29", *["30-39"] * 3]
    assert masked.column("town").tolist() == [0, 0, 0, 0, 1]
    assert masked.kept.tolist() == [True, True, True, True, False], "alone in its class"
    assert decades.generalise(np.array([1, 0], dtype=np.int16)).kept.all()
    description = decades.describe(np.array([1, 0], dtype=np.int16), masked)
    assert description.facts == {"suppressed": 1, "rule": "failing-class", "level of age": 1, "level of town": 0}
    assert "1 record suppressed: the classes that failed" in description.message


def test_what_no_node_is_and_what_goes_too_far_are_refused() -> None:
    with pytest.raises(TableError, match="has no level 3"):
        encoding(small()).decode(np.array([3, 0], dtype=np.int16))
    with pytest.raises(TableError, match="suppresses 5 of 5 records"):
        encoding(small(), k=3, suppression=0.2).decode(np.array([0, 0], dtype=np.int16))


@given(tables, st.data(), st.integers(0, 3), st.integers(0, 2), st.sampled_from(["failing-class", "by-size"]))
@settings(max_examples=60, deadline=None)
def test_every_node_is_the_methods_own_masking(table, data, k, l, rule):  # noqa: E741
    lattice = Lattice.of(table)
    genome = np.array([data.draw(st.integers(0, height)) for height in lattice.heights], dtype=np.int16)
    method = Generalisation(columns=lattice.names, suppression=0.5, k=k, l=l, rule=rule)
    by_name = dict(zip(lattice.names, genome.tolist(), strict=True))
    try:
        masked = method.model_copy(update={"levels": by_name}).mask(table, np.random.default_rng(0))
    except TableError:
        assume(False)
    levels = LevelEncoding(table, lattice, method)
    assert levels.decode(genome).fingerprint() == masked.fingerprint()
    assert levels.decode(genome).fingerprint() == masked.fingerprint(), "what it kept changes nothing"


def test_equal_levels_have_equal_keys() -> None:
    assert levels_key(np.array([1, 2], dtype=np.int64)) == levels_key(np.array([1, 2], dtype=np.int16))
    assert levels_key(np.array([1, 2])) != levels_key(np.array([2, 1]))
