"""Derived columns recognised in a file: sums, products, ratios, powers, logarithms, other units, flags and bins.

A relation is taken to be meant if nearly every record that has all its values keeps it to the rounding of the file, and
independent columns would hardly do so. Bounds of flags and bins are the roundest numbers between the values beside
them, so that none names the value of a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import PlanError, TableError
from crypsis.kernels.arrays import Floats
from crypsis.table.rules.deriving import FALSE, TRUE, agreement_with_derivation
from crypsis.table.rules.grammar import FUNCTIONS, KEYWORDS, read_derivation
from crypsis.table.table import Table

HOLDS = 0.995
"""Share of the records with all values that keep a relation."""
RECORDS = 30
"""Records that must have all values."""
MOST_NUMBERS = 30
"""Columns of numbers that are looked at: the first ones."""
MOST_TERMS = 16
"""Columns of a sum at most."""
TRIED = 400
"""Records on which a relation is looked for before all are asked."""
VARIED = 10
"""Different values of a number from which something is derived."""
MOST_LABELS = 20
"""Different values of a column that bins a number."""
EVIDENCE = 40.0
"""Bits of surprise that a flag or a bin must hold, were it independent of the number."""
POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
"""Powers in products and ratios."""
NEAR = 0.02
"""Distance of a fitted power from one of these."""


@dataclass(frozen=True)
class RecognisedDerivation:
    """A column, how it follows from others, and the records that show it.

    >>> RecognisedDerivation("total", "wage + bonus", ("wage", "bonus"), 200, 200).records
    200
    """

    name: str
    text: str
    columns: tuple[str, ...]
    records: int  # that have all values
    kept: int  # of these, that keep the relation


def recognised_derivations(
    table: Table, names: Sequence[str], first: Sequence[str] = ()
) -> tuple[RecognisedDerivation, ...]:
    """Find columns that follow from others; `first`: those from which another rather follows.

    >>> rng = np.random.default_rng(0)
    >>> wage, bonus, age = rng.integers(100, 900, 200), rng.integers(0, 90, 200), rng.integers(18, 90, 200)
    >>> columns = {"age": age, "wage": wage, "bonus": bonus, "total": wage + bonus, "old": (age >= 65) * 1}
    >>> table = Table.from_columns({name: column.tolist() for name, column in columns.items()})
    >>> [(each.name, each.text) for each in recognised_derivations(table, table.names)]
    [('total', 'wage + bonus'), ('old', 'age >= 65')]
    """
    numbers = [n for n in names if table.holds_numbers(n) and not table.attribute(n).dates][:MOST_NUMBERS]
    values = {name: table.column(name) for name in numbers}
    varied = {name: column for name, column in values.items() if _distinct(column) >= VARIED}
    ordered = sorted(varied, key=lambda name: (name not in set(first), list(names).index(name)))
    found = dict[str, RecognisedDerivation]()
    proposals = (
        *_functions(varied, names),
        *_sums(varied, names),
        *_products(varied, names),
        *_bins(table, names, [(name, varied[name]) for name in ordered]),
    )
    for name, text in proposals:
        if name in found:
            continue
        try:
            derivation = read_derivation(text)
            used = {name, *derivation.columns}
            if _leads_to(found, derivation.columns, name) or any(used == {f.name, *f.columns} for f in found.values()):
                continue
            seen = agreement_with_derivation(derivation, table, name)
        except (PlanError, TableError):
            continue
        if seen.records >= RECORDS and seen.share >= HOLDS:
            found[name] = RecognisedDerivation(name, text, derivation.columns, *seen)
    return tuple(found[name] for name in names if name in found)


def _leads_to(found: dict[str, RecognisedDerivation], columns: Iterable[str], name: str) -> bool:
    """Whether one of some columns follows from a column itself, or is it."""
    return any(each == name or (each in found and _leads_to(found, found[each].columns, name)) for each in columns)


def _distinct(column: Floats) -> int:
    return len(np.unique(column[~np.isnan(column)]))


# -- one number from another --


def _functions(values: dict[str, Floats], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Logarithms, roots, squares and other units; of two that follow from each other the later one follows."""
    place = {name: number for number, name in enumerate(names)}
    for name, lead in sorted(permutations(values, 2), key=lambda pair: place[pair[0]] < place[pair[1]]):
        column, other = values[name], values[lead]
        known = np.flatnonzero(~np.isnan(column) & ~np.isnan(other))
        if len(known) < RECORDS:
            continue
        x, y = other[known][:TRIED], column[known][:TRIED]
        if not _goes_with(x, y):
            continue
        quoted = derivation_name(lead)
        with np.errstate(all="ignore"):
            tried = {
                f"log({quoted})": np.log(x), f"log10({quoted})": np.log10(x), f"log({quoted} + 1)": np.log(x + 1),
                f"sqrt({quoted})": np.sqrt(x), f"{quoted}^2": x**2,
            }  # fmt: skip
        for text, guess in tried.items():
            some = np.isfinite(guess)
            if some.sum() >= RECORDS and np.allclose(guess[some], y[some], rtol=1e-4, atol=_step(y)):
                yield name, text
        if place[name] > place[lead]:
            yield from ((name, text) for text in _units(quoted, other[known], column[known]))


