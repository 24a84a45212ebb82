"""Tallies follow changes bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import pairs_of_files, recoded, table
from crypsis.errors import SearchError
from crypsis.measures.categorical_ledger import NAMES, Seven, Stack
from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, ProbabilisticLinkage, RankLinkage
from crypsis.measures.measure import measures

DEFAULTS = Seven(
    ContingencyLoss(),
    DistanceLoss(),
    EntropyLoss(),
    CategoryDisclosure(),
    CategoryLinkage(),
    ProbabilisticLinkage(),
    RankLinkage(),
)
OTHERS = Seven(
    ContingencyLoss(order=3, normalisation="cells"),
    DistanceLoss(divisor="range"),
    EntropyLoss(normalisation="entropy"),
    CategoryDisclosure(width=0.5),
    CategoryLinkage(ties="strict", divisor="range"),
    ProbabilisticLinkage(ties="strict"),
    RankLinkage(window=None, credit="expected"),
)
MORE = Seven(linkage=CategoryLinkage(weights={"a": 0.3}), rank=RankLinkage(window=25, credit="nearest"))
EVEN_MORE = Seven(rank=RankLinkage(window=30, credit="expected", ranks="records"))


def test_names_are_those_of_the_registry():
    assert [measures.name_of(measure) for measure in DEFAULTS] == list(NAMES)


@settings(max_examples=60, deadline=None)
@given(pairs_of_files(), st.data(), st.sampled_from([DEFAULTS, OTHERS, MORE, EVEN_MORE]))
def test_amended_equals_full_bit_for_bit(files, data, seven):
    original, masked, sizes, ordinal, kept = files
    base = table(original, sizes, ordinal)
    gauges = [None if measure is None else measure.against(base) for measure in seven]
    now = table(masked, sizes, ordinal, kept)
    codes = np.array(masked, dtype=np.int32).reshape(len(masked), -1)
    ledgers = [None if gauge is None else gauge.ledger(now) for gauge in gauges]
    open_rows = [row for row, stays in enumerate(kept) if stays]
    for _ in range(data.draw(st.integers(0, 12)) if open_rows else 0):
        row = data.draw(st.sampled_from(open_rows))
        attribute = data.draw(st.integers(0, len(sizes) - 1))
        code = data.draw(st.integers(-1, sizes[attribute] - 1))
        codes[row, attribute] = code
        for ledger in ledgers:
            if ledger is not None:
                ledger.amend(row, attribute, code)
        now = table(codes, sizes, ordinal, kept)
        for gauge, ledger in zip(gauges, ledgers, strict=True):
            if gauge is not None:
                assert ledger.read() == gauge.read(now)


def test_a_stack_keeps_its_files_apart():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 4, (3, 30, 3)).astype(np.int32)
    base = table(codes[0], [4, 4, 4], [True, True, False])
    pairing = DistanceLoss().against(base).ground.pair(base)
    stack = Stack(pairing, DEFAULTS, 4)
    for who in range(3):
        stack.fill(who, codes[who])
    before = [stack.read(who) for who in range(3)]
    stack.copy(1, 3)
    stack.amend(3, 7, np.array([0, 1, 2], dtype=np.int32))
    assert [list(stack.read(who)) for who in range(3)] == [list(line) for line in before]
    amended = stack.read(3)
    changed = codes[1].copy()
    changed[7] = [0, 1, 2]
    stack.fill(2, changed)
    assert list(stack.read(2)) == list(amended)
    for array in stack.tallies:
        assert np.array_equal(array[2], array[3])


def test_a_merged_label_can_be_amended():
    base = table([(0, 0), (1, 0), (2, 1), (3, 1)], [4, 2], [True, False])
    masked = recoded(base)
    gauge = DistanceLoss().against(base)
    ledger = gauge.ledger(masked)
    assert ledger.read() == gauge.read(masked)
    ledger.amend(2, 0, 2)
    assert ledger.read() == pytest.approx(100 * 3 * 0.25 / 8)


def test_what_cannot_follow_is_refused():
    base = table([(0,), (1,)], [2], [False], [True, False])
    with pytest.raises(SearchError, match="order of rows"):
        CategoryLinkage(ties="first").against(base).ledger(base)
    ledger = DistanceLoss().against(base).ledger(base)
    with pytest.raises(SearchError, match="suppressed"):
        ledger.amend(1, 0, 0)
    with pytest.raises(SearchError, match="stands for no category"):
        ledger.amend(0, 0, 2)
    with pytest.raises(SearchError, match="would need"):
        Stack(DistanceLoss().against(base).ground.pair(base), DEFAULTS, 1 << 40)
