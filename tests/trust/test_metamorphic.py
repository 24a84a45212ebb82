"""What must not change a result, and what must change it in a known way, for every registered measure and model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.tables import CONTEXT, masked_examples, mixed_table, numeric_table, ordinal_table
from crypsis.errors import CrypsisError
from crypsis.masking import partitioners
from crypsis.measures import measures
from crypsis.privacy import models
from crypsis.table.attribute import Kind
from crypsis.table.table import Table

TABLES = (mixed_table, numeric_table, ordinal_table)
Change = Callable[[Table], Table]


def shuffled_rows(table: Table) -> Table:
    return table.take(np.random.default_rng(11).permutation(len(table)))


def shuffled_columns(table: Table) -> Table:
    """All but the confidential ones: the first of those is a metric's default label, so their order has meaning."""
    free = [place for place, attribute in enumerate(table.attributes) if attribute.name not in table.confidential]
    order = np.arange(len(table.columns))
    order[free] = np.random.default_rng(12).permutation(free)
    return replace(
        table,
        attributes=tuple(table.attributes[place] for place in order),
        columns=tuple(table.columns[place] for place in order),
        levels=tuple(table.levels[place] for place in order),
        origin=None,
    )


def renamed(table: Table) -> Table:
    """Every category of every column without a hierarchy gets another name, in the same order."""
    for attribute in table.attributes:
        if not attribute.numeric and attribute.hierarchy is None:
            other = attribute.but(categories=tuple(f"new {label}" for label in attribute.categories))
            table = table.with_columns({}, attributes={attribute.name: other})
    return table


def recoded(table: Table) -> Table:
    """Nominal categories listed in another order: the same values under other codes."""
    for attribute in table.attributes:
        if attribute.kind is Kind.NOMINAL and attribute.hierarchy is None:
            table = table.with_categories(attribute.name, attribute.categories[::-1])
    return table


def scaled(factor: float, shift: float = 0.0) -> Change:
    def change(table: Table) -> Table:
        numeric = [a.name for a in table.attributes if a.numeric and a.hierarchy is None and table.level(a.name) == 0]
        return table.with_columns({name: table.column(name) * factor + shift for name in numeric})

    return change


def readings(name: str, change: Change | None) -> list[float | None]:
    """The measure on every test table and masking, with original and masked file changed alike."""
    measure = measures.build(name, **CONTEXT.get(("measure", name, None), {}))
    found: list[float | None] = []
    for make in TABLES:
        table = make()
        for masked in masked_examples(table):
            one, other = (change(table), change(masked)) if change else (table, masked)
            try:
                found.append(None if measure.obstacle(one) else measure.against(one).read(other))
            except CrypsisError:
                found.append(None)
    assert any(value is not None for value in found)
    return found


def same(one: list[float | None], other: list[float | None]) -> None:
    for a, b in zip(one, other, strict=True):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            assert b == pytest.approx(a, rel=1e-7, abs=1e-7, nan_ok=True)


FOLDED = "classifier-use"
"""Its folds are drawn by the place of a record: another order of the rows is another draw."""


