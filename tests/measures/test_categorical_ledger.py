"""Tallies follow changes bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import pairs_of_files, recoded, table
from crypsis.errors import SearchError
from crypsis.measures.categorical_ledger import Seven, Stack
from crypsis.measures.categorical_loss import ContingencyLoss, DistanceLoss, EntropyLoss
from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, RankLinkage
from crypsis.measures.measure import measures
from crypsis.measures.record_linkage import ProbabilisticLinkage

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
MORE = Seven(
    distance=DistanceLoss(divisor="nominal"),
    linkage=CategoryLinkage(weights={"a": 0.3}, divisor="nominal"),
    rank=RankLinkage(window=25, credit="nearest"),
)
EVEN_MORE = Seven(rank=RankLinkage(window=30, credit="expected", ranks="records"))


def test_every_place_has_one_registered_measure_that_states_it():
    stated = [measures[name].tally for name in measures if measures[name].tally]
    assert sorted(stated) == sorted(Seven._fields)
    assert tuple(measure.tally for measure in DEFAULTS) == Seven._fields
    assert Seven.of(*reversed(DEFAULTS)) == DEFAULTS
    assert [measure.aim for measure in DEFAULTS] == ["loss"] * 3 + ["risk"] * 4


@settings(max_examples=60, deadline=None)
@given(pairs_of_files(), st.data(), st.sampled_from([DEFAULTS, OTHERS, MORE, EVEN_MORE]))
def test_amended_equals_full_bit_for_bit(files, data, seven):
    original, masked, sizes, ordinal, kept = files
    base = table(original, sizes, ordinal)
    bound_measures = [None if measure is None else measure.against(base) for measure in seven]
    now = table(masked, sizes, ordinal, kept)
    codes = np.array(masked, dtype=np.int32).reshape(len(masked), -1)
    ledgers = [None if bound is None else bound.ledger(now) for bound in bound_measures]
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
        for bound, ledger in zip(bound_measures, ledgers, strict=True):
            if bound is not None:
                assert ledger.read() == bound.read(now)


def test_a_stack_keeps_its_files_apart():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 4, (3, 30, 3)).astype(np.int32)
    base = table(codes[0], [4, 4, 4], [True, True, False])
    pairing = DistanceLoss().against(base).context.pair(base)
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
    bound = DistanceLoss().against(base)
    ledger = bound.ledger(masked)
    assert ledger.read() == bound.read(masked)
    ledger.amend(2, 0, 2)
    assert ledger.read() == pytest.approx(100 * 3 * 0.25 / 8)


def test_only_what_was_chosen_is_read():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 3, (2, 20, 2)).astype(np.int32)
    base, masked = (table(file, [3, 3], [True, False]) for file in codes)
    pairing = DistanceLoss().against(base).context.pair(masked)
    full = [measure.against(base).read(masked) for measure in DEFAULTS]
    for place, (field, measure) in enumerate(zip(Seven._fields, DEFAULTS, strict=True)):
        stack = Stack(pairing, Seven(**{field: measure}), 1)
        stack.fill(0, pairing.codes)
        expected = [full[place] if other == place else np.nan for other in range(7)]
        assert stack.read(0).tolist() == pytest.approx(expected, nan_ok=True)
        assert stack.read(0)[place] == full[place]
    assert Seven(distance=DistanceLoss()).chosen_flags.tolist() == [False, True, *[False] * 5]


def test_the_smallest_window_is_the_widest_of_the_columns():
    """Of (0, 0) its own (3, 3) lies 3 away and (0, 5) lies 5 away, though 6 and 5 ranks in all; of (9, 9) 6 and 9."""
    base = table([(0, 0), (9, 9)], [10, 10], [True, True])
    masked = table([(3, 3), (0, 5)], [10, 10], [True, True])
    ledger = RankLinkage(window=None, credit="expected").against(base).ledger(masked)
    assert ledger.read() == 50
    ledger.amend(1, 1, 2)
    assert ledger.read() == 0, "(0, 2) lies 2 away"
    ledger.amend(1, 1, 5)
    assert ledger.read() == 50


@pytest.mark.parametrize(
    ("seven", "fitness"),
    [
        (Seven(linkage=CategoryLinkage()), 50),
        (Seven(linkage=CategoryLinkage(ties="strict")), 0),
        (Seven(probabilistic=ProbabilisticLinkage()), 50),
        (Seven(probabilistic=ProbabilisticLinkage(ties="strict")), 0),
        (Seven(rank=RankLinkage(window=None, credit="set")), 100),
        (Seven(rank=RankLinkage(window=None, credit="expected")), 50),
        (Seven(rank=RankLinkage()), 100),
    ],
)
def test_two_of_a_kind_are_worth_what_the_settings_say(seven, fitness):
    """Every record has a double: it is one of two candidates, itself unchanged."""
    base = table([(0, 0), (0, 0), (1, 1), (1, 1), (2, 0), (2, 0)], [3, 2], [True, False])
    pairing = DistanceLoss().against(base).context.pair(base)
    stack = Stack(pairing, seven, 1)
    stack.fill(0, pairing.codes)
    assert stack.read(0)[seven.chosen_flags].tolist() == [fitness]


def test_many_tuples_are_filled_by_margins(monkeypatch):
    """Counting agreement patterns by margins or pair by pair fills the same tallies; a merged label is never plain."""
    rng = np.random.default_rng(7)
    codes = rng.integers(-1, 4, (2, 40, 3)).astype(np.int32)
    base, masked = (table(file, [4, 4, 4], [True, False, True]) for file in codes)
    merged = recoded(table([(0, 0), (1, 0), (2, 1), (3, 1)], [4, 2], [True, False]))
    small = table([(0, 0), (1, 0), (2, 1), (3, 1)], [4, 2], [True, False])
    alone = table([(0,), (1,), (2,), (3,), (1,)], [4], [True])
    for original, file in ((base, masked), (small, merged), (alone, recoded(alone))):
        pairing = DistanceLoss().against(original).context.pair(file)
        plain, margins = (Stack(pairing, Seven(probabilistic=ProbabilisticLinkage()), 1) for _ in range(2))
        plain.fill(0, pairing.codes)
        monkeypatch.setattr("crypsis.measures.categorical_ledger.PAIRS_PER_KEY", 0)
        margins.fill(0, pairing.codes)
        monkeypatch.undo()
        for one, other in zip(plain.tallies, margins.tallies, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize(
    "seven", [DEFAULTS, Seven(distance=DistanceLoss()), Seven(contingency=ContingencyLoss(order=3))]
)
def test_the_memory_is_foretold(monkeypatch, seven):
    """Tallies of three files: refused just below what they take, built just above; of many files in GB."""
    rng = np.random.default_rng(8)
    base = table(rng.integers(0, 20, (2000, 3)), [20, 20, 20], [True, False, True])
    pairing = DistanceLoss().against(base).context.pair(base)
    taken = sum(array.nbytes for array in Stack(pairing, seven, 3).tallies)
    monkeypatch.setattr("crypsis.measures.categorical_ledger.MOST_BYTES", int(1.006 * taken))
    Stack(pairing, seven, 3)
    monkeypatch.setattr("crypsis.measures.categorical_ledger.MOST_BYTES", int(0.994 * taken))
    sentence = "^the tallies of {} files would need {} GB; take fewer files, fewer columns or a lower order of "
    with pytest.raises(SearchError, match=sentence.format(3, 0)):
        Stack(pairing, seven, 3)
    with pytest.raises(SearchError, match=sentence.format(3 << 20, r"\d+")) as refused:
        Stack(pairing, seven, 3 << 20)
    assert int(str(refused.value).split()[7]) == pytest.approx(taken / 1024, rel=0.01)


def test_patterns_take_memory_only_where_they_are_tallied():
    """Six columns have 64 patterns; who asks for a distance alone keeps none of them."""
    rng = np.random.default_rng(9)
    base = table(rng.integers(0, 3, (50, 6)), [3] * 6, [True] * 6)
    pairing = DistanceLoss().against(base).context.pair(base)
    small, large = Seven(distance=DistanceLoss()), Seven(probabilistic=ProbabilisticLinkage())
    taken = [sum(array.nbytes for array in Stack(pairing, seven, 1).tallies) for seven in (small, large)]
    assert taken[1] > 4 * taken[0]


def test_what_cannot_follow_is_refused():
    base = table([(0,), (1,)], [2], [False], [True, False])
    sentence = (
        "^tie credit 'first' depends on the order of rows and cannot follow single changes; choose 'expected' or "
        "'strict' for the search and judge the result by 'first' afterwards$"
    )
    with pytest.raises(SearchError, match=sentence):
        CategoryLinkage(ties="first").against(base).ledger(base)
    ledger = DistanceLoss().against(base).ledger(base)
    with pytest.raises(SearchError, match=r"^record 1 is suppressed and has no cells to change$"):
        ledger.amend(1, 0, 0)
    for code in (2, -2):
        with pytest.raises(SearchError, match=rf"^code {code} stands for no category of 'a'$"):
            ledger.amend(0, 0, code)
    ledger.amend(0, 0, -1)
    assert ledger.read() == DistanceLoss().against(base).read(table([(-1,), (1,)], [2], [False], [True, False]))
    with pytest.raises(SearchError, match=r"of \d+ files would need [\d]+ GB"):
        Stack(DistanceLoss().against(base).context.pair(base), DEFAULTS, 1 << 40)
