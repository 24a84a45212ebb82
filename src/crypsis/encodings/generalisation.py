"""Generalisation as a genome: a node of a lattice, or the class of every record and the node each class publishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.encodings.encoding import Description, Genome, RememberingEncoding
from crypsis.masking.generalisation import Generalisation, generalise
from crypsis.masking.local_recoding import LocalClasses, Publication
from crypsis.privacy.demands import ClassDemands, class_demands
from crypsis.privacy.model import PrivacyModel, shortness_under_model
from crypsis.table.equivalence_classes import classes_of, equivalence_class_sizes
from crypsis.table.lattice import Lattice
from crypsis.table.table import Table
from crypsis.text import node_text

# -- A node of a generalisation lattice as a genome: int16[columns], the level of each column.


@dataclass(frozen=True, eq=False)
class LevelEncoding(RememberingEncoding):
    """One level per column; classes that fail the rule of the method are suppressed."""

    table: Table = field(repr=False)
    lattice: Lattice  # the columns that are generalised and their hierarchies
    method: Generalisation  # the rule of suppression over the lattice's columns; its levels are not used
    # in its place: every class that fails one of them is suppressed, however many that are
    models: tuple[PrivacyModel, ...] = ()

    def apply(self, genome: Genome) -> Table:
        """Generalise the table to a node and suppress by the rule of the method, or every record that fails a model."""
        masked = self.generalise(genome)
        return self._suppress_failing(masked) if self.models else self.method.suppress_classes(masked)

    @cached_property
    def demands(self) -> ClassDemands:
        """What the models demand of every class."""
        return class_demands(self.models, self.table, self.lattice.names)

    def _suppress_failing(self, masked: Table) -> Table:
        """Without the classes that fail a model; where that moves what a model compares with, it is asked again."""
        judged, columns = self.demands.judged, set(self.lattice.names)
        if judged and all(set(model.known_columns(masked)) == columns for model in judged):
            classes = classes_of(masked, self.lattice.names)
            short = self.demands.shortfalls(classes.of[masked.kept])
            masked = masked.without(np.append(short > 0, False)[classes.of])
        while masked.kept.any():
            failing = np.zeros(len(masked), dtype=np.bool_)
            for model in self.models:
                levels = model.levels(masked)
                failing |= shortness_under_model(levels, model.required, model.sense) > 0
            if not failing.any():
                break
            masked = masked.without(failing)
        return masked

    def generalise(self, genome: Genome) -> Table:
        """Generalise the table to a node without suppression."""
        levels = [int(level) for level in genome]
        self.lattice.check(levels)
        return generalise(self.table, self.lattice, levels, self._leaves.__getitem__)

    @cached_property
    def _leaves(self) -> Mapping[str, NDArray[np.int32]]:
        """Leaf codes of every column."""
        return {name: self.table.leaf_codes(name) for name in self.lattice.names}

    def describe(self, genome: Genome, masked: Table) -> Description:
        """Describe the level of each column and what is suppressed."""
        suppressed, rule = int((~masked.kept).sum() - (~self.table.kept).sum()), self.method.rule
        if self.models:
            rule = "failing-class"
        message = node_text(self.lattice, [int(level) for level in genome])
        if suppressed:
            which = "smallest classes first" if rule == "by-size" else "the classes that failed"
            message += f"; {suppressed} record{'s' * (suppressed > 1)} suppressed: {which} (rule {rule})"
        facts: dict[str, float | int | str] = {"suppressed": suppressed, "rule": rule}
        facts |= {f"level of {name}": int(level) for name, level in zip(self.lattice.names, genome, strict=True)}
        return Description(message, facts)


def levels_key(genome: Genome) -> bytes:
    """Key of a genome: its levels."""
    return np.asarray(genome, dtype=np.int16).tobytes()


# -- A local recoding as a genome: the class of every record and the node each class publishes.
#
# int32[1 + n + classes · columns]: the number of classes, the class of every kept record, then the level of every
# column in every class, class by class.


@dataclass(frozen=True, eq=False)
class RecodingEncoding(RememberingEncoding):
    """Local recoding: every class publishes one node of each hierarchy."""

    table: Table = field(repr=False)
    names: tuple[str, ...]  # columns that are recoded, each with a hierarchy

    def encode(self, classes: LocalClasses) -> Genome:
        """Encode classes."""
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
        sizes = equivalence_class_sizes(masked, masked.quasi_identifiers or list(self.names))[masked.kept]
        classes = round(float((1.0 / sizes).sum())) if len(sizes) else 0
        least = int(sizes.min()) if len(sizes) else 0
        message = (
            f"each record generalised only as far as its class of at least {least} records needs: {classes} classes"
        )
        return Description(message, {"effective_k": least, "classes": classes})
