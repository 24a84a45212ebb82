from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.kernels.partitions import EUCLIDEAN, GENERIC, GOMM, MANHATTAN, mdav
from crypsis.masking import Microaggregation
from crypsis.measures.intervals import score_confidence_interval
from crypsis.measures.record_linkage import RecordLinkage
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.example import example
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import LOCAL, Table
from naive import measures as naive
from reference import numeric, standardised

NAN = float("nan")


def table(values: np.ndarray) -> Table:
    names = [f"v{j}" for j in range(values.shape[1])]
    return Table.from_columns(dict(zip(names, values.T, strict=True)), dict.fromkeys(names, "quasi"))


def aggregated(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    sizes = np.bincount(labels)
    return np.stack([np.bincount(labels, weights=column) / sizes for column in values.T], axis=1)[labels]


def test_by_hand() -> None:
    """0, 1, 10, 11 published as ½, ½, 10, 12: two ties of two, one found, one lost to its neighbour (11 → 10 or 12)."""
    original, masked = table(np.array([[0.0], [1], [10], [11]])), table(np.array([[0.5], [0.5], [10], [12]]))
    bound = RecordLinkage().against(original)
    assert bound.credits(masked).tolist() == [0.5, 0.5, 1, 0.5]
    assert bound.read(masked) == pytest.approx(62.5)
    assert RecordLinkage(ties="first").against(original).credits(masked).tolist() == [1, 0, 1, 0]
    assert RecordLinkage(ties="strict").against(original).credits(masked).tolist() == [0, 0, 1, 0]


def test_a_reading_holds_interval_baseline_and_counts() -> None:
    original, masked = table(np.array([[0.0], [1], [10], [11]])), table(np.array([[0.5], [0.5], [10], [12]]))
    reading = RecordLinkage().against(original).explain(masked)
    assert reading.baseline == 25.0
    assert reading.interval is not None
    assert reading.interval[0] < 62.5 < reading.interval[1]
    assert reading.counts == {"records": 4, "published": 4, "expected hits": 2.5, "certain hits": 1}
    assert reading.interval == pytest.approx(score_confidence_interval(np.array([1.0, 0.5, 0.5, 0.5])))
    assert (reading.interval[0] > 25, reading.warning) == (True, "")
    alike = RecordLinkage().against(original).explain(table(np.full((4, 1), 3.0)))
    assert alike.warning.startswith("the rate (25 %) is not distinguishable from the baseline (25 %)")
    assert reading.control is None
    assert (reading.measure, reading.unit, reading.better, reading.aim) == ("record-linkage", "%", "low", "risk")
    assert (reading.definition, reading.scope) == (RecordLinkage.definition, ("v0",))
    assert "suppressed record" in reading.missing
    clear = table(np.arange(9.0).reshape(-1, 1))
    assert RecordLinkage().against(clear).explain(clear).warning == ""
    for rule in ("expected", "first", "strict"):
        assert RecordLinkage(ties=rule).against(original).credits(masked).dtype == np.float64


def test_suppressed_records_are_neither_found_nor_in_the_way() -> None:
    original = table(np.array([[0.0], [0], [5]]))
    masked = original.without(np.array([False, True, False]))
    assert RecordLinkage().against(original).credits(masked).tolist() == [1, 0, 1]
    nothing = RecordLinkage().against(original).explain(original.without(np.ones(3, dtype=bool)))
    assert (nothing.value, nothing.baseline) == (0, 0)
    assert nothing.warning == "every record is suppressed; nothing was published that could be linked"


def test_row_order_does_not_matter() -> None:
    """Some tools report 73 % for a 3-anonymous file because its ties follow row order."""
    values = numeric("census.csv")
    shown = aggregated(values, mdav(standardised(values), 3, GENERIC, EUCLIDEAN))
    rates = []
    for seed in (None, 1, 2):
        order = np.arange(len(values)) if seed is None else np.random.default_rng(seed).permutation(len(values))
        rates.append(RecordLinkage().against(table(values[order])).read(table(shown[order])))
    assert rates == pytest.approx([rates[0]] * 3)
    assert rates[0] <= 100 / 3


@pytest.mark.parametrize(("k", "expected"), [(5, 14.556), (10, 6.685), (25, 2.532)])
def test_figures_of_the_attribute_grouping_paper(k: int, expected: float) -> None:
    values = numeric("census.csv")[:, :12]
    low = values.min(axis=0)
    labels = mdav((values - low) / (values.max(axis=0) - low), k, GOMM, MANHATTAN)
    bound = RecordLinkage(scaling="range").against(table(values))
    assert bound.read(table(aggregated(values, labels))) == pytest.approx(expected, abs=5e-4)


@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(1, 4), st.sampled_from(["expected", "first", "strict"]))
@settings(max_examples=40, deadline=None)
def test_numbers_equal_all_pairs(seed: int, n: int, p: int, rule: str) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, (n, p)).astype(float)
    y = np.where(rng.random((n, p)) < 0.6, x, rng.integers(0, 6, (n, p)))
    kept = rng.random(n) < 0.9
    width = np.array([naive.scale(column, "z") for column in x.T])
    scaled = [np.divide(v, width, out=np.zeros_like(v), where=width > 0) for v in (x, y)]
    distance = np.sqrt(((scaled[0][:, None] - scaled[1][None]) ** 2).sum(axis=2))
    credits = RecordLinkage(ties=rule).against(table(x)).credits(table(y).without(~kept))
    assert credits == pytest.approx(naive.linkage_credits(distance, kept, rule))


