"""Original and masked categories in one numbering, and the distances between them, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from categories import table
from crypsis.errors import TableError
from crypsis.kernels import linkage
from crypsis.kernels.linkage import FAR, equal_patterns, patterns
from crypsis.measures.categorical_ledger import logarithms_of_tallies, tally_ledger_patterns
from crypsis.measures.categories import (
    CategoryContext,
    agreements,
    columns_of_categories,
    distances,
    obstacle,
    ranks_apart,
    steps_apart,
    unequal,
)
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

# a ordinal of three, with a missing value; b nominal of two.
ORIGINAL = table([(0, 0), (1, 1), (-1, 0), (2, 0)], [3, 2], [True, False])


def merged(codes: list[int], labels: tuple[str, ...]) -> Table:
    """Column a under other labels."""
    attribute = ORIGINAL.attribute("a").but(categories=labels)
    return ORIGINAL.with_columns({"a": np.array(codes, dtype=np.int32)}, attributes={"a": attribute})


def test_the_original_side_by_hand() -> None:
    context = CategoryContext.of(ORIGINAL, ())
    assert (context.names, context.sizes, context.ordinal, context.rows) == (("a", "b"), (3, 2), (True, False), 4)
    assert context.codes.tolist() == [[0, 0], [1, 1], [3, 0], [2, 0]]
    assert context.lacks.tolist() == [True, False]
    assert [list(counts) for counts in context.frequencies] == [[1, 1, 1, 1], [3, 1, 0]]
    assert context.entropy(0) == pytest.approx(2)
    assert context.entropy(1) == pytest.approx(-(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)))
    assert context.tuples.tolist() == [[0, 0], [1, 1], [2, 0], [3, 0]]
    assert (context.classes.sizes.tolist(), context.classes.of.tolist()) == ([1, 1, 1, 1], [0, 1, 3, 2])


def test_a_masked_file_in_the_same_numbering() -> None:
    """Missing is 3 and suppressed 4 of a; new labels follow, in order of appearance; known labels keep their codes."""
    context = CategoryContext.of(ORIGINAL, ())
    masked = merged([0, 0, -1, 1], ("0|1", "2")).without(np.array([False, False, True, False]))
    pairing = context.pair(masked)
    assert pairing.codes.tolist() == [[5, 0], [5, 1], [4, 3], [2, 0]]
    assert pairing.spans[0].astype(int).tolist() == [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
        [1, 1, 0, 0],
    ]
    assert pairing.spans[1].shape == (4, 3)
    crowd, counts, first = pairing.crowd
    assert (crowd.tolist(), counts.tolist(), first.tolist()) == ([[2, 0], [5, 0], [5, 1]], [1, 1, 1], [3, 0, 1])


def test_several_files_share_the_codes_of_new_labels() -> None:
    context = CategoryContext.of(ORIGINAL, ())
    first, second = merged([0, 0, -1, 1], ("0|1", "2")), merged([0, 1, -1, 1], ("0", "1|2"))
    one, other = context.join([first, second])
    assert context.news("a", [first, second]) == ["0|1", "1|2"]
    assert one.codes[:, 0].tolist() == [5, 5, 3, 2]
    assert other.codes[:, 0].tolist() == [0, 6, 3, 6]
    for pairing in (one, other):
        assert pairing.spans[0][5:].astype(int).tolist() == [[1, 1, 0, 0], [0, 1, 1, 0]]
    reversed_labels = merged([2, 1, -1, 0], ("2", "1", "0"))
    assert context.pair(reversed_labels).codes[:, 0].tolist() == [0, 1, 3, 2]


def test_an_empty_label_is_a_label() -> None:
    context = CategoryContext.of(ORIGINAL, ())
    assert context.pair(merged([0, 1, -1, 0], ("", "2"))).codes[:, 0].tolist() == [5, 2, 3, 5]
    nameless = merged([0, 1, -1, 2], ("", "1", "2"))
    assert CategoryContext.of(nameless, ()).pair(nameless).codes[:, 0].tolist() == [0, 1, 3, 2]


def test_distances_by_hand() -> None:
    """Ranks of a over 3 (size) or 2 (range), names of b over 1; the farthest for a loss, the nearest for a link."""
    pairing = CategoryContext.of(ORIGINAL, ()).pair(merged([0, 0, -1, 1], ("0|1", "2")))
    size = distances(pairing, "size")
    assert size.denominators.tolist() == [3, 1]
    of_a, of_b = size.loss[:24].reshape(6, 4), size.loss[24:].reshape(4, 3)
    assert of_a.tolist() == [[0, 1, 2, 3], [1, 0, 1, 3], [2, 1, 0, 3], [3, 3, 3, 0], [3, 3, 3, 3], [1, 1, 2, 3]]
    assert of_b.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    link_a, link_b = size.link[:24].reshape(6, 4), size.link[24:].reshape(4, 3)
    assert link_a.tolist() == [[0, 1, 2, 3], [1, 0, 1, 3], [2, 1, 0, 3], [3, 3, 3, 0], [FAR] * 4, [0, 0, 1, 3]]
    assert link_b.tolist() == [[0, 3, 3], [3, 0, 3], [3, 3, 0], [FAR] * 3]
    apart = distances(pairing, "range")
    assert apart.denominators.tolist() == [2, 1]
    assert apart.loss[:4].tolist() == [0, 1, 2, 2]
    assert agreements(pairing)[:24].reshape(6, 4).tolist() == [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
        [0, 0, 0, 0],
        [1, 1, 0, 0],
    ]


def test_distances_over_a_denominator_too_large_are_rounded() -> None:
    """Ordinal columns of 271, 277, 281, 283 and 293 categories: the common denominator passes 2^40."""
    sizes = [271, 277, 281, 283, 293]
    wide = table([(0, 0, 0, 0, 0), (1, 1, 1, 1, 1)], sizes, [True] * 5)
    found = distances(CategoryContext.of(wide, ()).pair(wide), "size")
    at = 0
    for size in sizes:
        row = found.link[at : at + size + 1]
        assert row == pytest.approx(np.append(np.arange(size) / size, 1) * (1 << 40), abs=0.5)
        at += (size + 2) * (size + 1)
    exact = distances(CategoryContext.of(wide, ("a", "b")).pair(wide), "size")
    assert exact.link[:3].tolist() == [0, 277, 2 * 277]


def test_two_ordered_categories_lie_a_whole_range_apart() -> None:
    """Two ranks: half of their number, all of their range. One rank: nothing lies further than a missing value."""
    two = table([(0,), (1,)], [2], [True])
    one = table([(0,), (-1,)], [1], [True])
    for file, divisor, below in ((two, "size", 2), (two, "range", 1), (one, "size", 1), (one, "range", 1)):
        found = distances(CategoryContext.of(file, ()).pair(file), divisor)
        assert found.denominators.tolist() == [below]
        assert found.loss[:2].tolist() == [0, 1]


def test_small_tables_of_distances() -> None:
    assert ranks_apart(3).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert unequal(2).tolist() == [[0, 1], [1, 0]]
    context = CategoryContext.of(ORIGINAL, ())
    assert steps_apart(context, 1, unequal(2), 7).tolist() == [[0, 1, 7], [1, 0, 7], [7, 7, 0]]
    assert logarithms_of_tallies(4) == pytest.approx([0, 0, 2, 3 * np.log2(3), 8])


def test_columns_that_can_be_read() -> None:
    tree = Hierarchy.from_rows([["x", "*"], ["y", "*"]])
    mixed = Table(
        (
            Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER),
            Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("x", "y"), tree),
            Attribute("ill", Kind.NOMINAL, Role.CONFIDENTIAL, ("n", "y")),
        ),
        (np.array([1.0]), np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)),
    )
    assert columns_of_categories(mixed, ()) == ["town"]
    assert columns_of_categories(mixed, ("ill",)) == ["ill"]
    assert obstacle(mixed, ()) == ""
    recoded = mixed.with_columns({"town": np.array([0])}, levels={"town": 1})
    assert columns_of_categories(recoded, ()) == []
    assert obstacle(recoded, ("town",)) == (
        "column 'town' does not hold categories as collected; choose nominal or ordinal columns"
    )
    assert obstacle(mixed, ("age",)).startswith("column 'age' does not hold categories")
    assert obstacle(mixed, ("zip",)).startswith("there is no column 'zip'; columns: ")
    assert obstacle(mixed.take(np.arange(0)), ()) == "the table has no records; nothing can be compared"


def test_files_that_cannot_be_numbered_are_refused() -> None:
    context = CategoryContext.of(ORIGINAL, ())
    numbers = Table.from_columns({"a": [1.0, 2, 3, 4], "b": ["0", "1", "0", "0"]})
    with pytest.raises(
        TableError, match=r"^column 'a' holds categories in the original but numbers in the masked file$"
    ):
        context.pair(numbers)
    sentence = (
        r"^the original has 4 records and the masked file 2; compare files whose rows correspond \(suppressed records "
        r"stay in place\)$"
    )
    with pytest.raises(TableError, match=sentence):
        context.pair(ORIGINAL.take(np.arange(2)))
    for code in (2, 3, -2):
        strange = ORIGINAL.with_columns({"b": np.array([0, 1, 0, code], dtype=np.int32)})
        sentence = r"^column 'b' of the masked file holds codes that stand for no category$"
        with pytest.raises(TableError, match=sentence):
            context.pair(strange)


@pytest.mark.parametrize("p", [1, 2, 4])
def test_margins_count_the_same_patterns(p):
    rng = np.random.default_rng(p)
    tuples, crowd = (np.unique(rng.integers(0, 4, (25, p)), axis=0).astype(np.int32) for _ in range(2))
    counts = rng.integers(1, 9, len(crowd))
    at = np.arange(0, 16 * (p + 1), 16, dtype=np.int64)
    agree = np.tile(np.eye(4, dtype=np.int64).ravel(), p)
    direct = patterns(tuples, crowd, counts, agree, at, np.full(p, 4, dtype=np.int64))
    assert np.array_equal(direct, tally_ledger_patterns(tuples, crowd, counts))
    assert np.array_equal(direct, equal_patterns(tuples, crowd, counts))
    plain, room = np.zeros_like(direct), np.empty(2, dtype=np.int16)
    linkage._equal_patterns(tuples, np.ascontiguousarray(crowd.T), counts, room, plain)
    assert np.array_equal(direct, plain)
    assert (direct.sum(axis=1) == counts.sum()).all()
    assert direct.dtype == tally_ledger_patterns(tuples, crowd, counts).dtype == np.int32