@pytest.mark.parametrize("change", [shuffled_rows, shuffled_columns, renamed, recoded], ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", list(measures))
def test_a_measure_sees_values_and_not_their_order_or_names(name: str, change: Change) -> None:
    if name == FOLDED and change is shuffled_rows:
        return  # the test below: the same folds
    same(readings(name, None), readings(name, change))


def test_a_classifier_sees_the_order_of_rows_by_its_folds_alone() -> None:
    table = mixed_table()
    measure = measures.build(FOLDED, **CONTEXT.get(("measure", FOLDED, None), {}))
    place = np.random.default_rng(11).permutation(len(table))
    for masked in masked_examples(table):
        one, other = measure.prepare(table), measure.prepare(table.take(place))
        folds = dict(zip(one.rows.tolist(), one.fold.tolist(), strict=True))
        other = replace(other, fold=np.array([folds[row] for row in place[other.rows].tolist()]))
        whole = np.ones(len(other.rows), dtype=np.bool_)
        other = replace(other, before=other.cross_validate(other.design, other.label, whole))
        assert other.before.area == pytest.approx(one.before.area, abs=1e-6)
        same([measure.compare(one, masked)[0]], [measure.compare(other, masked.take(place))[0]])


@pytest.mark.parametrize("name", [name for name in measures if name not in ("sse", "journalist-risk")])
def test_a_measure_does_not_see_the_unit_of_a_column(name: str) -> None:
    """The unit of a weight is people: `journalist-risk`, here with a number as weight, rightly sees it."""
    same(readings(name, None), readings(name, scaled(4.0)))


@pytest.mark.parametrize(
    "name", ["sse-ratio", "il1s", "cell-loss", "correlations", "interval-disclosure", "record-linkage", "rank-linkage"]
)
def test_nor_where_its_zero_lies(name: str) -> None:
    same(readings(name, None), readings(name, scaled(0.5, 64.0)))


@pytest.mark.parametrize("change", [shuffled_rows, shuffled_columns, renamed, recoded], ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", list(models))
def test_a_model_sees_classes_and_not_their_order_or_names(name: str, change: Change) -> None:
    model = models.build(name, **CONTEXT.get(("privacy model", name, None), {}))
    tried = 0
    for make in TABLES:
        table = masked_examples(make())[-1]
        if (change is renamed and name == "delta-presence") or model.obstacle(table):
            continue  # its setting names a category
        if change is recoded and name == "t-closeness":
            continue  # a nominal order is no order: judged under the equal distance below
        one, other = model.judge(table), model.judge(change(table))
        assert other.attained == pytest.approx(one.attained)
        assert other.offending == one.offending
        tried += 1
    assert tried or name in ("delta-presence", "t-closeness")


def test_equal_distance_closeness_does_not_see_codes() -> None:
    model = models.build("t-closeness", distance="equal")
    table = masked_examples(numeric_table())[0]
    assert model.judge(recoded(table)).attained == pytest.approx(model.judge(table).attained)


@given(st.integers(0, 1000), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_copies_of_everybody_multiply_classes_and_nothing_else(seed: int, copies: int) -> None:
    rng = np.random.default_rng(seed)
    table = Table.from_columns(
        {"q": [str(v) for v in rng.integers(0, 5, 30)], "s": [str(v) for v in rng.integers(0, 4, 30)]},
        {"q": "quasi", "s": "confidential"},
    )
    many = table.take(np.tile(np.arange(30), copies))

    def attained(name: str, which: Table, **setting: Any) -> float:
        return models.build(name, **setting).judge(which).attained

    assert attained("k-anonymity", many) == copies * attained("k-anonymity", table)
    for kind in ("distinct", "entropy", "recursive"):
        assert attained("l-diversity", many, kind=kind) == pytest.approx(attained("l-diversity", table, kind=kind))
    assert attained("t-closeness", many) == pytest.approx(attained("t-closeness", table))
    assert attained("beta-likeness", many) == pytest.approx(attained("beta-likeness", table))


@pytest.mark.parametrize("name", ["sse-ratio", "cell-loss", "il1s", "correlations", "interval-disclosure", "moments"])
def test_copies_of_everybody_lose_the_same_share(name: str) -> None:
    same(readings(name, None), readings(name, lambda table: table.take(np.repeat(np.arange(len(table)), 2))))


def groups(labels: np.ndarray[Any, Any]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@pytest.mark.parametrize("name", ["mdav", "v-mdav", "cbfs"])
@given(seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_a_heuristic_sees_points_and_not_their_order_nor_the_frame(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, order = rng.standard_normal((40, 3)), rng.permutation(40)
    method = partitioners.build(name)
    plain = groups(method.partition(points, 4, np.random.default_rng(0)))
    mixed = method.partition(points[order], 4, np.random.default_rng(0))
    assert groups(mixed[np.argsort(order)]) == plain
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    assert groups(method.partition(points @ turn * 8.0 + 5.0, 4, np.random.default_rng(0))) == plain
    assert groups(method.partition(points[:, ::-1].copy(), 4, np.random.default_rng(0))) == plain
