"""Rules that a table keeps without exception and that look meant, for a first plan.

A relation is proposed only if every record with all its values keeps it, at least 30 do, and independent columns with
the same values would hardly do so: the chance is at most one in 2^40 for each relation looked at. Looked for are sums
and the order of two columns of dates or of numbers that overlap; and, among masked columns alone, as relations with
what was studied are findings, not rules: a category that is the only one below or above a number, and one that implies
another. Columns that determine each other are left out: they are linked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import log2

import numpy as np

from crypsis.kernels.arrays import Floats
from crypsis.table.attribute import Attribute
from crypsis.table.hierarchy import MISSING
from crypsis.table.links import links
from crypsis.table.rules.grammar import KEYWORDS
from crypsis.table.table import Table

EVIDENCE = 40.0
"""Bits of surprise a relation must hold, beyond those that the number of relations looked at would explain."""
RECORDS = 30
"""Records that must keep a relation."""
MOST = 8
"""Rules that are proposed."""
MOST_NUMBERS, MOST_CATEGORIES = 24, 24
"""Columns that are looked at: the first ones."""
TRIED = 200
"""Records on which sums are tried before all are asked."""


@dataclass(frozen=True)
class ProposedRule:
    """A rule, the records that show it, and how surprising that is in bits.

    >>> ProposedRule("start <= end", 200, 151.0).records
    200
    """

    rule: str
    records: int
    bits: float


def proposed_rules(table: Table, names: Sequence[str], masked: Iterable[str]) -> tuple[ProposedRule, ...]:
    """Propose rules between columns.

    >>> rng = np.random.default_rng(0)
    >>> start = rng.integers(0, 100, 200)
    >>> table = Table.from_columns({"start": start.tolist(), "end": (start + rng.integers(0, 50, 200)).tolist()})
    >>> [each.rule for each in proposed_rules(table, table.names, ["start"])]
    ['start <= end']
    """
    aimed = set(masked)
    numbers = [n for n in names if table.holds_numbers(n)][:MOST_NUMBERS]
    categories = [n for n in names if not table.attribute(n).numeric and table.level(n) == 0][:MOST_CATEGORIES]
    sums = list(_sums(table, numbers))
    summed = {frozenset(used) for used, _ in sums}
    found = [each for used, each in sums if aimed & set(used)]
    for used, each in _orders(table, numbers):
        if aimed & set(used) and not any(set(used) <= whole for whole in summed):
            found.append(each)
    linked = {frozenset((each.name, each.lead)) for each in links(table, [*categories, *numbers])}
    within = [name for name in categories if name in aimed]
    weaker = [
        *_bounds(table, [name for name in numbers if name in aimed], within, linked),
        *_implications(table, within, linked),
    ]
    weaker.sort(key=lambda each: (-each.bits, each.rule))
    return tuple((found + weaker)[:MOST])


def _sums(table: Table, names: Sequence[str]) -> Iterable[tuple[tuple[str, ...], ProposedRule]]:
    """Columns that are the sum of two or three others."""
    values = {name: table.column(name) for name in names if not table.attribute(name).dates}
    seen: set[frozenset[str]] = set()
    for total in values:
        others = [name for name in values if name != total]
        for parts in (*combinations(others, 2), *(combinations(others, 3) if len(others) <= 12 else ())):
            used = (total, *parts)
            if frozenset(used) in seen or any(whole < set(used) for whole in seen):
                continue
            if _adds_up(values[total], [values[part] for part in parts]):
                seen.add(frozenset(used))
                known = ~np.isnan(np.stack([values[name] for name in used])).any(axis=0)
                spread = len(np.unique(values[total][known]))
                bits = int(known.sum()) * log2(max(spread, 2))
                yield used, ProposedRule(f"{_name(total)} = {' + '.join(map(_name, parts))}", int(known.sum()), bits)


def _adds_up(total: Floats, parts: Sequence[Floats]) -> bool:
    """Whether parts of which none is mostly zero or constant add up to the total wherever all are known."""
    stacked = np.stack([total, *parts])
    known = np.flatnonzero(~np.isnan(stacked).any(axis=0))
    if len(known) < RECORDS:
        return False
    for rows in (known[:TRIED], known):
        part = stacked[:, rows]
        room = 1e-9 + 1e-9 * np.abs(part).max(axis=0)
        if (np.abs(part[0] - part[1:].sum(axis=0)) > room).any():
            return False
    return all(len(np.unique(row)) > 2 and np.mean(row != 0) >= 0.1 for row in part)


def _orders(table: Table, names: Sequence[str]) -> Iterable[tuple[tuple[str, str], ProposedRule]]:
    """Pairs of dates, or of numbers with overlapping ranges, of which one is never above the other."""
    pairs = [
        (low, high) for low, high in permutations(names, 2) if table.attribute(low).dates == table.attribute(high).dates
    ]
    for low, high in pairs:
        known = ~np.isnan(table.column(low)) & ~np.isnan(table.column(high))
        one, other = table.column(low)[known], table.column(high)[known]
        if len(one) < RECORDS or (one > other).any() or (one == other).all() or one.max() <= other.min():
            continue
        # The chance that a record keeps the order if each value met any other: by ranks, for every pair of records.
        keeping = float(np.mean(np.searchsorted(np.sort(one), other, side="right"))) / len(one)
        bits = len(one) * log2(1 / max(keeping, 1e-12)) - log2(len(pairs))
        if bits >= EVIDENCE:
            yield (low, high), ProposedRule(f"{_name(low)} <= {_name(high)}", len(one), bits)


Pairs = Collection[frozenset[str]]


def _bounds(table: Table, numbers: Sequence[str], categories: Sequence[str], linked: Pairs) -> Iterable[ProposedRule]:
    """Below or above a number, all records have one category."""
    looked = max(2 * len(numbers) * sum(len(table.attribute(name).categories) for name in categories), 1)
    for name in numbers:
        for other in categories:
            if frozenset((name, other)) in linked:
                continue
            known = ~np.isnan(table.column(name)) & (table.column(other) != MISSING)
            value, code = table.column(name)[known], table.column(other)[known]
            best: ProposedRule | None = None
            for category in np.unique(code).tolist():
                rest = value[code != category]
                if not len(rest) or table.attribute(name).dates:
                    continue
                share = float(np.mean(code == category))
                for sign, cut in (("<", _round(rest.min(), np.floor)), (">", _round(rest.max(), np.ceil))):
                    count = int((value < cut if sign == "<" else value > cut).sum())
                    bits = count * log2(1 / share) - log2(looked)
                    if count >= RECORDS and bits >= EVIDENCE and (best is None or bits > best.bits):
                        then = f"{_name(other)} = {_text(table.attribute(other), category)}"
                        best = ProposedRule(f"if {_name(name)} {sign} {cut:.12g} then {then}", count, bits)
            if best is not None and "'" not in _categories_text(table, other):
                yield best


def _implications(table: Table, names: Sequence[str], linked: Pairs) -> Iterable[ProposedRule]:
    """Categories whose records all have one category of another column."""
    looked = max(sum(len(table.attribute(name).categories) for name in names) * len(names), 1)
    for one, other in permutations(names, 2):
        if frozenset((one, other)) in linked:
            continue
        known = (table.column(one) != MISSING) & (table.column(other) != MISSING)
        first, second = table.column(one)[known], table.column(other)[known]
        shape = (len(table.attribute(one).categories), len(table.attribute(other).categories))
        if not len(first) or "'" in _categories_text(table, one) + _categories_text(table, other):
            continue
        counts = np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1]).reshape(shape)
        share = counts.sum(axis=0) / len(first)
        for category in np.flatnonzero((counts > 0).sum(axis=1) == 1).tolist():
            implied = int(np.argmax(counts[category]))
            support = int(counts[category, implied])
            if support < RECORDS or share[implied] >= 1:
                continue
            bits = support * log2(1 / share[implied]) - log2(looked)
            if bits >= EVIDENCE:
                then = f"{_name(other)} = {_text(table.attribute(other), implied)}"
                yield ProposedRule(
                    f"if {_name(one)} = {_text(table.attribute(one), category)} then {then}", support, bits
                )


def _round(value: float, towards: Callable[[float], float]) -> float:
    """A number of two digits on one side of another: a rule must not name the value of a record."""
    if not value:
        return 0.0
    step = 10.0 ** (np.floor(np.log10(abs(value))) - 1)
    return float(f"{towards(round(value / step, 9)) * step:.12g}")


def _categories_text(table: Table, name: str) -> str:
    return "".join(table.attribute(name).categories)


def _text(attribute: Attribute, code: int) -> str:
    return f"'{attribute.categories[code]}'"


def _name(name: str) -> str:
    """A column as a rule names it."""
    plain = name.replace(".", "").isidentifier() and name.lower() not in KEYWORDS and not name.startswith(".")
    return name if plain else f"`{name}`"
