"""Records that columns single out, alone or together: by hand, against slow twins, and with masked cells."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.audits import audit
from crypsis.audits.exposure import few_together, mark_exposed_records, singling_out
from crypsis.audits.published import Finding, FindingKind, Published
from crypsis.table.attribute import Role
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import Table

ALONE = FindingKind.SINGLING_OUT


def test_by_hand() -> None:
    """Ten records: nobody shares a weight, two share no place, everybody shares a sex; one weight is missing."""
    table = Table.from_columns(
        {
            "sex": ["f", "m"] * 5,
            "place": ["a"] * 4 + ["b"] * 4 + ["c", "d"],
            "weight": [*(float(n) for n in range(9)), None],
        }
    )
    assert singling_out(Published(table)) == [
        Finding(ALONE, ("place",), 2, 0.2),
        Finding(ALONE, ("weight",), 9, 0.9),
    ]
    assert [each.key for each in singling_out(Published(table))] == ["singling-out:place", "singling-out:weight"]


def test_a_masked_cell_leads_to_nobody() -> None:
    original = Table.from_columns({"weight": [float(n) for n in range(10)], "other": [float(n) for n in range(10)]})
    published = original.with_columns(
        {"weight": np.where(np.arange(10) < 3, np.arange(10.0), np.arange(10) ** 2 + 50.0)}
    )
    assert singling_out(Published(published, original)) == [
        Finding(ALONE, ("weight",), 3, 0.3),
        Finding(ALONE, ("other",), 10, 1.0),
    ]


def test_a_number_that_moved_a_little_is_recognised() -> None:
    """Amounts rounded to tens: nine stay nearer to their own than to any other; two that were near are not."""
    amounts = np.array([1003.0, 2018, 3049, 4071, 5092, 6018, 7033, 8054, 9077, 12.0, 14.0])
    original = Table.from_columns({"amount": amounts.tolist()}, {"amount": "confidential"})
    rounded = Published(original.with_columns({"amount": np.round(amounts, -1)}), original)
    assert singling_out(rounded) == [Finding(ALONE, ("amount",), 9, 9 / 11)]
    averaged = np.repeat([2023.0, 5060, 8055, 13], [3, 3, 3, 2])
    assert singling_out(Published(original.with_columns({"amount": averaged}), original)) == []
    noisy = Published(original.with_columns({"amount": amounts[::-1]}), original, perturbed=True)
    assert singling_out(noisy) == [Finding(ALONE, ("amount",), 1, 1 / 11)], "the middle one stands where it stood"


def test_numbers_that_all_moved_by_one_amount_are_recognised() -> None:
    days = np.arange(7000.0, 7400.0, 4.0)
    original = Table.from_columns({"seen": days.tolist()}, {"seen": "confidential"})
    (found,) = singling_out(Published(original.with_columns({"seen": days + 33}), original))
    assert found.records == 100, "every date is 33 days later"
    spread = np.random.default_rng(0).integers(-90, 90, 100)
    found, *_ = singling_out(Published(original.with_columns({"seen": days + spread}), original))
    assert (found.records, found.refuses) == (2, False), "two days stayed within half a step of their own"


def test_a_text_with_a_word_of_one_record_alone_is_recognised() -> None:
    collected = [f"went home with {name}" for name in ("Ann", "Bob", "Cleo", "Dan")]
    shown = [f"home: {name}" for name in ("Ann", "Bob", "friends", "friends")]
    original = Table.from_columns({"note": collected}, {"note": "other"})
    published = Table.from_columns({"note": shown}, {"note": "other"})
    (found,) = singling_out(Published(published, original))
    assert found.records == 2


def test_a_missing_amount_hides_no_neighbour() -> None:
    original = Table.from_columns({"amount": [10.0, None, 500.0, 900.0]}, {"amount": "other"})
    moved = original.with_columns({"amount": np.array([11.0, np.nan, 499.0, 902.0])})
    assert singling_out(Published(moved, original)) == [Finding(ALONE, ("amount",), 3, 0.75)]


def test_another_spelling_is_the_same_text() -> None:
    original = Table.from_columns({"nick": ["Ann", "Bob", "Cleo", "Dan"]}, {"nick": "other"})
    spelt = original.attribute("nick").but(categories=("ANN ", "bob", "cleo", "DAN"))
    (found,) = singling_out(Published(original.with_columns({}, attributes={"nick": spelt}), original))
    assert found.records == 4


def test_suppressed_records_are_not_in_the_file() -> None:
    table = Table.from_columns({"x": [1.0, 1, 2, 2, 3]}, {"x": "other"})
    for left_out, records in (([0, 0, 0, 0, 1], 0), ([1, 0, 0, 0, 0], 2), ([1] * 5, 0)):
        found = audit(table.without(np.array(left_out, dtype=bool))).findings
        assert sum(each.records for each in found) == records


# -- few together --


def test_two_columns_single_out_what_neither_does() -> None:
    """Towns and jobs of forty people: each is shared by at least four, every pair but one by one person."""
    table = Table.from_columns(
        {"town": [f"t{n % 10}" for n in range(40)], "job": [f"j{n // 10}" for n in range(40)]},
        {"town": "quasi", "job": "other"},
    )
    seen = Published(table)
    assert singling_out(seen) == []
    assert few_together(seen).findings == (Finding(FindingKind.COMBINATION, ("job", "town"), 40, 1.0),)
    both = Published(table.with_roles({"job": Role.QUASI_IDENTIFIER}))
    assert few_together(both).findings == (), "k-anonymity speaks of quasi-identifiers together"
    secret = table.with_roles({"job": Role.CONFIDENTIAL})
    told = few_together(Published(secret)).findings
    assert told == (Finding(FindingKind.ASSUMPTION, ("job", "town"), 40, 1.0, refuses=False),)
    silent = few_together(Published(secret, unstated=frozenset({"job"}))).findings
    assert silent == (Finding(FindingKind.ASSUMPTION, ("job", "town"), 40, 1.0),), "nobody said that it is unknown"
    assert few_together(seen, without=["job"]).findings == ()


def test_of_a_perturbed_table_only_true_values_count() -> None:
    original = Table.from_columns(
        {"town": [f"t{n % 10}" for n in range(40)], "job": [f"j{n // 10}" for n in range(40)]},
        {"town": "quasi", "job": "other"},
    )
    swapped = original.with_columns({"town": np.roll(original.column("town"), 1)})
    assert few_together(Published(swapped, original, perturbed=True)).findings == ()
    assert few_together(Published(swapped, original)).findings[0].records == 40


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_combinations_are_their_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 60))
    columns = {f"c{place}": rng.integers(0, rng.integers(2, 12), rows).astype(float) for place in range(4)}
    columns["c0"][rng.random(rows) < 0.2] = np.nan
    roles = {name: str(rng.choice(["quasi", "other", "confidential", "weight"])) for name in columns}
    table = Table.from_columns({n: [None if v != v else v for v in c] for n, c in columns.items()}, roles)
    unstated = {name for name in columns if rng.random() < 0.5}
    values = {name: int(table.codes([name]).max()) for name in columns}
    worst: dict[tuple[str, bool], int] = {}
    for size in (2, 3):
        for names in combinations([n for n in columns if len(set(table.codes([n])[:, 0].tolist())) > 1], size):
            tuples = Counter(zip(*(table.codes([name])[:, 0].tolist() for name in names), strict=True))
            single = sum(count == 1 and set(key) != {-1} for key, count in tuples.items())
            secret = [name for name in names if roles[name] == "confidential"]
            stated = [name for name in secret if name not in unstated]
            asked = sorted(stated or secret, key=lambda name: -values[name])[:1]
            keys = [(n, not stated) for n in asked] or [(n, True) for n in names if roles[n] != "quasi"]
            for key in keys:
                worst[key] = max(worst.get(key, 0), single)
    found = few_together(Published(table, unstated=frozenset(unstated)))
    assert found.looked == found.all
    many = {key: single for key, single in worst.items() if single > LARGEST_SHARE * rows}
    assert {
        (each.columns[0], each.refuses): each.records for each in found.findings if each.share > LARGEST_SHARE
    } == many
    few = {name: max(worst.get((name, told), 0) for told in (True, False)) for name, _ in set(worst) - set(many)}
    told = {each.columns[0]: each.records for each in found.findings if each.share <= LARGEST_SHARE}
    assert all(told.get(name, 0) == most for name, most in few.items() if most <= LARGEST_SHARE * rows)
    assert not any(each.refuses for each in found.findings if each.share <= LARGEST_SHARE), "few are only reported"


def test_what_was_not_looked_at_is_said() -> None:
    columns = {f"c{place}": [f"v{(n * (place + 3)) % 37}" for n in range(200)] for place in range(6)}
    table = Table.from_columns(columns, dict.fromkeys(columns, "other"))
    found = few_together(Published(table), work=1000)
    assert 0 < found.looked < found.all


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=1, max_size=30), st.integers(0, 9))
def test_the_count_is_its_slow_twin(values: list[int | None], allowed: int) -> None:
    columns = {"n": values, "c": [None if v is None else f"v{v}" for v in values]}
    table = Table.from_columns(columns, dict.fromkeys(columns, "other"))
    held = Counter(value for value in values if value is not None)
    single = sum(count == 1 for count in held.values())
    expected = [("n", single, single > allowed), ("c", single, single > allowed)] if single else []
    found = singling_out(Published(table, allowed=allowed))
    assert [(each.columns[0], each.records, each.refuses) for each in found] == expected
    codes = np.array([-1 if v is None else v for v in values], dtype=np.int32)
    assert mark_exposed_records(codes).tolist() == [v is not None and held[v] == 1 for v in values]


ONE_IN_TWENTY = ["quasi", "confidential"]
"""Roles of columns of which few people alone are only reported: others speak of them."""


@pytest.mark.parametrize("role", ["other", "weight", "stratum", "unstated", *ONE_IN_TWENTY])
@pytest.mark.parametrize("single", [1, 5, 6])
def test_everybody_who_stands_alone_is_counted(role: str, single: int) -> None:
    values = [*range(single), *([100] * (100 - single))]
    table = Table.from_columns({"x": values}, {"x": "confidential" if role == "unstated" else role})
    unstated = frozenset({"x"} if role == "unstated" else ())
    (found,) = singling_out(Published(table, unstated=unstated))
    assert found.records == single
    assert found.refuses is (single > 5 if role in ONE_IN_TWENTY else True)
    (allowed,) = singling_out(Published(table, unstated=unstated, allowed=5))
    assert allowed.refuses is (single > 5)
    assert LARGEST_SHARE == 0.05


def test_an_undecided_column_counts_few_in_its_own_finding() -> None:
    table = Table.from_columns({"x": [1.0, *([2.0] * 99)], "y": ["a", "b"] * 50}, {"y": "quasi"})
    (found,) = [each for each in audit(table).findings if each.columns == ("x",)]
    assert (found.kind, found.records) == (FindingKind.UNDECIDED, 1)


def test_a_column_with_few_alone_is_still_looked_at_together_with_others() -> None:
    """One person is alone with a job, and all forty with job and town."""
    towns, jobs = [f"t{n % 10}" for n in range(40)], [*(f"j{n // 10}" for n in range(39)), "j9"]
    table = Table.from_columns({"town": towns, "job": jobs}, {"town": "quasi", "job": "other"})
    found = {each.kind: each.records for each in audit(table).findings}
    assert found == {FindingKind.SINGLING_OUT: 1, FindingKind.COMBINATION: 40}


@pytest.mark.parametrize("kind", ["singling-out", "combination", "assumption", "undecided"])
@pytest.mark.parametrize(("single", "passes"), [(5, True), (6, False)])
def test_who_lets_more_pass_lets_few_pass(kind: str, single: int, passes: bool) -> None:
    """Those alone with a column are among those alone with it and others; many need a reason of their own."""
    values = [*range(single), *([100] * (100 - single))]
    table = Table.from_columns({"x": values, "y": ["a", "b"] * 50}, {"x": "weight", "y": "quasi"})
    found = audit(table, waivers={f"{kind}:x": "known to nobody"})
    assert not [each for each in audit(table, waivers={f"{kind}:y": "known to nobody"}).open if each.columns == ("y",)]
    assert [each.key for each in found.open] == ([] if passes or kind == "singling-out" else ["singling-out:x"])


# -- a release whose rows are shuffled --


def test_a_shuffled_file_is_compared_by_its_values() -> None:
    """A unique weight stays unique in any order; averages and blanked cells are nobody's."""
    rng = np.random.default_rng(2)
    weights = rng.permutation(60).astype(float)
    columns = {"town": ["a", "b"] * 30, "weight": weights.tolist(), "pay": (10 * weights).tolist()}
    original = Table.from_columns(columns, {"town": "quasi", "weight": "weight", "pay": "confidential"})
    averaged = 10 * (weights // 5 * 5 + 2) + 0.5
    mixed = original.with_columns({"pay": averaged}).take(rng.permutation(60))
    found = audit(mixed, original, shuffled=True)
    assert [each.key for each in found.findings if each.refuses] == ["singling-out:weight"]
    assert not found.compared
    noisy = original.with_columns({"weight": weights + 0.37, "pay": averaged}).take(rng.permutation(60))
    found = audit(noisy, original, shuffled=True)
    assert [each.key for each in found.open] == ["combination:weight"], "nobody has such a weight, but it is near one"


def test_missing_cells_that_were_filled_are_counted_in_any_order() -> None:
    original = Table.from_columns({"x": [1.0, None, None, 2.0, 2.0, 1.0]}, {"x": "confidential"})
    filled = original.with_columns({"x": np.array([1.0, 1.0, np.nan, 2.0, 2.0, 1.0])})
    (found,) = (each for each in audit(filled.take([5, 3, 1, 0, 2, 4]), original, shuffled=True).findings)
    assert (found.kind, found.records) == (FindingKind.FILLED, 1)
    assert audit(original.take([5, 3, 0, 2, 4]), original, shuffled=True).findings == ()


def test_an_averaged_weight_beside_other_columns_stops_a_release() -> None:
    """Five records share each average; with a job and a town most are alone, so whoever knows the weight finds them."""
    rng = np.random.default_rng(8)
    columns = {
        "town": [f"t{n}" for n in rng.integers(0, 4, 300)],
        "job": [f"j{n}" for n in rng.integers(0, 6, 300)],
        "weight": np.repeat(np.arange(60.0), 5).tolist(),
    }
    table = Table.from_columns(columns, {"town": "quasi", "job": "quasi", "weight": "weight"})
    (found,) = few_together(Published(table)).findings
    assert (found.columns[0], found.refuses) == ("weight", True)
    assert found.share > 0.5


def test_that_somebody_has_no_value_may_be_known() -> None:
    """In classes of five, one person of each has no illness; whoever knows that finds them."""
    towns = [f"t{n // 5}" for n in range(100)]
    ill = [None if n % 5 == 0 else "ill" for n in range(100)]
    table = Table.from_columns({"town": towns, "ill": ill}, {"town": "quasi", "ill": "confidential"})
    (found,) = few_together(Published(table)).findings
    assert (found.kind, found.records) == (FindingKind.ASSUMPTION, 20)


def test_a_combination_is_counted_for_the_column_that_no_worse_one_answers() -> None:
    """All 180 crossings of b, q and p: b has its worst combination; y has hers with b and p, of fewer values."""
    b, q, p = (each.ravel() for each in np.indices((4, 5, 9)))
    columns = {"b": b, "q": q, "p": p, "y": (q == 0) & (b < 2)}
    roles = {"b": "other", "q": "quasi", "p": "quasi", "y": "other"}
    table = Table.from_columns({name: values.astype(float) for name, values in columns.items()}, roles)
    assert few_together(Published(table)).findings == (
        Finding(FindingKind.COMBINATION, ("b", "q", "p"), 180, 1.0),
        Finding(FindingKind.COMBINATION, ("y", "b", "p"), 18, 0.1),
    )
