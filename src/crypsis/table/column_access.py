"""Read access to the columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import TableError, unknown_column
from crypsis.table.attribute import Attribute, Role
from crypsis.table.hierarchy import MISSING

LOCAL = -1
"""Level of a locally recoded column: its codes are nodes of the hierarchy."""

Column = NDArray[Any]


class ColumnAccess:
    """What can be asked of the columns of a table.

    Attributes
    ----------
    attributes : tuple of Attribute
        Name, kind and role of each column.
    columns : tuple of ndarray
    levels : tuple of int
        Generalisation level of each column.
    """

    attributes: tuple[Attribute, ...]
    columns: tuple[Column, ...]
    levels: tuple[int, ...]

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

    def named(self, *roles: Role) -> list[str]:
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
        """Names of the quasi-identifiers."""
        return self.named(Role.QUASI_IDENTIFIER)

    @property
    def confidential(self) -> list[str]:
        """Names of the confidential columns."""
        return self.named(Role.CONFIDENTIAL)

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
