"""What a column of composite groups may be published as, and which other treatment is tried next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from crypsis.encodings.composite import CompositeGenes
from crypsis.evolution import Genome
from crypsis.masking.representatives import Representative
from crypsis.table.attribute import Attribute

Profile = tuple[Representative, ...]
"""A representative for every column."""


def truthful(attribute: Attribute) -> Representative:
    """What is true of every record of a group: the common ancestor, or without a hierarchy the value all share."""
    return Representative.UNANIMOUS if attribute.hierarchy is None else Representative.COMMON_ANCESTOR


@dataclass(frozen=True)
class Treatments:
    """The treatments of each column that may take the place of the one that is searched for.

    choices  what each column may be published as
    wholes  profiles tried for all columns at once, in turn
    """

    choices: tuple[Profile, ...]
    wholes: tuple[Profile, ...]

    @classmethod
    def of(cls, attributes: Sequence[Attribute], usual: Profile, truthful_only: bool) -> Treatments:
        """What is true of every record, beside the usual treatment of each column; or nothing else."""
        true = tuple(truthful(each) for each in attributes)
        if truthful_only:
            return cls(tuple((each,) for each in usual), ())
        return cls(tuple(tuple(dict.fromkeys((each, other))) for each, other in zip(usual, true, strict=True)), (true,))

    def variants(self, records: int) -> Callable[[Genome], list[Genome]] | None:
        """Groups of so many records, published in the other ways for all columns; None where there are none."""
        return WholeVariants(self.wholes, records) if self.wholes else None

    def another(self, profile: Profile, turn: int, rng: Generator) -> Profile | None:
        """Another treatment of all columns, or of one at random; None where there is none."""
        wholes = [each for each in self.wholes if each != profile]
        place = turn % (len(wholes) + 1)
        if place < len(wholes):
            return wholes[place]
        able = [a for a, choices in enumerate(self.choices) if set(choices) - {profile[a]}]
        if not able:
            return None
        column = able[int(rng.integers(len(able)))]
        others = [each for each in self.choices[column] if each is not profile[column]]
        return (*profile[:column], others[int(rng.integers(len(others)))], *profile[column + 1 :])


@dataclass(frozen=True)
class WholeVariants:
    """The same groups with every column published in another way: what is true of every record.

    wholes  profiles
    records  how many records are grouped
    """

    wholes: tuple[Profile, ...]
    records: int

    def __call__(self, candidate: Genome) -> list[Genome]:
        genes = CompositeGenes.of(candidate, self.records)
        return [CompositeGenes(genes.labels, genes.k, each).genome for each in self.wholes if each != genes.treatments]
