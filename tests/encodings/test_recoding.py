"""Classes at levels of their own: a genome by hand, and local recoding as its method has it."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crypsis.encodings import RecodingEncoding
from crypsis.masking import LocalRecoding
from crypsis.masking.local_recoding import LocalClasses
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from lattice_tables import tables


def small() -> Table:
    towns = Hierarchy.from_rows([["a", "north", "*"], ["b", "north", "*"], ["c", "south", "*"]])
    attribute = Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c"), towns)
    return Table((attribute,), (np.array([0, 0, 1, 1, 2, 2, -1], dtype=np.int32),))


def shown(table: Table, name: str) -> list[str | None]:
    return [None if code < 0 else table.labels(name)[code] for code in table.column(name)]


def test_a_genome_by_hand() -> None:
    encoding = RecodingEncoding(small(), ("town",))
    labels = np.array([0, 0, 1, 1, 1, 2, 2], dtype=np.int32)
    genome = encoding.encode(LocalClasses(labels, np.array([[0], [2], [3]], dtype=np.int32)))
    assert genome.tolist() == [3, 0, 0, 1, 1, 1, 2, 2, 0, 2, 3]
    masked = encoding.decode(genome)
    assert masked.level("town") == LOCAL
    assert shown(masked, "town") == ["a", "a", "*", "*", "*", None, None], "one above the top publishes nothing"
    description = encoding.describe(genome, masked)
    assert description.facts == {"effective_k": 2, "classes": 3}
    assert "at least 2 records needs: 3 classes" in description.message


def test_a_suppressed_record_has_no_class_and_shows_nothing() -> None:
    table = small().without(np.array([False, True, False, False, False, False, True]))
    encoding = RecodingEncoding(table, ("town",))
    genome = np.array([2, 0, 0, 0, 1, 1, 1, 0], dtype=np.int32)
    masked = encoding.decode(genome)
    assert shown(masked, "town") == ["north", None, "north", "north", "c", "c", None]
    assert masked.kept.tolist() == table.kept.tolist()


@given(tables, st.integers(2, 5), st.integers(1, 2), st.integers(0, 99), st.floats(0.0, 0.3))
@settings(max_examples=50, deadline=None)
def test_what_the_method_finds_is_decoded_to_the_bit(table, k, l, seed, share):  # noqa: E741
    table = table.without(np.random.default_rng(seed).random(len(table)) < share)
    assume(int(table.kept.sum()) >= k)
    assume(len(set(table.column("illness")[table.kept].tolist())) >= l)
    method = LocalRecoding(k=k, l=l)
    masked = method.mask(table, np.random.default_rng(seed))
    encoding = RecodingEncoding(table, tuple(table.quasi_identifiers))
    genome = encoding.encode(method.solve(table, np.random.default_rng(seed)))
    assert encoding.decode(genome).fingerprint() == masked.fingerprint()
    assert encoding.decode(genome).fingerprint() == masked.fingerprint(), "what it kept changes nothing"
