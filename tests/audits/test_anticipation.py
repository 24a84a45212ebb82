"""What the audit will say of confidential columns, before anything is masked."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.audits.default_roles import assign_default_roles
from crypsis.audits.exposure import few_together
from crypsis.audits.preview import group_records_for_preview, preview_findings, preview_masking_in_groups
from crypsis.audits.published import Published
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.representatives import middle_representatives
from crypsis.table.attribute import Role
from crypsis.table.example import example
from crypsis.table.frames import wrap
from crypsis.table.profile import Clue, Reason, profile
from crypsis.table.table import Table


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_the_middle_of_a_group_is_its_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, int(rng.integers(1, 40))).astype(float)
    values[rng.random(len(values)) < 0.2] = np.nan
    labels = np.unique(rng.integers(0, 6, len(values)), return_inverse=True)[1].astype(np.int32)
    expected = [sorted(values[labels == group], key=lambda v: (v != v, v)) for group in labels]
    np.testing.assert_array_equal(
        middle_representatives(values, labels), [group[len(group) // 2] for group in expected]
    )


def test_groups_have_the_records_they_promise() -> None:
    table = example(200)
    shown = preview_masking_in_groups(table)
    assert np.bincount(group_records_for_preview(table.codes(table.quasi_identifiers), 5)).min() >= 5
    assert len(np.unique(shown.column("income"))) <= 40 < len(np.unique(table.column("income")))
    np.testing.assert_array_equal(shown.column("diagnosis"), table.column("diagnosis"))


def test_it_agrees_with_the_audit_of_a_masked_file() -> None:
    """A microaggregated file leaves about as many records alone as the anticipation says."""
    table = example(600, seed=3).with_roles({"income": Role.IDENTIFIER})
    masked = Microaggregation(k=5).mask(table, np.random.default_rng(1))
    (seen,) = few_together(Published(masked.drop(["person", "income"]), unstated=frozenset({"diagnosis"}))).findings
    (expected,) = preview_findings(table)
    assert seen.columns[0] == expected.columns[0] == "diagnosis"
    assert seen.share / 2 < expected.share < seen.share * 2


def test_a_column_with_few_values_in_a_large_table_is_no_question() -> None:
    rng = np.random.default_rng(5)
    columns = {"age": rng.integers(20, 60, 4000).tolist(), "sex": rng.choice(["f", "m"], 4000).tolist()}
    ill = Table.from_columns(
        columns | {"ill": rng.choice(["no", "yes"], 4000).tolist()},
        {"age": "quasi", "sex": "quasi", "ill": "confidential"},
    )
    assert preview_findings(ill) == []
    assert preview_findings(ill.drop(["age", "sex"])) == [], "nothing is masked beside it"


def test_the_safest_reading_spares_outcomes_and_assumes_nothing_else() -> None:
    table = example(300)
    named = {"income": "income", "diagnosis": "conviction"}
    bare = wrap(pl.DataFrame({named.get(name, name): _values(table, name) for name in table.names}))
    settled = assign_default_roles(profile(bare), bare)
    roles = {column.name: column.role for column in settled.columns}
    assert roles["income"] == "confidential"
    assert next(c for c in settled.columns if c.name == "income").reasons[0] == Reason(Clue.OUTCOME_NAME, word="income")
    assert roles["conviction"] == "quasi"
    assert Clue.COMBINED in {column.reasons[0].clue for column in settled.columns}
    assert (
        preview_findings(bare.with_roles({name: Role(role) for name, role in roles.items()}), stated=["income"]) == []
    )


def test_an_outcome_that_restores_a_masked_column_is_not_spared_nor_the_last_column() -> None:
    age = np.repeat(np.arange(20.0, 70.0), 8)
    table = wrap(pl.DataFrame({"age": age, "sex": np.tile(["f", "m"], 200), "wage": 100 * age}))
    assert {c.name: c.role for c in assign_default_roles(profile(table), table).columns}["wage"] == "quasi"
    alone = wrap(pl.DataFrame({"wage": age % 7, "score": age % 5}))
    assert {c.name: c.role for c in assign_default_roles(profile(alone), alone).columns}["score"] == "quasi"


def test_a_declared_column_stays_confidential() -> None:
    table = example(300)
    declared = wrap(
        pl.DataFrame({name: _values(table, name) for name in table.names}), confidential=["income", "diagnosis"]
    )
    roles = {column.name: column.role for column in assign_default_roles(profile(declared), declared).columns}
    assert roles["income"] == roles["diagnosis"] == "confidential"


def _values(table: Table, name: str) -> list[object]:
    column = table.column(name)
    if table.holds_numbers(name):
        return [float(value) for value in column]
    return [table.labels(name)[code] for code in column]
