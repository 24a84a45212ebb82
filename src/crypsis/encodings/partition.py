"""A partition of the kept records as a genome: int32[n + 1], the group of every record and k."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding, blanked_cells
from crypsis.kernels.squares import sse
from crypsis.masking.microaggregation import Microaggregation
from crypsis.privacy.properties import class_sizes
from crypsis.table.table import Table
from crypsis.text import blanked_text


@dataclass(frozen=True, eq=False)
class PartitionEncoding(RememberingEncoding):
    """Groups of similar records that share the values of some columns.

    names  columns whose values a group shares
    method  how a group's values become one; its partitioner is not used
    """

    table: Table = field(repr=False)
    names: tuple[str, ...]
    method: Microaggregation

    def apply(self, genome: Genome) -> Table:
        """Give every group one value in each column."""
        return self.method.shared(self.table, self.names, compact(genome))

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe the number and sizes of the groups."""
        labels, k = compact(genome), int(genome[-1])
        sizes = np.bincount(labels)
        smallest = class_sizes(masked, self.table.quasi_identifiers or list(self.names))
        effective = int(np.nanmin(smallest)) if len(smallest) else 0
        message = (
            f"{len(sizes)} groups of {int(sizes.min())} to {int(sizes.max())} similar records share their "
            f"{', '.join(self.names)}"
        )
        facts = {"k": k, "effective_k": effective, "groups": len(sizes), "SSE": sse(self.points, labels)}
        blanked = blanked_cells(self.table, masked, self.names)
        if any(blanked.values()):
            facts["blanked"] = sum(blanked.values())
        return Description(message + blanked_text(blanked), facts)

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """float64[n, q]: the kept records in the space of the distance."""
        kept = self.table.take(np.flatnonzero(self.table.kept))
        return np.ascontiguousarray(self.method.points(kept, self.names))


def compact(genome: Genome) -> NDArray[np.int32]:
    """Labels of the groups of a genome as 0, 1, … without gaps."""
    return np.unique(genome[:-1], return_inverse=True)[1].astype(np.int32)


def partition_key(genome: Genome) -> bytes:
    """Key of a genome: equal for equal groups and k, whatever the numbers of the groups."""
    _, first, inverse = np.unique(genome[:-1], return_index=True, return_inverse=True)
    canonical = np.argsort(np.argsort(first))[inverse].astype(np.int32)
    return hashlib.blake2b(canonical.tobytes() + int(genome[-1]).to_bytes(8, "little"), digest_size=16).digest()
