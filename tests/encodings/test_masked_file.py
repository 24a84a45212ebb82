"""Codes record by record: a genome by hand, and the files of every method that masks categories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.encodings import MaskedFileEncoding
from crypsis.encodings.masked_file import masked_file_key
from crypsis.masking import BottomCoding, GlobalRecoding, MaskingMethod, Microaggregation, Pram, RankSwapping, TopCoding
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table

METHODS: tuple[MaskingMethod, ...] = (
    Pram(theta=0.5),
    Microaggregation(k=3, missing="aggregate"),
    Microaggregation(k=3, missing="aggregate", numbers="mode", categories="mode"),
    GlobalRecoding(depth=1, label="representative"),
    GlobalRecoding(depth=1, label="merged"),
    TopCoding(columns=("grade",)),
    BottomCoding(columns=("grade",)),
    RankSwapping(columns=("grade",), percent=20),
)


def small() -> Table:
    return Table(
        (
            Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("x", "y")),
            Attribute("grade", Kind.ORDINAL, Role.QUASI_IDENTIFIER, ("low", "mid", "high")),
            Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, ("a", "b")),
        ),
        (np.array([0, 1, -1]), np.array([0, 1, 2]), np.array([0, 1, 0])),
    )


def shown(table: Table) -> list[list[str | None]]:
    """What a reader sees."""
    return [[None if c < 0 else table.labels(name)[c] for c in table.column(name)] for name in table.names]


def test_a_genome_by_hand() -> None:
    encoding = MaskedFileEncoding(small(), ("town", "grade"), merged=((), ("low or mid",)))
    assert encoding.context.codes.tolist() == [[0, 0], [1, 1], [2, 2]], "a missing town is the code after the last"
    masked = encoding.decode(np.array([[1, 5], [2, 5], [0, 2]], dtype=np.int32))
    assert shown(masked) == [["y", None, "x"], ["low or mid", "low or mid", "high"], ["a", "b", "a"]]
    description = encoding.describe(np.array([[1, 5], [2, 5], [0, 2]], dtype=np.int32), masked)
    assert "town 100 %, grade 67 %" in description.message
    assert description.facts["changed_cells"] == pytest.approx(100 * 5 / 6)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(seed=st.integers(0, 2**32), missing=st.floats(0.0, 0.3))
@settings(max_examples=15, deadline=None)
def test_what_a_method_publishes_is_decoded(method: MaskingMethod, seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    town, grade = rng.integers(0, 5, 40), rng.integers(0, 6, 40)
    for column in (town, grade):
        column[rng.random(40) < missing] = -1
    table = Table(
        (
            Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tuple("pqrst")),
            Attribute("grade", Kind.ORDINAL, Role.QUASI_IDENTIFIER, tuple("123456")),
        ),
        (town.astype(np.int32), grade.astype(np.int32)),
    )
    masked = method.mask(table, rng)
    encoding = MaskedFileEncoding(table, ("town", "grade"))
    new = [tuple(encoding.context.news(name, [masked])) for name in encoding.names]
    genome = encoding.context.pair(masked).codes
    knowing = replace(encoding, merged=new)
    decoded = knowing.decode(genome)
    assert shown(decoded) == shown(masked)
    assert np.array_equal(knowing.encode(masked), genome)
    assert shown(knowing.decode(knowing.encode(masked))) == shown(masked), "in the smallest integers as well"
    if not any(new):
        assert decoded.fingerprint() == masked.fingerprint()


@pytest.mark.parametrize(("labels", "kind"), [(126, np.int8), (127, np.int16), (40_000, np.int32)])
def test_codes_are_the_smallest_integers_that_hold_them(labels: int, kind: type) -> None:
    """Two more codes than labels: missing and suppressed."""
    town = Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, tuple(map(str, range(labels))))
    table = Table((town,), (np.array([0, labels - 1, -1], dtype=np.int32),))
    encoding = MaskedFileEncoding(table, ("town",))
    codes = encoding.encode(table)
    assert codes.dtype == kind
    assert codes[:, 0].tolist() == [0, labels - 1, labels]
    assert encoding.decode(codes).fingerprint() == table.fingerprint()


def test_other_codes_have_another_key() -> None:
    genome = np.array([[0, 1], [1, 0]], dtype=np.int32)
    assert masked_file_key(genome) == masked_file_key(genome.copy())
    assert masked_file_key(genome) != masked_file_key(genome[::-1])
