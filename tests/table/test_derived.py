"""Derived columns: read, recognised, recomputed, and judged by the audit."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crypsis
from crypsis.audits.audit import audit_matched_records
from crypsis.audits.default_roles import assign_default_roles
from crypsis.audits.published import FindingKind, Published
from crypsis.errors import PlanError, TableError
from crypsis.masking.generalisation import Generalisation
from crypsis.plan import Plan, draft
from crypsis.release.published import flatten
from crypsis.table.profile import profile
from crypsis.table.rules import (
    agreement_with_derivation,
    derivation_obstacle,
    order_derived,
    read_derivation,
    recognised_derivations,
    recompute_derived,
    recomputed_columns,
)
from crypsis.table.rules.judging import reckon_derivation
from crypsis.table.table import Table

PEOPLE = 600


def survey(seed: int = 0, records: int = PEOPLE) -> dict[str, list[object]]:
    """People with sums, logarithms, ratios, flags and bins of their numbers."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 95, records)
    wage = np.round(rng.lognormal(9, 1, records) * (rng.random(records) < 0.6), 2)
    pension = np.round(rng.lognormal(8, 1, records) * (age > 60), 2)
    height, weight = np.round(rng.normal(1.7, 0.1, records), 2), np.round(rng.normal(70, 10, records), 1)
    total = np.round(wage + pension, 2)
    bins = np.array(["0-14", "15-24", "25-64", "65+"])[np.digitize(age, [15, 25, 65])]
    columns = {
        "age": age, "wage": wage, "pension": pension, "height": height, "weight": weight, "total": total,
        "log_total": np.log(total + 1), "bmi": np.round(weight / height**2, 1), "pounds": np.round(2.20462 * weight, 1),
        "born": 2020 - age, "senior": (age >= 65) * 1, "group": bins, "dice": rng.integers(1, 7, records),
    }  # fmt: skip
    return {name: column.tolist() for name, column in columns.items()}


def described(columns: dict[str, list[object]], roles: dict[str, str], derived: dict[str, str]) -> Table:
    table = Table.from_columns(columns, roles)
    return table.with_columns({}, attributes={n: table.attribute(n).but(derived=text) for n, text in derived.items()})


def test_every_relation_of_a_survey_is_recognised_and_nothing_else() -> None:
    table = Table.from_columns(survey())
    found = {each.name: each.text for each in recognised_derivations(table, table.names, ["age"])}
    assert found == {
        "total": "wage + pension",
        "log_total": "log(total + 1)",
        "bmi": "weight / height^2",
        "pounds": "2.20462 * weight",
        "born": "2020 - age",
        "senior": "age >= 65",
        "group": "cut(age, '0-14', 15, '15-24', 25, '25-64', 65, '65+')",
    }


def test_columns_that_go_together_by_chance_are_not_derived() -> None:
    rng = np.random.default_rng(1)
    columns = {f"x{j}": rng.normal(size=200).round(3).tolist() for j in range(6)}
    columns["flag"] = (np.asarray(columns["x0"]) + rng.normal(0, 0.3, 200) > 0).astype(int).tolist()
    table = Table.from_columns(columns)
    assert recognised_derivations(table, table.names) == ()


def test_a_difference_is_written_from_the_sum_it_balances() -> None:
    rng = np.random.default_rng(2)
    gross, tax = rng.integers(1000, 9000, 300), rng.integers(10, 900, 300)
    table = Table.from_columns({"gross": gross.tolist(), "tax": tax.tolist(), "net": (gross - tax).tolist()})
    [found] = recognised_derivations(table, table.names)
    assert {found.name, *found.columns} == {"gross", "tax", "net"}
    assert found.kept == found.records == 300


def test_masked_tables_agree_in_every_record_and_keep_precision_and_missing_cells() -> None:
    columns = survey()
    columns["total"][3] = None
    columns["wage"][5] = None
    derived = {"total": "wage + pension", "log_total": "log(total + 1)", "senior": "age >= 65", "group": "cut(age, '0-14', 15, '15-24', 25, '25-64', 65, '65+')"}  # fmt: skip  # noqa: E501
    roles = {"age": "quasi", "wage": "quasi", "pension": "quasi", "senior": "quasi", "total": "confidential"}
    table = described(columns, roles, derived)
    assert table.quasi_identifiers == ["age", "wage", "pension"]
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(0))
    masked = recompute_derived(crypsis.table.precision.at_source_precision(masked, table), table)
    wage, pension, total = (masked.column(name) for name in ("wage", "pension", "total"))
    known = ~np.isnan(total)
    assert np.flatnonzero(~known).tolist() == [3] if np.isfinite(wage[5]) else [3, 5]
    assert np.array_equal(total[known], np.round(wage + pension, 2)[known])
    assert np.array_equal(total[known], np.round(total[known], 2))
    logs = masked.column("log_total")
    assert np.allclose(logs[known], np.log(total[known] + 1), atol=1e-5)
    assert np.array_equal(masked.column("senior"), (masked.column("age") >= 65) * 1.0)
    labels = np.array(masked.labels("group"))[masked.column("group")]
    assert np.array_equal(labels, np.array(["0-14", "15-24", "25-64", "65+"])[np.digitize(masked.column("age"), [15, 25, 65])])  # fmt: skip  # noqa: E501


