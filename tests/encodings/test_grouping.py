"""Columns averaged group by group: a genome by hand, and microaggregation with the same groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.encodings import GroupingEncoding
from crypsis.encodings.grouping import groups_of
from crypsis.masking import Microaggregation, partitioners
from crypsis.masking.scaling import embed
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.table import Table


def numbers(values: np.ndarray, dates: bool = False) -> Table:
    attributes = [
        Attribute(f"v{place}", Kind.NUMERIC, Role.QUASI_IDENTIFIER, dates="date" if dates else "")
        for place in range(values.shape[1])
    ]
    return Table(tuple(attributes), tuple(values.T))


def test_a_genome_by_hand() -> None:
    table = numbers(np.array([[0.0, 1.0, 5.0], [2.0, 3.0, 5.0], [4.0, 9.0, 7.0], [8.0, 7.0, 7.0]]))
    encoding = GroupingEncoding(table, table.names, table.numbers(table.names))
    candidate = np.array([0, 0, 1, 2], dtype=np.int32)  # v0 and v1 together, v2 alone, k = 2
    genome = encoding.encode(candidate, [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])])
    assert genome.tolist() == [0, 0, 1, 2, 0, 0, 1, 1, 0, 1, 0, 1]
    masked = encoding.decode(genome)
    assert masked.numbers(table.names).tolist() == [[1, 2, 6], [1, 2, 6], [6, 8, 6], [6, 8, 6]]
    description = encoding.describe(genome, masked)
    assert description.facts == {"groups": 2, "k": 2, "effective_k": 2, "unique_percent": 0.0}
    assert description.message.startswith("v0 and v1 averaged together; v2 alone; clusters of at least 2 records")


def test_missing_numbers_get_what_they_were_filled_with_averaged_and_suppressed_ones_stay() -> None:
    table = numbers(np.array([[1.0, 1.0], [np.nan, 3.0], [7.0, 9.0]])).without(np.array([False, False, True]))
    encoding = GroupingEncoding(table, table.names, np.array([[1.0, 1.0], [5.0, 3.0]]))
    masked = encoding.decode(np.array([0, 0, 2, 0, 0], dtype=np.int32))
    assert masked.numbers(table.names).tolist() == [[3, 2], [3, 2], [7, 9]]


def test_dates_stay_whole_days() -> None:
    table = numbers(np.array([[10.0, 20.0], [11.0, 21.0], [13.0, 29.0]]), dates=True)
    encoding = GroupingEncoding(table, table.names, table.numbers(table.names))
    masked = encoding.decode(np.array([0, 0, 3, 0, 0, 0], dtype=np.int32))
    assert masked.numbers(table.names).tolist() == [[11, 23]] * 3


@pytest.mark.parametrize("dates", [False, True])
@given(seed=st.integers(0, 2**32), k=st.integers(2, 5), attributes=st.integers(2, 5))
@settings(max_examples=20, deadline=None)
def test_the_same_groups_are_microaggregated_to_the_bit(dates: bool, seed: int, k: int, attributes: int) -> None:
    rng = np.random.default_rng(seed)
    values = 1e6 + 100 * rng.standard_normal((30, attributes))
    table = numbers(np.round(values) if dates else values, dates).without(rng.random(30) < 0.2)
    groups = [f"v{place}" for place in range(attributes)]
    candidate = np.append(rng.integers(0, attributes, attributes), k).astype(np.int32)
    by_group = tuple(tuple(groups[place] for place in group) for group in groups_of(candidate))
    kept = table.take(np.flatnonzero(table.kept))
    clusters = [
        partitioners.build("mdav").partition(embed(kept, group, "z"), k, np.random.default_rng(0)) for group in by_group
    ]
    encoding = GroupingEncoding(table, table.names, kept.numbers(table.names))
    masked = Microaggregation(k=k, groups=by_group).mask(table, np.random.default_rng(0))
    assert encoding.decode(encoding.encode(candidate, clusters)).fingerprint() == masked.fingerprint()
