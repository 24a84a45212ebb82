"""Labels of single codes, that the custodian gives where the file has none: 1 = "urban", as in SPSS and Stata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from crypsis.errors import TableError, listing
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table

MEMBERS = " or "
"""What stands between the members in the name of a group that a builder made."""


def label_codes(table: Table, name: str, labels: Mapping[str, str]) -> Table:
    """The same table with labels for codes of a column: they are its categories from then on, and its codes are known.

    The hierarchy of the column is that of its codes: its leaves, and groups named after them, get the labels too.

    >>> people = Table.from_columns({"area": ["1", "2", "1"]})
    >>> labelled = label_codes(people, "area", {"1": "urban", "2": "rural"})
    >>> labelled.attribute("area").categories, labelled.attribute("area").codes
    (('urban', 'rural'), (('urban', 1.0), ('rural', 2.0)))
    """
    attribute = table.attribute(name)
    if attribute.numeric:
        raise TableError(f"columns.{name}.labels: it holds numbers; labels are for codes: give it the kind nominal")
    unknown = [code for code in labels if code not in attribute.categories]
    if unknown:
        raise TableError(
            f"columns.{name}.labels: {listing(unknown)} is no value of the column; its values: "
            f"{listing(attribute.categories)}"
        )
    categories = tuple(labels.get(code, code) for code in attribute.categories)
    twice = sorted({label for label in categories if categories.count(label) > 1})
    if twice:
        raise TableError(f"columns.{name}.labels: {listing(twice)} stands for several values; give each its own label")
    known = dict(attribute.codes)
    codes = tuple(
        (label, known.get(code, _number(code))) for code, label in zip(attribute.categories, categories, strict=True)
    )
    hierarchy = attribute.hierarchy and _label_hierarchy(attribute.hierarchy, labels)
    made = attribute.but(categories=categories, codes=codes, hierarchy=hierarchy)
    return table.with_columns({}, attributes={name: made})


def _label_hierarchy(hierarchy: Hierarchy, labels: Mapping[str, str]) -> Hierarchy:
    def named(text: str) -> str:
        parts = text.split(MEMBERS)
        return MEMBERS.join(labels[part] for part in parts) if all(part in labels for part in parts) else text

    return replace(hierarchy, labels=tuple(tuple(map(named, level)) for level in hierarchy.labels))


def _number(code: str) -> float | str:
    """A code as the number that it is, or as its text."""
    try:
        return float(code)
    except ValueError:
        return code
