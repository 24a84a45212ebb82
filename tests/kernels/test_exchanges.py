"""Exchanges of values: what a walk has followed is what counting afresh finds, and what the twins say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.kernels.exchanges import (
    ExchangeContext,
    ExchangeFile,
    ExchangeSettings,
    LinkCounts,
    anneal_exchanges,
    excess,
    loss,
)
from crypsis.measures.linkage_attacks import DISTANCES, LinkageAttack
from crypsis.searches.mixed_masking.space import ExchangeSpace, near_rows_in_space
from crypsis.table.table import Table
from naive.exchanges import credits
from test_missing_stays_missing import holed

RATES = np.array([0.4, 0.6, 0.75, 1.0])


def space_of(table: Table, free: bool = False, caps: dict[str, float] | None = None) -> ExchangeSpace:
    names = tuple(table.quasi_identifiers)
    attacks = [LinkageAttack(names, distance) for distance in DISTANCES]
    attacks += [LinkageAttack(names[:2]), LinkageAttack(names[1:], "agreement"), LinkageAttack(names[:1], "range")]
    units = (names[:1], names[1:3], *((name,) for name in names[3:]))
    return ExchangeSpace(table, names, units, ((),) * len(units), tuple(attacks), caps or {}, free)


def walked(
    space: ExchangeSpace, seed: int, limit: float, work: int = 300_000
) -> tuple[ExchangeFile, LinkCounts, float]:
    """A file after a walk, what it counted on the way, and what it thinks it costs."""
    n, rows = len(space), np.arange(len(space))
    file = space.file(rows, space.shuffle_within_groups(20.0), np.full(len(space.attacks), limit))
    counts, workspace = space.count_links(file)
    pace = ExchangeSettings(work, 1.0, 0.01, 0.3, 2**31)
    around = ExchangeContext(near_rows_in_space(file, workspace), space.replaceable, rows.astype(np.int32), space.rules)
    cost = anneal_exchanges(
        file, counts, workspace, around, RATES, pace, np.array([seed + 1], np.uint64), np.zeros((4, 2))
    )
    assert n == file.known.shape[1]
    return file, counts, float(cost)


def decoded(space: ExchangeSpace, file: ExchangeFile) -> Table:
    columns = {n: space.table.column(n)[file.donors[:, u]] for u, unit in enumerate(space.units) for n in unit}
    return space.table.with_columns(columns)


@settings(max_examples=25, deadline=None)
@given(st.integers(6, 60), st.integers(0, 10_000), st.booleans(), st.sampled_from([0.0, 0.2]))
def test_followed_counts_are_those_counted_afresh(n: int, seed: int, free: bool, share: float) -> None:
    space = space_of(holed(n, seed, share), free)
    file, counts, cost = walked(space, seed, 10.0)
    fresh = space.file(np.arange(n), file.donors, file.limits)
    again, _ = space.count_links(fresh)
    assert np.array_equal(file.published, fresh.published)
    for name in ("near", "ties", "low", "high"):
        assert np.array_equal(getattr(counts, name), getattr(again, name)), name
    assert counts.found == pytest.approx(again.found)
    assert file.spent == pytest.approx(fresh.spent)
    assert cost == pytest.approx(loss(fresh) + 0.3 * excess(fresh, again))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_annealing_believes_what_measures_read(seed: int, free: bool) -> None:
    table = holed(30, seed, 0.1)
    table = table.with_columns({}, attributes={"town": table.attribute("town").but(importance=3.0)})
    space = space_of(table, free)
    file, counts, _ = walked(space, seed, 15.0)
    masked = decoded(space, file)
    assert loss(file) == pytest.approx(crypsis.InformationLoss().against(table).read(masked))
    for a, attack in enumerate(space.attacks):
        assert counts.found[a] == pytest.approx(sum(credits(table, masked, attack)))


@pytest.mark.parametrize("free", [False, True])
def test_exchanged_columns_keep_their_values_and_missing_cells_stay(free: bool) -> None:
    table = holed(80, 3, 0.15)
    space = space_of(table, free)
    file, _, _ = walked(space, 5, 10.0)
    masked = decoded(space, file)
    for name in table.quasi_identifiers:
        assert np.array_equal(table.missing(name), masked.missing(name))
        kept = np.array_equal(
            np.sort(table.column(name)), np.sort(masked.column(name)), equal_nan=table.attribute(name).numeric
        )
        assert kept or (free and not table.attribute(name).numeric)
    pairs = {tuple(row) for row in table.codes(["hours", "grade"]).tolist()}
    assert {tuple(row) for row in masked.codes(["hours", "grade"]).tolist()} <= pairs  # one unit: from one record


def test_a_capped_column_does_not_lose_more_than_it_may() -> None:
    table = crypsis.example(80)
    names = tuple(table.quasi_identifiers)
    units = tuple((name,) for name in names)
    space = ExchangeSpace(table, names, units, ((),) * len(names), (LinkageAttack(names),), {"age": 5.0}, False)
    start = np.repeat(np.arange(80, dtype=np.int32)[:, None], len(names), axis=1)
    file = space.file(np.arange(80), start, np.array([5.0]))
    counts, workspace = space.count_links(file)
    around = ExchangeContext(
        near_rows_in_space(file, workspace), space.replaceable, np.arange(80, dtype=np.int32), space.rules
    )
    pace = ExchangeSettings(500_000, 1.0, 0.01, 0.3, 2**31)
    anneal_exchanges(file, counts, workspace, around, RATES, pace, np.array([7], np.uint64), np.zeros((4, 2)))
    lost = crypsis.InformationLoss(columns=("age",)).against(table).read(decoded(space, file))
    assert 0.0 < lost <= 5.0


def test_two_people_who_exchange_what_tells_them_apart() -> None:
    """Four people, by hand: the two of age 30 exchange their towns, and each is taken for the other."""
    table = Table.from_columns(
        {"age": [30.0, 30.0, 60.0, 80.0], "town": ["a", "b", "c", "d"]}, {"age": "quasi", "town": "quasi"}
    )
    names = ("age", "town")
    space = ExchangeSpace(table, names, (("age",), ("town",)), ((), ()), (LinkageAttack(names),), {}, False)
    limits = np.array([0.0])
    collected = np.array([[0, 0], [1, 1], [2, 2], [3, 3]], dtype=np.int32)
    before, _ = space.count_links(space.file(np.arange(4), collected, limits))
    assert before.found.tolist() == [4.0]
    file = space.file(np.arange(4), np.array([[0, 1], [1, 0], [2, 2], [3, 3]], dtype=np.int32), limits)
    after, _ = space.count_links(file)
    assert after.found.tolist() == [2.0]
    assert after.near[0].tolist() == [1, 1, 0, 0]
    assert loss(file) == pytest.approx(100 * (2 / 4) / (3 / 4) / 2)  # two of four towns are wrong, three of a guess
