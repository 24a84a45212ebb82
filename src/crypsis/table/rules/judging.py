"""Rules judged on tables by polars: which records keep a rule, break it, or leave it undecided.

A published cell stands for the values it may have had: a number for itself, an interval for its numbers, a node of a
hierarchy for its leaves, a blank for anything. A rule is broken only where no such value would keep it, judged part by
part: what is possible for each comparison alone is taken to be possible together. Numbers are compared with a tolerance
of 1e-9, absolute and relative to the larger one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.errors import PlanError, TableError, unknown_column
from crypsis.table.attribute import Kind
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.rules.grammar import (
    CONDITIONS,
    Absence,
    Applied,
    ColumnValue,
    Condition,
    Constant,
    Cut,
    Derivation,
    EditRule,
    Junction,
    Membership,
    Negation,
    Relation,
    Value,
)
from crypsis.table.table import LOCAL, Table

DAY = 86_400.0
"""Seconds of a day: in rules, dates and times count days."""
CLOSE = 1e-9
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Truth(NamedTuple):
    """Whether a condition holds for certain, and whether it may."""

    surely: pl.Expr
    maybe: pl.Expr


class Span(NamedTuple):
    """The least and the largest number a value may be."""

    low: pl.Expr
    high: pl.Expr


@dataclass(frozen=True)
class RuleCounts:
    """Records by how they keep a rule before and after masking."""

    records: int  # published records
    created: int  # kept before and broken after
    healed: int  # broken before and not after
    kept: int  # broken both times
    undecided: int  # published so that the rule may be kept or broken


def violations(rule: EditRule, table: Table, collected: bool = False) -> NDArray[np.bool_]:
    """Which records break a rule whatever their blanked and generalised cells stand for.

    Returns bool[n].

    >>> from crypsis.table.rules import read_rule
    >>> table = Table.from_columns({"start": [1, 5, None], "end": [2, 4, 3]})
    >>> violations(read_rule("start <= end"), table).tolist()
    [False, True, False]
    """
    return _judge_rule(rule, table, collected)[1]


def judge_rule_violations(rule: EditRule, original: Table, masked: Table) -> RuleCounts:
    """A rule judged on the original and on the masked table: published records that keep or break it.

    `original`, `masked`: row by row the same records.
    """
    before = violations(rule, original, collected=True)
    sure, broken = _judge_rule(rule, masked, False)
    shown = masked.kept
    return RuleCounts(
        int(shown.sum()),
        int((shown & ~before & broken).sum()),
        int((shown & before & ~broken).sum()),
        int((shown & before & broken).sum()),
        int((shown & ~sure & ~broken).sum()),
    )


def rule_obstacle(rule: EditRule, table: Table) -> str:
    """Why a rule cannot be judged on a table; empty if it can."""
    unknown = unknown_column(rule.columns, table.names)
    if unknown:
        return unknown
    try:
        violations(rule, table.take(np.arange(min(len(table), 5))), collected=True)
    except (PlanError, TableError) as error:
        return str(error)
    return ""


def _judge_rule(rule: EditRule, table: Table, collected: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether every record keeps the rule for certain, and whether it breaks it for certain."""
    judge = _Judge(rule, table, collected)
    truth = judge.condition(rule.condition)
    found = pl.DataFrame(judge.columns).select(truth.surely.alias("surely"), truth.maybe.alias("maybe"))
    return found["surely"].to_numpy().astype(np.bool_), ~found["maybe"].to_numpy().astype(np.bool_)


def reckon_derivation(derivation: Derivation, table: Table) -> NDArray[np.float64]:
    """float64[n]: what a derivation gives of the cells of a table; NaN where they leave it open.

    A condition gives 1 or 0, a cut the place of its label. A generalised cell stands for all its values: where these do
    not give one and the same result, there is none.

    >>> from crypsis.table.rules import read_derivation
    >>> table = Table.from_columns({"wage": [10, 20, None], "bonus": [1, 2, 3]})
    >>> reckon_derivation(read_derivation("wage + bonus"), table).tolist()
    [11.0, 22.0, nan]
    """
    node = derivation.node
    judge = _Judge(EditRule(derivation.text, Absence(ColumnValue(""))), table, collected=True)
    if isinstance(node, CONDITIONS):
        truth = judge.condition(node)
        low, high = truth.surely.cast(pl.Float64), truth.maybe.cast(pl.Float64)
    elif isinstance(node, Cut):
        span = judge._span(node.value)
        low, high = (pl.sum_horizontal([(end >= bound).cast(pl.Float64) for bound in node.bounds]) for end in span)
    else:
        low, high = judge._span(node)
    found = pl.DataFrame(judge.columns).select(low.alias("low"), high.alias("high"))
    least, most = (found[end].to_numpy().astype(np.float64) for end in ("low", "high"))
    return np.where((least == most) & np.isfinite(least), least, np.nan)


