"""The maskings of a first plan: columns published beside the quasi-identifiers that would single people out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import Kind, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.profile import LARGEST_SHARE, RARE, ColumnProfile
from crypsis.table.rules import RecognisedDerivation
from crypsis.table.table import Table

MASKED_ALONE = (Role.CONFIDENTIAL, Role.WEIGHT, Role.STRATUM)
"""Roles of columns that are published beside the quasi-identifiers."""


def draft_maskings(
    table: Table,
    columns: Sequence[ColumnProfile],
    k: int,
    stated: Collection[str],
    derived: Sequence[RecognisedDerivation] = (),
    treated: Collection[str] = (),
) -> list[str]:
    """The tables [[mask]] of a first plan, as lines.

    `k`: records that share a value at least; `derived`: columns that are recomputed, so that those they follow from are
    masked in their place; `treated`: weights that are treated in their own way.
    """
    if len(table) < k:
        return []
    alone = {c.name for c in columns if c.unique > LARGEST_SHARE * max(len(table) - c.missing, 1)}
    following = {each.name for each in derived}
    alone |= {name for each in derived if each.name in alone for name in each.columns}
    averaged: dict[Role, list[str]] = {}
    lines = list[str]()
    for column in columns:
        role, many = Role(column.role), column.name in alone
        if column.name in following or column.name in treated:
            continue
        if role not in MASKED_ALONE or not (many or (column.rare and column.name not in stated)):
            continue
        if column.kind == Kind.NOMINAL:
            lines += [] if many else _merge(table, column.name, k)
            continue
        ends = [] if many or not table.holds_numbers(column.name) else list(_code_ends(table, column.name, k))
        if ends:
            lines += ends
        elif column.unique:
            averaged.setdefault(role, []).append(column.name)
    return [*(line for names in averaged.values() for line in _average(names, k)), *lines]


def _average(names: Sequence[str], k: int) -> list[str]:
    """Averages of groups of near values."""
    what = "their values" if len(names) > 1 else "its values"
    return [
        f"# Records are alone with {what}, by which they could be found: groups of {k} near ones are",
        "# averaged. May somebody outside know a value? Make it quasi. Is it as safe as it stands? Waive it.",
        "[[mask]]",
        'method = "microaggregation"',
        f"columns = [{', '.join(json.dumps(name, ensure_ascii=False) for name in names)}]",
        f"k = {k}",
        "",
    ]


def _merge(table: Table, name: str, k: int) -> list[str]:
    """The rarest categories become one that at least k records hold; one that is common stands for them."""
    counts = np.sort(count_drafted_values(table, name))
    few = counts < RARE if counts[counts < RARE].sum() <= LARGEST_SHARE * counts.sum() else counts == 1
    if len(counts) < 2 or not few.any():
        return []
    enough = int(np.searchsorted(np.cumsum(counts), k)) + 1
    width = min(max(int(few.sum()), enough, 2), len(counts))
    common = counts[:width].sum() > LARGEST_SHARE * counts.sum()
    return [
        f"# Some categories are held by hardly anybody, who could be found by them: the {width} rarest become one"
        f"{', called like the most common of them' if common else ''}.",
        "[[mask]]",
        'method = "global-recoding"',
        f"columns = [{json.dumps(name, ensure_ascii=False)}]",
        f"depth = {width - 1}",
        *(['label = "representative"'] if common else []),
        "",
    ]


def _code_ends(table: Table, name: str, k: int) -> Iterator[str]:
    """The thin ends of a column are coded; nothing if that leaves rare values or touches too many records."""
    column = table.column(name)
    ordered = np.sort(column[~np.isnan(column)])
    values, counts = np.unique(ordered, return_counts=True)
    rare = values[counts < RARE]
    middle, last = ordered[len(ordered) // 2], len(ordered) - 1
    high, low = rare[rare >= middle], rare[rare < middle]
    top = min(high[0], ordered[-k]) if high.size else ordered[-1]
    bottom = max(low[-1], ordered[k - 1]) if low.size else ordered[0]
    folded = np.sum(ordered > top) + np.sum(ordered < bottom)
    left = np.unique(np.clip(ordered, bottom, top), return_counts=True)[1]
    if bottom >= top or folded > LARGEST_SHARE * len(ordered) or left.min() < RARE:
        return
    yield "# Few records lie at the ends of this column, by which they could be found: the ends become one value."
    if top < ordered[-1]:
        place = int(np.searchsorted(ordered, top, "right")) - 1
        yield from _code("top", name, 100 - 100 * (place + 0.5) / last)
    if bottom > ordered[0]:
        yield from _code("bottom", name, 100 * (int(np.searchsorted(ordered, bottom)) - 0.5) / last)


def _code(end: str, name: str, percent: float) -> list[str]:
    return [
        "[[mask]]",
        f'method = "{end}-coding"',
        f"columns = [{json.dumps(name, ensure_ascii=False)}]",
        f"percent = {percent:.8g}",
        "",
    ]


def count_drafted_values(table: Table, name: str) -> NDArray[np.int64]:
    """int64[values]: how many records hold each value that occurs."""
    codes = table.codes([name])[:, 0]
    counts = np.bincount(codes[codes != MISSING])
    return counts[counts > 0]
