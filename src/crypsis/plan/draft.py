"""A first plan for a file, from its profile: every line explained, every line hers to correct."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crypsis.errors import PlanError
from crypsis.masking.blocks import LARGE
from crypsis.plan.catalogue import searches
from crypsis.plan.document import Plan
from crypsis.table.attribute import Kind, Role
from crypsis.table.profile import Clue, ColumnProfile, Profile, Reason
from crypsis.table.table import Table
from crypsis.text import reason_text

OFFERED: tuple[tuple[str, str], ...] = (
    ("partition", "groups of at least k similar records, made ever tighter"),
    ("grouping", "which numeric columns are averaged together"),
    ("lattice", "one level of generalisation per column"),
    ("local-recoding", "different records at different levels"),
)
"""Searches a first plan may hold, and what each looks for; those that can treat the table are written down."""
LINKED_OF_MANY = 20_000
"""People of a large table for whom a first plan lets the intruder look."""


def draft(source: Path, plan: Path, table: Table, seen: Profile, k: int) -> str:
    """A commented plan for a file, from its profile: roles and kinds with the reason for each."""
    head = _head(os.path.relpath(source, plan.parent), _roles(seen), k)
    return "\n".join([*head, *_searches(head, plan.parent, k), *_tail(table)])


def _roles(seen: Profile) -> list[ColumnProfile]:
    """The profile's columns; where it recognised no quasi-identifier, every column that might be one."""
    if any(column.role == Role.QUASI_IDENTIFIER for column in seen.columns):
        return list(seen.columns)
    careful = []
    for column in seen.columns:
        if any(reason.clue is Clue.UNDECIDED for reason in column.reasons):
            column = replace(column, role=Role.QUASI_IDENTIFIER.value, reasons=(Reason(Clue.PRECAUTION),))
        careful.append(column)
    return careful


def _head(source: str, columns: Sequence[ColumnProfile], k: int) -> list[str]:
    lines = [
        "# What this file is, what must hold, how to search, and how it is published. Every line is yours to correct.",
        "# Check it: crypsis check plan.toml   Run it: crypsis run plan.toml",
        "",
        "[data]",
        f"source = {_quoted(source)}",
        "",
        "[columns]",
        "# role: identifier (never released) | quasi (an intruder may know it) | confidential | other",
        "# hierarchy: a file, or intervals:5,10,20 | dates:month,year | prefixes:3,2 | merge:8,4",
    ]
    for column in columns:
        entry = f"role = {_quoted(column.role)}, kind = {_quoted(column.kind)}"
        if column.hierarchy:
            entry += f", hierarchy = {_quoted(column.hierarchy)}"
        lines.append(f"{_key(column.name)} = {{ {entry} }}  # {reason_text(column.reasons)}")
    return [
        *lines,
        "",
        "[[require]]",
        "# every released record shares its quasi-identifiers with at least k records",
        'model = "k-anonymity"',
        f"k = {k}",
        "",
        "# Several intruders? One table each; the worst counts.",
        "# [[scenario]]",
        '# name = "neighbour"',
        f"# knows = [{', '.join(_quoted(c.name) for c in columns if c.role == Role.QUASI_IDENTIFIER)[:120]}]",
        "",
    ]


def _searches(head: Sequence[str], folder: Path, k: int) -> list[str]:
    """A table for every search that can treat the file as the plan describes it."""
    table = Plan.parse(tomllib.loads("\n".join(head)), where="draft").table(folder)
    lines = ["# The searches share one front. Settings not written here keep their defaults.", ""]
    # On a large table the quickest goes first, so that there is soon something to see.
    quickest_first = ("lattice", "local-recoding", "partition", "grouping")
    offered = sorted(OFFERED, key=lambda each: quickest_first.index(each[0])) if len(table) > LARGE else OFFERED
    for name, words in offered:
        settings = _settings(name, table, k)
        untouched = [n for n in table.quasi_identifiers if table.attribute(n).kind != Kind.NUMERIC]
        if settings is not None and name == "grouping" and untouched:
            kept = f"{_quoted(untouched[0])} and {len(untouched) - 1} more" if untouched[1:] else _quoted(untouched[0])
            lines += [f"# Left out: grouping ({words}). {kept} would stay as collected, so k could not hold.", ""]
        elif settings is not None:
            lines += ["[[search]]", f"name = {_quoted(name)}  # {words}"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
            lines.append("")
    return lines


def _settings(name: str, table: Table, k: int) -> dict[str, Any] | None:
    """What the search needs to treat the table; None if it cannot, or is not there."""
    if name not in searches:
        return None
    fields = searches[name].model_fields
    chosen: dict[str, Any] = {"k": k} if "k" in fields and name != "lattice" else {}  # a lattice shows every k
    trials: list[Mapping[str, Any]] = [{}, {"missing": "mean"}, {"missing": "aggregate"}]
    if name == "grouping" and len(table) > 20 * k:
        chosen["largest_k"] = 10 * k
    if name == "grouping" and len(table) > 10_000:
        chosen |= {"population": 30, "climbs": 2}
    if name == "partition" and len(table) > LARGE:
        chosen |= {"rungs": 4, "breedings": 2}
    for more in trials:
        try:
            if not searches.build(name, **chosen, **more).obstacle(table):
                return {**chosen, **more}
        except PlanError:
            continue
    return None


def _tail(table: Table) -> list[str]:
    budget = "60s" if len(table) <= 10_000 else "5m" if len(table) <= LARGE else "15m"
    linked = '"record-linkage"'
    if len(table) > LARGE:
        linked = f'{{ name = "record-linkage", sample = {LINKED_OF_MANY} }}'
    return [
        "[run]",
        f'budget = "{budget}"        # or 10m, 500 evaluations, 50 generations',
        'engine = "serial"     # or processes (this machine), dask (a cluster)',
        "",
        "[measures]             # of every solution, whichever search found it",
        'loss = ["cell-loss"]',
        f"risk = [{linked}]" + ("  # the intruder looks for so many people, drawn at random" * (len(table) > LARGE)),
        "",
        "[release]",
        'format = "csv"        # or parquet',
        'order = "shuffled"    # or kept: but the order of rows can betray people',
        'suppression = "1%"    # largest share of records that may be left out',
        "",
    ]


def _quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    """A TOML key: bare where that is allowed."""
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else _quoted(name)