def test_a_generalised_cell_gives_a_result_only_where_all_its_values_give_the_same() -> None:
    columns = {"age": list(range(40, 80)), "senior": [int(a >= 65) for a in range(40, 80)]}
    table = Table.from_columns(columns, {"age": "quasi", "senior": "quasi"})
    bands = crypsis.build_hierarchy("intervals:10,40", table.attribute("age"), table.column("age"))
    attributes = {
        "age": table.attribute("age").but(hierarchy=bands),
        "senior": table.attribute("senior").but(derived="age >= 65"),
    }
    table = table.with_columns({}, attributes=attributes)
    masked = Generalisation(levels={"age": 1}).mask(table, np.random.default_rng(0))
    shown = masked.column("senior")
    assert np.isnan(shown[20:30]).all()
    assert (shown[:20] == 0).all()
    assert (shown[30:] == 1).all()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("wage + bonus", [11.0, 22.0, np.nan]),
        ("wage / bonus", [10.0, 10.0, np.nan]),
        ("wage^2 - 2 * bonus", [98.0, 396.0, np.nan]),
        ("log(wage)", [np.log(10), np.log(20), np.nan]),
        ("sqrt(bonus - 1)", [0.0, 1.0, np.sqrt(2)]),
        ("log(bonus - 1)", [np.nan, 0.0, np.log(2)]),
        ("wage >= 15", [0.0, 1.0, np.nan]),
        ("cut(bonus, 'few', 2, 'some', 3, 'many')", [0.0, 1.0, 2.0]),
        ("round(bonus / 2 + 0.1)", [1.0, 1.0, 2.0]),
        ("-abs(1 - bonus)", [0.0, -1.0, -2.0]),
    ],
)
def test_a_hand_sized_table_has_these_answers(text: str, answer: list[float]) -> None:
    table = Table.from_columns({"wage": [10, 20, None], "bonus": [1, 2, 3]})
    assert np.allclose(reckon_derivation(read_derivation(text), table), answer, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    ["", "3 + 4", "wage +", "cut(wage, 'a')", "cut(wage, 'a', 5, 'b', 3, 'c')", "__import__('os')", "wage ^ bonus",
     "sin(wage)", "log(wage", "wage ; bonus"],
)  # fmt: skip
def test_what_is_no_derivation_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(PlanError, match=r"derivation|not understood"):
        read_derivation(text)


def test_functions_are_no_part_of_edit_rules() -> None:
    with pytest.raises(PlanError):
        crypsis.table.rules.read_rule("log(wage) < 3")


def test_a_relation_that_does_not_hold_is_an_obstacle() -> None:
    table = described(survey(), {}, {"total": "wage - pension"})
    assert "holds in" in derivation_obstacle(table, "total")
    assert "no column" in derivation_obstacle(described(survey(), {}, {"total": "wage + bonus"}), "total")
    circle = described(survey(), {}, {"total": "log_total + 0", "log_total": "log(total)"})
    with pytest.raises(TableError, match="circle"):
        order_derived(circle)


def findings_on(masked: Table, original: Table) -> set[tuple[str, ...]]:
    found = audit_matched_records(Published(masked, original)).findings
    return {each.columns for each in found if each.kind is FindingKind.DEPENDENCE}


def test_the_audit_is_silent_about_a_recomputed_column_and_speaks_of_one_as_collected() -> None:
    columns = {name: survey()[name] for name in ("age", "wage", "pension", "total", "born")}
    roles = {"age": "quasi", "wage": "quasi", "pension": "other", "total": "other", "born": "other"}
    table = described(columns, roles, {"total": "wage + pension", "born": "2020 - age"})
    masked = crypsis.Microaggregation(k=5).mask(table, np.random.default_rng(0))
    masked = recompute_derived(crypsis.table.precision.at_source_precision(masked, table), table)
    assert set(recomputed_columns(masked, table)) == {"total", "born"}
    assert not any({"total", "born"} & set(names) for names in findings_on(masked, table))
    collected = masked.with_columns({"total": table.column("total"), "born": table.column("born")})
    assert recomputed_columns(collected, table) == ()
    spoken = findings_on(collected, table)
    assert any("born" in names and "age" in names for names in spoken)
    assert any("total" in names and "wage" in names for names in spoken)


