"""ID, DBRL, PRL and RSRL: worked by hand, against their twins, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import pairs_of_files, recoded, table
from crypsis.errors import TableError
from crypsis.kernels.ledger import mixture
from crypsis.kernels.linkage import FAR
from crypsis.measures.categorical_risk import CategoryDisclosure, CategoryLinkage, RankLinkage
from crypsis.measures.intervals import wilson_interval
from crypsis.measures.record_linkage import ProbabilisticLinkage
from crypsis.table.table import Table
from naive import categorical as naive

ORIGINAL = [(0, 0), (1, 0), (2, 1), (3, 1)]
MASKED = [(0, 0), (0, 0), (2, 1), (3, 0)]
SHAPE = ([4, 2], [True, False])
ALL = [CategoryDisclosure(), CategoryLinkage(), ProbabilisticLinkage(), RankLinkage()]


def test_disclosure_by_hand():
    """Six of eight cells are unchanged; with reach floor(0.5·4/2) = 1 the moved rank counts too."""
    original, masked = table(ORIGINAL, *SHAPE), table(MASKED, *SHAPE)
    assert CategoryDisclosure().against(original).read(masked) == 100 * 6 / 8
    assert CategoryDisclosure(width=0.5).against(original).read(masked) == 100 * 7 / 8


def test_the_baseline_of_disclosure_is_the_best_constant_guess():
    """a: any category is right once in four; b: either name twice in four."""
    reading = CategoryDisclosure().against(table(ORIGINAL, *SHAPE)).explain(table(MASKED, *SHAPE))
    assert reading.baseline == pytest.approx(100 * (1 / 4 + 1 / 2) / 2)


def test_linkage_by_hand():
    """Masked tuples: (0,0) twice, (2,1), (3,0).

    (0,0): two at 0, own among them: 1/2. (1,0): two at 1/4, own among them: 1/2. (2,1): one at 0: 1.
    (3,1): (2,1) at 1/4, own (3,0) at 1: 0. Expected 2 of 4; strict 1 of 4; first: row 0 and row 2.
    """
    original, masked = table(ORIGINAL, *SHAPE), table(MASKED, *SHAPE)
    assert CategoryLinkage().against(original).read(masked) == 100 * 2 / 4
    assert CategoryLinkage(ties="strict").against(original).read(masked) == 100 * 1 / 4
    assert CategoryLinkage(ties="first").against(original).read(masked) == 100 * 2 / 4


def test_rank_linkage_by_hand():
    """Window 25 % of four ranks: one rank; names must be equal.

    Candidates: (0,0): rows 0, 1. (1,0): rows 0, 1. (2,1): row 2. (3,1): row 2, not its own.
    """
    original, masked = table(ORIGINAL, *SHAPE), table(MASKED, *SHAPE)
    assert RankLinkage(window=25).against(original).read(masked) == 100 * 3 / 4
    assert RankLinkage(window=25, credit="expected").against(original).read(masked) == 100 * 2 / 4
    assert RankLinkage(window=25, credit="nearest").against(original).read(masked) == 100 * 2 / 4
    assert RankLinkage(window=0).against(original).read(masked) == 100 * 2 / 4


def test_probabilistic_linkage_by_hand():
    """One attribute: agreeing is the only evidence, so a record links to all that agree with it.

    Original 0,0,1,2 and masked 0,1,1,2. Row 0: candidate row 0: 1. Row 1: candidate row 0: 0. Row 2: rows 1, 2: 1/2.
    Row 3: row 3: 1.
    """
    original, masked = table([0, 0, 1, 2], [3], [False]), table([0, 1, 1, 2], [3], [False])
    assert ProbabilisticLinkage().against(original).read(masked) == 100 * 2.5 / 4
    assert ProbabilisticLinkage(ties="strict").against(original).read(masked) == 100 * 2 / 4


@settings(max_examples=40, deadline=None)
@given(pairs_of_files(), st.sampled_from([0.0, 0.1, 0.4, 1.0]))
def test_disclosure_equals_its_twin(files, width):
    original, masked, sizes, ordinal, kept = files
    got = CategoryDisclosure(width=width).against(table(original, sizes, ordinal))
    got = got.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.disclosure(original, masked, kept, sizes, ordinal, width))


@settings(max_examples=60, deadline=None)
@given(
    pairs_of_files(), st.sampled_from(["size", "range", "nominal"]), st.sampled_from(["expected", "strict", "first"])
)
def test_linkage_equals_its_twin(files, divisor, ties):
    original, masked, sizes, ordinal, kept = files
    bound = CategoryLinkage(divisor=divisor, ties=ties).against(table(original, sizes, ordinal))
    got = bound.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.linkage(original, masked, kept, sizes, ordinal, divisor, ties))


@pytest.mark.parametrize("one, three", [(1.0, 3.0), (0.1, 0.3), (1e-9, 3e-9)])
def test_weights_keep_ties(one, three):
    """(0, −, 1) is 3 · 1 from its own (0, −, −), and 1 + 1 + 3 · 1/3 from (−, 0, 0): two at 3, one half of four."""
    original, masked = [(0, 0, 0)] * 3 + [(0, -1, 1)], [(0, 0, 0), (0, -1, -1), (0, 0, 0), (-1, 0, 0)]
    shape, kept = ([1, 1, 3], [False, False, True]), [False, True, False, True]
    weighted = CategoryLinkage(weights={"a": one, "b": one, "c": three})
    assert weighted.against(table(original, *shape)).read(table(masked, *shape, kept)) == 100 * 0.5 / 4


def test_weights_too_fine_for_whole_numbers_are_rounded():
    """Weights 1 and 1/3 to seventeen digits: the second column decides less than the first, as in the twin."""
    original, masked = [(0, 0), (1, 1)], [(0, 1), (1, 0)]
    shape, kept = ([2, 2], [False, False]), [True, True]
    for weights in ([1.0, 1 / 3], [1 / 3, 1.0]):
        chosen = CategoryLinkage(weights=dict(zip("ab", weights, strict=True)))
        got = chosen.against(table(original, *shape)).read(table(masked, *shape))
        assert got == naive.linkage(original, masked, kept, *shape, "size", "expected", weights)


@settings(max_examples=20, deadline=None)
@given(pairs_of_files(), st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=3, max_size=3))
def test_weighted_linkage_equals_its_twin(files, weights):
    original, masked, sizes, ordinal, kept = files
    chosen = {name: weight for name, weight in zip("abc"[: len(sizes)], weights, strict=False) if weight != 1}
    got = CategoryLinkage(weights=chosen).against(table(original, sizes, ordinal))
    got = got.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.linkage(original, masked, kept, sizes, ordinal, "size", "expected", weights))


@settings(max_examples=60, deadline=None)
@given(
    pairs_of_files(),
    st.sampled_from([None, 0, 10, 25, 50, 100]),
    st.sampled_from(["categories", "records"]),
    st.sampled_from(["set", "expected", "nearest"]),
)
def test_rank_linkage_equals_its_twin(files, window, ranks, credit):
    original, masked, sizes, ordinal, kept = files
    bound = RankLinkage(window=window, ranks=ranks, credit=credit).against(table(original, sizes, ordinal))
    got = bound.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.rank_linkage(original, masked, kept, sizes, ordinal, window, ranks, credit))


@settings(max_examples=60, deadline=None)
@given(pairs_of_files(), st.sampled_from(["expected", "strict"]))
def test_probabilistic_linkage_equals_its_twin(files, ties):
    original, masked, sizes, ordinal, kept = files
    got = ProbabilisticLinkage(ties=ties).against(table(original, sizes, ordinal))
    got = got.read(table(masked, sizes, ordinal, kept))
    assert got == pytest.approx(naive.probabilistic(original, masked, kept, ties))


def test_em_finds_the_parameters_that_made_the_patterns():
    """Pairs drawn from a known mixture: 30 % matches agree with .95, .8, .9, the others with .1, .3, .2."""
    m, u, q, pairs = np.array([0.95, 0.8, 0.9]), np.array([0.1, 0.3, 0.2]), 0.3, 10**9
    counts = np.zeros(8, dtype=np.int64)
    for pattern in range(8):
        bits = np.array([pattern >> j & 1 for j in range(3)])
        match, other = np.prod(np.where(bits, m, 1 - m)), np.prod(np.where(bits, u, 1 - u))
        counts[pattern] = round(pairs * (q * match + (1 - q) * other))
    fitted = mixture(counts, 3, 10)
    assert fitted == pytest.approx([*m, *u, q], abs=1e-3)
    twin = naive.mixture({tuple(pattern >> j & 1 for j in range(3)): int(counts[pattern]) for pattern in range(8)}, 10)
    assert fitted == pytest.approx([*twin[0], *twin[1], twin[2]], abs=1e-9)


@pytest.mark.parametrize("measure", ALL)
def test_a_suppressed_file_discloses_nothing(measure):
    original = table(ORIGINAL, *SHAPE)
    bound = measure.against(original)
    gone = original.without(np.ones(4, dtype=np.bool_))
    assert bound.read(gone) == 0.0
    assert bound.read(original) == 100.0
    reading = bound.explain(gone)
    assert reading.warning
    assert not bound.explain(original).warning
    assert reading.aim == "risk"
    assert reading.baseline is not None


@pytest.mark.parametrize("measure", ALL)
def test_one_record(measure):
    one = table([(0, 0)], *SHAPE)
    assert measure.against(one).read(one) == 100.0


def test_linkage_sees_through_a_merged_label():
    """0 and 1 become one label: both their records fit it, neither stands out; the rest is as before."""
    original = table(ORIGINAL, *SHAPE)
    masked = recoded(original)
    assert CategoryLinkage().against(original).read(masked) == 100 * (0.5 + 0.5 + 1 + 1) / 4
    assert RankLinkage().against(original).read(masked) == 100.0
    assert CategoryDisclosure().against(original).read(masked) == 100 * 6 / 8
    assert ProbabilisticLinkage().against(original).read(masked) == 100 * 3 / 4


def test_a_column_without_a_weight_weighs_one():
    """(0, 0) is published as (1, 0): one change of a, weight 1½; the other record, (0, 1), is one change of b away."""
    original, masked = table([(0, 0), (1, 1)], [2, 2], [False, False]), table([(1, 0), (0, 1)], [2, 2], [False, False])
    assert CategoryLinkage(weights={"a": 1.5}).against(original).read(masked) == 0
    assert CategoryLinkage(weights={"a": 0.5}).against(original).read(masked) == 100
    assert CategoryLinkage(weights={"b": 1.5}).against(original).read(masked) == 100


def test_weights_of_any_size_keep_their_order():
    original, masked = table([(0, 0), (1, 1)], [2, 2], [False, False]), table([(1, 0), (0, 1)], [2, 2], [False, False])
    for weights, found in (({"a": 1e300}, 0), ({"a": 1e-300}, 100), ({"a": 1e300, "b": 2e300}, 100)):
        assert CategoryLinkage(weights=weights).against(original).read(masked) == found


@pytest.mark.parametrize("measure", [CategoryLinkage(), CategoryLinkage(weights={"a": 0.5}), RankLinkage()])
def test_a_suppressed_record_is_far_from_everybody(measure):
    """The code after 'missing' stands for suppression: 5 of 4 categories in a, 3 of 2 in b."""
    pairing = measure.against(table(ORIGINAL, *SHAPE)).context.pair(table(MASKED, *SHAPE))
    costs = measure.costs(pairing)
    of_a, of_b = costs[:30].reshape(6, 5), costs[30:].reshape(4, 3)
    assert (of_a[5] == FAR).all()
    assert (of_b[3] == FAR).all()
    assert (np.diag(of_a) == 0).all()


def test_ranks_of_records_by_hand():
    """Two records of 0, three of 1, five of 2. One rank from 0 to 1 and from 1 to 2, four from 0 to 2."""
    codes = [0] * 2 + [1] * 3 + [2] * 5
    original = table([(code,) for code in codes], [3], [True])
    moved = table([(1,)] * 5 + [(0,)] * 5, [3], [True])
    for window, found in ((0, 30), (9, 30), (10, 50), (39, 50), (40, 100)):
        assert RankLinkage(window=window, ranks="records").against(original).read(moved) == found
    assert RankLinkage(window=0, ranks="records").against(original).read(original) == 100
    # Of three categories one rank is a third: 33 % is not enough, 34 % is; two ranks need 67 %.
    for window, found in ((33, 30), (34, 50), (66, 50), (67, 100), (100, 100)):
        assert RankLinkage(window=window).against(original).read(moved) == found


def test_names_have_no_ranks():
    """0 and 1 change places: names differ at any window; so does a missing value."""
    original, masked = table([(0,), (1,), (2,)], [3], [False]), table([(1,), (0,), (2,)], [3], [False])
    for window in (50, 100):
        assert RankLinkage(window=window).against(original).read(masked) == pytest.approx(100 / 3)
    ordered, blank = table([(0,), (1,)], [2], [True]), table([(-1,), (1,)], [2], [True])
    assert RankLinkage(window=100).against(ordered).read(blank) == 50


def test_the_closest_candidate_wins():
    """Both records are candidates for both at one rank of two; the nearest is their own."""
    original = table([(0,), (1,)], [2], [True])
    assert RankLinkage(window=50, credit="expected").against(original).read(original) == 50
    assert RankLinkage(window=50, credit="nearest").against(original).read(original) == 100


def test_the_smallest_window_is_that_of_the_worst_column():
    """(0, 0) as (1, 1), one rank off in both columns; (3, 3) as (2, 2): both found by a window of one rank."""
    original, masked = table([(0, 0), (3, 3)], [4, 4], [True, True]), table([(1, 1), (2, 2)], [4, 4], [True, True])
    assert RankLinkage(window=None, credit="expected").against(original).read(masked) == 100


@pytest.mark.parametrize("measure", ALL)
def test_a_ledger_reads_what_the_bound_measure_reads(measure):
    bound = measure.against(table(ORIGINAL, *SHAPE))
    assert bound.ledger(table(MASKED, *SHAPE)).read() == bound.read(table(MASKED, *SHAPE))


def test_merged_labels_are_never_counted_by_margins(monkeypatch):
    """What a merged label stands for is not seen in the margins, however many tuples there are."""
    lone = table([(0,), (1,), (2,), (3,)], [4], [True])
    for original in (table(ORIGINAL, *SHAPE), lone):
        bound = ProbabilisticLinkage().against(original)
        before = bound.read(recoded(original))
        monkeypatch.setattr("crypsis.measures.categorical_ledger.PAIRS_PER_KEY", 0)
        assert bound.read(recoded(original)) == before
        monkeypatch.undo()


def test_many_tuples_count_patterns_by_margins(monkeypatch):
    rng = np.random.default_rng(3)
    original, masked = (table(rng.integers(-1, 4, (60, 3)), [4, 4, 4], [True] * 3) for _ in range(2))
    bound = ProbabilisticLinkage().against(original)
    own, seen, counted = bound.measure.patterns(bound.context.pair(masked))
    monkeypatch.setattr("crypsis.measures.categorical_ledger.PAIRS_PER_KEY", 0)
    for one, other in zip((own, seen, counted), bound.measure.patterns(bound.context.pair(masked)), strict=True):
        assert np.array_equal(one, other)


def test_the_guess_of_set_credit_is_the_share_of_candidates():
    reading = RankLinkage(window=25).against(table(ORIGINAL, *SHAPE)).explain(table(MASKED, *SHAPE))
    assert reading.baseline == pytest.approx(100 * (2 + 2 + 1 + 1) / 16)
    low, high = reading.interval
    assert low < reading.value < high


def test_bad_requests_are_refused():
    original = table(ORIGINAL, *SHAPE)
    with pytest.raises(TableError, match="weights must be"):
        CategoryLinkage(weights={"z": 1.0}).against(original)
    with pytest.raises(TableError, match="weights must be"):
        CategoryLinkage(weights={"a": -1.0}).against(original)
    with pytest.raises(TableError, match="weights must be"):
        CategoryLinkage(weights={"a": float("inf"), "b": 1.0}).against(original)
    assert CategoryLinkage(weights={"a": 0.0}).against(original).read(original) == 50
    assert "too many agreement patterns" in ProbabilisticLinkage(columns=tuple("abcdefghijklm")).obstacle(original)
    assert ProbabilisticLinkage().obstacle(original) == ""


def test_too_many_columns_are_refused_before_they_are_counted():
    names = [f"c{place}" for place in range(13)]
    wide = Table.from_columns({name: ["x", "y"] for name in names}, roles=dict.fromkeys(names, "quasi"))
    assert "13 columns" in ProbabilisticLinkage().obstacle(wide)
    assert ProbabilisticLinkage(columns=tuple(names[:12])).obstacle(wide) == ""
    with pytest.raises(TableError, match="13 columns"):
        ProbabilisticLinkage().against(wide)


def test_readings_explain_themselves():
    original, masked = table(ORIGINAL, *SHAPE), table(MASKED, *SHAPE)
    for measure, name, value, baseline, counts in (
        (CategoryDisclosure(), "category-disclosure", 75, 37.5, {}),
        # Ties 2, 2, 1, 1; own records among them 1, 1, 1, 0.
        (CategoryLinkage(), "category-linkage", 50, 25, {"correct candidates": 3, "mean candidates": 1.5}),
        (RankLinkage(window=25), "rank-linkage", 75, 37.5, {"correct candidates": 3, "mean candidates": 1.5}),
    ):
        reading = measure.against(original).explain(masked)
        assert (reading.measure, reading.unit, reading.better, reading.aim) == (name, "%", "low", "risk")
        assert (reading.definition, reading.scope) == (measure.definition, ("a", "b"))
        assert (reading.value, reading.baseline) == (pytest.approx(value), pytest.approx(baseline))
        assert reading.counts == {"records": 4, **counts}
        if name == "category-disclosure":
            assert reading.interval is None
            assert "fully generalised" in reading.missing
        else:
            assert reading.interval == pytest.approx(wilson_interval(value / 25, 4))
            assert reading.missing.endswith("a suppressed record links to nobody")


def test_a_warning_where_the_attack_does_not_beat_guessing():
    """Everybody published alike: one of two found by either way."""
    original, masked = table([(0,), (1,)], [2], [False]), table([(0,), (0,)], [2], [False])
    reading = CategoryLinkage().against(original).explain(masked)
    assert (reading.value, reading.baseline) == (50, 50)
    assert reading.warning == "the attack does no better here than guessing; another attack may"


def test_the_best_guess_within_reach():
    """Six ordered categories held 3, 0, 2, 2, 0, 1 times and 2 missing: a reach of one covers 5 of 10 at best."""
    codes = [0] * 3 + [2] * 2 + [3] * 2 + [5] + [-1] * 2
    original = table([(code,) for code in codes], [6], [True])
    narrow, wide = CategoryDisclosure(width=0.1).against(original), CategoryDisclosure(width=0.4).against(original)
    assert narrow.explain(original).baseline == pytest.approx(30)
    assert wide.explain(original).baseline == pytest.approx(50)
    blanks = table([(-1,)] * 7 + [(0,)] * 3, [6], [True])
    assert CategoryDisclosure(width=1.0).against(blanks).explain(blanks).baseline == pytest.approx(70)
    ends = table([(5,)] * 2 + [(4,)] * 2 + [(0,)], [6], [True])
    assert CategoryDisclosure(width=0.4).against(ends).explain(ends).baseline == pytest.approx(80)


def test_the_parameters_of_probabilistic_linkage_are_told():
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 4, (40, 2))
    moved = np.where(rng.random((40, 2)) < 0.8, codes, rng.integers(0, 4, (40, 2)))
    original, masked = table(codes, [4, 4], [False, False]), table(moved, [4, 4], [False, False])
    measure = ProbabilisticLinkage()
    reading = measure.against(original).explain(masked)
    patterns = {}
    for one in codes:
        for other in moved:
            pattern = tuple(int(a == b) for a, b in zip(one, other, strict=True))
            patterns[pattern] = patterns.get(pattern, 0) + 1
    m, u, q = naive.mixture(patterns, 40)
    assert reading.counts == {
        "records": 40,
        "share of matching pairs": pytest.approx(q),
        "agreement of matches in a": pytest.approx(m[0]),
        "agreement of others in a": pytest.approx(u[0]),
        "agreement of matches in b": pytest.approx(m[1]),
        "agreement of others in b": pytest.approx(u[1]),
    }
    assert (reading.measure, reading.unit, reading.better, reading.aim) == ("probabilistic-linkage", "%", "low", "risk")
    assert (reading.definition, reading.scope, reading.baseline) == (measure.definition, ("a", "b"), 2.5)
    assert reading.value == measure.against(original).read(masked)
    assert reading.interval == pytest.approx(wilson_interval(reading.value / 100 * 40, 40))
    assert reading.missing.endswith("links to nobody")


@settings(max_examples=20, deadline=None)
@given(pairs_of_files())
def test_explained_and_quick_numbers_are_the_same(files):
    original, masked, sizes, ordinal, kept = files
    for measure in (*ALL, RankLinkage(window=None, credit="nearest"), CategoryLinkage(ties="first")):
        bound = measure.against(table(original, sizes, ordinal))
        now = table(masked, sizes, ordinal, kept)
        assert bound.explain(now).value == pytest.approx(bound.read(now))
