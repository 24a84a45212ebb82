"""A first plan for a file, drafted from its profile, with a comment on every line."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crypsis.masking.blocks import LARGE
from crypsis.plan.document import Plan
from crypsis.plan.writing import toml_key
from crypsis.searches.offers import offers
from crypsis.table.attribute import Kind, Role
from crypsis.table.profile import LARGEST_SHARE, Clue, ColumnProfile, Profile, Reason
from crypsis.table.table import Table
from crypsis.text import reason_text

LINKED_OF_MANY = 20_000
"""People of a large table on whom a first plan measures record linkage."""


def draft(source: Path, plan: Path, table: Table, seen: Profile, k: int) -> str:
    """Draft a plan for a file.

    Parameters
    ----------
    source : Path
    plan : Path
        Where the plan will be written; paths in it are relative to its folder.
    table : Table
        The data as a table.
    seen : Profile
        Its profile: suggested roles and kinds with their reasons.
    k : int
        Smallest equivalence class.

    Returns
    -------
    str
        TOML with comments.
    """
    head = _head(os.path.relpath(source, plan.parent), _roles(seen), seen.rows, k)
    return "\n".join([*head, *_searches(head, plan.parent, k), *_tail(table)])


def _roles(seen: Profile) -> list[ColumnProfile]:
    """The profile's columns; where it recognised no quasi-identifier, every column that might be one.

    A column in which many records are unique is masked because of its values, whatever it means.
    """
    quasi = [column for column in seen.columns if column.role == Role.QUASI_IDENTIFIER]
    if any(reason.clue is not Clue.SINGLING_OUT for column in quasi for reason in column.reasons[:1]):
        return list(seen.columns)
    careful = []
    for column in seen.columns:
        if any(reason.clue is Clue.UNDECIDED for reason in column.reasons):
            column = replace(column, role=Role.QUASI_IDENTIFIER.value, reasons=(Reason(Clue.PRECAUTION),))
        careful.append(column)
    return careful


def _head(source: str, columns: Sequence[ColumnProfile], rows: int, k: int) -> list[str]:
    lines = [
        "# The data, what must hold, how to search, and how the file is published. Correct any line.",
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
        lines.append(f"{toml_key(column.name)} = {{ {entry} }}  # {reason_text(column.reasons)}")
    return [
        *lines,
        "",
        "[[require]]",
        "# every released record shares its quasi-identifiers with at least k records",
        'model = "k-anonymity"',
        f"k = {k}",
        "",
        *_waivers(columns, rows),
        "# Several intruders: one table each; the worst one counts.",
        "# [[scenario]]",
        '# name = "neighbour"',
        f"# knows = [{', '.join(_quoted(c.name) for c in columns if c.role == Role.QUASI_IDENTIFIER)[:120]}]",
        "",
    ]


def _waivers(columns: Sequence[ColumnProfile], rows: int) -> list[str]:
    """Confidential numbers in which many stand alone are released as they are: the plan says so, and why."""
    amounts = [c for c in columns if c.role == Role.CONFIDENTIAL and c.kind == Kind.NUMERIC]
    lines = []
    for column in amounts:
        share = column.unique / max(rows, 1)
        if share > LARGEST_SHARE:
            name = _one_line(column.name)
            lines += [
                f"# {name}: {100 * share:.3g} % of the records hold a value that no other record holds.",
                "# Whoever knows it finds the record. May somebody outside know it? Make it quasi and delete this.",
                "[[waive]]",
                'finding = "singling-out"',
                f"column = {_quoted(column.name)}",
                'because = "confidential: taken as known to nobody outside, as first drafted"',
                "",
            ]
    return lines


def _searches(head: Sequence[str], folder: Path, k: int) -> list[str]:
    """A table for every search that is worth a try on the file as the plan describes it."""
    table = Plan.parse(tomllib.loads("\n".join(head)), where="draft").table(folder)
    lines = ["# The searches share one front. Settings not written here keep their defaults.", ""]
    for offer in offers(table, k):
        if offer.drawback:
            lines += [f"# Left out: {offer.name} ({offer.purpose}). {' '.join(offer.drawback.split())}.", ""]
            continue
        lines += ["[[search]]", f"name = {_quoted(offer.name)}  # {offer.purpose}"]
        lines += [*(f"{key} = {json.dumps(value)}" for key, value in offer.settings.items()), ""]
    return lines


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
        "[measures]             # of every solution of any search",
        'loss = ["cell-loss"]',
        f"risk = [{linked}]" + ("  # measured on a random sample of people" * (len(table) > LARGE)),
        "",
        "[release]",
        'format = "csv"        # or parquet',
        'order = "shuffled"    # or kept: but the order of rows can identify people',
        'suppression = "1%"    # largest share of records that may be suppressed',
        "",
    ]


def _quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())