def _goes_with(x: Floats, y: Floats) -> bool:
    """Whether two numbers stand in the same order, or in the opposite one, but for what rounding makes equal."""
    order = np.argsort(x, kind="stable")
    steps = np.diff(y[order])[np.diff(x[order]) > 0]
    return bool(steps.size) and bool(np.all(steps >= 0) or np.all(steps <= 0))


def _units(quoted: str, x: Floats, y: Floats) -> Iterator[str]:
    """A number times a constant, or that plus another one."""
    off, size = _step(y), np.abs(x)
    if size.min() > 0:
        low, high = float(np.max((y - off) / x)), float(np.min((y + off) / x))
        if low < high and np.all(x > 0):
            factor = roundest_between(low, high)
            yield quoted if factor == 1 else f"{factor:.12g} * {quoted}"
    centre = float(x.mean())
    slope, level = np.polyfit(x - centre, y, 1)
    level = level - slope * centre
    for digits in (3, 6, 9):
        factor, constant = float(f"{slope:.{digits}g}"), float(f"{level:.{digits}g}")
        constant = float(round(level)) if abs(level - round(level)) <= 2 * off else constant
        if factor and np.all(np.abs(factor * x + constant - y) <= off + 1e-9 * np.abs(y)):
            text = quoted if abs(factor) == 1 else f"{abs(factor):.12g} * {quoted}"
            if factor < 0:
                yield f"{constant:.12g} - {text}"
            else:
                yield f"{text} {'+' if constant > 0 else '-'} {abs(constant):.12g}" if constant else text
            return


def _step(values: Floats) -> float:
    """The last decimal of some numbers."""
    for digits in range(9):
        if np.array_equal(np.round(values, digits), values):
            return 0.5000001 * 10.0**-digits
    return 1e-9


# -- sums and differences --


