"""Calibrated representatives: what is exact, what comes near, and what must never change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.masking import calibration
from crypsis.masking.calibration import bind, calibrate
from crypsis.masking.representatives import Representative, published_by_column
from crypsis.table.table import Table, lock_table_columns


def people(rows: int, seed: int) -> Table:
    """Numbers that go together with categories, one skew, one full of zeros, one with gaps, one unmasked."""
    rng = np.random.default_rng(seed)
    sex, town = rng.integers(0, 2, rows), rng.integers(0, 4, rows)
    age = rng.integers(18, 90, rows).astype(float)
    pay = np.round(np.exp(7 + 0.01 * age + 0.3 * sex + rng.normal(0, 0.5, rows)), 2)
    benefit = np.where(rng.random(rows) < 0.8, 0.0, np.round(rng.gamma(2.0, 100.0, rows)))
    height = np.where(rng.random(rows) < 0.1, np.nan, np.round(165 + 12 * sex + rng.normal(0, 7, rows)))
    score = np.round(age / 3 + 2 * sex + rng.normal(0, 3, rows), 1)
    columns = {
        "age": age,
        "pay": pay,
        "benefit": benefit,
        "height": height,
        "sex": np.array(["f", "m"])[sex],
        "town": np.array(["a", "b", "c", "d"])[town],
        "score": score,
    }
    return Table.from_columns(columns, dict.fromkeys(columns, "quasi") | {"score": "confidential"})


def groups(table: Table, k: int) -> np.ndarray:
    method = crypsis.Microaggregation(k=k)
    return method.partitions(table, np.random.default_rng(0))[0]


def moments(table: Table) -> np.ndarray:
    """Standardised numbers, presence and indicators, multiplied in pairs."""
    parts = []
    for name in ("age", "pay", "benefit", "score"):
        parts.append(table.column(name)[:, None])
    for name in ("sex", "town"):
        parts.append((table.column(name)[:, None] == np.arange(len(table.attribute(name).categories)))[:, 1:])
    return np.hstack(parts).astype(float)


@given(st.integers(0, 200), st.sampled_from([2, 3, 5]), st.integers(30, 150), st.booleans())
@settings(max_examples=20, deadline=None)
def test_what_calibration_never_changes(seed: int, k: int, rows: int, filling: bool) -> None:
    """Groups stay groups, totals stay, values stay in the range and at the precision, missing stays missing."""
    table = people(rows, seed)
    labels, names = groups(table, k), table.quasi_identifiers
    found = calibrate(table, names, labels, filling)
    masked = table.with_columns(found)
    for name in names:
        column, original = found[name], table.column(name)
        for g in range(labels.max() + 1):
            held = column[labels == g]
            assert len(np.unique(held)) == 1
        if table.attribute(name).numeric:
            known = original[~np.isnan(original)]
            assert np.nanmin(column) >= known.min()
            assert np.nanmax(column) <= known.max()
            if len(np.unique(known)) > calibration.FEW:
                assert np.nanmean(column) == pytest.approx(known.mean(), abs=2.0 * k / rows + 1e-6)
            if name != "pay":
                assert np.array_equal(np.round(column), column, equal_nan=True)
        else:
            assert {*np.unique(column)} <= {*np.unique(original)}
        if not filling:
            assert (masked.missing(name) >= table.missing(name)).all()


def test_numbers_of_groups_do_not_matter() -> None:
    table = people(120, 3)
    labels = groups(table, 4)
    other = np.random.default_rng(1).permutation(labels.max() + 1)[labels].astype(np.int32)
    one, two = (calibrate(table, table.quasi_identifiers, each) for each in (labels, other))
    for name in one:
        assert np.array_equal(one[name], two[name], equal_nan=name in ("height",))


def test_moments_come_near_those_of_the_original() -> None:
    """Means, variances, covariances, and moments with categories and an unmasked column, in standard errors."""
    table = people(2000, 5)
    labels = groups(table, 5)
    before = moments(table)
    centre, spread = before.mean(0), before.std(0)

    def gap(masked: Table) -> float:
        one, two = ((each - centre) / spread for each in (before, moments(masked)))
        apart = (two.T @ two - one.T @ one) / len(table)
        return float(np.sqrt((apart**2).mean() * len(table)))

    ways = dict.fromkeys(table.quasi_identifiers, Representative.CALIBRATED)
    plain = {name: Representative.MEAN if table.attribute(name).numeric else Representative.MODE for name in ways}
    assert gap(published_by_column(table, ways, labels)) < 0.5
    assert gap(published_by_column(table, plain, labels)) > 1.0


def test_the_share_of_zeros_and_the_quantiles_are_kept() -> None:
    table = people(2000, 6)
    found = calibrate(table, table.quasi_identifiers, groups(table, 5))
    benefit, pay = found["benefit"], found["pay"]
    assert (benefit > 0).mean() == pytest.approx((table.column("benefit") > 0).mean(), abs=0.005)
    for share in (0.1, 0.5, 0.9):
        assert np.quantile(pay, share) == pytest.approx(np.quantile(table.column("pay"), share), rel=0.02)


def test_an_unmasked_column_keeps_its_ties() -> None:
    """Score follows age; grouping does not look at score, and its correlation with age stays."""
    table = people(2000, 7)
    found = calibrate(table, table.quasi_identifiers, groups(table, 5))
    before = np.corrcoef(table.column("age"), table.column("score"))[0, 1]
    assert np.corrcoef(found["age"], table.column("score"))[0, 1] == pytest.approx(before, abs=0.05)


def test_columns_masked_before_are_taken_as_published() -> None:
    table = people(1000, 8)
    labels = groups(table, 5)
    first = table.with_columns(calibrate(table, ["age", "pay"], labels))
    other = crypsis.Microaggregation(k=5, columns=("benefit", "sex", "town")).partitions(
        table, np.random.default_rng(0)
    )[0]
    beside = calibrate(table, ["benefit", "sex", "town"], other, beside=first)
    alone = calibrate(table, ["benefit", "sex", "town"], other)
    wanted = np.corrcoef(table.column("age"), table.column("benefit"))[0, 1]
    assert not np.array_equal(beside["benefit"], alone["benefit"])
    assert abs(np.corrcoef(first.column("age"), beside["benefit"])[0, 1] - wanted) < 0.05


def test_few_groups_keep_distributions_only() -> None:
    table = people(30, 9)
    labels = (np.arange(30) // 10).astype(np.int32)
    found = calibrate(table, ["age"], labels)["age"]
    assert found.sum() == pytest.approx(table.column("age").sum(), abs=10)


def test_a_dominated_column_has_no_moments() -> None:
    table = people(200, 10)
    pay = table.column("pay").copy()
    pay[3] = 1e9
    table = table.with_columns({"pay": pay})
    assert bind(table, tuple(table.quasi_identifiers)).given_up(40).dominated == ["pay"]
    assert not bind(table, tuple(table.quasi_identifiers)).given_up(40).everything
    assert bind(table, tuple(table.quasi_identifiers)).given_up(5).everything


def test_no_more_features_than_the_root_of_the_records() -> None:
    rng = np.random.default_rng(0)
    columns = {f"c{j}": rng.integers(0, 12, 150).astype(str) for j in range(6)}
    table = Table.from_columns(columns, dict.fromkeys(columns, "quasi"))
    known = bind(table, tuple(columns))
    assert sum(column.width for column in known.labels) <= int(np.sqrt(150))
    assert sum(known.dropped.values()) > 0


def test_suppressed_records_keep_their_values() -> None:
    table = people(100, 11).without(np.arange(100) < 3)
    labels = groups(table, 5)
    found = calibrate(table, table.quasi_identifiers, labels)
    for name, column in found.items():
        assert np.array_equal(column[:3], table.column(name)[:3], equal_nan=table.attribute(name).numeric)


def test_moments_are_worked_out_once_for_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    of = calibration.Calibration.of
    monkeypatch.setattr(calibration.Calibration, "of", lambda *given: made.append(1) or of(*given))
    table = people(60, 12)
    for _ in range(3):
        calibrate(table, table.quasi_identifiers, groups(table, 3))
    assert made == [1]


def test_an_amount_that_one_person_has_is_no_label() -> None:
    """Visits 0 to 9 are labels of 2000 people; one person alone has 14, which no group publishes."""
    rng = np.random.default_rng(13)
    visits = rng.integers(0, 10, 2000).astype(float)
    visits[17] = 14.0
    age = np.round(visits * 5 + rng.normal(0, 4, 2000), 1)
    table = Table.from_columns({"visits": visits, "age": age}, {"visits": "quasi", "age": "quasi"})
    found = calibrate(table, ["visits", "age"], groups(table, 2))["visits"]
    assert {*np.unique(found)} <= {*map(float, range(10))}


def test_the_scale_of_moments_can_be_chosen() -> None:
    """Raw, log and both give different files; logarithms come nearer where they are asked for than where not."""
    table = people(600, 14)
    labels = groups(table, 5)
    found = {}
    for scale in ("raw", "log", "both"):
        own = table.with_columns({}, attributes={"pay": table.attribute("pay").but(scale=scale)})
        found[scale] = calibrate(own, own.quasi_identifiers, labels)["pay"]
    assert len({each.tobytes() for each in found.values()}) == 3
    score, pay = table.column("score"), table.column("pay")
    wanted = np.corrcoef(np.log(pay), score)[0, 1]
    gaps = {scale: abs(np.corrcoef(np.log(each), score)[0, 1] - wanted) for scale, each in found.items()}
    assert gaps["log"] <= gaps["raw"]


def test_locked_strata_are_not_crossed() -> None:
    """With sex locked, groups hold one sex each; sex stays as collected and the moments with it stay near."""
    table = lock_table_columns(people(1000, 15), ["sex"])
    method = crypsis.Microaggregation(k=5, numbers="calibrated", categories="calibrated")
    masked = method.mask(table, np.random.default_rng(0))
    labels = method.partitions(table, np.random.default_rng(0))[0]
    sex = table.column("sex")
    assert np.array_equal(masked.column("sex"), sex)
    assert all(len(np.unique(sex[labels == g])) == 1 for g in range(labels.max() + 1))
    assert crypsis.KAnonymity(k=5).judge(masked).holds
    before, after = ([each.column("pay")[sex == s].mean() for s in (0, 1)] for each in (table, masked))
    error = table.column("pay").std() / np.sqrt(500)
    assert after == pytest.approx(before, abs=0.5 * error)
