"""Adult with the reference hierarchies, as the PBG paper used it: eight quasi-identifiers, occupation confidential."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np

from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.table import Table
from reference import reference

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class")


def hierarchy(name: str) -> Hierarchy:
    with reference(f"dgh/adult_{name}.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    if name == "age":
        rows.sort(key=lambda row: float(row[0]))
        return Hierarchy.from_rows(rows, np.array([float(row[0]) for row in rows]))
    return Hierarchy.from_rows(rows)


@cache
def adult(quasi: tuple[str, ...] = QUASI) -> Table:
    """30 162 records; quasi-identifiers with hierarchies, occupation confidential, salary class kept as a column."""
    with reference("adult.csv").open() as file:
        rows = list(csv.DictReader(file))
    attributes, columns = [], []
    for name in dict.fromkeys((*quasi, "occupation", "salary-class")):
        role = Role.QUASI_IDENTIFIER if name in quasi else Role.OTHER
        if name == "occupation":
            role = Role.CONFIDENTIAL
        if name == "age":
            attributes.append(Attribute(name, Kind.NUMERIC, role, hierarchy=hierarchy(name)))
            columns.append(np.array([float(row[name]) for row in rows]))
            continue
        labels = sorted({row[name] for row in rows})
        code = {label: place for place, label in enumerate(labels)}
        attributes.append(Attribute(name, Kind.NOMINAL, role, tuple(labels), hierarchy(name)))
        columns.append(np.array([code[row[name]] for row in rows], dtype=np.int32))
    return Table(tuple(attributes), tuple(columns))
