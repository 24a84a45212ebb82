"""Repair of edit rules that a masking broke: whole classes take values that keep them, or are coarsened or blanked.

A class of records that are published alike stays one, so that class sizes never fall. A rule `total = …` is mended by
the sum itself, which every record of the class shares; a rule `start <= end` of two masked numbers by their middle, so
that both move as little as they can and their sum stays; any other by a value that records of the class hold and with
which the rule is kept. Where none of these does, the column that costs least is published as the common ancestor of its
collected values, or not at all: cells that are blank in some classes only would bias every mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.arrays import Flags
from crypsis.kernels.exchanges import ExchangeRules
from crypsis.masking.representatives import choose_representative_nodes
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.hierarchy import MISSING
from crypsis.table.precision import decimals
from crypsis.table.rules import EditRule, violations
from crypsis.table.rules.grammar import Arithmetic, ColumnValue, Constant, Relation, Value
from crypsis.table.table import LOCAL, Table

OTHERS = 4
"""Values of a class that are tried in place of the one that breaks a rule."""
LEAST = 3
"""Records of a class whose common ancestor is published; that of fewer would give back what was masked."""


def repair(masked: Table, original: Table, rules: Sequence[EditRule]) -> Table:
    """The masked table with every rule mended that it broke and that can be mended by its masked columns.

    >>> from crypsis.table.rules import read_rule
    >>> columns = {"kin": ["husband", "wife", "husband"], "sex": ["m", "f", "m"]}
    >>> original = Table.from_columns(columns, {"kin": "quasi", "sex": "quasi"})
    >>> masked = original.with_columns({"kin": np.array([0, 0, 0]), "sex": np.array([0, 0, 0])})
    >>> mended = repair(masked, original, [read_rule("if kin = 'husband' then sex = 'm'")])
    >>> violations(read_rule("if kin = 'husband' then sex = 'm'"), mended).tolist()
    [False, False, False]
    """
    for rule in rules:
        broken = _find_created(rule, masked, original)
        if broken.any():
            masked = _restore_order(rule, _recompute_total(rule, masked, original, broken), original, broken)
    for rule in rules:
        broken = _find_created(rule, masked, original)
        while broken.any():
            better = _coarser(rule, masked, original, broken)
            if better is None:
                break
            masked, broken = better, _find_created(rule, better, original)
    return masked


def _find_created(rule: EditRule, masked: Table, original: Table) -> Flags:
    """Published records that kept the rule and break it now."""
    return np.asarray(masked.kept & violations(rule, masked) & ~violations(rule, original, collected=True))


def _whole_classes(masked: Table, rows: Flags) -> Flags:
    """All records of the classes in which some rows are."""
    classes = classes_of(masked, masked.quasi_identifiers)
    inside = np.zeros(classes.count + 1, dtype=np.bool_)
    inside[classes.of[rows]] = True
    inside[-1] = False
    return np.asarray(inside[classes.of])


def _open(masked: Table, names: Iterable[str]) -> list[str]:
    """Columns that may be changed: quasi-identifiers that are not locked."""
    return [name for name in names if name in masked.quasi_identifiers and not masked.attribute(name).locked]


def _recompute_total(rule: EditRule, masked: Table, original: Table, broken: Flags) -> Table:
    """With a total of numbers computed anew where the rule says what it is."""
    condition = rule.condition
    if not isinstance(condition, Relation) or condition.sign != "=":
        return masked
    for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
        if (
            not isinstance(one, ColumnValue)
            or one.name not in _open(masked, [one.name])
            or not masked.holds_numbers(one.name)
        ):
            continue
        values = _value(masked, other)
        if values is None:
            continue
        rows = _whole_classes(masked, broken) & ~np.isnan(values)
        shared = np.where(rows, np.round(values, decimals(original.column(one.name))), masked.column(one.name))
        mended = masked.with_columns({one.name: shared})
        if _alike(mended, rows, masked):
            return mended
    return masked


def _restore_order(rule: EditRule, masked: Table, original: Table, broken: Flags) -> Table:
    """With two masked numbers that changed places brought together in the middle, where the rule orders them."""
    condition = rule.condition
    if not isinstance(condition, Relation) or condition.sign not in ("<", "<=", ">", ">="):
        return masked
    sides = (condition.left, condition.right) if condition.sign[0] == "<" else (condition.right, condition.left)
    names = [side.name for side in sides if isinstance(side, ColumnValue)]
    if len(_open(masked, names)) < 2 or not all(map(masked.holds_numbers, names)):
        return masked
    low, high = (masked.column(name) for name in names)
    rows = _whole_classes(masked, broken) & (low >= high)
    steps = [10.0 ** -decimals(original.column(name)) for name in names]
    middle = (low + high) / 2
    below, above = np.floor(middle / steps[0] + 1e-9) * steps[0], np.ceil(middle / steps[1] - 1e-9) * steps[1]
    if condition.sign in ("<", ">"):
        above = np.where(above <= below, below + steps[1], above)
    found = {}
    for name, column, wanted, step in zip(names, (low, high), (below, above), steps, strict=True):
        collected = original.column(name)
        inside = np.clip(wanted, np.nanmin(collected), np.nanmax(collected))
        found[name] = np.where(rows, np.round(inside / step) * step, column)
    return masked.with_columns(found)


def _alike(mended: Table, rows: Flags, masked: Table) -> bool:
    """Whether no class was split by a change of some rows."""
    before, after = classes_of(masked, masked.quasi_identifiers), classes_of(mended, mended.quasi_identifiers)
    first = np.full(before.count, -1, dtype=np.int64)
    first[before.of[rows][::-1]] = after.of[rows][::-1]
    return bool((first[before.of[rows]] == after.of[rows]).all())


def _value(table: Table, node: Value) -> NDArray[np.float64] | None:
    """The numbers of an expression over columns of numbers; None if it holds anything else."""
    if isinstance(node, Constant):
        return None if isinstance(node.value, str) else np.full(len(table), node.value)
    if isinstance(node, ColumnValue):
        plain = table.holds_numbers(node.name) and not table.attribute(node.name).dates
        return table.column(node.name) if plain else None
    assert isinstance(node, Arithmetic)
    left, right = _value(table, node.left), _value(table, node.right)
    if left is None or right is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {"+": left + right, "-": left - right, "*": left * right, "/": left / right}[node.sign]
    return np.where(np.isfinite(found), found, np.nan)


def _coarser(rule: EditRule, masked: Table, original: Table, broken: Flags) -> Table | None:
    """With one column coarser in the offending classes: the change that mends a record at the least cost in cells."""
    rows = _whole_classes(masked, broken)
    best: tuple[float, Table] | None = None
    for cost, changed in _changes(rule, masked, original, rows):
        left = int(_find_created(rule, changed, original).sum())
        mended = int(broken.sum()) - left
        if mended > 0 and (best is None or cost / mended < best[0]):
            best = cost / mended, changed
    return None if best is None else best[1]


def _changes(rule: EditRule, masked: Table, original: Table, rows: Flags) -> Iterator[tuple[float, Table]]:
    """The masked columns of a rule made coarser in some classes, each with its cost in lost cells, by importance."""
    for name in _open(masked, rule.columns):
        kin = _kin(masked, name)
        weight = sum(max(masked.attribute(each).importance, 0.1) for each in kin)
        if len(kin) == 1 and masked.level(name) == 0:
            for place in range(OTHERS):
                other, changed = _take_held_value(masked, original, name, rows, place)
                still = _whole_classes(changed, _find_created(rule, changed, original) & other)
                column = np.where(still, masked.column(name), changed.column(name))
                wrong = [(each != original.column(name))[other].sum() for each in (column, masked.column(name))]
                more = 0.25 * other.sum() if masked.attribute(name).numeric else max(wrong[0] - wrong[1], 0)
                yield weight * (float(more) + 0.05 * float(other.sum())), masked.with_columns({name: column})
        if _has_ancestors(masked, name):
            coarser = masked
            for each in kin:
                generalise = _has_ancestors(masked, each)
                coarser = _generalise(coarser, original, each, rows) if generalise else _blank(coarser, each, rows)
            yield weight * 0.5 * float(rows.sum()), coarser
        blank = masked
        for each in kin:
            blank = _blank(blank, each, rows)
        yield weight * float((rows & ~masked.missing(name)).sum()), blank


def _kin(masked: Table, name: str) -> list[str]:
    """A column and those it is linked with, which would tell what is coarser in it."""
    lead = masked.attribute(name).linked or name
    return [
        each for each in _open(masked, masked.names) if each in (name, lead) or masked.attribute(each).linked == lead
    ]


def _take_held_value(masked: Table, original: Table, name: str, rows: Flags, place: int) -> tuple[Flags, Table]:
    """With another value that records of each offending class hold, the most frequent one first; and where it is."""
    collected, published = original.column(name), masked.column(name)
    values, codes, people = np.unique(collected, return_inverse=True, return_counts=True)
    classes = classes_of(masked, masked.quasi_identifiers)
    usable = rows & ~original.missing(name) & (collected != published)
    if original.attribute(name).numeric:
        usable &= people[codes] > 1
    keys, records = np.unique(classes.of[usable] * np.int64(len(values)) + codes[usable], return_counts=True)
    of, code = keys // len(values), keys % len(values)
    order = np.lexsort((code, -records, of))
    of, code = of[order], code[order]
    rank = np.arange(len(of)) - np.searchsorted(of, of)
    chosen = np.full(classes.count + 1, -1, dtype=np.int64)
    chosen[of[rank == place]] = code[rank == place]
    taken = rows & (chosen[classes.of] >= 0)
    column = np.where(taken, values[np.maximum(chosen[classes.of], 0)], published).astype(published.dtype)
    return taken, masked.with_columns({name: column})


def _has_ancestors(masked: Table, name: str) -> bool:
    attribute = masked.attribute(name)
    return not attribute.numeric and attribute.hierarchy is not None and masked.level(name) in (0, LOCAL)


def _blank(masked: Table, name: str, rows: Flags) -> Table:
    column = masked.column(name).copy()
    column[rows] = np.nan if masked.holds_numbers(name) else MISSING
    return masked.with_columns({name: column})


def _generalise(masked: Table, original: Table, name: str, rows: Flags) -> Table:
    """With the common ancestor of the collected values of each offending class in one column."""
    hierarchy = masked.attribute(name).hierarchy
    assert hierarchy is not None
    leaves = original.leaf_codes(name)
    column = masked.column(name).copy()
    if masked.level(name) == 0:
        column = masked.leaf_codes(name).copy()
    classes = classes_of(masked, masked.quasi_identifiers)
    inside = np.flatnonzero(rows)
    groups = np.unique(classes.of[inside], return_inverse=True)[1]
    present = leaves[inside] != MISSING
    nodes, found = choose_representative_nodes(
        hierarchy, leaves[inside][present], groups[present], int(groups.max(initial=-1)) + 1
    )
    found[groups[~present]] = False
    found &= np.bincount(groups, minlength=len(found)) >= LEAST
    column[inside] = np.where(found, nodes, MISSING)[groups]
    return masked.with_columns({name: column}, {name: LOCAL})


def find_records_to_repair(rules: ExchangeRules, donors: NDArray[np.int32]) -> NDArray[np.bool_]:
    """bool[n]: records to repair, which after masking break an edit rule that they kept as collected.

    `donors` int32[n, u].
    """
    own, found = np.arange(len(donors)), np.zeros(len(donors), np.bool_)
    for r, start in enumerate(rules.starts):
        at = np.full(len(donors), start)
        for place in range(rules.bounds[r], rules.bounds[r + 1]):
            unit = rules.units[place]
            at += rules.strides[place] * rules.codes[rules.columns[place], own if unit < 0 else donors[:, unit]]
        found |= ~rules.allowed[at] & ~rules.exempt[r]
    return found
