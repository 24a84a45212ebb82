"""A plan changed on a page keeps the words its author put around the values."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from crypsis.plan import Plan
from crypsis.plan.document import as_toml
from crypsis.studio.session import rewrite_session_plan

PLAN = """# Agreed in the meeting of March.
[data]
source = "people.csv"  # the spring file

[columns]
# asked the registry about these
age = { role = "quasi", kind = "numeric" }    # years
sex = { role = "quasi", kind = "nominal" }
income = { role = "confidential", kind = "numeric" }

[[require]]
# the office's rule
model = "k-anonymity"
k = 7  # not less

[[search]]
name = "memetic"  # quick

[[search]]
name = "pbg-ea"

[run]
seed = 5
"""


def changed(text: str, **sections: Any) -> tuple[str, Plan]:
    document = {**tomllib.loads(text), **sections}
    plan, problems = Plan.understand(document)
    assert problems == []
    assert plan is not None
    return rewrite_session_plan(text, document, plan), plan


def test_nothing_changed_is_the_same_text() -> None:
    assert changed(PLAN)[0] == PLAN


def test_only_the_changed_value_is_touched() -> None:
    text, _ = changed(PLAN, require=[{"model": "k-anonymity", "k": 9}])
    assert text == PLAN.replace("k = 7  # not less", "k = 9  # not less")


def test_a_column_keeps_its_comment() -> None:
    columns = tomllib.loads(PLAN)["columns"]
    columns["age"] = {"role": "quasi", "kind": "numeric", "hierarchy": "intervals:5,10"}
    text, _ = changed(PLAN, columns=columns)
    line = 'age = { role = "quasi", kind = "numeric", hierarchy = "intervals:5,10" }    # years\n'
    assert text == PLAN.replace('age = { role = "quasi", kind = "numeric" }    # years\n', line)


def test_tables_come_and_go_around_those_that_stay() -> None:
    demands = [{"model": "k-anonymity", "k": 7}, {"model": "l-diversity", "l": 3}]
    intruder = {"name": "neighbour", "knows": ["age"], "require": [{"model": "k-anonymity", "k": 20}]}
    text, plan = changed(PLAN, require=demands, search=[{"name": "pbg-ea"}], scenario=[intruder])
    assert Plan.parse(tomllib.loads(text)) == plan
    for words in ("# Agreed in", "# the office's rule", "# not less", "# asked the registry"):
        assert words in text
    assert "# quick" not in text  # it spoke of the search that was taken away
    again, _ = changed(text, require=demands[:1], search=tomllib.loads(PLAN)["search"], scenario=[])
    assert "l-diversity" not in again
    assert "# the office's rule" in again


def test_the_order_of_tables_may_change() -> None:
    text, plan = changed(PLAN, search=[{"name": "pbg-ea"}, {"name": "memetic"}])
    assert Plan.parse(tomllib.loads(text)) == plan
    assert text.index('"pbg-ea"') < text.index('"memetic"  # quick')


@pytest.mark.parametrize("layout", ['[search]\nname = "pbg-ea"  # the only one\n', 'search = { name = "pbg-ea" }\n'])
def test_a_single_search_may_stand_alone(layout: str) -> None:
    start, rest = PLAN[: PLAN.index("[[search]]")], "[run]\nseed = 5\n"
    text = layout + start + rest if layout.startswith("search") else start + layout + rest
    new, plan = changed(text, search=[{"name": "pbg-ea", "budget": "20 generations"}])
    assert Plan.parse(tomllib.loads(new)) == plan
    assert "# the office's rule" in new


def test_a_text_that_cannot_be_kept_costs_only_the_comments() -> None:
    plan = Plan.parse(tomllib.loads(PLAN))
    assert rewrite_session_plan("this is [no plan", tomllib.loads(PLAN), plan) == as_toml(plan)
