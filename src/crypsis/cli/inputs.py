"""From the texts of options to tables, settings, requirements and randomness."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crypsis.errors import PlanError

if TYPE_CHECKING:
    from crypsis.cli.option_groups import Roles
    from crypsis.plan import Plan
    from crypsis.privacy.model import PrivacyModel
    from crypsis.table.table import Table


def split(values: Iterable[str] | None) -> list[str]:
    """['a,b', 'c'] → ['a', 'b', 'c']."""
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


EXAMPLES = {
    "--set": "k=5", "--limit": "record-linkage=5", "--level": "age=2", "--hierarchy": "age=intervals:5,10,20",
    "--importance": "age=3", "--waive": "singling-out:income=known to nobody outside", "--vary": "k=3,5,10",
}  # fmt: skip
"""What an option that takes NAME=VALUE may look like, where it is not the kind of a column."""


def pairs(values: Sequence[str] | None, option: str) -> dict[str, str]:
    """['age=numeric'] → {'age': 'numeric'}."""
    found = {}
    for value in values or ():
        name, equals, rest = value.partition("=")
        if not equals or not name or not rest:
            example = EXAMPLES.get(option, "age=numeric")
            raise PlanError(f"{option} {value!r}: write NAME=VALUE, for example {option} {example!r}")
        found[name.strip()] = rest.strip()
    return found


def settings(values: Sequence[str] | None) -> dict[str, Any]:
    """['k=5', 'ending=generic'] → {'k': 5, 'ending': 'generic'}; JSON values are understood."""
    parsed = {}
    for name, text in pairs(values, "--set").items():
        try:
            parsed[name] = json.loads(text)
        except json.JSONDecodeError:
            parsed[name] = text
    return parsed


def load(file: Path, given: Roles, masked: bool = False) -> Table:
    """The table in `file`, with the roles of the plan and of the command line; the latter win."""
    from crypsis.plan import Plan
    from crypsis.table.attribute import Role
    from crypsis.table.files import read_table

    named = {
        Role.IDENTIFIER: split(given.identifier),
        Role.CONFIDENTIAL: split(given.confidential),
        Role.QUASI_IDENTIFIER: split(given.quasi),
    }
    every = named[Role.QUASI_IDENTIFIER] == ["*"]
    roles = dict[str, str]()
    for role, names in named.items():
        roles |= {} if every and role is Role.QUASI_IDENTIFIER else dict.fromkeys(names, role.value)
    sorts, trees = pairs(given.kind, "--kind"), dict(pairs(given.hierarchy, "--hierarchy"))
    if given.plan is None:
        table = read_table(file, roles, sorts, trees, masked=masked)
    else:
        table = Plan.read(given.plan).table(given.plan.parent, file, roles, sorts, trees, masked=masked)
    if every:
        table = table.with_roles(dict.fromkeys(table.named(Role.UNDECIDED), Role.QUASI_IDENTIFIER))
    return table


def requirements(texts: Sequence[str] | None, plan: Plan | None) -> list[PrivacyModel]:
    """['k-anonymity:k=5', 'l-diversity:l=2,kind=entropy'] and the plan's requirements → models."""
    from crypsis.privacy import models

    built = plan.models() if plan else []
    for text in texts or ():
        name, _, rest = text.partition(":")
        built.append(models.build(name, **settings(split([rest]))))
    return built


def read_plan(path: Path | None) -> Plan | None:
    """The plan in a file, if one is given."""
    from crypsis.plan import Plan

    return Plan.read(path) if path else None


def randomness(seed: int | None) -> Any:
    """The operating system's randomness, unless the user gives a seed."""
    import numpy as np

    return np.random.default_rng(seed)
