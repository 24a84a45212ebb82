"""A first plan leaves nobody alone with a value of one column, and touches few records where few are alone."""

from __future__ import annotations

import tomllib

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.audits.exposure import singling_out
from crypsis.audits.published import Published
from crypsis.plan import Plan
from crypsis.plan.drafted_maskings import draft_maskings
from crypsis.table.profile import profile
from crypsis.table.table import Table

ROLES = {"sex": "quasi", "pay": "confidential", "visits": "confidential", "ill": "confidential", "weight": "weight"}


def people(seed: int, rows: int = 300) -> Table:
    rng = np.random.default_rng(seed)
    columns = {
        "sex": np.where(rng.random(rows) < 0.5, "f", "m"),
        "pay": rng.integers(1000, 1000 + 10 * rows, rows).astype(float),
        "visits": rng.poisson(rng.choice([1.0, 4.0, 9.0]), rows).astype(float),
        "ill": [f"i{each}" for each in np.minimum(rng.geometric(0.35, rows), 12)],
        "weight": np.round(rng.lognormal(2, 0.3, rows), 0),
    }
    return Table.from_columns(columns, ROLES)


def maskings(table: Table, k: int = 5, stated: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Method and columns of every masking that is proposed."""
    lines = draft_maskings(table, profile(table).columns, k, stated)
    return [(each["method"], *each["columns"]) for each in tomllib.loads("\n".join(lines)).get("mask", [])]


def mask(table: Table, lines: list[str]) -> Table:
    """The table as a plan with these lines masks it before any search."""
    columns = {each.name: {"role": str(each.role)} for each in table.attributes}
    document = {"data": {"source": "x.csv"}, "columns": columns, **tomllib.loads("\n".join(lines))}
    document["require"] = [{"model": "k-anonymity", "k": 5}]
    return Plan.parse(document).masked_beforehand(table, 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_nobody_is_left_alone(seed: int) -> None:
    table = people(seed)
    lines = draft_maskings(table, profile(table).columns, 5, ())
    masked = mask(table, lines)
    every = frozenset(table.confidential)
    assert [each.columns for each in singling_out(Published(masked, table, unstated=every)) if each.refuses] == []


def by_hand() -> Table:
    """Two hundred people: one pay each, thin ends of visits and weights, two illnesses of one person each."""
    return Table.from_columns(
        {
            "sex": ["f", "m"] * 100,
            "pay": [1000.0 + 7 * n for n in range(200)],
            "visits": [0.0] * 100 + [1.0] * 70 + [2.0] * 26 + [3.0] * 2 + [7.0, 9.0],
            "ill": ["flu"] * 100 + ["cold"] * 93 + ["ulcer"] * 5 + ["plague", "pox"],
            "weight": [0.1, 0.2] + [1.0] * 100 + [2.0] * 95 + [5.0, 6.0, 8.0],
        },
        ROLES,
    )


def test_thin_ends_are_coded_and_rare_categories_merged() -> None:
    table = by_hand()
    ends = [("top-coding", "weight"), ("bottom-coding", "weight")]
    assert maskings(table) == [
        ("microaggregation", "pay"),
        ("top-coding", "visits"),
        ("global-recoding", "ill"),
        *ends,
    ]
    stated = maskings(table, stated=("pay", "visits", "ill"))
    assert stated == [("microaggregation", "pay"), *ends], "few people alone are an assumption, many are averaged"


def test_coding_touches_few_and_keeps_the_rest() -> None:
    table = by_hand()
    masked = mask(table, draft_maskings(table, profile(table).columns, 5, ()))
    values = {name: np.unique(masked.column(name), return_counts=True) for name in ("visits", "weight")}
    assert [each.tolist() for each in values["visits"]] == [[0, 1, 2], [100, 70, 30]]
    assert [each.tolist() for each in values["weight"]] == [[1, 2], [102, 98]]
    labels = [masked.labels("ill")[code] for code in masked.column("ill")]
    assert (labels.count("flu"), labels.count("cold"), len(set(labels))) == (100, 93, 3)


def test_a_lone_category_beside_common_ones_takes_the_name_of_one() -> None:
    table = Table.from_columns(
        {"sex": ["f", "m"] * 50, "ill": ["flu"] * 60 + ["cold"] * 39 + ["plague"]},
        {"sex": "quasi", "ill": "confidential"},
    )
    lines = draft_maskings(table, profile(table).columns, 5, ())
    masked = mask(table, lines)
    assert 'label = "representative"' in lines
    labels = [masked.labels("ill")[code] for code in masked.column("ill")]
    assert (labels.count("flu"), labels.count("cold")) == (60, 40)


def test_a_column_of_one_value_that_one_person_holds_is_no_constant() -> None:
    columns = {"sex": ["f", "m"] * 20, "note": [None] * 39 + ["seen twice"]}
    seen = profile(Table.from_columns(columns))
    assert {each.name: each.role for each in seen.columns}["note"] == "undecided"
