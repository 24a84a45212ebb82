"""A local recoding as a genome: the class of every record and the node each class publishes.

int32[1 + n + classes · columns]: the number of classes, the class of every kept record, then the level of every column
in every class, class by class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.masking.recoding import LocalClasses, Publication
from crypsis.privacy.properties import class_sizes
from crypsis.table.table import Table


@dataclass(frozen=True, eq=False)
class RecodingEncoding(RememberingEncoding):
    """Local recoding: every class publishes one node of each hierarchy.

    names  columns that are recoded, each with a hierarchy
    """

    table: Table = field(repr=False)
    names: tuple[str, ...]

    def encode(self, classes: LocalClasses) -> Genome:
        """Encode classes.

        classes  the class of every record and the levels of every class
        """
        head = np.array([len(classes.levels)], dtype=np.int32)
        return np.concatenate([head, classes.labels.astype(np.int32), classes.levels.ravel().astype(np.int32)])

    def apply(self, genome: Genome) -> Table:
        """Generalise every record to the levels of its class."""
        count, records = int(genome[0]), int(self.table.kept.sum())
        labels, levels = genome[1 : 1 + records], genome[1 + records :].reshape(count, len(self.names))
        return self._publication.publish(LocalClasses(labels, levels))

    @cached_property
    def _publication(self) -> Publication:
        return Publication(self.table, self.names)

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe the number of classes and the smallest one."""
        sizes = class_sizes(masked, masked.quasi_identifiers or list(self.names))[masked.kept]
        classes = round(float((1.0 / sizes).sum())) if len(sizes) else 0
        least = int(sizes.min()) if len(sizes) else 0
        message = (
            f"each record generalised only as far as its class of at least {least} records needs: {classes} classes"
        )
        return Description(message, {"effective_k": least, "classes": classes})
