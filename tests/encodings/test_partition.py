"""Groups of records: a genome by hand, and every partitioner's groups as microaggregation has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.encodings import PartitionEncoding
from crypsis.encodings.partition import partition_genome, partition_key
from crypsis.masking import Microaggregation, partitioners
from crypsis.masking.representatives import Representative, Representatives
from crypsis.masking.scaling import embed
from crypsis.table.example import example
from crypsis.table.table import Table


def small() -> Table:
    return Table.from_columns(
        {"age": [20, 24, 40, 44, 90], "town": ["x", "x", "y", "x", "y"], "ill": list("ababa")},
        {"age": "quasi", "town": "quasi", "ill": "confidential"},
    )


def test_a_genome_by_hand() -> None:
    table = small().without(np.array([False, False, False, False, True]))
    encoding = PartitionEncoding(table, ("age", "town"), Microaggregation(k=2))
    genome = np.array([7, 7, 3, 3, 0, 2], dtype=np.int32)  # two groups, numbered as they please; k = 2
    masked = encoding.decode(genome)
    assert masked.column("age").tolist() == [22, 22, 42, 42, 90], "the suppressed record takes no part"
    assert masked.column("town").tolist() == [0, 0, 0, 0, 1], "of two towns as frequent, the first"
    assert masked.column("ill") is table.column("ill")
    description = encoding.describe(genome, masked)
    assert description.message == "2 groups of 2 similar records share their age, town"
    assert {name: description.facts[name] for name in ("k", "effective_k", "groups")} == {
        "k": 2, "effective_k": 2, "groups": 2
    }  # fmt: skip
    # Ages: four deviations of 2 from the group's mean, over the variance (2 · 12² + 2 · 8²) / 4 = 104. Towns: x and y
    # of the second group are one apart, so half a square is lost, over the variance 3/4 · 1/4 of three x and one y.
    assert description.facts["SSE"] == pytest.approx(4 * 4 / 104 + 0.5 / (3 / 16))


def test_moments_that_are_given_up_are_said() -> None:
    """Two groups keep only distributions; with more, one pay decides its moments and 120 records allow few towns."""
    chosen = Representatives(Representative.CALIBRATED, Representative.CALIBRATED)
    few = PartitionEncoding(small(), ("age", "town"), Microaggregation(k=2))
    genome = partition_genome(np.array([0, 0, 1, 1, 1]), 2, chosen)
    assert few.describe(genome, few.decode(genome)).message.endswith(
        "; there are too few groups for moments: only distributions are kept"
    )
    towns = {f"town {j}": [f"{(j + 1) * i % 11}" for i in range(120)] for j in range(3)}
    columns = {"pay": [*range(1, 120), 10**6], **towns}
    table = Table.from_columns(columns, dict.fromkeys(columns, "quasi"))
    encoding = PartitionEncoding(table, tuple(columns), Microaggregation(k=5))
    genome = partition_genome(np.arange(120) // 5, 5, chosen)
    message = encoding.describe(genome, encoding.decode(genome)).message
    assert "; moments are not kept of the " in message
    assert "rarest values of town" in message
    assert message.endswith("of pay (one record decides them)")


@pytest.mark.parametrize("name", ["mdav", "cbfs", "v-mdav"])
@given(seed=st.integers(0, 2**32), k=st.integers(2, 6), share=st.floats(0.0, 0.3))
@settings(max_examples=10, deadline=None)
def test_a_partitioners_groups_are_microaggregated_to_the_bit(name: str, seed: int, k: int, share: float) -> None:
    if name not in partitioners:
        pytest.fail(f"there is no partitioner {name}")
    rng = np.random.default_rng(seed)
    table = example(60, seed=seed % 1000)
    table = table.without(rng.random(60) < share)
    names = tuple(table.quasi_identifiers)
    method = Microaggregation(k=k, partitioner=name)
    points = embed(table.take(np.flatnonzero(table.kept)), names, "z")
    labels = partitioners.build(name).partition(points, k, np.random.default_rng(0))
    genome = partition_genome(labels, k)
    masked = method.mask(table, np.random.default_rng(0))
    encoding = PartitionEncoding(table, names, Microaggregation(k=k))
    assert encoding.decode(genome).fingerprint() == masked.fingerprint()
    shuffled = partition_genome(rng.permutation(int(labels.max()) + 1)[labels] + 5, k)
    assert encoding.decode(shuffled).fingerprint() == masked.fingerprint(), "numbers of groups mean nothing"
    assert partition_key(shuffled) == partition_key(genome)


def test_other_groups_or_another_k_have_another_key() -> None:
    genome = np.array([0, 0, 1, 1, 0, 2], dtype=np.int32)
    assert partition_key(genome) != partition_key(np.array([0, 1, 1, 0, 0, 2], dtype=np.int32))
    assert partition_key(genome) != partition_key(np.array([0, 0, 1, 1, 0, 3], dtype=np.int32))
