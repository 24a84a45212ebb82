"""A masked categorical file as a genome: integers [n, p], the code of every record in every column."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.errors import SearchError, TableError
from crypsis.kernels.exchanges import ExchangeRules
from crypsis.measures.categories import CategoryContext, Pairing
from crypsis.table.table import Table
from crypsis.text import exchange_text


@dataclass(frozen=True, eq=False)
class MaskedFileEncoding(RememberingEncoding):
    """Categories changed record by record."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # categorical columns that are masked
    # labels beyond the original's, column by column: those that a recoding of the first population merged
    merged: Sequence[tuple[str, ...]] = ()

    @cached_property
    def context(self) -> CategoryContext:
        """The numbers of categories: 0 … size − 1, size for missing, and merged labels after it."""
        return CategoryContext.of(self.table, self.names)

    @property
    def labels(self) -> list[list[str | None]]:
        """Labels of the codes of each column; None is missing or suppressed."""
        merged = self.merged or [()] * len(self.context.names)
        return [[*own, None, None, *new] for own, new in zip(self.context.labels, merged, strict=True)]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest integer type for every code and −1, since a population has many files."""
        return np.min_scalar_type(-max(map(len, self.labels)))

    def join_files(self, files: Sequence[Table]) -> tuple[MaskedFileEncoding, list[Pairing]]:
        """The encoding with the labels that recodings among some files merged, and these files in its numbering."""
        merged = [tuple(self.context.news(name, files)) for name in self.context.names]
        return replace(self, merged=merged), self.context.join(files)

    def encode(self, masked: Table) -> Genome:
        """Encode a masked table."""
        merged = self.merged or [()] * len(self.context.names)
        for name, known in zip(self.context.names, merged, strict=True):
            strange = set(self.context.news(name, [masked])) - set(known)
            if strange:
                raise TableError(
                    f"column {name!r} of the masked table has {len(strange)} label(s) that the original lacks; "
                    f"mask it by a method that publishes only categories of the original"
                )
        return self.context.translate(masked, self.context.map_codes(masked, merged)).astype(self.dtype)

    def apply(self, genome: Genome) -> Table:
        """Decode codes; merged labels become categories of their column."""
        columns, attributes = {}, {}
        for j, name in enumerate(self.context.names):
            size, column = self.context.sizes[j], genome[:, j]
            columns[name] = np.where(column == size, -1, np.where(column > size, column - 2, column)).astype(np.int32)
            if (column > size + 1).any():
                labels = (*self.context.labels[j], *self.merged[j])
                attributes[name] = self.table.attribute(name).but(categories=labels, hierarchy=None)
        return self.table.with_columns(columns, attributes=attributes)

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe how many cells of each column changed."""
        changed = np.asarray(genome) != self.context.codes
        by_column = zip(self.context.names, changed.mean(axis=0), strict=True)
        shares = [f"{name} {100 * share:.0f} %" for name, share in by_column]
        message = f"categories changed record by record; cells changed: {', '.join(shares)}"
        return Description(message, {"changed_cells": float(100 * changed.mean())})


def masked_file_key(genome: Genome) -> bytes:
    """Key of a genome: a digest of its codes."""
    return hashlib.blake2b(np.ascontiguousarray(genome).tobytes(), digest_size=16).digest()


# -- Values exchanged between records as a genome: int32[n, p], whose value every record publishes in every column.


@dataclass(frozen=True, eq=False)
class ExchangeEncoding(RememberingEncoding):
    """Records that publish values of other records."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # columns in which values are exchanged

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """int32[n, p]: equal for equal values."""
        return self.table.codes(list(self.names))

    @property
    def collected_genome(self) -> Genome:
        """The genome of the original: every record its own values."""
        rows = np.arange(len(self.table), dtype=np.int32)
        return np.repeat(rows[:, None], len(self.names), axis=1)

    def _check_shape(self, genome: Genome) -> Genome:
        if genome.shape != (len(self.table), len(self.names)):
            raise SearchError("a stored solution belongs to another table; start the run again in a new folder")
        return genome

    def apply(self, genome: Genome) -> Table:
        """Give every record the values of its donors."""
        donors = self._check_shape(genome)
        return self.table.with_columns(
            {name: self.table.column(name)[donors[:, j]] for j, name in enumerate(self.names)}
        )

    def key(self, genome: Genome) -> bytes:
        """Equal for genomes that publish the same values."""
        shown = np.take_along_axis(self.codes, self._check_shape(genome), axis=0)
        return hashlib.blake2b(np.ascontiguousarray(shown).tobytes(), digest_size=16).digest()

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe how many cells of each column show another value, and in which columns the values are the same."""
        shown = np.take_along_axis(self.codes, self._check_shape(genome), axis=0)
        changed = 100.0 * (shown != self.codes).mean(axis=0)
        kept = [np.array_equal(np.sort(shown[:, j]), np.sort(self.codes[:, j])) for j in range(len(self.names))]
        message = exchange_text(dict(zip(self.names, changed.tolist(), strict=True)), all(kept))
        return Description(message, {"changed_cells": float(changed.mean()), "columns_kept": int(sum(kept))})


def cycles_between_masked_files(mine: NDArray[np.int32], theirs: NDArray[np.int32]) -> NDArray[np.int32]:
    """int32[n]: the cycle of each record between two masked files: exchanged whole, it keeps the counts of values.

    `mine`, `theirs` int32[n]: two orders of the same values.

    >>> cycles_between_masked_files(np.array([0, 1, 2, 3]), np.array([1, 0, 2, 3])).tolist()
    [0, 0, 1, 2]
    """
    n = len(mine)
    partner = np.empty(n, np.int64)
    partner[np.argsort(theirs, kind="stable")] = np.argsort(mine, kind="stable")
    links = scipy.sparse.coo_matrix((np.ones(n), (np.arange(n), partner)), shape=(n, n))
    return np.asarray(scipy.sparse.csgraph.connected_components(links, directed=False)[1])


def join_masked_file_units(rules: ExchangeRules, units: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Join units of a masked file's genome that share a rule, and mark those tied to collected columns.

    Returns int64[u].
    """
    joined, fixed = np.arange(units), np.zeros(units, np.bool_)
    for r in range(len(rules.starts)):
        inside = rules.units[rules.bounds[r] : rules.bounds[r + 1]]
        masked = inside[inside >= 0]
        if len(masked):
            joined[np.isin(joined, joined[masked])] = joined[masked].min()
            fixed[masked] |= bool((inside < 0).any())
    return joined, np.isin(joined, joined[fixed])
