"""Rules broken by a masking are mended without splitting a class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.masking.microaggregation import Microaggregation
from crypsis.masking.repairing import repair
from crypsis.plan import Plan
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.precision import at_source_precision
from crypsis.table.rules import judge_rule_violations, read_rule
from crypsis.table.table import LOCAL, Table
from table.test_rules import planted

RULES = [
    read_rule(text)
    for text in (
        "sum = one + two",
        "start <= end",
        "if kin = 'husband' then sex = 'm'",
        "if age < 16 then marital = 'single'",
    )
]


def created(original: Table, masked: Table) -> list[int]:
    return [judge_rule_violations(rule, original, masked).created for rule in RULES]


def masked_by(table: Table, k: int, categories: str) -> Table:
    method = Microaggregation(
        k=k,
        categories=categories,
        groups=(("one", "two", "sum", "town"), ("kin",), ("sex", "age"), ("marital", "start"), ("end",)),
    )
    apart = method.mask(table, np.random.default_rng(0))
    return at_source_precision(apart, table)


@settings(max_examples=10, deadline=None)
@given(st.integers(40, 150), st.integers(2, 6), st.sampled_from(["typical", "marginal"]), st.integers(0, 1000))
def test_every_rule_is_mended_and_no_class_is_split(n: int, k: int, categories: str, seed: int) -> None:
    table = planted(n, seed)
    masked = masked_by(table, k, categories)
    mended = repair(masked, table, RULES)
    assert created(table, mended) == [0, 0, 0, 0]
    before, after = (equivalence_class_sizes(each, each.quasi_identifiers) for each in (masked, mended))
    assert (after >= before).all(), "classes may only grow"


def test_a_total_is_computed_and_not_blanked() -> None:
    """Means of 1, 2 and 2, 2 round to 2 and 2, that of their sums 3, 4 to 4: rounding is mended by the sum itself."""
    table = Table.from_columns(
        {"a": [1, 2, 2], "b": [1, 1, 2], "sum": [2, 3, 4]}, dict.fromkeys(("a", "b", "sum"), "quasi")
    )
    masked = table.with_columns({"a": np.full(3, 2.0), "b": np.full(3, 1.0), "sum": np.full(3, 4.0)})
    rule = read_rule("sum = a + b")
    assert judge_rule_violations(rule, table, masked).created == 3
    assert repair(masked, table, [rule]).column("sum").tolist() == [3, 3, 3]


def test_two_numbers_that_changed_places_meet_in_the_middle() -> None:
    """A stay of 2 to 5 days published as 6 to 3 becomes 4 to 5 (4.5 down and up); nothing is blanked."""
    table = Table.from_columns({"start": [2, 2, 8], "end": [5, 5, 9]}, {"start": "quasi", "end": "quasi"})
    masked = table.with_columns({"start": np.array([6.0, 6.0, 8.0]), "end": np.array([3.0, 3.0, 9.0])})
    mended = repair(masked, table, [read_rule("start <= end")])
    assert mended.column("start").tolist() == [4, 4, 8]
    assert mended.column("end").tolist() == [5, 5, 9]


def test_numbers_in_wrong_order_keep_their_totals() -> None:
    """Times that are equal for most people, each calibrated: few are out of order, and mending blanks none."""
    rng = np.random.default_rng(1)
    last = np.round(rng.gamma(3.0, 500.0, 600))
    first = np.where(rng.random(600) < 0.6, last, np.round(last * rng.random(600)))
    columns = {"first": first, "last": last, "age": rng.integers(30, 80, 600)}
    table = Table.from_columns(columns, dict.fromkeys(columns, "quasi"))
    method = Microaggregation(k=5, numbers="calibrated")
    masked = at_source_precision(method.mask(table, rng), table)
    rule = read_rule("first <= last")
    assert judge_rule_violations(rule, table, masked).created > 0
    mended = repair(masked, table, [rule])
    assert judge_rule_violations(rule, table, mended).created == 0
    for name in ("first", "last"):
        assert not mended.missing(name).any()
        assert mended.column(name).mean() == pytest.approx(table.column(name).mean(), rel=0.02)


def test_a_value_of_the_class_mends_before_anything_is_blanked() -> None:
    table = Table.from_columns(
        {"kin": ["husband", "husband", "wife"], "sex": ["m", "m", "f"]}, {"kin": "quasi", "sex": "quasi"}
    )
    masked = table.with_columns({"kin": np.array([0, 0, 0]), "sex": np.array([0, 0, 0])})
    rule = read_rule("if kin = 'husband' then sex = 'm'")
    assert judge_rule_violations(rule, table, masked).created == 3
    mended = repair(masked, table, [rule])
    assert mended.column("sex").tolist() == [table.attribute("sex").categories.index("m")] * 3
    assert mended.column("kin").tolist() == [0, 0, 0]


def test_a_hierarchy_mends_by_the_common_ancestor() -> None:
    """Sex is not masked here; a wife would mend, and be false of five husbands."""
    tree = crypsis.Hierarchy.from_rows([["husband", "spouse", "*"], ["wife", "spouse", "*"], ["child", "child", "*"]])
    table = Table.from_columns(
        {"kin": ["husband"] * 5 + ["wife", "child"], "sex": ["m"] * 5 + ["f", "f"]},
        {"kin": "quasi", "sex": "confidential"},
    )
    leaves = {label: code for code, label in enumerate(table.attribute("kin").categories)}
    table = table.with_columns({}, attributes={"kin": table.attribute("kin").but(hierarchy=tree)})
    masked = table.with_columns({"kin": np.array([leaves["husband"]] * 6 + [leaves["child"]]), "sex": np.zeros(7)})
    rule = read_rule("if kin = 'husband' then sex = 'm'")
    assert judge_rule_violations(rule, table, masked).created == 6
    mended = repair(masked, table, [rule])
    assert mended.level("kin") == LOCAL
    assert [mended.labels("kin")[code] for code in mended.column("kin")] == ["spouse"] * 6 + ["child"]


def test_locked_columns_are_left_alone_and_what_cannot_be_mended_is_counted() -> None:
    table = Table.from_columns({"low": [1, 2], "high": [2, 3]}, {"low": "quasi", "high": "other"})
    locked = table.with_columns({}, attributes={"low": table.attribute("low").but(locked=True)})
    masked = locked.with_columns({"low": np.array([9.0, 9.0])})
    assert repair(masked, locked, [read_rule("low <= high")]) is masked


def test_a_run_mends_counts_and_releases_without_a_violation(tmp_path: object) -> None:
    table = planted(240, 3)
    rules = [{"holds": rule.text} for rule in RULES]
    columns = {name: {"role": "quasi"} for name in table.names if name not in ("noise",)} | {
        "noise": {"role": "other", "because": "drawn at random"}
    }
    document = {
        "data": {"source": "x.csv"}, "columns": columns, "rule": rules,
        "require": [{"model": "k-anonymity", "k": 4}], "search": [{"name": "memetic", "k": 4, "k_values": 2}],
        "run": {"budget": "2 generations", "seed": 5},
    }  # fmt: skip
    plan = Plan.parse(document)
    with crypsis.Run.start(plan, f"{tmp_path}/run", table=table) as run:
        for _ in run.proceed():
            pass
        assert run.solutions
        for solution in run.solutions:
            if solution.baseline and solution.title == "untouched":
                continue
            for rule in RULES:
                assert solution.figure(f"rule {rule.text}") == 0.0
                assert judge_rule_violations(rule, table, run.decode(solution)).created == 0


@pytest.mark.parametrize(
    ("rule", "words"),
    [({"holds": "age >"}, "it ends too early"), ({"holds": "age > 3", "at_most": -1}, "at_most")],
)
def test_a_plan_refuses_rules_that_cannot_be_read(rule: dict[str, object], words: str) -> None:
    document = {"data": {"source": "x.csv"}, "columns": {"age": {"role": "quasi"}}, "rule": [rule]}
    assert any(words in problem for problem in Plan.understand(document)[1])
