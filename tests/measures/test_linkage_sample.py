"""Linkage looked at for some people only: their credits are exact, and the interval holds the whole."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.masking.microaggregation import Microaggregation
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.table.table import Table


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(5)
    columns = {"x": rng.normal(size=1_500), "y": rng.normal(size=1_500), "c": rng.choice(list("abc"), 1_500)}
    original = Table.from_columns(columns, roles={"x": "quasi", "y": "quasi", "c": "quasi"})
    masked = Microaggregation(k=3, columns=("x", "y")).mask(original, rng)
    return original, masked.without(np.arange(1_500) % 50 == 0)


@pytest.mark.parametrize("ties", ["expected", "first", "strict"])
def test_credits_of_the_sample_are_those_of_the_whole(tables, ties):
    original, masked = tables
    whole = RecordLinkage(ties=ties).against(original).credits(masked)
    bound = RecordLinkage(ties=ties, sample=400).against(original)
    assert len(bound.people) == len(set(bound.people.tolist())) == 400
    assert (bound.credits(masked) == whole[bound.people]).all()
    assert bound.read(masked) == RecordLinkage(ties=ties, sample=400).against(original).read(masked)


def test_the_interval_of_samples_holds_the_whole_rate(tables):
    original, masked = tables
    rate = RecordLinkage().against(original).read(masked)
    held = 0
    for size in range(200, 240):
        reading = RecordLinkage(sample=size).against(original).explain(masked)
        assert reading.counts["records"] == size
        assert reading.counts["records in all"] == 1_500
        held += reading.interval[0] <= rate <= reading.interval[1]
    assert held >= 34, "19 of 20 are meant to"


def test_a_sample_larger_than_the_file_is_everybody_and_control_goes_along(tables):
    original, masked = tables
    everybody = RecordLinkage().against(original).explain(masked, original.take(np.arange(50)))
    same = RecordLinkage(sample=9_999).against(original).explain(masked, original.take(np.arange(50)))
    some = RecordLinkage(sample=500).against(original).explain(masked, original.take(np.arange(50)))
    assert (everybody.value, everybody.control, everybody.counts) == (same.value, same.control, same.counts)
    assert some.control == pytest.approx(everybody.control, rel=0.3)
