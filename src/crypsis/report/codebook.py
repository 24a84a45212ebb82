"""The public codebook: what each column and each published label means, for those who have `public/` alone.

A label is decoded into the original values it stands for. A value that fewer than three original records hold is
counted and never named, unless the data publish it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import listing
from crypsis.report.content import ReportContent
from crypsis.table.attribute import Attribute, Role
from crypsis.table.hierarchy import MISSING, RARE, Hierarchy
from crypsis.table.table import LOCAL, Table
from crypsis.text import published_weight_text

ROLE_WORDS = {
    Role.QUASI_IDENTIFIER: "others may know it of a person, so it was protected",
    Role.CONFIDENTIAL: "confidential: nobody may learn it about a person",
    Role.WEIGHT: "sampling weight: the number of people of the population for whom a record stands",
    Role.STRATUM: "stratum of the sample",
    Role.OTHER: "neither identifying nor confidential",
    Role.UNDECIDED: "not decided",
}
"""Roles of published columns in plain words."""
RULES = (
    "Do not try to find out who a record belongs to, and do not link the records with other files of people.",
    "Whoever believes to have recognised a person tells the publisher and nobody else.",
    "Do not pass the file on without this codebook, the report and the manifest.",
)
"""What recipients of a release may not do."""
FORMS = {
    "": "numbers, in the unit of the source, with a decimal point",
    "date": "dates as year-month-day",
    "datetime": "dates and times as year-month-day and hours:minutes:seconds",
}
GROUPED_FORMS = {
    "": "groups of numbers, in the unit of the source",
    "date": "groups of dates",
    "datetime": "groups of dates",
}
CATEGORIES = {"ordinal": "categories in an order", "nominal": "categories without an order"}
ITSELF = "this value"
ANYTHING = "any value of the column"
NO_WEIGHT = "There is no sampling weight: every record counts once."
TREATED_WEIGHT = (
    "It is not the weight of the design: it was {done}. Weighted means, shares and totals are close to those of the "
    "source; standard errors that use the design are not to be had from it alone."
)
EMPTY_CELL = "An empty cell is missing: it was never collected, or it was blanked to protect people."
FEW = f"fewer than {RARE} original records hold each"
"""Why values are counted and not named."""

_BETWEEN = re.compile(r"^(-?\d+)–(-?\d+)$")
_UP_TO = re.compile(r"^\[(-?[\d.]+(?:e[+-]?\d+)?), (-?[\d.]+(?:e[+-]?\d+)?)\)$", re.IGNORECASE)
_PART_OF_DATE = re.compile(r"^\d{4}(-\d\d(-\d\d)?|-Q[1-4]|s)?$")


@dataclass(frozen=True, eq=False)
class PublishedLabels:
    """The labels that a column publishes, with what is known of the values behind them."""

    attribute: Attribute  # of the source
    missing: int  # empty cells of the release
    labels: tuple[str, ...] | None  # None for numbers, and for a column that was not counted
    hierarchy: Hierarchy | None = None  # of a generalised or locally recoded column
    nodes: tuple[tuple[int, int], ...] = ()  # (level, group) in use
    counts: NDArray[np.int64] | None = None  # int64[leaves]: original records; None where there is no original


def published_labels(published: Table, masked: Table, original: Table | None) -> Iterator[PublishedLabels]:
    """The labels of every column of a table in memory.

    `published`: as read from the written file; `masked`: with the hierarchies; `original`: with the same rows.
    """
    for name in published.names:
        attribute, level = masked.attribute(name), masked.level(name)
        missing = int(published.missing(name).sum())
        if published.holds_numbers(name):
            yield PublishedLabels(attribute, missing, None)
            continue
        labels, hierarchy = published.labels(name), attribute.hierarchy
        if level == 0 or hierarchy is None:
            yield PublishedLabels(attribute, missing, labels)
            continue
        used = np.unique(masked.column(name)[masked.kept])
        used = used[used != MISSING]
        if level == LOCAL:
            levels = np.searchsorted(hierarchy.offsets, used, side="right") - 1
            nodes = tuple((int(at), int(node - hierarchy.offsets[at])) for at, node in zip(levels, used, strict=True))
        else:
            nodes = tuple((level, int(group)) for group in used)
        counts = None if original is None else _leaf_counts(original, name, hierarchy)
        yield PublishedLabels(attribute, missing, labels, hierarchy, nodes, counts)


def _leaf_counts(original: Table, name: str, hierarchy: Hierarchy) -> NDArray[np.int64] | None:
    """int64[leaves]: how many original records hold each value; None where the original is generalised itself."""
    if original.level(name) != 0:
        return None
    column = original.column(name)
    if original.holds_numbers(name):
        values, held = np.unique(column[~np.isnan(column)], return_counts=True)
        known: dict[Any, int] = dict(zip(values.tolist(), held.tolist(), strict=True))
        leaves: Sequence[Any] = hierarchy.values.tolist()
    else:
        categories = original.labels(name)
        held = np.bincount(column[column != MISSING], minlength=len(categories))
        known = dict(zip(categories, held.tolist(), strict=True))
        leaves = hierarchy.labels[0]
    return np.array([known.get(leaf, 0) for leaf in leaves], dtype=np.int64)


def codebook_facts(
    content: ReportContent, columns: Sequence[PublishedLabels], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """The codebook as plain data; `schema`: that of the published file."""
    reported = {each.name: each for each in content.columns}
    kinds = {each["name"]: each["kind"] for each in schema["columns"]}
    weights = [each.attribute.name for each in columns if Role(reported[each.attribute.name].role) is Role.WEIGHT]
    entries = []
    for each in columns:
        name = each.attribute.name
        column, role = reported[name], Role(reported[name].role)
        entries.append({
            "name": name,
            "label": each.attribute.label,
            "kind": kinds[name],
            "role": role.value,
            "meaning": ROLE_WORDS[role],
            "done": column.treatment,
            "form": _form(each, kinds[name]),
            "missing": each.missing,
            "values": column.distinct_after,
            "labels": None if each.labels is None else [_decode(each, label) for label in each.labels],
        })  # fmt: skip
    date = content.written[:10]
    return {
        "title": content.title,
        "version": content.version,
        "written": content.written,
        "rows": content.rows_after,
        "file": schema["file"],
        "cite": f"{content.title}. Protected microdata, {content.rows_after} records, released {date}.",
        "rules": list(RULES),
        "weights": weights_text(weights, _weight_done(columns)),
        "empty": EMPTY_CELL,
        "few": FEW,
        "columns": entries,
    }


def _weight_done(columns: Sequence[PublishedLabels]) -> str:
    """What was done to the published weight; empty where nothing was."""
    return next((published_weight_text(each.attribute.publish) for each in columns if each.attribute.publish), "")


def weights_text(names: Sequence[str], done: str = "") -> str:
    """Which column weighs the records, and what was done to it."""
    if not names:
        return NO_WEIGHT
    text = f"Weigh every estimate by {listing(names)}: without it the records speak of the sample alone."
    return f"{text} {TREATED_WEIGHT.format(done=done)}" if done else text


def _form(column: PublishedLabels, kind: str) -> str:
    """How the cells of a column are written."""
    if kind == "numeric":
        return FORMS[column.attribute.dates]
    return GROUPED_FORMS[column.attribute.dates] if column.attribute.numeric else CATEGORIES[kind]


def _decode(column: PublishedLabels, label: str) -> dict[str, Any]:
    """What a label stands for: a text, the members that may be named, and how many may not."""
    hierarchy = column.hierarchy
    if hierarchy is None:
        return _entry(label, ITSELF, [label])
    leaves = np.zeros(hierarchy.size, dtype=np.bool_)
    for level, group in column.nodes:
        if hierarchy.labels[level][group] == label:
            leaves |= hierarchy.groups[level] == group
    inside = np.flatnonzero(leaves)
    if [hierarchy.labels[0][leaf] for leaf in inside] == [label]:
        return _entry(label, ITSELF, [label])
    bounds = _bounds(label, hierarchy.values[inside]) if len(hierarchy.values) else None
    if bounds is not None:
        low, high, text = bounds
        return _entry(label, text, low=low, high=high)
    if len(hierarchy.values) and column.attribute.dates and _PART_OF_DATE.match(label):
        return _entry(label, f"every date in {label}")
    everything = len(inside) == hierarchy.size
    if everything and len(hierarchy.values):
        return _entry(label, ANYTHING)
    if column.counts is None:
        text = ANYTHING if everything else f"one of {len(inside)} values that are not named, as no original was given"
        return _entry(label, text, rare=len(inside))
    named = [hierarchy.labels[0][leaf] for leaf in inside if column.counts[leaf] >= RARE]
    text = members_text(named, len(inside) - len(named))
    return _entry(label, f"{ANYTHING}: {text}" if everything else text, named, len(inside) - len(named))


def _entry(
    label: str, stands_for: str, members: Sequence[str] = (), rare: int = 0, low: str = "", high: str = ""
) -> dict[str, Any]:
    """A label of the codebook; bounds are given for intervals alone."""
    entry = {"label": label, "stands_for": stands_for, "members": list(members), "rare": rare}
    return {**entry, "low": low, "high": high} if low else entry


def members_text(named: Sequence[str], rare: int) -> str:
    """The values of a group, of which some are counted and not named.

    >>> members_text(["clerk", "sales"], 0), members_text(["clerk"], 2)
    ('clerk or sales', 'clerk, or one of 2 values that fewer than 3 original records hold each')
    >>> members_text([], 1)
    'one value that fewer than 3 original records hold'
    """
    *others, last = named or [""]
    words = f"{', '.join(others)} or {last}" if others else last
    if not rare:
        return words
    few = f"one of {rare} values that {FEW}" if rare > 1 else f"one value that fewer than {RARE} original records hold"
    return f"{', '.join(named)}, or {few}" if named else few


def _bounds(label: str, values: NDArray[np.float64]) -> tuple[str, str, str] | None:
    """The ends of an interval and a text, from a label that says them and holds all its numbers; else None."""
    found = _BETWEEN.match(label)
    if found and float(found[1]) <= values.min() and values.max() <= float(found[2]):
        return found[1], found[2], f"whole numbers from {found[1]} to {found[2]}, both included"
    found = _UP_TO.match(label)
    if found and float(found[1]) <= values.min() and values.max() <= float(found[2]):
        return found[1], found[2], f"numbers from {found[1]} on and below {found[2]}"
    return None


def codebook_words() -> str:
    """Text of a codebook that does not depend on the data, with every form of a sentence."""
    fixed = [*ROLE_WORDS.values(), *RULES, *FORMS.values(), *GROUPED_FORMS.values(), *CATEGORIES.values()]
    fixed += [ITSELF, ANYTHING, NO_WEIGHT, weights_text(["0"], "0"), EMPTY_CELL, FEW, members_text([], 1)]
    fixed += [members_text(["0", "1"], rare) for rare in (0, 2)]
    fixed += ["Protected microdata, 0 records, released 0."]
    fixed += ["one of 0 values that are not named, as no original was given"]
    fixed += ["whole numbers from 0 to 1, both included", "numbers from 0 on and below 1", "every date in 0"]
    return "\n".join(fixed)


def named_in_codebook(facts: Mapping[str, Any]) -> list[str]:
    """What a codebook names on purpose, as JSON and HTML write it: labels of columns, and members of labels."""
    texts = [str(column["label"]) for column in facts["columns"]]
    texts += [str(name) for c in facts["columns"] for entry in c["labels"] or () for name in entry["members"]]
    return [form for text in texts for form in dict.fromkeys((text, html.escape(text), json.dumps(text)[1:-1]))]