class _Judge:
    """Conditions of one rule as polars expressions over the cells of one table."""

    def __init__(self, rule: EditRule, table: Table, collected: bool) -> None:
        self.rule, self.table, self.collected = rule, table, collected
        self.columns: dict[str, NDArray[Any]] = {"": np.zeros(len(table), dtype=np.bool_)}

    # -- conditions --

    def condition(self, node: Condition) -> Truth:
        if isinstance(node, Negation):
            truth = self.condition(node.part)
            return Truth(~truth.maybe, ~truth.surely)
        if isinstance(node, Junction):
            parts = [self.condition(part) for part in node.parts]
            join = pl.all_horizontal if node.word == "and" else pl.any_horizontal
            return Truth(join([part.surely for part in parts]), join([part.maybe for part in parts]))
        if isinstance(node, Absence):
            absent = self._column(f"{node.value.name} missing", self.table.missing(node.value.name))
            return Truth(absent, absent) if self.collected else Truth(pl.lit(False) & absent, absent)
        if isinstance(node, Membership):
            each = tuple(Relation("=", node.value, constant) for constant in node.among)
            return self.condition(Junction("or", each)) if self._numeric(node.value) else self._among(node)
        return self._judge_relation(node)

    def _judge_relation(self, node: Relation) -> Truth:
        left, right, sign = node.left, node.right, node.sign
        words = [side for side in (left, right) if self._wordy(side)]
        if words:
            if isinstance(left, Constant):
                left, right, sign = right, left, {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(sign, sign)
            if isinstance(left, ColumnValue) and isinstance(right, Constant) and self._wordy(left):
                return self._judge_labels(left, lambda labels: self._matches(left.name, labels, sign, right))
            if (
                isinstance(left, ColumnValue)
                and isinstance(right, ColumnValue)
                and len(words) == 2
                and sign in ("=", "!=")
            ):
                return self._same(left, right, sign)
            raise self._wrong("categories are compared with texts, or by = and != with other columns of categories")
        return _compare_spans(sign, self._span(left), self._span(right))

    def _among(self, node: Membership) -> Truth:
        def matches(labels: tuple[str, ...]) -> NDArray[np.bool_]:
            found = [self._matches(node.value.name, labels, "=", each) for each in node.among]
            return np.any(found, axis=0) if labels else np.zeros(0, dtype=np.bool_)

        return self._judge_labels(node.value, matches)

    def _judge_labels(self, named: ColumnValue, matches: Callable[[tuple[str, ...]], NDArray[np.bool_]]) -> Truth:
        """A condition on the categories of a column, each published label read as the categories it may stand for."""
        table, name = self.table, named.name
        attribute, level = table.attribute(name), table.level(name)
        if level == 0:
            every = some = matches(attribute.categories)
        else:
            hierarchy = attribute.hierarchy
            assert hierarchy is not None
            true = matches(hierarchy.labels[0])
            shares = [
                _share(hierarchy, each, true) for each in (range(hierarchy.height + 1) if level == LOCAL else [level])
            ]
            every, some = np.concatenate([s[0] for s in shares]), np.concatenate([s[1] for s in shares])
        codes = table.column(name)
        key = f"{name} {len(self.columns)}"
        sure = self._column(f"{key} surely", np.append(every, False)[codes])
        return Truth(sure, self._column(f"{key} maybe", np.append(some, True)[codes]))

    def _matches(self, name: str, labels: tuple[str, ...], sign: str, constant: Constant) -> NDArray[np.bool_]:
        """Which labels compare so with a constant."""
        text = f"{constant.value:g}" if isinstance(constant.value, float) else constant.value
        if sign in ("=", "!="):
            if text not in labels and isinstance(constant.value, float):
                same = np.array([_number(label) == constant.value for label in labels], dtype=np.bool_)
            else:
                same = np.array([label == text for label in labels], dtype=np.bool_)
            return same if sign == "=" else ~same
        attribute = self.table.attribute(name)
        if attribute.kind is Kind.ORDINAL and text in attribute.categories:
            rank = {label: place for place, label in enumerate(attribute.categories)}
            return np.array([_COMPARE[sign](rank.get(label, -1), rank[text]) for label in labels], dtype=np.bool_)
        numbers = [_number(label) for label in labels]
        if isinstance(constant.value, float) and None not in numbers:
            return np.array([_COMPARE[sign](number, constant.value) for number in numbers], dtype=np.bool_)
        raise self._wrong(f"the values of {name!r} have no order that {sign} could ask for")

    def _same(self, left: ColumnValue, right: ColumnValue, sign: str) -> Truth:
        """Two columns of categories, equal or unequal; a generalised cell may be either."""
        shown = []
        for side in (left, right):
            labels = np.array([*self.table.labels(side.name), ""], dtype=object)
            codes, level = self.table.column(side.name), self.table.level(side.name)
            hierarchy = self.table.attribute(side.name).hierarchy
            single = codes != MISSING
            if level != 0 and hierarchy is not None:
                single &= (level == LOCAL) & (codes < hierarchy.size)
            shown.append((labels[codes], single))
        (one, first), (other, second) = shown
        equal = (one == other) if sign == "=" else (one != other)
        known, key = first & second, f"{left.name} {right.name} {len(self.columns)}"
        sure = self._column(f"{key} surely", np.asarray(equal & known, dtype=np.bool_))
        return Truth(sure, self._column(f"{key} maybe", np.asarray(equal | ~known, dtype=np.bool_)))

    # -- values --

    def _span(self, node: Value) -> Span:
        if isinstance(node, Constant):
            if isinstance(node.value, str):
                raise self._wrong(f"the text {node.value!r} stands where a number is expected")
            value = pl.lit(node.value)
            return Span(value, value)
        if isinstance(node, ColumnValue):
            return self._numbers(node.name)
        if isinstance(node, Applied):
            return _apply_to_span(node.name, self._span(node.value))
        if isinstance(node, Cut):
            raise self._wrong("cut gives labels, with which nothing is reckoned; let it stand alone")
        left, right = self._span(node.left), self._span(node.right)
        if node.sign == "^":
            assert isinstance(node.right, Constant)
            assert isinstance(node.right.value, float)
            return _raise_span(left, node.right.value)
        if node.sign == "+":
            return Span(left.low + right.low, left.high + right.high)
        if node.sign == "-":
            return Span(left.low - right.high, left.high - right.low)
        if node.sign == "/":
            holds_zero = (right.low <= 0) & (right.high >= 0)
            quotients = [(a / b).fill_nan(0.0) for a in left for b in right]
            return Span(
                pl.when(holds_zero).then(-np.inf).otherwise(pl.min_horizontal(quotients)),
                pl.when(holds_zero).then(np.inf).otherwise(pl.max_horizontal(quotients)),
            )
        products = [(a * b).fill_nan(0.0) for a in left for b in right]
        return Span(pl.min_horizontal(products), pl.max_horizontal(products))

    def _numbers(self, name: str) -> Span:
        table = self.table
        attribute, column = table.attribute(name), table.column(name)
        unit = DAY if attribute.dates == "datetime" else 1.0
        if table.holds_numbers(name):
            low, high = column / unit, column / unit
        else:
            hierarchy, level = attribute.hierarchy, table.level(name)
            if hierarchy is None or not hierarchy.values.size:
                raise self._wrong(f"{name!r} has no numbers to reckon with")
            levels = range(hierarchy.height + 1) if level == LOCAL else [level]
            ends = [_ends(hierarchy, each) for each in levels]
            low = np.append(np.concatenate([each[0] for each in ends]), np.nan)[column] / unit
            high = np.append(np.concatenate([each[1] for each in ends]), np.nan)[column] / unit
        known = ~np.isnan(low)
        return Span(
            self._column(f"{name} low", np.where(known, low, -np.inf)),
            self._column(f"{name} high", np.where(known, high, np.inf)),
        )

    def _numeric(self, node: Value) -> bool:
        return isinstance(node, ColumnValue) and self.table.attribute(node.name).numeric

    def _wordy(self, node: Value) -> bool:
        """Whether a side of a comparison is a category."""
        if isinstance(node, Constant):
            return isinstance(node.value, str)
        return isinstance(node, ColumnValue) and not self.table.attribute(node.name).numeric

    def _column(self, key: str, values: NDArray[Any]) -> pl.Expr:
        self.columns[key] = values
        return pl.col(key)

    def _wrong(self, why: str) -> PlanError:
        return PlanError(f"rule {self.rule.text!r}: {why}")


def _apply_to_span(name: str, span: Span) -> Span:
    """A function of every value of a span; anything where one of them has none, as the logarithm of 0."""
    if name == "abs":
        ends = [span.low.abs(), span.high.abs()]
        inside = (span.low <= 0) & (span.high >= 0)
        return Span(pl.when(inside).then(0.0).otherwise(pl.min_horizontal(ends)), pl.max_horizontal(ends))
    known = span.low > 0 if name in ("log", "log10") else span.low >= 0 if name == "sqrt" else pl.lit(True)
    low, high = (_FUNCTIONS[name](end) for end in span)
    return Span(pl.when(known).then(low).otherwise(-np.inf), pl.when(known).then(high).otherwise(np.inf))


_FUNCTIONS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "log": lambda x: x.log(), "log10": lambda x: x.log10(), "exp": lambda x: x.exp(), "sqrt": lambda x: x.sqrt(),
    "floor": lambda x: x.floor(), "ceil": lambda x: x.ceil(), "round": lambda x: x.round(0),
}  # fmt: skip
"""Functions that grow with their value."""


