"""Groups of columns of any kind, each clustered by itself: worked out quantum by quantum and remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from crypsis.engines import Engine
from crypsis.masking.partition import partitioners
from crypsis.masking.scaling import embed
from crypsis.privacy.demands import class_demands
from crypsis.privacy.model import PrivacyModel
from crypsis.searches.composites.lineages import WORK
from crypsis.searches.composites.space import CompositeSpace, Labels
from crypsis.searches.composites.treatments import Profile
from crypsis.searches.groupings.chains import Chain, CompositeChain, EvolvingChain, OnceChain
from crypsis.searches.groupings.units import Units, fixed_strata, touching
from crypsis.searches.partitions.evolving import EvolvingPartitioner
from crypsis.table.attribute import weights
from crypsis.table.table import Table

COMPOSITE = "composite"
"""Name of the partitioner that walks over composite groups."""

Wanted = tuple[tuple[int, ...], int, int]
"""Positions of columns that are masked together, k, and effort."""


@dataclass
class PartCounts:
    """Work done: groups of columns that were begun, each once for every k, unless they were forgotten in between."""

    begun: int = 0


@dataclass(frozen=True, eq=False)
class Parts:
    """The clusters of every group of columns that was asked for.

    Parameters
    ----------
    table : Table
        The original.
    names : tuple of str
        Columns that are masked.
    units : tuple of tuples of int
        Columns that are always together.
    models : tuple of PrivacyModel
        What is demanded.
    profile : tuple of Representative
        What a cluster publishes in each column; the composite walk makes its loss small.
    partitioner : str
        "composite" or a registered one.
    ladder : tuple of int
        Smallest and largest k.
    megabytes : float
        How much the kept clusters may take; those in use are always kept.
    """

    table: Table = field(repr=False)
    names: tuple[str, ...]
    units: Units
    models: tuple[PrivacyModel, ...]
    profile: Profile
    partitioner: str
    ladder: tuple[int, ...]
    megabytes: float
    counts: PartCounts = field(default_factory=PartCounts, repr=False)
    _chains: OrderedDict[tuple[tuple[int, ...], int], Chain] = field(default_factory=OrderedDict, repr=False)
    _spaces: dict[tuple[int, ...], CompositeSpace] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_chains": OrderedDict(), "_spaces": {}}  # a worker works out its own

    def clusters(self, wanted: Wanted) -> Labels:
        """The clusters of a group of columns, worked out if they are not yet."""
        return self._chain(wanted).after(wanted[2])

    def ready(self, wanted: Sequence[Wanted], engine: Engine) -> bool:
        """Do a quantum for some groups that are not worked out yet; whether none is left.

        engine  in other processes they are worked out as they are scored
        """
        if not engine.here:
            return True
        read = 0
        while (missing := self._missing(wanted)) and read < WORK:
            read += sum(engine.map(_step, missing[: engine.workers], None)) // min(len(missing), engine.workers)
        self._forget({each[:2] for each in wanted})
        return not missing

    def _missing(self, wanted: Sequence[Wanted]) -> list[Chain]:
        """Chains that are not worked out far enough, of the same columns one: they share their survey."""
        found: dict[tuple[int, ...], Chain] = {}
        for each in wanted:
            chain = self._chain(each)
            if each[0] not in found and len(chain.done) <= each[2]:
                found[each[0]] = chain
        return list(found.values())

    def _chain(self, wanted: Wanted) -> Chain:
        group, k, _ = wanted
        if (group, k) not in self._chains:
            self._chains[group, k] = self._begun(group, k)
            self.counts.begun += 1
        self._chains.move_to_end((group, k))
        return self._chains[group, k]

    def _begun(self, group: tuple[int, ...], k: int) -> Chain:
        space = self._space(group)
        size = min(max(k, space.demands.least), int(np.bincount(space.strata).min(initial=len(space))))
        if self.partitioner == COMPOSITE:
            return CompositeChain(space, size)
        method = partitioners.build(self.partitioner)
        kept = self.table.take(np.flatnonzero(self.table.kept))
        points = np.ascontiguousarray(embed(kept, [self.names[place] for place in group], "z"))
        if isinstance(method, EvolvingPartitioner):
            return EvolvingChain(space, size, partitioner=method, points=points)
        return OnceChain(space, size, partitioner=method, points=points)

    def _space(self, group: tuple[int, ...]) -> CompositeSpace:
        """The records by the columns of one group."""
        if group not in self._spaces:
            columns = tuple(self.names[place] for place in group)
            asked = touching(self.table, columns, self.models)
            known = [name for name in self.table.names if any(name in model.known(self.table) for model in asked)]
            self._spaces[group] = CompositeSpace(
                table=self.table,
                names=columns,
                profiles=(tuple(self.profile[place] for place in group),),
                ladder=self.ladder,
                weights=weights([self.table.attribute(name) for name in columns]),
                strata=fixed_strata(self.table, columns, asked),
                demands=class_demands(asked, self.table, [*columns, *known]),
            )
        return self._spaces[group]

    def _forget(self, used: set[tuple[tuple[int, ...], int]]) -> None:
        """Drop the chains longest unused beyond what may be kept."""
        held = sum(4 * len(chain.space) * len(chain.done) for chain in self._chains.values())
        for key in [key for key in self._chains if key not in used]:
            if held <= self.megabytes * 1e6:
                break
            held -= 4 * len(self._chains[key].space) * len(self._chains.pop(key).done)
        if len(self._spaces) > len(self._chains):
            current = {group for group, _ in self._chains}
            for group in [group for group in self._spaces if group not in current]:
                del self._spaces[group]


def _step(_: None, chain: Chain) -> int:
    return chain.step()
