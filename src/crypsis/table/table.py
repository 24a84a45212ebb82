"""How a masked table came to be: what was applied to which original, under which roles. It travels with the table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, describe_type, find_repeated, listing, name_hierarchy, unknown_column
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.encoding import encode_positive_zeros
from crypsis.table.hierarchy import MISSING, Hierarchy

PERTURBATION, AGGREGATION, RECODING, UNKNOWN = "perturbation", "aggregation", "recoding", "unknown"


def require_table(given: object, asked: str) -> None:
    """Refuse a frame where the roles of its columns are needed."""
    if not isinstance(given, Table):
        raise TableError(
            f"{asked}: {describe_type(given)} has no roles; wrap it first, e.g. "
            f'crypsis.wrap(frame, quasi_identifiers=["age", "sex"])'
        )


@dataclass(frozen=True)
class MaskingStep:
    """One masking that was applied."""

    method: str  # name of the masking method or of the search that found the masking
    family: str  # 'aggregation', 'recoding' or 'perturbation': which statements about class sizes mean something
    message: str = ""  # what was done, in one sentence
    settings: Mapping[str, Any] = field(default_factory=dict)  # by name; a seed is never among them
    # columns that were masked together, each group apart from the others; empty where all were
    together: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Provenance:
    """The way from an original to a masked table.

    >>> way = Provenance("", {}, (MaskingStep("pram", "perturbation"), MaskingStep("microaggregation", "aggregation")))
    >>> way.family
    'perturbation'
    """

    source: str  # fingerprint of the original
    roles: Mapping[str, str]  # role of every column of the original
    steps: tuple[MaskingStep, ...]  # what was applied, in order

    @property
    def family(self) -> str:
        """The family that limits what can be said: perturbation before aggregation before recoding."""
        families = [step.family for step in self.steps]
        for family in (PERTURBATION, AGGREGATION):
            if family in families:
                return family
        return families[0] if families else UNKNOWN

    def columns_masked_with(self, name: str) -> tuple[str, ...]:
        """Columns that a step masked together with one, itself included; empty where no step tells groups apart."""
        groups = [group for step in self.steps for group in step.together if name in group]
        return groups[-1] if groups else ()

    @property
    def message(self) -> str:
        """All steps in words."""
        return "; ".join(step.message or step.method for step in self.steps)


# -- The table: read-only columns of numbers or codes, and the attribute of each.

LOCAL = -1
"""Level of a locally recoded column: its codes are nodes of the hierarchy."""

Column = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Records by attributes; immutable.

    A numeric column is float64 (NaN is missing), any other column is int32 codes (−1 is missing).

    Parameters
    ----------
    attributes : tuple of Attribute
        Name, kind and role of each column.
    columns : tuple of ndarray
        The columns; they are made read-only.
    levels : tuple of int
        Generalisation level of each column: 0 as collected, `LOCAL` where records are at different levels. A numeric
        column above level 0 has the codes of the groups of its hierarchy.
    kept : bool[n]
        False for a suppressed record: it keeps its row, is never written to a release, and counts as lost.
    origin : object
        The frame the table was made from, so that unmasked columns are restored exactly.
    notes : tuple of str
        Remarks of the reader that are no errors, e.g. that a column has one value.
    provenance : Provenance or None
        How the table was masked; None for a table as it was read.

    Raises
    ------
    TableError
        If two columns share a name, or columns have different lengths.

    Examples
    --------
    >>> table = Table.from_columns({"age": [31, 32, 47], "sex": ["f", "m", "f"]}, {"age": "quasi"})
    >>> table
    Table(3 rows: age, sex)
    >>> table.quasi_identifiers
    ['age']
    """

    attributes: tuple[Attribute, ...]
    columns: tuple[Column, ...]
    levels: tuple[int, ...] = ()
    kept: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    origin: Any = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    provenance: Provenance | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.attributes]
        twice = find_repeated(names)
        if twice:
            raise TableError(f"two columns share a name: {listing(map(repr, twice))}; give every column its own")
        if len(self.columns) != len(names):
            raise TableError(f"{len(names)} attributes but {len(self.columns)} columns")
        if len({len(column) for column in self.columns}) > 1:
            raise TableError("the columns of a table must have the same number of rows")
        if not self.levels:
            object.__setattr__(self, "levels", (0,) * len(names))
        if not len(self.kept) and self.rows:
            object.__setattr__(self, "kept", np.ones(self.rows, dtype=np.bool_))
        object.__setattr__(
            self,
            "columns",
            tuple(self._settle(a, c, lv) for a, c, lv in zip(self.attributes, self.columns, self.levels, strict=True)),
        )
        self.kept.setflags(write=False)

    @staticmethod
    def _settle(attribute: Attribute, column: Column, level: int) -> Column:
        wanted = np.float64 if attribute.numeric and level == 0 else np.int32
        settled = np.ascontiguousarray(column, dtype=wanted)
        if settled.dtype == np.float64:
            settled = encode_positive_zeros(settled.astype(np.float64, copy=False))
        if settled is column and column.flags.writeable:
            settled = column.copy()  # the caller's array stays writeable
        settled.setflags(write=False)
        return settled

    def __repr__(self) -> str:
        """Shape and names; never a value, since a repr appears in logs and tracebacks."""
        return f"Table({self.rows} rows: {', '.join(self.names)})"

    # -- derived tables --

    @property
    def rows(self) -> int:
        """Number of records, suppressed ones included."""
        return len(self.columns[0]) if self.columns else 0

    def __len__(self) -> int:
        return self.rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def place(self, name: str) -> int:
        """Position of a column.

        Parameters
        ----------
        name : str
            Name of the column, spelt as in the table.

        Returns
        -------
        int

        Raises
        ------
        TableError
            If there is no such column; the message names the nearest one.
        """
        try:
            return self._places[name]
        except KeyError:
            raise TableError(unknown_column([name], self.names)) from None

    def attribute(self, name: str) -> Attribute:
        """Name, kind and role of a column.

        Parameters
        ----------
        name : str

        Returns
        -------
        Attribute
        """
        return self.attributes[self.place(name)]

    def column(self, name: str) -> Column:
        """Numbers or codes of a column.

        Parameters
        ----------
        name : str
            A column of numbers or of codes, generalised or not.

        Returns
        -------
        float64[n] or int32[n]
        """
        return self.columns[self.place(name)]

    def level(self, name: str) -> int:
        """Generalisation level of a column.

        Parameters
        ----------
        name : str
            A column, generalised or not.

        Returns
        -------
        int
        """
        return self.levels[self.place(name)]

    def names_by_role(self, *roles: Role) -> list[str]:
        """Names of the columns with one of some roles, in the order of the table.

        Parameters
        ----------
        *roles : Role

        Returns
        -------
        list of str
        """
        return [attribute.name for attribute in self.attributes if attribute.role in roles]

    @property
    def quasi_identifiers(self) -> list[str]:
        """Names of the quasi-identifiers; without derived ones, which say no more than the columns they follow from."""
        return [name for name in self.names_by_role(Role.QUASI_IDENTIFIER) if not self.attribute(name).derived]

    @property
    def confidential(self) -> list[str]:
        """Names of the confidential columns."""
        return self.names_by_role(Role.CONFIDENTIAL)

    def holds_numbers(self, name: str) -> bool:
        """Whether a column is numeric and not generalised.

        Parameters
        ----------
        name : str
            A column of any kind.

        Returns
        -------
        bool
        """
        return self.attribute(name).numeric and self.level(name) == 0

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Which records lack a value in a column.

        Parameters
        ----------
        name : str
            The column that is looked through.

        Returns
        -------
        bool[n]
        """
        column = self.column(name)
        return np.asarray(np.isnan(column) if self.holds_numbers(name) else column == MISSING)

    def labels(self, name: str) -> tuple[str, ...]:
        """Labels of the codes of a column.

        Parameters
        ----------
        name : str
            A column that holds codes, not numbers.

        Returns
        -------
        tuple of str

        Raises
        ------
        TableError
            If the column has numbers.
        """
        attribute, level = self.attribute(name), self.level(name)
        if level == 0:
            if attribute.numeric:
                raise TableError(f"column {name!r} holds numbers, which have no labels")
            return attribute.categories
        if attribute.hierarchy is None:
            raise TableError(f"column {name!r} is generalised but has no hierarchy")
        return attribute.hierarchy.node_labels if level == LOCAL else attribute.hierarchy.labels[level]

    def numbers(self, names: Iterable[str]) -> NDArray[np.float64]:
        """Numeric columns side by side.

        Parameters
        ----------
        names : iterable of str
            Numeric columns that are not generalised.

        Returns
        -------
        float64[n, p]

        Raises
        ------
        TableError
            If a column has no numbers.
        """
        names = list(names)
        for name in names:
            if not self.holds_numbers(name):
                raise TableError(
                    f"column {name!r} is {self.attribute(name).kind} and this needs numbers; "
                    f"choose numeric columns or a method for categories"
                )
        return np.stack([self.column(name) for name in names], axis=1) if names else np.empty((self.rows, 0))

    def codes(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Codes of columns side by side; a number becomes the rank of its distinct value.

        Parameters
        ----------
        names : iterable of str

        Returns
        -------
        int32[n, p]
            −1 is missing.
        """
        names = list(names)
        coded = [self._code_column(name) for name in names]
        return np.stack(coded, axis=1) if names else np.empty((self.rows, 0), dtype=np.int32)

    def _code_column(self, name: str) -> NDArray[np.int32]:
        column = self.column(name)
        if not self.holds_numbers(name):
            return column
        present = ~np.isnan(column)
        ranks = np.full(self.rows, MISSING, dtype=np.int32)
        ranks[present] = rank_distinct(column[present])
        return ranks

    def leaf_codes(self, name: str) -> NDArray[np.int32]:
        """Codes of a column by the leaves of its hierarchy.

        Parameters
        ----------
        name : str
            A column with a hierarchy that is not generalised.

        Returns
        -------
        int32[n]
            −1 is missing.

        Raises
        ------
        TableError
            If it has no hierarchy, is generalised, or has a value that the hierarchy lacks.
        """
        attribute = self.attribute(name)
        hierarchy = attribute.hierarchy
        if hierarchy is None:
            raise TableError(f"column {name!r} has no hierarchy; give it one, e.g. {name_hierarchy(name)}")
        if self.level(name) != 0:
            raise TableError(f"column {name!r} is already generalised to level {self.level(name)}")
        column = self.column(name)
        if attribute.numeric:
            present = ~np.isnan(column)
            at = np.searchsorted(hierarchy.values, column[present])
            at = np.minimum(at, hierarchy.size - 1)
            absent = int(np.sum(hierarchy.values[at] != column[present]))
            if absent:
                raise TableError(
                    f"column {name!r}: {absent} records have numbers that its hierarchy lacks; add a row for each"
                )
            leaf = np.full(self.rows, MISSING, dtype=np.int32)
            leaf[present] = at
            return leaf
        where = {label: code for code, label in enumerate(hierarchy.labels[0])}
        lost = [label for label in attribute.categories if label not in where]
        if lost:
            raise TableError(
                f"column {name!r}: {len(lost)} of its categories are absent from its hierarchy; add a row for each"
            )
        translate = np.array([*(where[label] for label in attribute.categories), MISSING], dtype=np.int32)
        return translate[column]

    def with_columns(
        self,
        columns: Mapping[str, Column],
        levels: Mapping[str, int] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Table:
        """The same table with some columns replaced.

        Parameters
        ----------
        columns : mapping of str to ndarray
            New columns by name.
        levels : mapping of str to int, optional
            Their levels, where they change.
        attributes : mapping of str to Attribute, optional
            Their attributes, where they change.

        Returns
        -------
        Table
        """
        new_columns, new_levels, new_attributes = list(self.columns), list(self.levels), list(self.attributes)
        for name, column in columns.items():
            new_columns[self.place(name)] = column
        for name, level in (levels or {}).items():
            new_levels[self.place(name)] = level
        for name, attribute in (attributes or {}).items():
            new_attributes[self.place(name)] = attribute
        return replace(self, attributes=tuple(new_attributes), columns=tuple(new_columns), levels=tuple(new_levels))

    def masked_by(self, step: MaskingStep, original: Table) -> Table:
        """The same table with one more masking in its provenance.

        Parameters
        ----------
        step : MaskingStep
        original : Table
            What was masked.

        Returns
        -------
        Table
        """
        before = original.provenance
        if before is None:
            before = Provenance(original.fingerprint(), {a.name: a.role.value for a in original.attributes}, ())
        return replace(self, provenance=replace(before, steps=(*before.steps, step)))

    def with_roles(self, roles: Mapping[str, Role]) -> Table:
        """The same table with other roles.

        Parameters
        ----------
        roles : mapping of str to Role
            New roles by column.

        Returns
        -------
        Table
        """
        return self.with_columns({}, attributes={n: self.attribute(n).but(role=Role(r)) for n, r in roles.items()})

    def with_categories(self, name: str, categories: Iterable[str], kind: Kind | None = None) -> Table:
        """The same table with the codes of a column in another list of categories.

        Parameters
        ----------
        name : str
            A column of categories.
        categories : iterable of str
            The new categories; they must contain every value in use.
        kind : Kind, optional

        Returns
        -------
        Table

        Raises
        ------
        TableError
            If a value in use is not in the list.
        """
        categories, attribute, codes = tuple(categories), self.attribute(name), self.column(name)
        place = {label: code for code, label in enumerate(categories)}
        labels = self.labels(name)
        used = np.unique(codes[codes != MISSING])
        lost = sum(labels[code] not in place for code in used)
        if lost:
            raise TableError(
                f"column {name!r}: {lost} of its values are not in the given list of categories; list every value once"
            )
        translate = np.array([*(place.get(label, MISSING) for label in labels), MISSING], dtype=np.int32)
        recoded = attribute.but(kind=kind or attribute.kind, categories=categories)
        return self.with_columns({name: translate[codes]}, levels={name: 0}, attributes={name: recoded})

    def without(self, rows: NDArray[np.bool_]) -> Table:
        """The same table with more records suppressed.

        Parameters
        ----------
        rows : bool[n]
            True for a record to suppress.

        Returns
        -------
        Table
        """
        return replace(self, kept=self.kept & ~rows)

    def take(self, rows: NDArray[Any]) -> Table:
        """A table of some of the rows, without its origin.

        Parameters
        ----------
        rows : int[m] or bool[n]
            Positions of rows, or a mask.

        Returns
        -------
        Table
        """
        return replace(self, columns=tuple(c[rows] for c in self.columns), kept=self.kept[rows], origin=None)

    def drop(self, names: Iterable[str]) -> Table:
        """The same table without some columns.

        Parameters
        ----------
        names : iterable of str
            Columns to leave out.

        Returns
        -------
        Table
        """
        gone = {self.place(name) for name in names}
        stay = [place for place in range(len(self.columns)) if place not in gone]
        return replace(
            self,
            attributes=tuple(self.attributes[place] for place in stay),
            columns=tuple(self.columns[place] for place in stay),
            levels=tuple(self.levels[place] for place in stay),
        )

    def fingerprint(self) -> str:
        """SHA-256 of names, kinds, roles, categories, levels, values and suppression."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return self._digest()

    def _digest(self) -> str:
        digest = hashlib.sha256()
        for attribute, column, level in zip(self.attributes, self.columns, self.levels, strict=True):
            head = (attribute.name, str(attribute.kind), str(attribute.role), attribute.categories, level)
            digest.update(repr(head).encode())
            digest.update(column.tobytes())
        digest.update(self.kept.tobytes())
        return digest.hexdigest()

    @classmethod
    def from_columns(cls, columns: Mapping[str, Iterable[Any]], roles: Mapping[str, str] | None = None) -> Table:
        """Build a small table from lists.

        Parameters
        ----------
        columns : mapping of str to iterable
            Numbers become a numeric column, anything else a nominal one with sorted categories; None is missing.
        roles : mapping of str to str, optional
            Roles by column; "undecided" by default.

        Returns
        -------
        Table
        """
        roles = roles or {}
        attributes, arrays = [], []
        for name, values in columns.items():
            cells = list(values)
            role = Role(roles.get(name, "undecided"))
            if all(v is None or (isinstance(v, (int, float, np.number)) and not isinstance(v, bool)) for v in cells):
                attributes.append(Attribute(name, Kind.NUMERIC, role))
                arrays.append(np.array([np.nan if v is None else float(v) for v in cells]))
            else:
                categories = tuple(sorted({str(v) for v in cells if v is not None}))
                code = {label: place for place, label in enumerate(categories)}
                attributes.append(Attribute(name, Kind.NOMINAL, role, categories))
                arrays.append(np.array([MISSING if v is None else code[str(v)] for v in cells], dtype=np.int32))
        return cls(tuple(attributes), tuple(arrays))


# -- Locked columns: quasi-identifiers that are published as collected.


def lock_table_columns(table: Table, names: Iterable[str]) -> Table:
    """Give the same table with some columns locked, so that nothing done to the table makes them coarser.

    >>> table = lock_table_columns(Table.from_columns({"sex": ["f", "m"]}, {"sex": "quasi"}), ["sex"])
    >>> table.attribute("sex").locked, table.attribute("sex").hierarchy
    (True, Hierarchy(2))
    """
    return table.with_columns({}, attributes={name: _lock(table, name) for name in names})


def _lock(table: Table, name: str) -> Attribute:
    attribute, column = table.attribute(name), table.column(name)
    whole = attribute.hierarchy
    if whole is None:
        values = np.unique(column[~np.isnan(column)]) if attribute.numeric else np.empty(0)
        labels = tuple(f"{value:g}" for value in values) if attribute.numeric else attribute.categories
        whole = Hierarchy((np.arange(len(labels), dtype=np.int32),), (labels,), values)
    return attribute.but(locked=True, hierarchy=Hierarchy(whole.groups[:1], whole.labels[:1], whole.values))


__all__ = ["LOCAL", "Column", "Table"]


def rank_distinct(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """int[n]: the rank of each number among the distinct ones; numbers at whole distances are counted, not sorted.

    >>> rank_distinct(np.array([30.5, 2.5, 30.5, 4.5])).tolist()
    [2, 0, 2, 1]
    """
    low, high = (float(end(values)) if len(values) else np.inf for end in (np.min, np.max))
    if high - low <= len(values):
        places = (values - low).astype(np.intp)
        if np.array_equal(places + low, values):
            return np.asarray((np.cumsum(np.bincount(places) > 0) - 1)[places])
    return np.unique(values, return_inverse=True)[1]
