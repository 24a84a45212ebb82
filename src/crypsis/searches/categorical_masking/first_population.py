"""First populations for the evolution of masked files: files handed in, or many methods over a range of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile, zip_longest
from typing import Annotated, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import PlanError
from crypsis.masking import (
    BottomCoding,
    GlobalRecoding,
    MaskingMethod,
    Microaggregation,
    Pram,
    RankSwapping,
    TopCoding,
    methods,
)
from crypsis.registry import Settings
from crypsis.searches.categorical_masking.scoring import Codes, Constraints
from crypsis.table.table import Table

# -- Where the first population comes from: files handed in, or methods that make them one by one.


class FirstFiles(Protocol):
    """Files of the first population, made in order."""

    def __len__(self) -> int: ...

    def make(self, place: int, rng: Generator) -> Codes:
        """One file in codes; chance comes from `rng` alone."""


@dataclass(frozen=True, eq=False)
class GivenFiles:
    """Masked files of the user's own."""

    codes: Sequence[Codes] = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def make(self, place: int, rng: Generator) -> Codes:
        """The file as it was given."""
        return self.codes[place]


@dataclass(frozen=True, eq=False)
class MethodFiles:
    """One file by each method; a record that would hold a forbidden combination keeps its original categories.

    Microaggregations that differ in what a group's values become share their groups of records.
    """

    constraints: Constraints = field(repr=False)
    methods: Sequence[MaskingMethod]
    _latest: list[tuple[MaskingMethod, list[NDArray[np.int32]]]] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.methods)

    def make(self, place: int, rng: Generator) -> Codes:
        """The file of one method."""
        encoding = self.constraints.encoding
        codes = encoding.encode(self._mask(self.methods[place], rng))
        broken = self.constraints.find_broken(codes)
        codes[broken] = encoding.context.codes[broken]
        return codes

    def _mask(self, method: MaskingMethod, rng: Generator) -> Table:
        table = self.constraints.encoding.table
        if not isinstance(method, Microaggregation):
            return method.apply(table, rng)
        alike = method.model_copy(update={"numbers": "mean", "categories": "typical"})
        if not self._latest or self._latest[0][0] != alike:
            self._latest[:] = [(alike, method.partitions(table, rng))]
        return method.aggregate(table, self._latest[0][1])


# -- First populations for the evolution of masked files: many methods, each over a range of its parameters.

OF_EACH_OTHER = 5
"""Files of a first population by each method that the paper does not use."""


@dataclass(frozen=True)
class MaskedFiles:
    """Masked files and how each was made."""

    names: tuple[str, ...]  # methods and settings, in words
    files: tuple[Table, ...]  # the files

    def __len__(self) -> int:
        return len(self.files)


Coding = Annotated[
    Literal["depth", "share"],
    Field(
        description="codings and recodings by the same depth in every column, or by the same share of its categories"
    ),
]
SwapStep = Annotated[float, Field(gt=0, le=100, description="per cent of the ranks between two rank swappings")]


class PaperFamilies(Settings):
    """The families of Marés and Torra (2012): 72 or 48 microaggregations, codings, recodings, 11 swappings, 9 PRAMs.

    How many of each is printed; the parameters are not. Ours by default are those the methods offer themselves as
    `list_strengths`: k in a range, times how the columns are grouped, times median or mode; depths 1, 2, …; swapping
    5, 10, … per cent; θ = 0.1, 0.2, …. `swap_step` and `coded` are other readings.
    """

    codings: ClassVar[tuple[type[MaskingMethod], ...]] = (BottomCoding, TopCoding, GlobalRecoding)
    paper_methods: ClassVar[tuple[type[MaskingMethod], ...]] = (Microaggregation, *codings, RankSwapping, Pram)
    """The methods of the paper, in the order of its list."""

    least_k: int = Field(default=2, ge=2, description="smallest group size of the microaggregations")
    largest_k: int = Field(
        default=13, ge=2, description="largest group size: 13 makes 72 microaggregations, 9 makes 48"
    )
    depths: int = Field(default=4, ge=0, description="top, bottom and global recodings: depths 1 to this")
    coding: Coding = "depth"
    swappings: int = Field(default=11, ge=0, le=20, description="rank swappings: so many steps")
    swap_step: SwapStep = 5.0
    prams: int = Field(default=9, ge=0, le=9, description="invariant PRAMs with θ = 0.1, 0.2, …")
    recoding: Literal["representative", "merged"] = Field(
        default="representative", description="what a global recoding publishes: an existing category or a new label"
    )

    def methods(self, table: Table, columns: Sequence[str]) -> list[MaskingMethod]:
        """One settings object per file."""
        groups = takewhile(lambda method: method.k <= self.largest_k, Microaggregation.list_strengths(table, columns))
        made: list[MaskingMethod] = [method for method in groups if method.k >= self.least_k]
        by_depth = zip_longest(*(islice(coding.list_strengths(table, columns), self.depths) for coding in self.codings))
        made += [self._adapt_coding(method) for depth in by_depth for method in depth if method is not None]
        swapped = islice(RankSwapping.list_strengths(table, columns), self.swappings)
        percents = [min(100.0, self.swap_step * step) for step in range(1, self.swappings + 1)]
        made += [m.model_copy(update={"percent": percent}) for m, percent in zip(swapped, percents, strict=False)]
        made += islice(Pram.list_strengths(table, columns), self.prams)
        return made

    def _adapt_coding(self, method: MaskingMethod) -> MaskingMethod:
        """A coding as it publishes and by the depth or the share it is asked for."""
        changed: dict[str, Any] = {"label": self.recoding} if isinstance(method, GlobalRecoding) else {}
        if self.coding == "share":
            changed["share"] = method.model_dump()["depth"] / (self.depths + 1)
        return method.model_copy(update=changed)


def add_other_methods(families: PaperFamilies, table: Table, columns: Sequence[str]) -> list[MaskingMethod]:
    """The families of the paper, then a few files by every other registered method that offers some."""
    others: Iterable[type[MaskingMethod]] = (
        methods[name] for name in methods if methods[name] not in families.paper_methods
    )
    made = families.methods(table, columns)
    for other in others:
        made += islice(other.list_strengths(table, columns), OF_EACH_OTHER)
    return made


def build_population(table: Table, made_by: Sequence[MaskingMethod], rng: Generator) -> MaskedFiles:
    """A masked file by each method, in order."""
    if not made_by:
        raise PlanError("no masking method is given; name at least one, e.g. PaperFamilies().methods(table, columns)")
    files = tuple(method.mask(table, rng) for method in made_by)
    return MaskedFiles(tuple(describe_first_population_method(method) for method in made_by), files)


def describe_first_population_method(method: MaskingMethod) -> str:
    """A method that makes a file of the first population, and the settings that are not its defaults.

    >>> from crypsis.masking import Microaggregation
    >>> describe_first_population_method(Microaggregation(k=5, numbers="mode"))
    'microaggregation k=5 numbers=mode'
    """
    changed = method.model_dump(exclude_defaults=True, exclude={"columns"})
    if "groups" in changed:
        changed["groups"] = "|".join(",".join(group) for group in changed["groups"])
    return " ".join([methods.name_of(method), *(f"{key}={value}" for key, value in changed.items())])
