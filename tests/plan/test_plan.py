"""Plans as documents: round trips, fingerprints, budgets, drafts, and the schema for editors."""

from __future__ import annotations

import math
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from crypsis.audits import audit
from crypsis.audits.default_roles import assign_default_roles
from crypsis.evolution import Budget, evolve
from crypsis.plan import Plan, draft, read_plan_budget
from crypsis.plan.checking import check_before_run
from crypsis.plan.document import as_toml, schema
from crypsis.run.store import plan_fingerprint_in_store
from crypsis.table.attribute import Kind, Role
from crypsis.table.example import example
from crypsis.table.files import read_table, write_table
from crypsis.table.profile import profile
from crypsis.table.rules import recompute_derived
from crypsis.table.table import Table

DOCUMENT = {
    "data": {"source": "people.csv"},
    "columns": {"age": {"role": "quasi", "kind": "numeric"}, "odd name": {"role": "quasi"}, "sex": {"role": "other"}},
    "require": [{"model": "k-anonymity", "k": 4}],
    "scenario": [{"name": "neighbour", "knows": ["age"], "require": [{"model": "k-anonymity", "k": 7}]}],
    "search": [{"name": "memetic", "k": 4, "budget": "9 generations"}, {"name": "gomm", "k": 4}],
    "measures": {"loss": ["cell-loss", {"name": "sse-ratio", "columns": ["age"]}]},
    "use": [{"measure": "cell-loss", "name": "cells", "tolerance": 30, "as": "objective", "columns": ["age"]}],
    "limit": [{"measure": "risk", "at_most": 30.5}],
    "waive": [{"finding": "singling-out", "column": "sex", "because": "known to nobody outside"}],
    "run": {"budget": "2m", "seed": 7},
    "release": {"suppression": "2%"},
}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("60s", "seconds", 60),
        ("10m", "seconds", 600),
        ("1.5 h", "seconds", 5400),
        ("90 seconds", "seconds", 90),
        ("500 evaluations", "evaluations", 500),
        ("50 generations", "generations", 50),
        ("1 Generation", "generations", 1),
    ],
)
def test_budgets_are_read_as_people_write_them(text: str, field: str, value: float) -> None:
    budget = read_plan_budget(text)
    assert getattr(budget, field) == value
    assert sum(math.isfinite(limit) for limit in (budget.seconds, budget.evaluations, budget.generations)) == 1


def test_a_hierarchy_is_a_builder_or_a_file_beside_the_plan() -> None:
    """A builder may be longer than a file's name."""
    long = "prefixes:" + ",".join(map(str, range(200, 0, -1)))
    specs = {"a": "intervals:5,10", "b": "file:trees/b.csv", "c": "c.csv", "d": long, "e": "interval:5"}
    columns = {name: {"role": "quasi", "hierarchy": spec} for name, spec in specs.items()}
    found = Plan.parse(
        DOCUMENT | {"columns": columns, "scenario": [], "use": [], "waive": [], "measures": {}}
    ).hierarchies(Path("x"))
    assert found == specs | {"b": Path("x/trees/b.csv"), "c": Path("x/c.csv")}


def test_a_plan_survives_its_own_toml() -> None:
    plan = Plan.parse(DOCUMENT)
    again = Plan.parse(tomllib.loads(as_toml(plan)))
    assert again == plan
    assert again.fingerprint() == plan.fingerprint()


def test_the_seed_has_no_part_in_the_fingerprint_and_everything_else_has() -> None:
    plan = Plan.parse(DOCUMENT)
    other_seed = Plan.parse({**DOCUMENT, "run": {"budget": "2m", "seed": 8}})
    other_k = Plan.parse({**DOCUMENT, "require": [{"model": "k-anonymity", "k": 5}]})
    assert plan.fingerprint() == other_seed.fingerprint()
    assert plan.fingerprint() != other_k.fingerprint()


def test_one_search_needs_no_list() -> None:
    document = {**DOCUMENT, "search": {"name": "memetic", "k": 4}}
    assert [choice.name for choice in Plan.parse(document).search] == ["memetic"]


