"""Attacks by sets of columns and several distances, against slow twins and hand-sized files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.measures.linkage_attacks import (
    DISTANCES,
    LinkageAttack,
    attack_credits,
    column_sets_for_linkage,
    held_out_linkage_attacks,
    searched_linkage_attacks,
)
from crypsis.table.table import Table
from naive.exchanges import credits
from test_missing_stays_missing import holed


def shuffled(table: Table, names: list[str], seed: int) -> Table:
    """Half of the present values of each column among other records."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name in names:
        values = table.column(name).copy()
        rows = np.flatnonzero(~table.missing(name) & (rng.random(len(table)) < 0.5))
        values[rows] = values[rng.permutation(rows)]
        columns[name] = values
    return table.with_columns(columns)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 24), seed=st.integers(0, 10_000), share=st.sampled_from([0.0, 0.2]))
def test_credits_are_those_of_the_definition(n: int, seed: int, share: float) -> None:
    table = holed(n, seed, share)
    names = tuple(table.quasi_identifiers)
    masked = shuffled(table, list(names), seed)
    attacks = [*(LinkageAttack(names, distance) for distance in DISTANCES), LinkageAttack(names[:2], "agreement")]
    attacks.append(LinkageAttack(names[1:], "range", (2.0, 0.5, 0.25)))
    found = attack_credits(table, masked, names, attacks, np.arange(n))
    for attack, earned in zip(attacks, found, strict=True):
        assert earned == pytest.approx(credits(table, masked, attack))


@pytest.mark.parametrize("scaling", ["z", "range"])
def test_all_columns_are_record_linkage(scaling: str) -> None:
    table = holed(120, 4, 0.1)
    masked = shuffled(table, table.quasi_identifiers, 5)
    attack = LinkageAttack(tuple(table.quasi_identifiers), scaling)  # type: ignore[arg-type]
    found = attack_credits(table, masked, attack.columns, [attack], np.arange(120))[0]
    bound = crypsis.RecordLinkage(scaling=scaling).against(table)  # type: ignore[arg-type]
    assert found == pytest.approx(bound.credits(masked))


def test_generalised_columns_agree_where_the_group_holds_the_value() -> None:
    table = holed(60, 2, 0.1)
    names = tuple(table.quasi_identifiers)
    masked = crypsis.Generalisation(level=1, suppression=0.5).mask(table, np.random.default_rng(0))
    found = attack_credits(table, masked, names, [LinkageAttack(names)], np.arange(60))[0]
    assert found == pytest.approx(crypsis.RecordLinkage().against(table).credits(masked))


def test_a_suppressed_record_is_neither_found_nor_in_the_way() -> None:
    table = Table.from_columns({"x": [1.0, 2.0, 2.1, 9.0], "y": ["a", "b", "b", "c"]}, {"x": "quasi", "y": "quasi"})
    masked = table.with_columns({"x": np.array([1.0, 2.1, 2.0, 9.0])}).without(np.array([False, False, True, False]))
    found = attack_credits(table, masked, ("x", "y"), [LinkageAttack(("x", "y"))], np.arange(4))
    assert found[0].tolist() == [1.0, 1.0, 0.0, 1.0]  # the second is found, as nobody publishes 2.0 any more


def test_no_set_is_searched_and_held_out() -> None:
    for p in range(1, 12):
        names = [f"c{j}" for j in range(p)]
        searched, held = (set(column_sets_for_linkage(names, half, 10_000)) for half in ("searched", "held-out"))
        assert not searched & held
        assert {len(each) for each in searched | held} <= ({3, 4} if p > 4 else set(range(max(1, p - 2), p)))
        assert abs(len(searched) - len(held)) <= 1
        few = column_sets_for_linkage(names[::-1], "searched", 3)
        assert set(few) <= searched
    guided, judging = searched_linkage_attacks(names, 24), held_out_linkage_attacks(names, 24)
    assert not {(set_.columns, set_.distance, set_.weights) for set_ in guided} & {
        (set_.columns, set_.distance, set_.weights) for set_ in judging
    }


def test_held_out_linkage_is_the_worst_of_its_attacks() -> None:
    table = crypsis.example(40)
    masked = shuffled(table, table.quasi_identifiers, 1)
    bound = crypsis.HeldOutLinkage().against(table)
    rates = [100 * float(np.mean(credits(table, masked, attack))) for attack in bound.attacks]
    reading = bound.explain(masked)
    assert reading.value == pytest.approx(max(rates)) == pytest.approx(bound.read(masked))
    assert reading.scope == bound.attacks[int(np.argmax(rates))].columns
    assert reading.interval is not None
    assert reading.interval[0] <= reading.value <= reading.interval[1]
    assert bound.read(table) > 90.0