def _sums(values: dict[str, Floats], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Columns that are sums of others; where no column is, the last one of a balance follows from the others."""
    place = {name: number for number, name in enumerate(names)}
    balances = dict[frozenset[str], dict[str, int]]()
    for name in values:
        signs = _terms_of_sum(name, values)
        if signs:
            balance = {name: -1, **signs}
            balances.setdefault(frozenset(balance), balance)
    forms = list[tuple[tuple[bool, bool, int], str, str]]()
    for balance in balances.values():
        for name, own in balance.items():
            others = {each: -own * sign for each, sign in balance.items() if each != name}
            minus, later = min(others.values()) < 0, max(place[each] for each in others) > place[name]
            if max(others.values()) > 0:
                forms.append(
                    (
                        (minus, later, -place[name]),
                        name,
                        _sum_text(others, place),
                    )
                )
    yield from ((name, text) for _, name, text in sorted(forms))


def _sum_text(signs: dict[str, int], place: dict[str, int]) -> str:
    """A sum, what is added first."""
    ordered = sorted(signs, key=lambda name: (-signs[name], place[name]))
    text = " ".join(f"{'+' if signs[each] > 0 else '-'} {derivation_name(each)}" for each in ordered)
    return text.removeprefix("+ ")


def _terms_of_sum(name: str, values: dict[str, Floats]) -> dict[str, int]:
    """Columns that add up to one, with their signs; empty if none do.

    The column that goes best with what the chosen ones leave open is added, until nothing is.
    """
    target = values[name]
    rows = np.flatnonzero(~np.isnan(target))[: 5 * TRIED]
    y = target[rows]
    others = {n: column[rows] for n, column in values.items() if n != name and not np.isnan(column[rows]).any()}
    others = {n: column for n, column in others.items() if not _goes_with(column, y)}
    chosen, left = list[str](), y - y.mean()
    scale = float(np.abs(left).max(initial=0.0))
    while len(chosen) < min(MOST_TERMS, len(others)) and len(rows) >= RECORDS and scale > 0:
        ties = {n: _tie(column, left) for n, column in others.items() if n not in chosen}
        best = max(ties, key=lambda n: ties[n])
        if ties[best] < 1e-6:
            return {}
        chosen.append(best)
        design = np.column_stack([np.ones(len(y)), *(others[n] for n in chosen)])
        weights = np.linalg.lstsq(design, y, rcond=None)[0]
        left = y - design @ weights
        if float(np.abs(left).max()) <= max(1e-6 * scale, 2 * _step(y)):
            signs = {n: round(w) for n, w in zip(chosen, weights[1:], strict=True)}
            wrong = any(abs(w - round(w)) > 0.02 or abs(round(w)) > 1 for w in weights[1:])
            kept = {n: sign for n, sign in signs.items() if sign}
            exact = sum((sign * others[n] for n, sign in kept.items()), np.zeros(len(y)))
            fits = not wrong and bool(np.mean(np.abs(exact - y) <= _step(y) + 1e-9 * np.abs(y)) >= HOLDS)
            return {n: kept[n] for n in values if n in kept} if fits and len(kept) > 1 else {}
    return {}


def _tie(column: Floats, left: Floats) -> float:
    x = column - column.mean()
    size = float(np.sqrt((x @ x) * (left @ left)))
    return abs(float(x @ left)) / size if size > 0 else 0.0


# -- products and ratios --


def _products(values: dict[str, Floats], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Columns that are products or ratios of two others and their powers, with a factor."""
    place = {name: number for number, name in enumerate(names)}
    for name in sorted(values, key=lambda n: -place[n]):
        y = values[name]
        for one, other in combinations([n for n in values if n != name], 2):
            a, b = values[one], values[other]
            with np.errstate(invalid="ignore"):
                rows = np.flatnonzero((y > 0) & (a > 0) & (b > 0))[:TRIED]
            if len(rows) < RECORDS:
                continue
            design = np.column_stack([np.ones(len(rows)), np.log(a[rows]), np.log(b[rows])])
            weights, _, rank, _ = np.linalg.lstsq(design, np.log(y[rows]), rcond=None)
            powers = [min(POWERS, key=lambda p, w=w: abs(p - w)) for w in weights[1:]]  # type: ignore[misc]
            if rank < 3 or any(abs(p - w) > NEAR for p, w in zip(powers, weights[1:], strict=True)):
                continue
            ratio = y[rows] / (a[rows] ** powers[0] * b[rows] ** powers[1])
            for digits in (1, 3, 6):
                factor = float(f"{np.median(ratio):.{digits}g}")
                yield name, _product_text(factor, ((one, powers[0]), (other, powers[1])))


def _product_text(factor: float, parts: Sequence[tuple[str, float]]) -> str:
    def written(name: str, power: float) -> str:
        size = abs(power)
        quoted = derivation_name(name)
        return quoted if size == 1 else f"sqrt({quoted})" if size == 0.5 else f"{quoted}^{size:g}"

    above = [written(name, power) for name, power in parts if power > 0]
    below = [written(name, power) for name, power in parts if power < 0]
    above = above if factor == 1 and above else [f"{factor:g}", *above]
    return " / ".join([" * ".join(above), *below])


# -- flags and bins --


def _bins(table: Table, names: Sequence[str], leads: Sequence[tuple[str, Floats]]) -> Iterator[tuple[str, str]]:
    """Columns of few values that say in which interval a number lies."""
    for name in names:
        codes = table.codes([name])[:, 0]
        count = len(np.unique(codes[codes >= 0]))
        if not 2 <= count <= MOST_LABELS or table.level(name) != 0:
            continue
        for lead, column in leads:
            if lead != name and (text := _bin_text(table, name, lead, codes, column, count)):
                yield name, text
                break


def _bin_text(table: Table, name: str, lead: str, codes: NDArray[np.int32], column: Floats, count: int) -> str:
    """The flag or the bins of a number that a column of few values holds; empty if it holds none."""
    known = np.flatnonzero((codes >= 0) & ~np.isnan(column))
    if len(known) < RECORDS:
        return ""
    values, where = np.unique(column[known], return_inverse=True)
    low, high = np.full(len(values), np.iinfo(np.int32).max), np.full(len(values), -1)
    np.minimum.at(low, where, codes[known])
    np.maximum.at(high, where, codes[known])
    if (low != high).any():
        return ""
    starts = np.flatnonzero(np.r_[True, low[1:] != low[:-1]])
    lengths = np.diff(np.r_[starts, len(values)])
    two_sided = count == 2 and len(starts) == 3
    if (len(starts) != count and not two_sided) or len(starts) < 2:
        return ""
    bits = (lgamma(len(values) + 1) - sum(lgamma(size + 1) for size in lengths)) / log(2)
    if bits < EVIDENCE:
        return ""
    bounds = [roundest_between(float(values[at - 1]), float(values[at])) for at in starts[1:]]
    order, quoted = low[starts], derivation_name(lead)
    flag = _flag_codes(table, name) if count == 2 else None
    if flag is not None and not two_sided:
        return f"{quoted} >= {bounds[0]:.12g}" if order[1] == flag else f"{quoted} < {bounds[0]:.12g}"
    if flag is not None and order[1] == flag:
        return f"{quoted} >= {bounds[0]:.12g} and {quoted} < {bounds[1]:.12g}"
    labels = _bin_labels(table, name)
    if labels is None:
        return ""
    parts = [labels[order[0]], *(f"{b:.12g}, {labels[c]}" for b, c in zip(bounds, order[1:], strict=True))]
    return f"cut({quoted}, {', '.join(parts)})"


def _flag_codes(table: Table, name: str) -> int | None:
    """The code of yes in a column of yes and no; None for any other."""
    if table.holds_numbers(name):
        column = table.column(name)
        return 1 if set(np.unique(column[~np.isnan(column)]).tolist()) == {0.0, 1.0} else None
    words = [label.strip().lower() for label in table.labels(name)]
    yes, no = ([place for place, word in enumerate(words) if word in known] for known in (TRUE, FALSE))
    return yes[0] if len(words) == 2 and len(yes) == 1 and len(no) == 1 else None


def _bin_labels(table: Table, name: str) -> list[str] | None:
    """The values of a column as labels of a cut, by code; None where one cannot be written."""
    if table.holds_numbers(name):
        column = table.column(name)
        return [f"{value:.12g}" for value in np.unique(column[~np.isnan(column)])]
    labels = table.labels(name)
    return None if any("'" in label or "\n" in label for label in labels) else [f"'{label}'" for label in labels]


def roundest_between(low: float, high: float) -> float:
    """The number with fewest digits above one and not above another.

    >>> roundest_between(64.0, 65.0), roundest_between(9_712.4, 10_433.1), roundest_between(-0.37, -0.21)
    (65.0, 10000.0, -0.3)
    """
    size = max(abs(low), abs(high))
    for exponent in range(int(np.floor(np.log10(size))) + 1 if size else 0, -12, -1):
        step = 10.0**exponent
        found = (np.floor(low / step + 1e-9) + 1) * step
        if low < found <= high * (1 + 1e-12) if high > 0 else low < found <= high:
            return float(f"{found:.12g}")
    return high


def derivation_name(name: str) -> str:
    """A column as a derivation names it."""
    plain = name.replace(".", "").isidentifier() and not name.startswith(".")
    return name if plain and name.lower() not in (*KEYWORDS, *FUNCTIONS) else f"`{name}`"
