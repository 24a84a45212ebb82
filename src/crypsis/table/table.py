"""The table: read-only columns of numbers or codes, and what is known about each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, listing, repeated, unknown_column
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.provenance import MaskingStep, Provenance
from crypsis.table.signed_zeros import positive_zeros

LOCAL = -1
"""Level of a column whose records stand at different levels: its codes are node numbers of the hierarchy."""

Column = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """n records by attributes. A numeric column is float64 (missing: NaN); any other is int32 codes (missing: −1).

    levels  generalisation level of each column; 0 as collected, `LOCAL` when records differ. A numeric
            column above level 0 holds the codes of its hierarchy's groups.
    kept    False for a suppressed record: it stays in place so that rows keep corresponding, is never
            written to a release, and counts as fully generalised in a loss
    origin  where the table came from (a frame), so that untouched columns go back exactly as they were
    notes   what a reader of the data should know though it is no error, e.g. that a column has one value
    """

    attributes: tuple[Attribute, ...]
    columns: tuple[Column, ...]
    levels: tuple[int, ...] = ()
    kept: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))
    origin: Any = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    provenance: Provenance | None = field(default=None, repr=False, compare=False)
    """How the table was masked; None for a table as it was read."""

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.attributes]
        twice = repeated(names)
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
            settled = positive_zeros(settled.astype(np.float64, copy=False))
        if settled is column and column.flags.writeable:
            settled = column.copy()  # never freeze an array that is still the caller's
        settled.setflags(write=False)
        return settled

    # -- looking --

    def __repr__(self) -> str:
        """Shape and names only: a repr ends up in logs and tracebacks, where no person's values belong."""
        return f"Table({self.rows} rows: {', '.join(self.names)})"

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __len__(self) -> int:
        return self.rows

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def place(self, name: str) -> int:
        """Position of a column, or a sentence naming the nearest one that exists."""
        try:
            return self._places[name]
        except KeyError:
            raise TableError(unknown_column([name], self.names)) from None

    def attribute(self, name: str) -> Attribute:
        return self.attributes[self.place(name)]

    def column(self, name: str) -> Column:
        return self.columns[self.place(name)]

    def level(self, name: str) -> int:
        return self.levels[self.place(name)]

    def named(self, *roles: Role) -> list[str]:
        """Names of the columns with one of the roles, in table order."""
        return [attribute.name for attribute in self.attributes if attribute.role in roles]

    @property
    def quasi_identifiers(self) -> list[str]:
        return self.named(Role.QUASI_IDENTIFIER)

    @property
    def confidential(self) -> list[str]:
        return self.named(Role.CONFIDENTIAL)

    def holds_numbers(self, name: str) -> bool:
        """Whether the column is float64 as it stands (numeric, and not generalised)."""
        return self.attribute(name).numeric and self.level(name) == 0

    def labels(self, name: str) -> tuple[str, ...]:
        """What each code of a coded column means to a reader."""
        attribute, level = self.attribute(name), self.level(name)
        if level == 0:
            if attribute.numeric:
                raise TableError(f"column {name!r} holds numbers, which have no labels")
            return attribute.categories
        if attribute.hierarchy is None:
            raise TableError(f"column {name!r} is generalised but has no hierarchy")
        return attribute.hierarchy.node_labels if level == LOCAL else attribute.hierarchy.labels[level]

    def numbers(self, names: Iterable[str]) -> NDArray[np.float64]:
        """float64[n, p] of numeric columns."""
        names = list(names)
        for name in names:
            if not self.holds_numbers(name):
                raise TableError(
                    f"column {name!r} is {self.attribute(name).kind} and this needs numbers; "
                    f"choose numeric columns or a method for categories"
                )
        return np.stack([self.column(name) for name in names], axis=1) if names else np.empty((self.rows, 0))

    def codes(self, names: Iterable[str]) -> NDArray[np.int32]:
        """int32[n, p]: category codes; numbers become the rank of their distinct value; missing is −1."""
        names = list(names)
        coded = [self._coded(name) for name in names]
        return np.stack(coded, axis=1) if names else np.empty((self.rows, 0), dtype=np.int32)

    def _coded(self, name: str) -> NDArray[np.int32]:
        column = self.column(name)
        if not self.holds_numbers(name):
            return column
        present = ~np.isnan(column)
        ranks = np.full(self.rows, MISSING, dtype=np.int32)
        ranks[present] = np.unique(column[present], return_inverse=True)[1]
        return ranks

    def leaf_codes(self, name: str) -> NDArray[np.int32]:
        """Codes of an ungeneralised column on level 0 of its hierarchy; values the hierarchy lacks are refused."""
        attribute = self.attribute(name)
        hierarchy = attribute.hierarchy
        if hierarchy is None:
            raise TableError(f'column {name!r} has no hierarchy; give it one, e.g. hierarchy = "intervals:5,10,20"')
        if self.level(name) != 0:
            raise TableError(f"column {name!r} is already generalised to level {self.level(name)}")
        column = self.column(name)
        if attribute.numeric:
            present = ~np.isnan(column)
            at = np.searchsorted(hierarchy.values, column[present])
            at = np.minimum(at, hierarchy.size - 1)
            absent = int(np.sum(hierarchy.values[at] != column[present]))
            if absent:
                raise TableError(f"column {name!r}: {absent} records hold numbers its hierarchy does not list")
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

    # -- changing (always a new table) --

    def with_columns(
        self,
        columns: Mapping[str, Column],
        levels: Mapping[str, int] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Table:
        """The same table with some columns (and, where given, their levels or attributes) replaced."""
        new_columns, new_levels, new_attributes = list(self.columns), list(self.levels), list(self.attributes)
        for name, column in columns.items():
            new_columns[self.place(name)] = column
        for name, level in (levels or {}).items():
            new_levels[self.place(name)] = level
        for name, attribute in (attributes or {}).items():
            new_attributes[self.place(name)] = attribute
        return replace(self, attributes=tuple(new_attributes), columns=tuple(new_columns), levels=tuple(new_levels))

    def masked_by(self, step: MaskingStep, original: Table) -> Table:
        """The same table with one more masking written into its provenance."""
        before = original.provenance
        if before is None:
            before = Provenance(original.fingerprint(), {a.name: a.role.value for a in original.attributes}, ())
        return replace(self, provenance=replace(before, steps=(*before.steps, step)))

    def with_roles(self, roles: Mapping[str, Role]) -> Table:
        return self.with_columns({}, attributes={n: self.attribute(n).but(role=Role(r)) for n, r in roles.items()})

    def with_categories(self, name: str, categories: Iterable[str], kind: Kind | None = None) -> Table:
        """A categorical column recoded to a given list of categories, which must hold every value in use."""
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
        """The same table with more records suppressed (True: suppress)."""
        return replace(self, kept=self.kept & ~rows)

    def take(self, rows: NDArray[Any]) -> Table:
        """A table of some of the rows (indices or a mask), without memory of its origin."""
        return replace(self, columns=tuple(c[rows] for c in self.columns), kept=self.kept[rows], origin=None)

    def drop(self, names: Iterable[str]) -> Table:
        """The same table without some columns."""
        gone = {self.place(name) for name in names}
        stay = [place for place in range(len(self.columns)) if place not in gone]
        return replace(
            self,
            attributes=tuple(self.attributes[place] for place in stay),
            columns=tuple(self.columns[place] for place in stay),
            levels=tuple(self.levels[place] for place in stay),
        )

    def fingerprint(self) -> str:
        """SHA-256 of names, kinds, roles, categories, levels, values and suppression: equal tables, equal prints."""
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
        """A small table from plain lists: numbers become numeric, anything else nominal in sorted order."""
        roles = roles or {}
        attributes, arrays = [], []
        for name, values in columns.items():
            cells = list(values)
            role = Role(roles.get(name, "other"))
            if all(v is None or (isinstance(v, (int, float, np.number)) and not isinstance(v, bool)) for v in cells):
                attributes.append(Attribute(name, Kind.NUMERIC, role))
                arrays.append(np.array([np.nan if v is None else float(v) for v in cells]))
            else:
                categories = tuple(sorted({str(v) for v in cells if v is not None}))
                code = {label: place for place, label in enumerate(categories)}
                attributes.append(Attribute(name, Kind.NOMINAL, role, categories))
                arrays.append(np.array([MISSING if v is None else code[str(v)] for v in cells], dtype=np.int32))
        return cls(tuple(attributes), tuple(arrays))
