"""Masked numbers that follow from published ones: sums, differences, products and ratios; and what is none of these."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crypsis.audits import FindingKind, audit
from crypsis.audits.arithmetic import arithmetic
from crypsis.audits.published import Published
from crypsis.masking import Microaggregation
from crypsis.table.table import Table
from crypsis.text import attack_finding_text


def wages(rng: np.random.Generator, rows: int = 200) -> dict[str, np.ndarray]:
    return {
        "age": rng.integers(18, 80, rows).astype(float),
        "wage": rng.integers(1000, 5000, rows).astype(float),
        "bonus": rng.integers(1, 900, rows).astype(float),
        "noise": rng.normal(0, 1, rows),
    }


def found(columns: dict[str, np.ndarray], missing: float = 0.0) -> list[tuple[str, ...]]:
    if missing:
        lost = np.random.default_rng(9).random(len(columns["bonus"])) < missing
        columns["bonus"] = np.where(lost, np.nan, columns["bonus"])
    roles = dict.fromkeys(columns, "confidential") | {"age": "quasi", "wage": "quasi"}
    lists = {name: [None if v != v else float(v) for v in values] for name, values in columns.items()}
    table = Table.from_columns(lists, roles)
    masked = Microaggregation(k=5).mask(table, np.random.default_rng(1))
    return [each.columns for each in arithmetic(Published(masked, table))]


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("rule", ["sum", "difference", "product", "ratio", "weighted", "rounded"])
def test_a_relation_restores_what_is_masked(rule: str, missing: float) -> None:
    columns = wages(np.random.default_rng(3))
    wage, bonus = columns["wage"], columns["bonus"]
    columns["told"] = {
        "sum": wage + bonus,
        "difference": wage - bonus,
        "product": wage * bonus,
        "ratio": wage / bonus,
        "weighted": 12 * wage + 40 * bonus - 100,
        "rounded": np.round(wage + bonus, -1),
    }[rule]
    assert found(columns, missing) == [("bonus", "told", "wage")]


def test_all_masked_cells_are_counted_and_named() -> None:
    columns = wages(np.random.default_rng(4))
    columns["total"] = columns["wage"] + columns["bonus"]
    roles = dict.fromkeys(columns, "other") | {"age": "quasi", "wage": "quasi"}
    table = Table.from_columns({name: values.tolist() for name, values in columns.items()}, roles)
    masked = Microaggregation(k=5).mask(table, np.random.default_rng(1))
    (each,) = arithmetic(Published(masked, table))
    assert each.kind is FindingKind.DEPENDENCE
    assert each.records == int((masked.column("wage") != table.column("wage")).sum())
    assert each.refuses
    assert attack_finding_text(each).startswith("bonus, total together restore 100 % of the masked cells of wage")
    assert each in audit(masked, table).findings
    assert arithmetic(Published(masked)) == [], "without an original nobody knows what is masked"
    assert arithmetic(Published(table, table)) == [], "nothing is masked"


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_a_correlation_is_no_relation(seed: int) -> None:
    """Numbers that explain 99 % of a wage, few records with many numbers, and a column that is nearly constant."""
    rng = np.random.default_rng(seed)
    columns = wages(rng, int(rng.integers(12, 150)))
    rows = len(columns["wage"])
    columns["near"] = columns["wage"] + rng.normal(0, 0.1 * columns["wage"].std(), rows)
    columns |= {f"x{place}": rng.normal(0, 1, rows) for place in range(12)}
    columns["age"] = np.where(rng.random(rows) < 0.9, 40.0, columns["age"])
    assert found(columns) == []


@given(st.integers(0, 10_000), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
@example(6408, 1)  # noise goes better with what the total leaves open than the bonus does
def test_a_few_very_large_numbers_make_no_relation(seed: int, many: int) -> None:
    """Beside a number ten thousand times as large all others look alike: any guess is near them and restores none."""
    rng = np.random.default_rng(seed)
    columns = wages(rng, 60)
    columns["wage"][:many] *= 1e4
    columns["bonus"][:many] *= 1e4
    columns |= {f"x{place}": rng.integers(0, 4, 60).astype(float) for place in range(3)}
    assert found(columns) == []
    columns["told"] = columns["wage"] + columns["bonus"]
    assert found(columns) == [("bonus", "told", "wage")]


def test_a_relation_that_restores_no_masked_cell_is_no_finding() -> None:
    rng = np.random.default_rng(4)
    won = rng.integers(0, 9, 2000).astype(float)
    table = Table.from_columns({"won": won.tolist(), "lost": (8 - won).tolist()}, {"won": "quasi", "lost": "quasi"})
    together = won.copy()
    together[:10] = won[:10].mean()  # both columns publish averages in the same records
    masked = table.with_columns({"won": together, "lost": 8 - together})
    assert arithmetic(Published(masked, table)) == []
    alone = table.with_columns({"won": together})
    assert [each.columns for each in arithmetic(Published(alone, table))] == [("lost", "won")]