def test_who_knows_a_derived_column_is_answered_by_what_it_follows_from() -> None:
    wages = [float(wage) for wage in range(900, 2100, 10)]
    people = Table.from_columns(
        {
            "age": [20 + n % 40 for n in range(120)],
            "sex": ["f", "m"] * 60,
            "wage": wages,
            "log": np.log(wages).round(3),
        },
        dict.fromkeys(["age", "sex", "wage", "log"], "quasi"),
    )
    plan = Plan.model_validate(
        {
            "data": {"source": "people.csv"},
            "columns": {each: {"role": "quasi"} for each in ("age", "sex", "wage")}
            | {"log": {"role": "quasi", "derived": "log(wage)"}},
            "scenario": [{"name": "tax", "knows": ["age", "log"], "require": [{"model": "k-anonymity", "k": 3}]}],
            "search": [{"name": "mixed-grouping", "k": 3, "population": 4}],
        }
    )
    people = people.with_columns({}, attributes={"log": people.attribute("log").but(derived="log(wage)")})
    [search] = plan.searches()
    assert search.intruders == (("age", "wage"),)
    problem = search.pose(people, None, np.random.default_rng(1))
    assert problem.notes["column_sets"] == [["age", "wage"], ["sex"]]
    *_, state = evolve(problem, np.random.default_rng(2), Budget(generations=2))
    for candidate in state.frontier.genomes:
        masked = search.encoding(people).decode(problem.express_candidate(candidate))
        [verdict] = [model.judge(recompute_derived(masked, people)) for model in plan.models()]
        assert verdict.columns == ("age", "log")
        assert verdict.holds


def test_a_scenario_s_models_judge_by_what_she_knows() -> None:
    plan = Plan.parse(DOCUMENT)
    assert [model.quasi_identifiers for model in plan.models()] == [(), ("age",)]


