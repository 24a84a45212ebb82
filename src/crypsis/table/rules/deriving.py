"""Derived columns: sums, ratios, logarithms, flags and bins of other columns, recomputed after a masking.

Masked apart, a total contradicts its parts, and published as collected it tells what was masked of them. Recomputed
from the published cells it does neither: the columns agree in every record, and it says nothing beyond the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import PlanError, TableError, unknown_column
from crypsis.table.attribute import Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.precision import decimals
from crypsis.table.rules.grammar import Constant, Cut, Derivation, read_derivation
from crypsis.table.rules.judging import reckon_derivation
from crypsis.table.table import Column, Table

TRUE = ("1", "true", "yes", "y", "t", "ja", "oui", "si", "sí", "sim", "sì")
FALSE = ("0", "false", "no", "n", "f", "nein", "non", "nao", "não", "nee")
"""Labels of a category that says whether a condition holds."""
FINEST = 12
"""Decimals up to which a column is taken to be rounded when a derivation is compared with it."""
CLOSE = 1e-9
"""Relative difference that reckoning leaves."""
SINGLE = 5e-7
"""The same for numbers that were stored in single precision, four of their last bits."""


class Agreement(NamedTuple):
    """How well a derivation fits the collected values of its column."""

    records: int  # that hold the column and all it follows from
    kept: int  # of these, to the rounding of the file

    @property
    def share(self) -> float:
        """Records that keep it, 0 to 1; 0 where none can be compared."""
        return self.kept / self.records if self.records else 0.0


def recompute_derived(masked: Table, collected: Table) -> Table:
    """The masked table with every derived column reckoned from the others.

    Cells keep the decimals of the source; a cell that was missing stays missing, and one that the published cells leave
    open becomes missing. Where nothing that a column follows from was masked, it stays as it was collected.

    `masked`, `collected`: row by row the same records.

    >>> people = Table.from_columns({"wage": [10, 20], "bonus": [1, 3], "total": [11, 23]})
    >>> total = people.attribute("total").but(derived="wage + bonus")
    >>> people = people.with_columns({}, attributes={"total": total})
    >>> recompute_derived(people.with_columns({"wage": np.array([15.0, 15.0])}), people).column("total").tolist()
    [16.0, 18.0]
    """
    for name in order_derived(collected) if any(each.derived for each in collected.attributes) else ():
        if name not in masked.names:
            continue
        derivation = read_derivation(collected.attribute(name).derived)
        if all(_is_collected(masked, collected, each) for each in derivation.columns):
            masked = _as_collected(masked, collected, name)
            continue
        column = column_of_derivation(derivation, masked, collected, name)
        masked = masked.with_columns({name: column}, {name: 0}, {name: collected.attribute(name)})
    return masked


def _is_collected(masked: Table, collected: Table, name: str) -> bool:
    """Whether nothing was done to a column."""
    if masked.level(name) != collected.level(name) or masked.attribute(name).kind != collected.attribute(name).kind:
        return False
    numbers = masked.holds_numbers(name)
    if not numbers and masked.attribute(name).categories != collected.attribute(name).categories:
        return False
    return np.array_equal(masked.column(name), collected.column(name), equal_nan=numbers)


def _as_collected(masked: Table, collected: Table, name: str) -> Table:
    if _is_collected(masked, collected, name):
        return masked
    level = {name: collected.level(name)}
    return masked.with_columns({name: collected.column(name)}, level, {name: collected.attribute(name)})


def order_derived(table: Table) -> list[str]:
    """Derived columns in an order in which each comes after those it follows from."""
    open_ = {each.name: set(read_derivation(each.derived).columns) for each in table.attributes if each.derived}
    ordered = list[str]()
    while open_:
        free = [name for name, needed in open_.items() if not needed & set(open_)]
        if not free:
            names = ", ".join(map(repr, open_))
            raise TableError(f"derived columns follow from each other in a circle: {names}; drop derived from one")
        ordered += free
        open_ = {name: needed for name, needed in open_.items() if name not in free}
    return ordered


def replace_derived(names: Sequence[str], derived: Mapping[str, str]) -> tuple[str, ...]:
    """The columns with each derived one replaced by those it follows from: records equal in these are equal in it.

    `derived`: how each derived column follows from others.

    >>> replace_derived(["age", "ratio"], {"ratio": "total / hours", "total": "wage + bonus"})
    ('age', 'wage', 'bonus', 'hours')
    """
    found = list[str]()
    for name in names:
        inputs = read_derivation(derived[name]).columns if name in derived else ()
        others = {each: text for each, text in derived.items() if each != name}  # so that a circle ends
        found += replace_derived(inputs, others) if inputs else [name]
    return tuple(dict.fromkeys(found))


def column_of_derivation(derivation: Derivation, table: Table, collected: Table, name: str) -> Column:
    """float64[n] or int32[n]: a derived column as its derivation gives it, missing where it was or has to be."""
    values = reckon_derivation(derivation, table)
    values = np.where(collected.missing(name), np.nan, values)
    labels = _labels(derivation, collected, name)
    if collected.holds_numbers(name):
        given = values if labels is None else np.append(labels, np.nan)[np.nan_to_num(values, nan=-1).astype(int)]
        return np.asarray(np.round(given, decimals(collected.column(name))))
    assert labels is not None
    codes = np.append(labels, MISSING).astype(np.int32)
    return np.asarray(codes[np.nan_to_num(values, nan=len(labels)).astype(int)])


def _labels(derivation: Derivation, table: Table, name: str) -> NDArray[np.float64] | None:
    """float64[results]: the number, or the code of the category, for each result; None where it is the number."""
    node, numeric = derivation.node, table.attribute(name).numeric
    if isinstance(node, Cut):
        return np.array([_label(table, name, each) for each in node.labels])
    if numeric:
        return None
    places = {label.strip().lower(): code for code, label in enumerate(table.attribute(name).categories)}
    codes = [next((places[word] for word in words if word in places), None) for words in (FALSE, TRUE)]
    if None in codes:
        raise TableError(
            f"column {name!r} is derived and holds categories that do not say yes or no; write for example "
            f"derived = \"cut(age, 'young', 65, 'old')\" with its own categories"
        )
    return np.array(codes, dtype=np.float64)


def _label(table: Table, name: str, label: Constant) -> float:
    if table.attribute(name).numeric:
        if isinstance(label.value, str):
            raise TableError(f"column {name!r} is derived and holds numbers, and a label of its cut is a text")
        return label.value
    text = label.value if isinstance(label.value, str) else f"{label.value:g}"
    categories = table.attribute(name).categories
    if text not in categories:
        raise TableError(f"column {name!r} is derived, and a label of its cut is none of its categories; mend it")
    return float(categories.index(text))


def agreement_with_derivation(derivation: Derivation, table: Table, name: str) -> Agreement:
    """In how many collected records a derivation gives the value of its column, to the rounding of the file.

    >>> people = Table.from_columns({"a": [1, 2, 3], "b": [2.0, 4.0, 7.0]})
    >>> agreement_with_derivation(read_derivation("2 * a"), people, "b")
    Agreement(records=3, kept=2)
    >>> logs = Table.from_columns({"a": [2.0, 3.0], "b": np.log([2.0, 3.0]).astype(np.float32).tolist()})
    >>> agreement_with_derivation(read_derivation("log(a)"), logs, "b").share
    1.0
    """
    values = reckon_derivation(derivation, table)
    known = ~np.isnan(values) & ~table.missing(name)
    own, labels = table.column(name), _labels(derivation, table, name)
    given = values if labels is None else np.append(labels, np.nan)[np.nan_to_num(values, nan=-1).astype(int)]
    room = rounding_of_column(own[known]) if table.holds_numbers(name) else 0.0
    size = np.abs(own[known])
    single = bool(np.all(np.abs(own[known].astype(np.float32) - own[known]) <= room + 1e-12 * size))
    near = np.abs(given[known] - own[known]) <= np.maximum(room, SINGLE * single * size) + CLOSE * size
    return Agreement(int(known.sum()), int(near.sum()))


def rounding_of_column(values: NDArray[np.float64]) -> float:
    """Half of the last decimal of a column of numbers; 0 where it is not rounded.

    >>> rounding_of_column(np.array([1.5, 2.25])), rounding_of_column(np.array([1 / 3]))
    (0.005, 0.0)
    """
    for digits in range(FINEST + 1):
        if np.array_equal(np.round(values, digits), values):
            return 0.5 * 10.0**-digits
    return 0.0


LEAST_SHARE = 0.9
"""Share of the collected records that a derivation must keep to be taken for the meaning of its column."""


def derivation_obstacle(table: Table, name: str) -> str:
    """Why a column cannot be recomputed as its attribute says; empty if it can."""
    text = table.attribute(name).derived
    try:
        derivation = read_derivation(text)
        if unknown := unknown_column(derivation.columns, table.names):
            return f"column {name!r} is derived as {text!r}: {unknown}"
        if name in derivation.columns:
            return f"column {name!r} is derived as {text!r} from itself; leave it out of its own derivation"
        found = agreement_with_derivation(derivation, table, name)
    except (PlanError, TableError) as error:
        return str(error)
    if not found.records:
        return f"column {name!r} is derived as {text!r}, and no record holds all of these columns; drop derived"
    if found.share < LEAST_SHARE:
        return (
            f"column {name!r} is derived as {text!r}, and this holds in {100 * found.share:.1f} % of the "
            f"{found.records} records that have all of these columns; mend it, or drop derived"
        )
    return ""


def recomputed_columns(published: Table, collected: Table | None = None) -> tuple[str, ...]:
    """Derived columns whose published cells are what the other published cells give, and no collected column's copy.

    Such a column says nothing beyond those it follows from. One that follows from columns published as collected, or
    without the collected ones from none that searches mask, is left out: it stands there as collected too.
    """
    found = list[str]()
    for name in order_derived(published):
        derivation = read_derivation(published.attribute(name).derived)
        if not set(derivation.columns) <= set(published.names):
            continue
        quasi = set(derivation.columns) & set(published.names_by_role(Role.QUASI_IDENTIFIER))
        if (
            not quasi
            if collected is None
            else all(_holds_as_collected(published, collected, each) for each in derivation.columns)
        ):
            continue
        try:
            values = reckon_derivation(derivation, published)
        except PlanError:  # labels of groups stand where it reckons with numbers
            continue
        missing, labels = published.missing(name), _published_labels(derivation, published, name)
        if labels is None or bool((np.isnan(values) & ~missing).any()):
            continue
        own = published.column(name)[~missing]
        shown = values[~missing] if labels.size == 0 else labels[values[~missing].astype(int)]
        room = rounding_of_column(own) if published.holds_numbers(name) else 0.0
        if bool(np.all(np.abs(shown - own) <= room + CLOSE * np.abs(own))):
            found.append(name)
    return tuple(found)


def _published_labels(derivation: Derivation, published: Table, name: str) -> NDArray[np.float64] | None:
    """Labels of a published column, which may lack categories that no record has; None where they do not fit."""
    node, attribute = derivation.node, published.attribute(name)
    if attribute.numeric and published.level(name) == 0:
        labels = _labels(derivation, published, name)
        return np.zeros(0) if labels is None else labels
    if published.level(name) != 0:
        return None
    places = {label: float(code) for code, label in enumerate(attribute.categories)}
    if isinstance(node, Cut):
        texts = [each.value if isinstance(each.value, str) else f"{each.value:g}" for each in node.labels]
        return np.array([places.get(text, np.nan) for text in texts])
    folded = {label.strip().lower(): code for label, code in places.items()}
    return np.array([next((folded[w] for w in words if w in folded), np.nan) for words in (FALSE, TRUE)])


def _holds_as_collected(published: Table, collected: Table, name: str) -> bool:
    """Whether the records of a published column hold what was collected."""
    if name not in collected.names or published.holds_numbers(name) != collected.holds_numbers(name):
        return False
    if published.holds_numbers(name):
        return np.array_equal(published.column(name), collected.column(name), equal_nan=True)
    if published.level(name) != collected.level(name):
        return False
    one, other = (
        np.array([*table.labels(name), ""], dtype=object)[table.column(name)] for table in (published, collected)
    )
    return bool(np.all(one == other))