def _raise_span(span: Span, power: float) -> Span:
    """A power of every value of a span; anything where one of them has none."""
    ends = [span.low.pow(power), span.high.pow(power)]
    crosses = (span.low <= 0) & (span.high >= 0)
    least = pl.when(crosses).then(0.0).otherwise(pl.min_horizontal(ends)) if power > 0 and not power % 2 else None
    known = pl.lit(True) if power > 0 and power == int(power) else (span.low > 0 if power < 0 else span.low >= 0)
    return Span(
        pl.when(known).then(pl.min_horizontal(ends) if least is None else least).otherwise(-np.inf),
        pl.when(known).then(pl.max_horizontal(ends)).otherwise(np.inf),
    )


def _compare_spans(sign: str, left: Span, right: Span) -> Truth:
    """Two spans compared, with a tolerance."""
    if sign in (">", ">="):
        return _compare_spans("<" if sign == ">" else "<=", right, left)
    if sign == "!=":
        equal = _compare_spans("=", left, right)
        return Truth(~equal.maybe, ~equal.surely)
    if sign == "=":
        up, down = _compare_spans("<=", left, right), _compare_spans("<=", right, left)
        return Truth(up.surely & down.surely, up.maybe & down.maybe)
    if sign == "<":
        not_above = _compare_spans("<=", right, left)
        return Truth(~not_above.maybe, ~not_above.surely)

    def below(one: pl.Expr, other: pl.Expr) -> pl.Expr:
        room = CLOSE + CLOSE * pl.max_horizontal(one.abs(), other.abs())
        return (one <= other) | (one.is_finite() & other.is_finite() & (one - other <= room))

    return Truth(below(left.high, right.low), below(left.low, right.high))


def _share(hierarchy: Hierarchy, level: int, true: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether a condition is true of all leaves of each group, and of some."""
    held = np.bincount(hierarchy.groups[level], weights=true, minlength=len(hierarchy.labels[level]))
    return held == hierarchy.leaves(level), held > 0


def _ends(hierarchy: Hierarchy, level: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest number of each group."""
    count = len(hierarchy.labels[level])
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, hierarchy.groups[level], hierarchy.values)
    np.maximum.at(high, hierarchy.groups[level], hierarchy.values)
    return low, high


def _number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None
