"""Rounding, record swapping, shuffling, sampling, pseudonyms and date shifting: by hand, and what each promises."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import TableError
from crypsis.masking import (
    DateShifting,
    NumberRounding,
    Pseudonyms,
    RecordSwapping,
    Sampling,
    Shuffling,
)
from crypsis.table.table import Table

SEEDS = st.integers(0, 10_000)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# -- rounding --


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.one_of(st.none(), st.integers(-500, 500)), min_size=1, max_size=40),
    base=st.sampled_from([1.0, 3.0, 5.0, 10.0]),
    form=st.sampled_from(["nearest", "random", "controlled"]),
    seed=SEEDS,
)
def test_rounded_numbers_are_the_multiples_next_to_them(values, base, form, seed) -> None:
    table = Table.from_columns({"x": [*values, 1]}, {"x": "quasi"})
    before, after = table.column("x"), NumberRounding(base=base, form=form).mask(table, rng(seed)).column("x")
    present = ~np.isnan(before)
    assert (np.isnan(after) == ~present).all()
    for one, other in zip(before[present], after[present], strict=True):
        assert other / base == round(other / base)
        assert abs(other - one) < base
        if form == "nearest":
            assert abs(other - one) <= base / 2
    if form == "controlled":
        assert abs(after[present].sum() - before[present].sum()) < base + 1e-9


def test_random_rounding_is_right_on_average() -> None:
    table = Table.from_columns({"x": [3.0] * 4000}, {"x": "quasi"})
    up = (NumberRounding(base=10, form="random").mask(table, rng(1)).column("x") == 10).mean()
    assert abs(up - 0.3) < 0.03
    exact = NumberRounding(base=10, form="controlled").mask(table, rng(1)).column("x")
    assert (exact == 10).sum() == 1200


# -- record swapping --


def survey(seed: int, n: int) -> Table:
    draw = rng(seed)
    return Table.from_columns(
        {
            "region": [str(code) for code in draw.integers(0, 4, n)],
            "district": [str(code) for code in draw.integers(0, 3, n)],
            "sex": [str(code) for code in draw.integers(0, 2, n)],
            "age": draw.integers(20, 25, n).tolist(),
        },
        dict.fromkeys(("region", "district", "sex", "age"), "quasi"),
    )


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 60), percent=st.sampled_from([5.0, 30.0, 100.0]), k=st.sampled_from([1, 3]))
def test_swapped_values_stay_in_their_matching_class_and_travel_together(seed, n, percent, k) -> None:
    table = survey(seed, n)
    method = RecordSwapping(columns=("region", "district"), matching=("sex", "age"), percent=percent, k=k)
    masked = method.mask(table, rng(seed))
    before, after = table.codes(["region", "district"]).tolist(), masked.codes(["region", "district"]).tolist()
    match = table.codes(["sex", "age"]).tolist()
    assert Counter(map(str, zip(match, before, strict=True))) == Counter(map(str, zip(match, after, strict=True)))
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    assert changed <= 2 * -(-percent * n // 100)
    assert changed % 2 == 0
    for name in ("sex", "age"):
        assert np.array_equal(table.column(name), masked.column(name))


def test_risky_records_are_swapped_first() -> None:
    rows = ["n"] * 40 + ["s"] * 40 + ["w", "e"]
    table = Table.from_columns({"region": rows}, {"region": "quasi"})
    for seed in range(20):
        masked = RecordSwapping(percent=2, k=3).mask(table, rng(seed)).column("region")
        assert (masked[-2:] != table.column("region")[-2:]).any()
    by_chance = [
        (
            RecordSwapping(percent=2, k=1).mask(table, rng(seed)).column("region")[-2:] != table.column("region")[-2:]
        ).any()
        for seed in range(20)
    ]
    assert not all(by_chance)


def test_swapping_refuses_a_column_on_both_sides() -> None:
    with pytest.raises(TableError, match="both exchanged and matched"):
        RecordSwapping(columns=("sex",), matching=("sex",)).mask(survey(0, 10), rng())


# -- shuffling --


def related(n: int = 3000) -> Table:
    draw = rng(4)
    x = draw.standard_normal(n)
    y, z = 0.8 * x + 0.6 * draw.standard_normal(n), 0.7 * x + 0.7 * draw.standard_normal(n)
    return Table.from_columns(
        {"s": x.tolist(), "y": np.exp(y).tolist(), "z": z.tolist()}, {"s": "other", "y": "quasi", "z": "quasi"}
    )


def rank_correlation(table: Table, one: str, other: str) -> float:
    ranks = [np.argsort(np.argsort(table.column(name))) for name in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1])


def test_shuffled_numbers_keep_their_values_and_their_relations() -> None:
    table = related()
    masked = Shuffling(given=("s",)).mask(table, rng(1))
    for name in ("y", "z"):
        assert np.array_equal(np.sort(masked.column(name)), np.sort(table.column(name)))
        assert abs(rank_correlation(masked, "s", name) - rank_correlation(table, "s", name)) < 0.05
    assert abs(rank_correlation(masked, "y", "z") - rank_correlation(table, "y", "z")) < 0.05
    both = table.with_columns({"z": masked.column("y")})
    assert abs(rank_correlation(both, "y", "z") - rank_correlation(table, "s", "y") ** 2) < 0.06
    alone = Shuffling().mask(table, rng(1))
    assert abs(rank_correlation(alone, "s", "y")) < 0.05
    assert abs(rank_correlation(alone, "y", "z") - rank_correlation(table, "y", "z")) < 0.05


@settings(max_examples=30, deadline=None)
@given(values=st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=2, max_size=30), seed=SEEDS)
def test_shuffling_leaves_missing_values_where_they_are(values, seed) -> None:
    table = Table.from_columns({"x": [*values, 1]}, {"x": "quasi"})
    before, after = table.column("x"), Shuffling().mask(table, rng(seed)).column("x")
    assert np.array_equal(np.isnan(before), np.isnan(after))
    assert np.array_equal(np.sort(before), np.sort(after), equal_nan=True)


# -- sampling --


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 60), percent=st.sampled_from([10.0, 50.0, 100.0]))
def test_a_sample_has_the_share_of_all_and_of_every_stratum(seed, n, percent) -> None:
    table = survey(seed, n)
    kept = Sampling(percent=percent).mask(table, rng(seed)).kept
    assert abs(kept.sum() - percent * n / 100) <= 0.5
    strata = Sampling(percent=percent, columns=("sex",)).mask(table, rng(seed)).kept
    for code in (0, 1):
        inside = table.column("sex") == code
        assert abs(strata[inside].sum() - percent * inside.sum() / 100) < 1


def test_a_suppressed_record_is_never_drawn() -> None:
    table = survey(0, 20).without(np.arange(20) < 10)
    assert not Sampling(percent=100).mask(table, rng()).kept[:10].any()


# -- pseudonyms --


def test_pseudonyms_are_the_digests_of_a_key(tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    key.write_bytes(bytes(range(40)))
    table = Table.from_columns({"name": ["ann", None, "bob", "ann"], "number": [7, 7, None, 8]})
    masked = Pseudonyms(columns=("name", "number"), key_file=str(key)).mask(table, rng())
    digest = {text: hmac.new(bytes(range(40)), text.encode(), hashlib.sha256).hexdigest()[:16] for text in ("ann", "7")}
    names = [None if code < 0 else masked.labels("name")[code] for code in masked.column("name")]
    assert names[0] == names[3] == digest["ann"]
    assert names[1] is None
    assert names[2] not in (None, digest["ann"])
    assert masked.labels("number")[masked.column("number")[0]] == digest["7"]
    assert masked.column("number")[2] < 0


def test_neither_the_key_nor_its_place_is_told(tmp_path: Path) -> None:
    key = tmp_path / "hidden-place.key"
    key.write_bytes(b"a very secret sentence of many bytes")
    table = Table.from_columns({"name": ["ann", "bob"]})
    masked = Pseudonyms(columns=("name",), key_file=str(key)).mask(table, rng())
    told = f"{masked.provenance} {masked.provenance.message} {masked.attributes}"  # type: ignore[union-attr]
    assert "hidden-place" not in told
    assert "secret sentence" not in told
    assert "pseudonyms" in told
    assert [step.method for step in masked.provenance.steps] == ["pseudonyms"]  # type: ignore[union-attr]
    assert "ann" not in told


def test_a_key_that_is_forgotten_gives_other_codes_every_time() -> None:
    table = Table.from_columns({"name": ["ann", "bob"]})
    one, other = (Pseudonyms(columns=("name",)).mask(table, rng()).labels("name") for _ in range(2))
    assert set(one).isdisjoint(other)


def test_bad_keys_are_refused_without_their_place(tmp_path: Path) -> None:
    table, short = Table.from_columns({"name": ["ann", "bob"]}), tmp_path / "short.key"
    short.write_bytes(b"short")
    with pytest.raises(TableError, match="5 bytes and 32 are needed") as refusal:
        Pseudonyms(columns=("name",), key_file=str(short)).mask(table, rng())
    assert "short.key" not in str(refusal.value)
    with pytest.raises(TableError, match="cannot be read") as refusal:
        Pseudonyms(columns=("name",), key_file=str(tmp_path / "nowhere")).mask(table, rng())
    assert "nowhere" not in str(refusal.value)
    with pytest.raises(TableError, match="no column is named"):
        Pseudonyms().mask(table, rng())


# -- date shifting --


@settings(max_examples=40, deadline=None)
@given(
    visits=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", None]), st.one_of(st.none(), st.integers(0, 9000)), st.integers(0, 9000)
        ),
        min_size=1,
        max_size=25,
    ),
    days=st.integers(1, 400),
    seed=SEEDS,
)
def test_dates_of_a_person_keep_their_gaps(visits, days, seed) -> None:
    who, first, second = (list(column) for column in zip(*visits, ("a", 1, 1), strict=True))
    table = Table.from_columns({"who": who, "first": first, "second": second}, {"first": "quasi", "second": "quasi"})
    table = table.with_columns(
        {"second": 86_400 * table.column("second")},
        attributes={
            "first": table.attribute("first").but(dates="date"),
            "second": table.attribute("second").but(dates="datetime"),
        },
    )
    masked = DateShifting(person="who", days=days).mask(table, rng(seed))
    moved = {name: masked.column(name) - table.column(name) for name in ("first", "second")}
    shift = moved["second"] / 86_400
    assert ((np.abs(shift) >= 1) & (np.abs(shift) <= days)).all()
    assert np.array_equal(np.isnan(moved["first"]), np.isnan(table.column("first")))
    present = ~np.isnan(moved["first"])
    assert (moved["first"][present] == shift[present]).all()
    for person in {name for name in who if name is not None}:
        rows = [row for row, name in enumerate(who) if name == person]
        assert len({float(shift[row]) for row in rows}) == 1


def test_people_are_shifted_by_different_days() -> None:
    table = Table.from_columns({"day": list(range(200))}, {"day": "quasi"})
    moved = DateShifting(columns=("day",)).mask(table, rng(1)).column("day") - table.column("day")
    assert len(set(moved.tolist())) > 50
    with pytest.raises(TableError, match="no quasi-identifier holds dates"):
        DateShifting().mask(table, rng())
    with pytest.raises(TableError, match="not shifted itself"):
        DateShifting(columns=("day",), person="day").mask(table, rng())
