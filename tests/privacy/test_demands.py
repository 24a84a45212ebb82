from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaPresence,
    KAnonymity,
    LDiversity,
    PrivacyModel,
    TCloseness,
)
from crypsis.privacy.demands import class_demands
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table
from naive import models as naive

PATHS = {"a": ("x", "*"), "b": ("x", "*"), "c": ("y", "*"), "d": ("y", "*"), "e": ("z", "*")}
MODELS: list[PrivacyModel] = [
    KAnonymity(k=3),
    LDiversity(l=2),
    LDiversity(l=2.5, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=1.5),
    TCloseness(t=0.2, distance="equal"),
    TCloseness(t=0.2, distance="hierarchical"),
    AlphaKAnonymity(alpha=0.5, k=2),
    BetaLikeness(beta=0.5),
    BetaLikeness(beta=0.5, kind="basic"),
    DeltaPresence(member="in", present="yes", least=0.2, most=0.6),
]


def people(seed: int, n: int, missing: float = 0.2) -> Table:
    """n records: a town, a number as confidential value, a category with a hierarchy, and who is in the file."""
    rng = np.random.default_rng(seed)
    ills: list[str | None] = [None if rng.random() < missing else "abcde"[rng.integers(5)] for _ in range(n)]
    ills[0] = ills[0] or "a"
    columns = {
        "town": rng.integers(0, 4, n).astype(str),
        "ill": ills,
        "pay": [None if rng.random() < missing else float(rng.integers(0, 6)) for _ in range(n)],
        "in": ["yes", *np.where(rng.random(n - 1) < 0.5, "yes", "no")],
    }
    table = Table.from_columns(columns, {"town": "quasi", "ill": "confidential"})
    return with_hierarchy(table, "ill", [[label, *PATHS[label]] for label in table.labels("ill")])


def with_hierarchy(table: Table, name: str, rows: list[list[str]]) -> Table:
    """The table with a hierarchy of one column."""
    hierarchy = Hierarchy.from_rows(rows)
    return replace(
        table, attributes=tuple(a.but(hierarchy=hierarchy) if a.name == name else a for a in table.attributes)
    )


@pytest.mark.parametrize("model", [*MODELS, TCloseness(t=0.2, distance="ordered", confidential=("pay",))], ids=str)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_a_class_falls_short_exactly_where_its_records_do(model: PrivacyModel, seed: int, n: int) -> None:
    """The records of each class are judged as a table's are, with shares over the whole table."""
    table = people(seed, n)
    demands = class_demands([model], table, ["town"])
    labels = np.unique(table.codes(["town"])[:, 0], return_inverse=True)[1]
    short = demands.shortfalls(labels)
    assert model.shortfall(table) == pytest.approx(float(short[labels].mean()))
    assert (short[labels].max() > 0) == (not model.judge(table).holds)
    for label in range(len(short)):
        assert demands.shortfall(np.flatnonzero(labels == label)) == short[label]


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_a_union_of_classes_that_pass_passes(model: PrivacyModel, seed: int) -> None:
    table = people(seed, 40, missing=0.0)
    demands, rng = class_demands([model], table, ["town"]), np.random.default_rng(seed)
    labels = rng.integers(0, 5, len(table))
    short = demands.shortfalls(labels)
    passing = [label for label in range(len(short)) if short[label] == 0 and (labels == label).any()]
    if len(passing) > 1:
        assert demands.shortfall(np.flatnonzero(np.isin(labels, passing[:2]))) == 0


def test_equality_counts_as_met() -> None:
    """Counts 4, 1, 1, 1, 1 are worth exactly four values."""
    ills = ["a"] * 4 + ["b", "c", "d", "e"]
    table = Table.from_columns({"town": ["t"] * 8, "ill": ills}, {"town": "quasi", "ill": "confidential"})
    model = LDiversity(l=4, kind="entropy")
    assert class_demands([model], table, ["town"]).shortfall(np.arange(8)) == 0
    assert model.shortfall(table) == 0
    assert model.judge(table).holds


def test_look_alikes_are_one_value_and_missing_is_none() -> None:
    table = Table.from_columns(
        {"town": ["t"] * 3, "ill": ["HIV", "hiv ", None]}, {"town": "quasi", "ill": "confidential"}
    )
    assert class_demands([LDiversity(l=2)], table, ["town"]).shortfall(np.arange(3)) == 0.5


def test_several_demands_count_alike_and_a_foreign_column_is_left_to_the_table() -> None:
    table = people(1, 20)
    both = class_demands([KAnonymity(k=4), LDiversity(l=30)], table, ["town"])
    assert both.least == 30
    assert not both.only_size
    short = both.shortfall(np.array([0, 1]))
    assert short == pytest.approx((0.5 + (30 - len(set(table.column("ill")[:2]) - {-1})) / 30) / 2)
    model = KAnonymity(k=4, quasi_identifiers=("town", "in"))
    assert class_demands([model], table, ["town"]).rest == (model,)
    assert class_demands([KAnonymity(k=4)], table, ["town"]).only_size


@given(seed=st.integers(0, 10_000), n=st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_hierarchical_distance_is_what_plain_counting_finds(seed: int, n: int) -> None:
    table = people(seed, n, missing=0.0)
    towns, ills = table.codes(["town"])[:, 0].tolist(), [table.labels("ill")[code] for code in table.column("ill")]
    expected = naive.property_vector(
        [(town,) for town in towns],
        [True] * n,
        lambda members: naive.hierarchical_distance([ills[i] for i in members], ills, dict(PATHS)),
    )
    assert TCloseness(distance="hierarchical").levels(table) == pytest.approx(expected)


def test_hierarchical_distance_by_hand() -> None:
    """All mass moves between siblings (height 1 of 2) or across the root (height 2 of 2)."""
    rows = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]]
    columns = {"town": ["s", "s", "t", "t"], "ill": ["a", "c", "b", "d"]}
    table = with_hierarchy(Table.from_columns(columns, {"town": "quasi", "ill": "confidential"}), "ill", rows)
    # Class s: shares ½, 0, ½, 0 against ¼ each: ¼ moves inside x and ¼ inside y, both at half the height.
    assert TCloseness(distance="hierarchical").levels(table).tolist() == [0.25] * 4
    assert TCloseness(distance="equal").levels(table).tolist() == [0.5] * 4


def test_hierarchical_distance_needs_a_hierarchy() -> None:
    table = Table.from_columns({"town": ["t"], "ill": ["x"]}, {"town": "quasi", "ill": "confidential"})
    assert "no hierarchy" in TCloseness(distance="hierarchical").obstacle(table)


def test_no_record_left_is_as_short_as_can_be() -> None:
    table = crypsis.example(20)
    assert KAnonymity(k=2).shortfall(table.without(np.ones(20, dtype=bool))) == 1.0


def test_threads_judge_classes_at_the_same_time() -> None:
    """Kernels run without the interpreter's lock: every call counts in buffers of its own."""
    rng = np.random.default_rng(0)
    columns = {"town": rng.integers(0, 9, 600).astype(str), "pay": rng.integers(0, 500, 600)}
    table = Table.from_columns(columns, {"town": "quasi", "pay": "confidential"})
    demands = class_demands([TCloseness(t=0.2, confidential=("pay",))], table, ["town"])
    labels = [rng.integers(0, 30, 600) for _ in range(4)]
    alone = [demands.shortfalls(each).tolist() for each in labels]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda each: demands.shortfalls(each).tolist(), labels * 200))
    assert together == alone * 200
