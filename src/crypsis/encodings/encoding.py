"""The interface of an encoding: a genome has what a search found, and decoding only applies it."""

from __future__ import annotations

import hashlib
import io
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crypsis.errors import SearchError
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.rules import recompute_derived
from crypsis.table.table import Column, Table

Genome = NDArray[Any]

KEPT_CELLS = 8_000_000
"""Cells of decoded tables that an encoding keeps: at most some 60 megabytes, unless two tables have more."""


@dataclass(frozen=True)
class Description:
    """A solution in one sentence and some figures."""

    message: str
    # figures by name: effective k, number of classes, levels
    facts: Mapping[str, float | int | str] = field(default_factory=dict)


class Encoding(Protocol):
    """Genomes of one kind for one table; built in milliseconds, without a population and without scores."""

    def decode(self, genome: Genome) -> Table:
        """Decode a genome into a masked table."""

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe a genome and the table it decodes into."""


class RememberingEncoding(Encoding):
    """An encoding that keeps the tables it decoded last, so that who scores, measures and releases decodes once."""

    table: Table

    @abstractmethod
    def apply(self, genome: Genome) -> Table:
        """Work out the masked table of a genome; `decode` asks for it once."""

    def decode(self, genome: Genome) -> Table:
        key = hashlib.blake2b(genome.tobytes(), digest_size=16).digest()
        masked = self._decoded_tables.get(key)
        if masked is None:
            masked = self._decoded_tables[key] = recompute_derived(self.apply(genome), self.table)
            most = max(2, KEPT_CELLS // max(1, len(self.table) * len(self.table.names)))
            for oldest in list(self._decoded_tables)[:-most]:
                self._decoded_tables.pop(oldest, None)
        return masked

    @cached_property
    def _decoded_tables(self) -> dict[bytes, Table]:
        """The last tables by a digest of their genomes, oldest first."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        # Workers keep their own tables.
        return {name: value for name, value in self.__dict__.items() if name != "_decoded_tables"}


# -- The columns of a masked table that differ from the original, as a genome.
#
# The genome is uint8: an npz archive of the changed columns, their levels, and which records are kept. Baselines are
# stored like this, because they come from methods without an encoding.


@dataclass(frozen=True, eq=False)
class ColumnEncoding(Encoding):
    """Changed columns of one table."""

    table: Table = field(repr=False)
    message: str = ""  # how the masked tables are made

    def encode(self, masked: Table) -> Genome:
        """Encode a masked version of the table."""
        arrays: dict[str, Column] = {"kept": masked.kept}
        head = []
        for place, (before, after) in enumerate(zip(self.table.attributes, masked.attributes, strict=True)):
            column, level = masked.columns[place], masked.levels[place]
            same = (level, after.categories, after.kind) == (self.table.levels[place], before.categories, before.kind)
            nan = column.dtype == np.float64
            if same and np.array_equal(column, self.table.columns[place], equal_nan=nan):
                continue
            arrays[f"column{place}"] = column
            categories = None if after.categories == before.categories else list(after.categories)
            entry: dict[str, Any] = {"place": place, "level": level, "categories": categories}
            if after.kind != before.kind:
                entry["kind"], entry["dates"] = after.kind.value, after.dates
            head.append(entry)
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        return np.frombuffer(buffer.getvalue(), dtype=np.uint8)

    def decode(self, genome: Genome) -> Table:
        with np.load(io.BytesIO(genome.tobytes()), allow_pickle=False) as archive:
            parts = {name: archive[name] for name in archive.files}
        columns: dict[str, Column] = {}
        levels: dict[str, int] = {}
        attributes: dict[str, Attribute] = {}
        for entry in json.loads(parts["head"].tobytes()):
            name = self.table.names[entry["place"]]
            columns[name], levels[name] = parts[f"column{entry['place']}"], entry["level"]
            changes: dict[str, Any] = {}
            if entry["categories"] is not None:
                changes = {"categories": tuple(entry["categories"]), "hierarchy": None}
            if "kind" in entry:
                changes |= {"kind": Kind(entry["kind"]), "dates": entry["dates"], "hierarchy": None}
            if changes:
                attributes[name] = self.table.attribute(name).but(**changes)
        masked = self.table.with_columns(columns, levels, attributes)
        if len(parts["kept"]) != len(self.table):
            raise SearchError("a stored baseline belongs to another table; start the run again in a new folder")
        return masked.without(~parts["kept"])

    def describe(self, genome: Genome, masked: Table) -> Description:
        return Description(self.message)


def encoding_index_ceilings(names: Sequence[str], records: int, attributes: int) -> tuple[float, ...]:
    """The interface of encodings: the largest value of each index, whatever encoding the genome has."""
    cells = float(records * attributes)
    highest = {"information": cells, "glm": cells, "s_k": float(records) ** 2, "s_l": float(records) ** 2}
    return tuple(max(highest.get(name, float(records)), 1.0) for name in names)
