"""Hidden cells as a genome: what is encoded is what is blanked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.encodings.hidden_cells import HiddenCellEncoding
from crypsis.errors import SearchError
from crypsis.table.table import Table


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 12), seed=st.integers(0, 1000))
def test_what_is_encoded_is_blanked_and_nothing_else(rows, seed) -> None:
    rng = np.random.default_rng(seed)
    table = Table.from_columns(
        {"a": [str(code) for code in rng.integers(0, 3, rows)], "b": rng.integers(0, 3, rows).tolist(), "c": [1] * rows}
    )
    encoding, hidden = HiddenCellEncoding(table, ("a", "b")), rng.random((rows, 2)) < 0.5
    genome = encoding.encode(hidden)
    masked = encoding.decode(genome)
    assert np.array_equal(np.stack([masked.missing("a"), masked.missing("b")], axis=1), hidden)
    assert np.array_equal(masked.column("a")[~hidden[:, 0]], table.column("a")[~hidden[:, 0]])
    assert np.array_equal(masked.column("c"), table.column("c"))
    assert encoding.describe(genome, masked).facts == {"hidden_cells": int(hidden.sum())}


def test_a_genome_of_another_table_is_refused() -> None:
    encoding = HiddenCellEncoding(Table.from_columns({"a": ["x"] * 30}), ("a",))
    with pytest.raises(SearchError, match="belongs to another table"):
        encoding.decode(np.zeros(3, dtype=np.uint8))