@given(st.integers(0, 10_000), st.integers(2, 25))
@settings(max_examples=40, deadline=None)
def test_mixed_columns_with_missing_values_equal_all_pairs(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    attributes = (
        Attribute("x", Kind.NUMERIC, Role.QUASI_IDENTIFIER),
        Attribute("grade", Kind.ORDINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c", "d")),
        Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("p", "q", "r")),
    )

    def draw() -> tuple[np.ndarray, ...]:
        x = rng.integers(0, 4, n).astype(float)
        x[1:][rng.random(n - 1) < 0.2] = NAN
        return x, rng.integers(-1, 4, n).astype(np.int32), rng.integers(-1, 3, n).astype(np.int32)

    first, other = draw(), draw()
    second = tuple(np.where(rng.random(n) < 0.6, a, b) for a, b in zip(first, other, strict=True))
    known = first[0][~np.isnan(first[0])]
    mean, width = known.mean(), naive.scale(known, "z")
    grades = first[1][first[1] >= 0]
    middle = grades.mean() if len(grades) else 0.0
    square = np.zeros((n, n))
    for i in range(n):
        for o in range(n):
            a, b = first[0][i], second[0][o]
            u, v = ((mean if np.isnan(c) else c) for c in (a, b))
            square[i, o] += ((u - v) / width) ** 2 if width > 0 else 0.0
            square[i, o] += np.isnan(a) != np.isnan(b)
            g, h = first[1][i], second[1][o]
            u, v = ((middle if c < 0 else c) for c in (g, h))
            square[i, o] += ((u - v) / 3) ** 2 + ((g < 0) != (h < 0))
            square[i, o] += first[2][i] != second[2][o]
    credits = RecordLinkage().against(Table(attributes, first)).credits(Table(attributes, second))
    assert credits == pytest.approx(naive.linkage_credits(np.sqrt(square), np.ones(n, dtype=bool)))


def towns() -> Table:
    rows = [["a", "north", "*"], ["b", "north", "*"], ["c", "south", "*"], ["d", "south", "*"]]
    hierarchy = Hierarchy.from_rows(rows)
    town = Attribute("town", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a", "b", "c", "d"), hierarchy)
    return Table((town,), (np.array([0, 1, 2, 3], dtype=np.int32),))


def test_a_group_that_contains_the_value_is_at_distance_zero() -> None:
    original = towns()
    regions = original.with_columns({"town": np.array([0, 0, 1, 1])}, levels={"town": 1})
    assert RecordLinkage().against(original).credits(regions).tolist() == [0.5] * 4
    everything = original.with_columns({"town": np.zeros(4)}, levels={"town": 2})
    assert RecordLinkage().against(original).credits(everything).tolist() == [0.25] * 4
    wrong = original.with_columns({"town": np.array([1, 0, 1, 1])}, levels={"town": 1})
    assert RecordLinkage().against(original).credits(wrong).tolist() == [0, 1, 1 / 3, 1 / 3]


def test_records_at_levels_of_their_own() -> None:
    """Nodes: leaves 0–3, north 4, south 5, * 6. Only d is published as it is; c hides in the south, a and b in *."""
    original = towns()
    local = original.with_columns({"town": np.array([6, 6, 5, 3])}, levels={"town": LOCAL})
    assert RecordLinkage().against(original).credits(local).tolist() == [1 / 2, 1 / 2, 1 / 3, 1 / 4]


def test_a_missing_value_meets_only_a_missing_one_at_levels_of_their_own() -> None:
    """a, missing, c published as a, missing, south: each fits its own record and no other."""
    original = towns().with_columns({"town": np.array([0, -1, 2, 3], dtype=np.int32)})
    local = original.with_columns({"town": np.array([0, -1, 5, 3])}, levels={"town": LOCAL})
    assert RecordLinkage().against(original).credits(local).tolist() == [1, 1, 1, 1 / 2]


def test_the_hierarchy_of_the_published_file_is_enough() -> None:
    original = towns()
    (town,) = original.attributes
    bare = Table((town.but(hierarchy=None),), (original.column("town"),))
    regions = original.with_columns({"town": np.array([0, 0, 1, 1])}, levels={"town": 1})
    assert RecordLinkage().against(bare).credits(regions).tolist() == [0.5] * 4
    lost = regions.with_columns({}, attributes={"town": town.but(hierarchy=None)})
    with pytest.raises(TableError, match="column 'town' is generalised but has no hierarchy"):
        RecordLinkage().against(original).read(lost)


def test_a_generalised_number_hides_in_its_interval() -> None:
    hierarchy = Hierarchy.from_rows([["1", "1-2"], ["2", "1-2"], ["3", "3"]], np.array([1.0, 2, 3]))
    age = Attribute("age", Kind.NUMERIC, Role.QUASI_IDENTIFIER, hierarchy=hierarchy)
    original = Table((age,), (np.array([1.0, 2, 3]),))
    masked = original.with_columns({"age": np.array([0, 0, 1])}, levels={"age": 1})
    assert RecordLinkage().against(original).credits(masked).tolist() == [0.5, 0.5, 1]


def test_categories_are_matched_by_label() -> None:
    original = Table.from_columns({"t": ["a", "b", "c"]}, {"t": "quasi"})
    masked = Table.from_columns({"t": ["b or c", "c", "b or c"]}, {"t": "quasi"})
    same = Table.from_columns({"t": ["a", "b", "b"]}, {"t": "quasi"})
    assert RecordLinkage().against(original).credits(same).tolist() == [1, 0.5, 1 / 3]
    assert RecordLinkage().against(original).credits(masked).tolist() == [1 / 3, 1 / 3, 0]


def test_outsiders() -> None:
    """Published as it is, a file claims no outsider; published as one class, outsiders as often as members."""
    rng = np.random.default_rng(0)
    people, others = rng.standard_normal((200, 3)), rng.standard_normal((100, 3))
    original, control = table(people), table(others)
    bare = RecordLinkage().against(original).explain(original, control)
    assert (bare.value, bare.control, bare.counts["claimed of members, %"]) == (100, 0, 100)
    whole = table(np.zeros((200, 3)))
    blurred = RecordLinkage().against(original).explain(whole, control)
    assert blurred.value == pytest.approx(0.5)
    assert blurred.control == pytest.approx(0.5, abs=0.05)
    assert blurred.counts["claimed of members, %"] == pytest.approx(0.95 * 0.5)
    gone = original.without(np.ones(200, dtype=bool))
    assert RecordLinkage().against(original).explain(gone, control).control == 0


def test_outsiders_by_hand() -> None:
    """0 and 4 published as 1 and 4: right at distances 1 and 0, 95 % of them within 0.95. Claimed: the member 4, and
    of the outsiders 1.5 and 20 only the first, so half of each."""
    original, masked = table(np.array([[0.0], [4.0]])), table(np.array([[1.0], [4.0]]))
    reading = RecordLinkage(scaling="none").against(original).explain(masked, table(np.array([[1.5], [20.0]])))
    assert reading.counts["claimed of members, %"] == 50
    assert reading.counts["claimed of outsiders, %"] == 50
    assert (reading.value, reading.control) == (100, 100)
    other = RecordLinkage(scaling="none").against(original).explain(masked, table(np.array([[-9.0], [20.0]])))
    assert other.control == 0
    # 3 lies one unit from 4, further than 0.95, whatever the range of the column.
    near = RecordLinkage(scaling="none").against(original).explain(masked, table(np.array([[3.0], [20.0]])))
    assert near.counts["claimed of outsiders, %"] == 0
    # Outsiders who stand where people are published are claimed more often than members, and never count for more.
    twins = RecordLinkage(scaling="none").against(original).explain(masked, table(np.array([[4.0], [4.0]])))
    assert twins.counts["claimed of outsiders, %"] == 100
    assert (twins.value, twins.control) == (100, 100)


def test_only_right_links_tell_how_near_is_near() -> None:
    """0, 4, 10 published as 1, 4, -50: the third is not found, so its 60 units allow no claim on an outsider at 20."""
    original, masked = table(np.array([[0.0], [4], [10]])), table(np.array([[1.0], [4], [-50]]))
    reading = RecordLinkage(scaling="none").against(original).explain(masked, table(np.array([[20.0]])))
    assert reading.value == pytest.approx(200 / 3)
    assert reading.counts["claimed of outsiders, %"] == 0
    swapped = RecordLinkage().against(table(np.array([[0.0], [9]]))).explain(table(np.array([[9.0], [0]])), original)
    assert (swapped.value, swapped.control) == (0, 0)
    assert (swapped.counts["claimed of members, %"], swapped.counts["claimed of outsiders, %"]) == (0, 0)


def test_links_exactly_as_far_as_the_right_ones_are_claimed() -> None:
    original = table(np.array([[0.0], [1e4], [3e4]]))
    moved = table(np.array([[1e3], [1.1e4], [3.1e4]]))
    reading = RecordLinkage(scaling="none").against(original).explain(moved, original)
    assert reading.counts["claimed of members, %"] == 100


@pytest.mark.parametrize(("rule", "members", "outsiders"), [("first", 100, 50), ("strict", 100 / 3, 0)])
def test_what_a_tied_claim_is_worth(rule: str, members: float, outsiders: float) -> None:
    """0, 1, 10 published as ½, ½, 9½: every claim half a unit away; outsiders at ½ (two tied) and at 100 (none)."""
    original, masked = table(np.array([[0.0], [1], [10]])), table(np.array([[0.5], [0.5], [9.5]]))
    bound = RecordLinkage(ties=rule, scaling="none").against(original)
    counts = bound.explain(masked, table(np.array([[0.5], [100.0]]))).counts
    assert counts["claimed of members, %"] == pytest.approx(members)
    assert counts["claimed of outsiders, %"] == outsiders


def test_the_control_rate_is_that_of_its_columns_and_scale() -> None:
    rng = np.random.default_rng(3)
    people, others = rng.standard_normal((40, 2)) * [1, 100], rng.standard_normal((30, 2)) * [1, 100]
    original, control = table(people), table(others)
    masked = table(people + rng.standard_normal((40, 2)) * [0.1, 40])
    attacks = [RecordLinkage(columns=("v0",)), RecordLinkage(), RecordLinkage(scaling="none")]
    assert len({each.against(original).explain(masked, control).control for each in attacks}) == 3


@pytest.mark.parametrize("rule", ["expected", "first", "strict"])
def test_some_people_earn_what_they_earn_among_all(rule: str) -> None:
    rng = np.random.default_rng(6)
    original, shown = table(rng.integers(0, 5, (20, 2))), table(rng.integers(0, 5, (20, 2)))
    masked = shown.without(np.arange(20) % 7 == 0)
    whole = RecordLinkage(ties=rule).against(original)
    some = RecordLinkage(ties=rule, sample=8).against(original)
    assert some.people.tolist() == sorted(set(some.people.tolist()))
    assert (len(some.people), some.people.min() >= 0, some.people.max() < 20) == (8, True, True)
    assert some.people.tolist() == RecordLinkage(ties=rule, sample=8).against(original).people.tolist()
    assert some.credits(masked).tolist() == whole.credits(masked)[some.people].tolist()
    counts = some.explain(masked).counts
    assert (counts["records"], counts["records in all"]) == (8, 20)
    for size in (0, 20, 99):
        assert RecordLinkage(sample=size).against(original).people.tolist() == list(range(20))
    assert len(RecordLinkage(sample=19).against(original).people) == 19
    assert len(RecordLinkage(sample=1).against(original).people) == 1


def test_claims_are_measured_on_the_people_looked_for() -> None:
    """Right links of the eight people looked for lie 0 apart, those of the others 3: only 0 is near."""
    values = np.arange(0.0, 200, 10)
    original = table(values[:, None])
    bound = RecordLinkage(sample=8, scaling="none").against(original)
    shown = values + 3
    shown[bound.people] -= 3
    reading = bound.explain(
        table(shown[:, None]), table(np.array([[values[bound.people[0]] + 3], [values[bound.people[1]]]]))
    )
    assert reading.counts["claimed of members, %"] == 100
    assert reading.counts["claimed of outsiders, %"] == 50
    assert (reading.value, reading.control) == (100, 50)


def test_refusals() -> None:
    original = table(np.zeros((3, 1)))
    with pytest.raises(TableError, match=r"^the control table has no records; .* or leave it out$"):
        RecordLinkage().against(original).explain(original, table(np.zeros((0, 1))))
    with pytest.raises(TableError, match="same kinds"):
        RecordLinkage().against(original).read(Table.from_columns({"v0": ["x", "y", "z"]}))
    with pytest.raises(TableError, match="infinite"):
        RecordLinkage().against(original).read(table(np.array([[0.0], [np.inf], [1.0]])))
    bare = Table.from_columns({"a": [1]})
    no_role = "the table has no quasi-identifier to compare; name columns or give them the role 'quasi'"
    assert RecordLinkage().obstacle(bare) == no_role
    assert RecordLinkage(columns=("a",)).obstacle(bare) == ""
    assert "no column 'b'" in RecordLinkage(columns=("b",)).obstacle(original)
    assert RecordLinkage().obstacle(original) == ""
    assert RecordLinkage().obstacle(table(np.zeros((0, 1)))) == "the table has no records; nothing can be compared"


def test_the_interval_knows_that_ties_bound_what_a_record_earns() -> None:
    """Groups of ten: nobody earns more than a tenth, so an interval need not fear a whole hit."""
    rng = np.random.default_rng(3)
    table = Table.from_columns({"x": rng.lognormal(size=400).tolist()}, roles={"x": "quasi"})
    masked = Microaggregation(k=10).mask(table, rng)
    bound = RecordLinkage(sample=100).against(table)
    assert bound.largest_credit(masked) == pytest.approx(0.1)
    earned = bound.credits(masked)
    assert earned.max() <= 0.1
    low, high = bound.explain(masked).interval
    wide = score_confidence_interval(earned, population=400)
    assert wide[0] < low <= 100 * earned.mean() <= high < wide[1]
    assert RecordLinkage(ties="first").against(table).largest_credit(masked) == 1.0


def test_a_sample_is_drawn_from_all_people_and_always_the_same() -> None:
    """The first rows of a file that is sorted stand for nobody else."""
    values = np.arange(1000.0)[:, None]
    bound = RecordLinkage(sample=100).against(table(values))
    people = bound.people
    assert (len(people), len(set(people.tolist()))) == (100, 100)
    assert sum(people < 500) == pytest.approx(50, abs=20)
    assert RecordLinkage(sample=100).against(table(values)).people.tolist() == people.tolist()
    shown = np.where(np.arange(1000) < 100, np.arange(1000), 0)[:, None].astype(float)
    assert bound.read(table(shown)) < 30, "who alone is found stands first; one in ten is drawn"
    assert RecordLinkage(sample=1000).against(table(values)).people.tolist() == list(range(1000))


def test_what_the_attack_earns_is_made_once_for_an_original_and_its_columns() -> None:
    people = example(60, seed=4)
    masked = Microaggregation(k=3).mask(people, np.random.default_rng(0))
    credits = RecordLinkage().against(people).credits(masked)
    assert RecordLinkage(columns=tuple(people.quasi_identifiers)).against(people).credits(masked) is credits
    assert RecordLinkage(ties="strict").against(people).credits(masked) is not credits
    other = people.with_columns({"age": people.column("age")[::-1].copy()})
    assert RecordLinkage().against(other).credits(masked).tolist() != credits.tolist()
