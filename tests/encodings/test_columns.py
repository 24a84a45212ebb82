"""Changed columns written out: a hand-sized archive, every registered method, and a genome of another table."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.tables import CONTEXT, mixed_table, numeric_table, ordinal_table
from crypsis.encodings import ColumnEncoding
from crypsis.errors import CrypsisError, SearchError
from crypsis.masking import methods
from crypsis.table.table import Table

TABLES = (mixed_table, numeric_table, ordinal_table)


def small() -> Table:
    return Table.from_columns(
        {"age": [20, 30, None], "town": ["x", "y", "x"], "ill": ["a", "b", "a"]},
        {"age": "quasi", "town": "quasi", "ill": "confidential"},
    )


def test_only_what_differs_is_written() -> None:
    table = small()
    masked = table.with_columns({"age": np.array([25.0, 25.0, np.nan])}).without(np.array([False, False, True]))
    genome = ColumnEncoding(table).encode(masked)
    assert genome.dtype == np.uint8
    with np.load(io.BytesIO(genome.tobytes())) as archive:
        assert sorted(archive.files) == ["column0", "head", "kept"]
    decoded = ColumnEncoding(table).decode(genome)
    assert decoded.column("age")[:2].tolist() == [25.0, 25.0]
    assert np.isnan(decoded.column("age")[2])
    assert decoded.kept.tolist() == [True, True, False]
    assert decoded.column("town") is table.column("town"), "an unchanged column is the original's own"


def test_new_categories_come_back_with_their_labels() -> None:
    table = small()
    masked = table.with_categories("town", ["x", "y", "x or y"]).with_columns({"town": np.array([2, 2, 0])})
    decoded = ColumnEncoding(table).decode(ColumnEncoding(table).encode(masked))
    assert [decoded.labels("town")[code] for code in decoded.column("town")] == ["x or y", "x or y", "x"]


@pytest.mark.parametrize("name", list(methods))
@given(seed=st.integers(0, 2**32), share=st.floats(0.0, 0.5))
@settings(max_examples=8, deadline=None)
def test_every_masking_comes_back_to_the_bit(name: str, seed: int, share: float) -> None:
    method = methods.build(name, **CONTEXT.get(("masking method", name, None), {}))
    rng, treated = np.random.default_rng(seed), 0
    for table in (build() for build in TABLES):
        original = table.without(rng.random(len(table)) < share)
        try:
            masked = method.mask(original, rng)
        except CrypsisError:
            continue
        treated += 1
        encoding = ColumnEncoding(original)
        genome = encoding.encode(masked)
        again = ColumnEncoding(original).decode(genome)
        assert again.fingerprint() == masked.fingerprint()
        assert np.array_equal(encoding.encode(again), genome)
    assert treated, f"{name} masks none of the tables"


def test_a_genome_of_another_table_is_refused() -> None:
    table = small()
    with pytest.raises(SearchError, match="belongs to another table"):
        ColumnEncoding(table.take(np.array([0, 1]))).decode(ColumnEncoding(table).encode(table))


def test_it_is_described_by_the_words_it_was_given() -> None:
    encoding = ColumnEncoding(small(), "plain MDAV")
    assert encoding.describe(encoding.encode(small()), small()).message == "plain MDAV"