def test_a_derived_column_stands_for_itself_where_what_it_follows_from_is_published_in_groups() -> None:
    columns = {name: survey()[name] for name in ("wage", "pension", "total")}
    table = described(columns, {"wage": "quasi", "pension": "other", "total": "other"}, {"total": "wage + pension"})
    bands = crypsis.build_hierarchy("intervals:5000,20000", table.attribute("wage"), table.column("wage"))
    table = table.with_columns({}, attributes={"wage": table.attribute("wage").but(hierarchy=bands)})
    published = flatten(Generalisation(levels={"wage": 1}).mask(table, np.random.default_rng(0)), np.arange(PEOPLE))
    assert recomputed_columns(published, table) == ()


def test_what_follows_from_columns_as_collected_is_audited_like_them() -> None:
    table = described(survey(), {"wage": "other", "pension": "other", "total": "other"}, {"total": "wage + pension"})
    assert recomputed_columns(table, table) == ()


@given(seed=st.integers(0, 2**16), k=st.integers(2, 20))
def test_a_recomputed_column_never_splits_a_class(seed: int, k: int) -> None:
    columns = {name: survey(seed, 120)[name] for name in ("age", "wage", "pension", "total", "senior")}
    roles = dict.fromkeys(columns, "quasi")
    table = described(columns, roles, {"total": "wage + pension", "senior": "age >= 65"})
    masked = crypsis.Microaggregation(k=k).mask(table, np.random.default_rng(seed))
    everything = masked.codes(masked.names)
    inputs = masked.codes(["age", "wage", "pension"])
    assert len(np.unique(everything, axis=0)) == len(np.unique(inputs, axis=0))


def test_agreement_counts_records_to_the_rounding_of_the_file() -> None:
    table = Table.from_columns({"a": [1.25, 2.5, 3.0], "b": [1.3, 2.5, 9.9]})
    assert agreement_with_derivation(read_derivation("a"), table, "b") == (3, 2)


def test_a_plan_says_what_contradicts_a_derived_column() -> None:
    document = {
        "data": {"source": "people.csv"},
        "columns": {
            "id": {"role": "identifier"},
            "wage": {"role": "quasi"},
            "bonus": {"role": "confidential"},
            "total": {"role": "quasi", "derived": "wage + bonus", "lock": True},
            "mark": {"role": "other", "derived": "log(id)"},
        },
        "mask": [{"method": "microaggregation", "columns": ["mark"], "k": 3}],
    }
    _, problems = Plan.understand(document)
    text = "\n".join(problems)
    assert "give 'bonus' the role quasi" in text
    assert "lock has no effect" in text
    assert "'id' has the role identifier" in text
    assert "'mark' is derived" in text
    document["columns"] = {"wage": {"role": "quasi", "derived": "log("}}
    assert "derivation" in "\n".join(Plan.understand(document)[1])


def test_of_a_number_and_its_square_the_later_follows() -> None:
    age = np.arange(18.0, 68.0)
    for names in (("age", "agesq"), ("agesq", "age")):
        table = crypsis.Table.from_columns({name: age ** (2 if name == "agesq" else 1) for name in names})
        (found,) = recognised_derivations(table, table.names)
        assert (found.name, found.columns) == (names[1], (names[0],))


def test_a_logarithm_stored_in_single_precision_follows() -> None:
    wage = np.random.default_rng(0).integers(150, 5000, 300).astype(float)
    rough = np.log(wage.astype(np.float32)) * np.float32(1 + 2e-7)
    table = crypsis.Table.from_columns({"wage": wage, "lwage": rough.astype(float)})
    assert [(each.name, each.text) for each in recognised_derivations(table, table.names)] == [("lwage", "log(wage)")]


def test_the_reason_of_an_outcome_is_that_of_a_column_that_follows_from_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    income = 1000.0 * rng.integers(5, 30, 400)  # shared by many, so that nothing of it is masked
    known = {"age": rng.integers(18, 80, 400).tolist(), "sex": rng.choice(["f", "m"], 400).tolist()}
    table = crypsis.Table.from_columns({**known, "income": income.tolist(), "lincome": np.log(income).tolist()})
    crypsis.write_table(table, tmp_path / "people.csv")
    text = draft(tmp_path / "people.csv", tmp_path / "plan.toml", table, assign_default_roles(profile(table), table), 5)
    drafted = Plan.parse(tomllib.loads(text), where="draft").columns
    assert "derived" not in text.split("lincome = ")[1].splitlines()[0]
    assert drafted["income"].because
    assert drafted["lincome"].because == "it follows from income, of which nobody outside knows"
