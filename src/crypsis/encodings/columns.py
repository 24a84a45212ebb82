"""The columns of a masked table that differ from the original, as a genome.

The genome is uint8: an npz archive of the changed columns, their levels, and which records are kept. Baselines are
stored like this, because they come from methods without an encoding.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field

import numpy as np

from crypsis.encodings.encoding import Description, Encoding, Genome
from crypsis.errors import SearchError
from crypsis.table.attribute import Attribute
from crypsis.table.table import Column, Table


@dataclass(frozen=True, eq=False)
class ColumnEncoding(Encoding):
    """Changed columns of one table.

    message  how the masked tables are made
    """

    table: Table = field(repr=False)
    message: str = ""

    def encode(self, masked: Table) -> Genome:
        """Encode a masked version of the table."""
        arrays: dict[str, Column] = {"kept": masked.kept}
        head = []
        for place, (before, after) in enumerate(zip(self.table.attributes, masked.attributes, strict=True)):
            column, level = masked.columns[place], masked.levels[place]
            same = level == self.table.levels[place] and after.categories == before.categories
            nan = column.dtype == np.float64
            if same and np.array_equal(column, self.table.columns[place], equal_nan=nan):
                continue
            arrays[f"column{place}"] = column
            categories = None if after.categories == before.categories else list(after.categories)
            head.append({"place": place, "level": level, "categories": categories})
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
            if entry["categories"] is not None:
                attributes[name] = self.table.attribute(name).but(categories=tuple(entry["categories"]), hierarchy=None)
        masked = self.table.with_columns(columns, levels, attributes)
        if len(parts["kept"]) != len(self.table):
            raise SearchError("a stored baseline belongs to another table; start the run again in a new folder")
        return masked.without(~parts["kept"])

    def describe(self, genome: Genome, masked: Table) -> Description:
        return Description(self.message)
