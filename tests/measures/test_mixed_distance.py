"""How known and published records meet: every kind of column beside all pairs, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.measures.record_linkage import LinkagePair, RecordLinkage
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table
from naive import measures as naive

QUASI = Role.QUASI_IDENTIFIER


def grades(codes: list[int], categories: tuple[str, ...], numbers: list[float]) -> Table:
    """An ordinal column beside a number."""
    attributes = (Attribute("grade", Kind.ORDINAL, QUASI, categories), Attribute("x", Kind.NUMERIC, QUASI))
    return Table(attributes, (np.array(codes, dtype=np.int32), np.array(numbers)))


def test_the_ends_of_an_ordinal_column_lie_one_unit_apart() -> None:
    """Low at 0, published high at 0 (one unit off): the other record, low at 0.8, is nearer. Of three grades: ½."""
    for categories, far, expected in ((("low", "high"), 1, 0), (("low", "mid", "high"), 1, 1)):
        original, masked = grades([0, 0], categories, [0, 9]), grades([far, 0], categories, [0, 0.8])
        credits = RecordLinkage(scaling="none").against(original).credits(masked)
        assert credits[0] == expected


def test_a_column_without_values_still_tells_blanks_from_values() -> None:
    original, masked = grades([-1, -1], ("a", "b", "c"), [0, 0]), grades([-1, 2], ("a", "b", "c"), [0, 0])
    assert RecordLinkage().against(original).credits(masked).tolist() == [1, 0]


def test_an_ordinal_leaf_of_a_recoded_column_keeps_its_rank() -> None:
    """The fault: all leaves counted as unlike. Published: low, mid, a group of the two; high was masked as mid.

    From high, mid is ½ away; low and the group are 1 away. Untouched, the same column said so already.
    """
    tree = Hierarchy.from_rows([["high", "high", "*"], ["low", "below", "*"], ["mid", "below", "*"]])
    grade = Attribute("grade", Kind.ORDINAL, QUASI, ("low", "mid", "high"), tree)
    original = Table((grade,), (np.array([0, 2, 1], dtype=np.int32),))
    masked = original.with_columns({"grade": np.array([1, 2, 4])}, levels={"grade": -1})  # low, mid, below
    pair = LinkagePair.between(original, original, masked, ["grade"], "z")
    assert pair.own_distance().tolist() == [0, 0.5, 0]
    assert pair.nearest().tolist() == [0, 0.5, 0]
    assert RecordLinkage().against(original).credits(masked).tolist() == [0.5, 1, 0.5]


@given(st.integers(0, 10_000), st.integers(2, 20), st.sampled_from([Kind.NUMERIC, Kind.ORDINAL]))
@settings(max_examples=60, deadline=None)
def test_recoded_columns_with_an_order_equal_all_pairs(seed: int, n: int, kind: Kind) -> None:
    """A leaf is as far as the plain value would be; a group is 0 or 1 away; missing is 1 away from what is present."""
    rng = np.random.default_rng(seed)
    labels, values = ("1", "2", "3", "4"), np.array([1.0, 2, 3, 7])
    rows = [["1", "a", "*"], ["2", "a", "*"], ["3", "b", "*"], ["4", "b", "*"]]
    numeric = kind is Kind.NUMERIC
    tree = Hierarchy.from_rows(rows, values if numeric else None)
    first = Attribute("v", kind, QUASI, () if numeric else labels, tree)
    attributes = (first, Attribute("town", Kind.NOMINAL, QUASI, ("p", "q")))
    leaf = rng.integers(-1, 4, n).astype(np.int32)
    leaf[0] = 0
    towns = rng.integers(0, 2, n).astype(np.int32)
    original = Table(attributes, (np.append(values, np.nan)[leaf] if numeric else leaf, towns))
    nodes = np.where(rng.random(n) < 0.5, leaf, rng.integers(-1, 7, n)).astype(np.int32)
    masked = original.with_columns({"v": nodes}, levels={"v": -1})
    held = np.append(values, np.nan)[leaf] if numeric else np.where(leaf < 0, np.nan, leaf)
    middle = np.nanmean(held)
    width = naive.scale(held[~np.isnan(held)], "z") if numeric else 3.0
    line = values if numeric else np.arange(4.0)
    above = {4: (0, 1), 5: (2, 3), 6: (0, 1, 2, 3)}
    square = (towns[:, None] != towns[None]).astype(float)
    for i in range(n):
        for o in range(n):
            mine, node = leaf[i], nodes[o]
            if 0 <= node < 4:
                at = line[mine] if mine >= 0 else middle
                square[i, o] += ((at - line[node]) / width) ** 2 if width > 0 else 0.0
                square[i, o] += mine < 0
            elif node >= 4:
                square[i, o] += mine not in above[node]
            else:
                square[i, o] += mine >= 0
    credits = RecordLinkage().against(original).credits(masked)
    assert credits == pytest.approx(naive.linkage_credits(np.sqrt(square), np.ones(n, dtype=bool)))


@given(st.integers(0, 10_000), st.integers(1, 20), st.integers(1, 4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_many_columns_of_names_equal_all_pairs(seed: int, n: int, p: int, recoded: bool) -> None:
    """The squared distance is the number of columns that differ; a recoded one differs where it does not contain."""
    rng = np.random.default_rng(seed)
    tree = Hierarchy.from_rows([["a", "ab", "*"], ["b", "ab", "*"], ["c", "c", "*"]])
    attributes = tuple(Attribute(f"c{j}", Kind.NOMINAL, QUASI, ("a", "b", "c"), tree) for j in range(p))
    known = rng.integers(-1, 3, (n, p)).astype(np.int32)
    shown = np.where(rng.random((n, p)) < 0.6, known, rng.integers(-1, 3, (n, p))).astype(np.int32)
    kept = rng.random(n) < 0.9
    original, masked = Table(attributes, tuple(known.T)), Table(attributes, tuple(shown.T))
    above = {-1: -1, 0: 0, 1: 0, 2: 1}
    square = (known[:, None] != shown[None]).sum(axis=2).astype(float)
    if recoded:
        groups = np.array([above[code] for code in shown[:, 0]], dtype=np.int32)
        masked = masked.with_columns({"c0": groups}, levels={"c0": 1})
        known_groups = np.array([above[code] for code in known[:, 0]])
        square = (known[:, None, 1:] != shown[None, :, 1:]).sum(axis=2) + (known_groups[:, None] != groups[None])
    for rule in ("expected", "first", "strict"):
        credits = RecordLinkage(ties=rule).against(original).credits(masked.without(~kept))
        assert credits == pytest.approx(naive.linkage_credits(np.sqrt(square), kept, rule))
        some = RecordLinkage(ties=rule, sample=max(n // 2, 1)).against(original)
        assert some.credits(masked.without(~kept)) == pytest.approx(credits[some.people])


@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_the_nearest_record_is_the_nearest_of_all(seed: int, n: int, p: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 5, (m, p)).astype(float) for m in (n + 3, n))
    names = [f"v{j}" for j in range(p)]
    known, masked = (Table.from_columns(dict(zip(names, v.T, strict=True))) for v in (x, y))
    kept = rng.random(n) < 0.8
    kept[0] = True
    encounter = LinkagePair.between(masked, known, masked.without(~kept), names, "none")
    distance = np.sqrt(((x[:, None] - y[None][:, kept]) ** 2).sum(axis=2))
    assert encounter.nearest() == pytest.approx(distance.min(axis=1))
    ties, lowest = encounter.count_ties(encounter.nearest())
    equal = np.isclose(distance, distance.min(axis=1)[:, None])
    assert ties.tolist() == equal.sum(axis=1).tolist()
    assert lowest.tolist() == [int(np.flatnonzero(kept)[np.argmax(row)]) for row in equal]
    some = np.arange(len(x))[::2]
    assert encounter.about(some).nearest() == pytest.approx(distance.min(axis=1)[some])