@pytest.mark.parametrize("rare", [False, True])
def test_a_draft_is_sound_as_it_is(rare: bool, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    if rare:  # names that say nothing, so that no quasi-identifier is recognised
        path.write_text("v1,v2,v3\n" + "".join(f"{n % 7},{n % 5}.5,{'ab'[n % 2]}\n" for n in range(60)))
    else:
        write_table(example(80, seed=5), path)
    table = read_table(path)
    (tmp_path / "plan.toml").write_text(draft(path, tmp_path / "plan.toml", table, profile(table), 3))
    found = check_before_run(tmp_path / "plan.toml", estimate=False)
    assert found.sound, found.problems
    plan = Plan.read(tmp_path / "plan.toml")
    assert plan.search
    assert plan.require
    written = (tmp_path / "plan.toml").read_text()
    assert "mixed-grouping" not in {each.name for each in plan.search}, "k over all leaves nothing to group"
    assert "# Left out: mixed-grouping" in written
    scenarios = tomllib.loads("\n".join(line[2:] for line in written.splitlines() if _offered(line)))
    knows = [name for each in scenarios["scenario"] for name in each["knows"]]
    assert set(knows) == set(plan.table(tmp_path).quasi_identifiers), "the forms that are offered cover them"
    assert scenarios["search"][0]["name"] == "mixed-grouping"


def _offered(line: str) -> bool:
    """Whether a comment of a draft is a line of the plan that it offers."""
    return line.startswith(("# [[scenario]]", "# [[search]]", "# name =", "# knows =", "# require ="))


def test_a_draft_for_a_large_table_begins_with_what_is_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("crypsis.plan.draft", "crypsis.searches.search", "crypsis.searches.memetic"):
        monkeypatch.setattr(import_module(module), "LARGE", 50)
    path = tmp_path / "people.csv"
    write_table(example(80, seed=5), path)
    table = read_table(path)
    (tmp_path / "plan.toml").write_text(draft(path, tmp_path / "plan.toml", table, profile(table), 3))
    found = check_before_run(tmp_path / "plan.toml")
    assert found.sound
    assert [each.search for each in found.estimates] == ["composite", "pbg-ea", "memetic"]
    assert all(each.megabytes > 0 for each in found.estimates)
    assert found.seconds == 60.0
    plan = Plan.read(tmp_path / "plan.toml")
    assert [each.name for each in plan.search] == ["composite", "pbg-ea", "memetic"]
    assert plan.search[-1].settings == {"k": 3, "k_values": 4, "chains_per_generation": 2}
    assert [each.name for each in plan.measures.risk] == ["class-risk"]


def test_the_schema_names_every_search_measure_and_model() -> None:
    document = schema()
    names = document["$defs"]["SearchChoice"]["properties"]["name"]["enum"]
    assert {"memetic", "mixed-grouping", "local-recoding"} <= set(names)
    assert "k-anonymity" in document["$defs"]["Requirement"]["properties"]["model"]["enum"]
    assert "risk" in document["$defs"]["Limit"]["properties"]["measure"]["enum"]
    branch = next(
        b for b in document["$defs"]["SearchChoice"]["allOf"] if b["if"]["properties"]["name"]["const"] == "memetic"
    )
    assert "k_values" in branch["then"]["properties"]


def test_a_first_plan_averages_amounts_and_treats_weights_that_single_people_out(tmp_path: Path) -> None:
    n = 100
    columns = {"sex": ["f", "m"] * 50, "income": [10.5 * v for v in range(n)], "debt": [1.5] * 50 + [2.5] * 50}
    columns |= {"diagnosis": [f"d{v // 2}" for v in range(n)], "survey_weight": [0.25 * (37 * v % n) for v in range(n)]}
    source = tmp_path / "people.csv"
    write_table(Table.from_columns(columns), source)
    read = read_table(source)
    text = draft(source, tmp_path / "plan.toml", read, profile(read), 5)
    plan = Plan.parse(tomllib.loads(text))
    assert [each.build().columns for each in plan.mask] == [("income",)]
    assert plan.columns["survey_weight"].role is Role.WEIGHT
    assert plan.columns["survey_weight"].publish
    assert "# The weight survey_weight, tried on a roughly masked file" in text
    assert plan.waivers() == {}
    masked = plan.masked_beforehand(plan.table(tmp_path), seed=1)
    assert np.bincount(masked.codes(["income"])[:, 0]).min() >= 5
    assert masked.codes(["debt", "diagnosis"]).tolist() == read.codes(["debt", "diagnosis"]).tolist()
    assert audit(masked, read).sound


@pytest.mark.parametrize(
    ("masking", "words"),
    [
        ({"method": "noise", "columns": ["pay"]}, "makes values false at random"),
        ({"method": "microaggregation"}, "it names no columns"),
        ({"method": "microaggregation", "columns": ["age"]}, "'age' is a quasi-identifier, which the searches mask"),
        ({"method": "microaggregation", "columns": ["id"]}, "'id' has the role identifier and is never released"),
        ({"method": "microaggregation", "columns": ["pya"]}, "'pya' is not among the columns of the plan"),
        ({"method": "microagregation", "columns": ["pay"]}, "did you mean 'microaggregation'"),
    ],
)
def test_columns_that_cannot_be_masked_on_their_own(masking: dict[str, object], words: str) -> None:
    columns = {"age": {"role": "quasi"}, "id": {"role": "identifier"}, "pay": {"role": "confidential"}}
    base = {"data": {"source": "people.csv"}, "columns": columns}
    assert words in " ".join(Plan.understand({**base, "mask": [masking]})[1])


def test_a_reason_belongs_to_the_roles_other_and_confidential() -> None:
    base = {"data": {"source": "people.csv"}, "columns": {"age": {"role": "quasi"}}}
    decided = {**base["columns"], "x": {"role": "other", "because": "a reading of an instrument"}}
    plan = Plan.parse({**base, "columns": decided})
    assert plan.waivers() == {"combination:x": "a reading of an instrument"}
    secret = {
        **base["columns"],
        "x": {"role": "confidential", "because": "in no register"},
        "y": {"role": "confidential"},
    }
    stated = Plan.parse({**base, "columns": secret})
    assert stated.waivers() == {"assumption:x": "in no register"}
    assert stated.list_unstated() == ["y"]
    wrong = {**base["columns"], "x": {"role": "weight", "because": "a reading of an instrument"}}
    message = "because is the reason for the roles other, confidential; its role is weight"
    assert message in Plan.understand({**base, "columns": wrong})[1][0]
    assert plan_fingerprint_in_store(plan) == plan_fingerprint_in_store(
        Plan.parse({**base, "columns": {**base["columns"], "x": {"role": "other"}}})
    ), "a reason does not change what is searched"


def test_waivers_must_name_a_column_once_and_say_why(tmp_path: Path) -> None:
    base = {"data": {"source": "people.csv"}, "columns": {"age": {"role": "quasi"}, "id": {"role": "identifier"}}}
    waiver = {"finding": "singling-out", "column": "id", "because": "known to nobody"}
    problems = Plan.understand({**base, "waive": [waiver, waiver]})[1]
    assert problems == ["waive: 2 waivers of 'singling-out:id'; keep the one whose reason counts"]
    assert Plan.understand({**base, "waive": [waiver]})[1] == [], "a role may change and the waiver stay"
    assert "because" in Plan.understand({**base, "waive": [{**waiver, "because": "so"}]})[1][0]
    assert "singling-out" in Plan.understand({**base, "waive": [{**waiver, "finding": "singling"}]})[1][0]


def test_a_waiver_does_not_change_what_is_searched() -> None:
    base = {"data": {"source": "people.csv"}, "columns": {"age": {"role": "quasi"}}}
    waiver = {"finding": "singling-out", "column": "age", "because": "known to nobody"}
    one, other = Plan.parse(base), Plan.parse({**base, "waive": [waiver]})
    assert plan_fingerprint_in_store(one) == plan_fingerprint_in_store(other)
    assert one.fingerprint() != other.fingerprint()
    assert Plan.parse(tomllib.loads(as_toml(other))) == other


def test_rules_of_a_first_plan_speak_of_columns_as_the_plan_reads_them(tmp_path: Path) -> None:
    """Whether somebody flies is a code: it is never more than the flights as a number, but it is a category."""
    flights = np.random.default_rng(0).integers(0, 30, 400) * (np.arange(400) % 2)
    columns = {"age": [20 + n % 50 for n in range(400)], "flies": (flights > 0).astype(int), "flights": flights}
    source = tmp_path / "people.csv"
    write_table(Table.from_columns({name: list(values) for name, values in columns.items()}), source)
    read = read_table(source)
    plan = Plan.parse(
        tomllib.loads(draft(source, tmp_path / "plan.toml", read, assign_default_roles(profile(read), read), 5))
    )
    assert plan.columns["flies"].kind is Kind.NOMINAL
    assert plan.rule
    table = plan.table(tmp_path)
    figures = plan.objective(table).evaluate(table, "recoding").figures
    assert [figures[each.title] for each in plan.rule] == [0.0] * len(plan.rule)


def test_init_proposes_diversity_where_a_confidential_column_has_few_values(tmp_path: Path) -> None:
    columns = {
        "age": [str(20 + i % 40) for i in range(80)],
        "hiv": ["yes", "no"] * 40,
        "note": list(map(str, range(80))),
    }
    roles = {"age": "quasi", "hiv": "confidential", "note": "identifier"}
    people = Table.from_columns(columns, roles)
    write_table(people, tmp_path / "people.csv")
    text = draft(tmp_path / "people.csv", tmp_path / "plan.toml", people, profile(people), 3)
    assert '# confidential = ["hiv"]' in text
    many = people.with_roles({"hiv": "other"})
    assert "l-diversity" not in draft(tmp_path / "people.csv", tmp_path / "plan.toml", many, profile(many), 3)
