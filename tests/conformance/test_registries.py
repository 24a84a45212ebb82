"""What every registered thing promises, walked over the registries: a new one is tested by being listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.tables import CONTEXT, OTHER, REFUSING, masked_examples, mixed_table, numeric_table, ordinal_table
from conformance.variations import variations
from crypsis.errors import CrypsisError, PlanError
from crypsis.masking import methods, partitioners
from crypsis.measures import measures
from crypsis.privacy import models
from crypsis.registry import Registry
from crypsis.table.attribute import Role
from crypsis.table.table import Table

REGISTRIES: list[Registry[Any]] = [methods, partitioners, measures, models]
EVERY = [(registry, name) for registry in REGISTRIES for name in registry]
IDS = [f"{registry.family} {name}" for registry, name in EVERY]
FIELDS = [(registry, name, field) for registry, name in EVERY for field in registry[name].model_fields]
FIELD_IDS = [f"{registry.family} {name}: {field}" for registry, name, field in FIELDS]


def context(registry: Registry[Any], name: str, field: str | None = None) -> dict[str, Any]:
    """Settings under which a thing runs on the test tables (and a field matters)."""
    base = CONTEXT.get((registry.family, name, None), {})
    return base | CONTEXT.get((registry.family, name, field), {}) if field else base


def tables_for(registry: Registry[Any]) -> list[Table]:
    return [mixed_table(), numeric_table(), ordinal_table()]


def outcome(registry: Registry[Any], instance: Any, table: Table) -> Any:
    """What a person would see of it, as something that can be compared."""
    if registry is methods:
        return instance.mask(table, np.random.default_rng(7)).fingerprint()
    if registry is partitioners:
        few, many = (np.random.default_rng(3).standard_normal((n, 3)) for n in (25, 500))
        return [instance.partition(points, 3, np.random.default_rng(7)).tobytes() for points in (few, many)]
    if registry is measures:
        obstacle = instance.obstacle(table)
        if obstacle:
            raise PlanError(obstacle)
        return [reading_of(instance.against(table), masked) for masked in masked_examples(table)]
    obstacle = instance.obstacle(table)
    if obstacle:
        raise PlanError(obstacle)
    verdict = instance.judge(table)
    return verdict.required, verdict.attained, verdict.offending, verdict.demand, instance.levels(table).tobytes()


def reading_of(bound: Any, masked: Table) -> Any:
    """The explained value, which must be the quick one; None where the masking is refused in a sentence."""
    try:
        reading = bound.explain(masked)
    except CrypsisError as refusal:
        assert len(str(refusal)) > 20
        return None
    assert reading.value == bound.read(masked) or (np.isnan(reading.value) and np.isnan(bound.read(masked)))
    return str(reading.value), reading.interval


def outcomes(registry: Registry[Any], instance: Any) -> list[Any]:
    """One per test table; tables it cannot treat must be refused in a sentence, and not all of them may be."""
    seen: list[Any] = []
    for table in tables_for(registry):
        try:
            seen.append(outcome(registry, instance, table))
        except CrypsisError as refusal:
            assert len(str(refusal)) > 20
            seen.append(None)
    assert any(item is not None for item in seen), "it runs on none of the test tables"
    return seen


def differs(one: list[Any], other: list[Any]) -> bool:
    """Whether a table that both could treat came out differently; a refusal alone moves nothing."""
    return any(a != b for a, b in zip(one, other, strict=True) if a is not None and b is not None)


@pytest.mark.parametrize(("registry", "name"), EVERY, ids=IDS)
def test_same_settings_same_outcome_and_round_trip(registry: Registry[Any], name: str) -> None:
    instance = registry.build(name, **context(registry, name))
    again = registry.build(name, **instance.model_dump(mode="json"))
    assert again == instance
    assert outcomes(registry, instance) == outcomes(registry, again)
    assert registry.name_of(instance) == name


@pytest.mark.parametrize(("registry", "name", "field"), FIELDS, ids=FIELD_IDS)
def test_every_setting_moves_something(registry: Registry[Any], name: str, field: str) -> None:
    cls = registry[name]
    base = context(registry, name, field)
    reference = outcomes(registry, registry.build(name, **base))
    tried = []
    for settings in variations(
        cls, field, base, OTHER.get((registry.family, name, field), OTHER.get((registry.family, "*", field)))
    ):
        tried.append(settings[field])
        moved = outcomes(registry, registry.build(name, **settings))
        if differs(reference, moved) or ((registry.family, name, field) in REFUSING and moved != reference):
            return
    pytest.fail(f"{field} moves nothing (tried {tried}); name a value or a context in which it does")


@pytest.mark.parametrize(("registry", "name"), EVERY, ids=IDS)
def test_every_setting_is_explained_and_a_misspelt_one_refused(registry: Registry[Any], name: str) -> None:
    for field, info in registry[name].model_fields.items():
        assert info.description, f"{field} has no description"
    with pytest.raises(PlanError, match="unknown setting"):
        registry.build(name, **context(registry, name), no_such_setting=1)


@pytest.mark.parametrize("name", list(methods))
def test_methods_change_only_what_they_may(name: str) -> None:
    method = methods.build(name, **context(methods, name))
    for table in tables_for(methods):
        before = table.fingerprint()
        try:
            masked = method.mask(table, np.random.default_rng(1))
        except CrypsisError:
            continue
        assert table.fingerprint() == before, "the input was changed"
        assert masked.names == table.names
        assert len(masked) == len(table)
        for column in table.names:
            if table.attribute(column).role is not Role.QUASI_IDENTIFIER:
                assert np.array_equal(
                    masked.column(column), table.column(column), equal_nan=table.holds_numbers(column)
                )


@pytest.mark.parametrize("name", list(partitioners))
def test_partitioners_keep_groups_of_at_least_k(name: str) -> None:
    partitioner = partitioners.build(name, **context(partitioners, name))
    for n, k in ((1, 1), (7, 7), (9, 5), (40, 4), (41, 3)):
        points = np.random.default_rng(n).standard_normal((n, 2))
        labels = partitioner.partition(points, k, np.random.default_rng(0))
        sizes = np.bincount(labels)
        assert len(labels) == n
        assert sizes.min() >= k, f"n = {n}, k = {k}"
    with pytest.raises(CrypsisError):
        partitioner.partition(np.zeros((3, 2)), 4, np.random.default_rng(0))


@pytest.mark.parametrize("name", list(measures))
def test_measures_do_not_change_what_they_compare(name: str) -> None:
    measure = measures.build(name, **context(measures, name))
    for table in tables_for(measures):
        if measure.obstacle(table):
            continue
        masked = masked_examples(table)[-1]
        prints = table.fingerprint(), masked.fingerprint()
        reading = measure.against(table).explain(masked)
        assert (table.fingerprint(), masked.fingerprint()) == prints
        assert reading.definition
        assert reading.unit
        assert reading.scope
        assert reading.measure == name
        if measure.aim == "loss" and reading.unit == "%":
            assert measure.against(table).read(table) == pytest.approx(0, abs=1e-9), "the untouched file loses nothing"
