"""First populations for the evolution of masked files: many methods, each over a range of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile, zip_longest
from typing import Annotated, Any, ClassVar, Literal

from numpy.random import Generator
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
from crypsis.table.table import Table

OF_EACH_OTHER = 5
"""Files of a first population by each method that the paper does not use."""


@dataclass(frozen=True)
class MaskedFiles:
    """Masked files and how each was made.

    names  methods and settings, in words
    files  the files
    """

    names: tuple[str, ...]
    files: tuple[Table, ...]

    def __len__(self) -> int:
        return len(self.files)


Coded = Annotated[
    Literal["depth", "share"],
    Field(
        description="codings and recodings by the same depth in every column, or by the same share of its categories"
    ),
]
SwapStep = Annotated[float, Field(gt=0, le=100, description="per cent of the ranks between two rank swappings")]


class PaperFamilies(Settings):
    """The families of Marés and Torra (2012): 72 or 48 microaggregations, codings, recodings, 11 swappings, 9 PRAMs.

    How many of each is printed; the parameters are not. Ours by default are those the methods offer themselves as
    `graded`: k in a range, times how the columns are grouped, times median or mode; depths 1, 2, …; swapping 5, 10, …
    per cent; θ = 0.1, 0.2, …. `swap_step` and `coded` are other readings.
    """

    codings: ClassVar[tuple[type[MaskingMethod], ...]] = (BottomCoding, TopCoding, GlobalRecoding)
    named: ClassVar[tuple[type[MaskingMethod], ...]] = (Microaggregation, *codings, RankSwapping, Pram)
    """The methods of the paper, in the order of its list."""

    least_k: int = Field(default=2, ge=2, description="smallest group size of the microaggregations")
    largest_k: int = Field(
        default=13, ge=2, description="largest group size: 13 makes 72 microaggregations, 9 makes 48"
    )
    depths: int = Field(default=4, ge=0, description="top, bottom and global recodings: depths 1 to this")
    coded: Coded = "depth"
    swappings: int = Field(default=11, ge=0, le=20, description="rank swappings: so many steps")
    swap_step: SwapStep = 5.0
    prams: int = Field(default=9, ge=0, le=9, description="invariant PRAMs with θ = 0.1, 0.2, …")
    recoded: Literal["representative", "merged"] = Field(
        default="representative", description="what a global recoding publishes: an existing category or a new label"
    )

    def methods(self, table: Table, columns: Sequence[str]) -> list[MaskingMethod]:
        """One settings object per file.

        columns  categorical columns that are masked
        """
        groups = takewhile(lambda method: method.k <= self.largest_k, Microaggregation.graded(table, columns))
        made: list[MaskingMethod] = [method for method in groups if method.k >= self.least_k]
        by_depth = zip_longest(*(islice(coding.graded(table, columns), self.depths) for coding in self.codings))
        made += [self._published(method) for depth in by_depth for method in depth if method is not None]
        swapped = islice(RankSwapping.graded(table, columns), self.swappings)
        percents = [min(100.0, self.swap_step * step) for step in range(1, self.swappings + 1)]
        made += [m.model_copy(update={"percent": percent}) for m, percent in zip(swapped, percents, strict=False)]
        made += islice(Pram.graded(table, columns), self.prams)
        return made

    def _published(self, method: MaskingMethod) -> MaskingMethod:
        """A coding as it publishes and by the depth or the share it is asked for."""
        changed: dict[str, Any] = {"label": self.recoded} if isinstance(method, GlobalRecoding) else {}
        if self.coded == "share":
            changed["share"] = method.model_dump()["depth"] / (self.depths + 1)
        return method.model_copy(update=changed)


def with_others(families: PaperFamilies, table: Table, columns: Sequence[str]) -> list[MaskingMethod]:
    """The families of the paper, then a few files by every other registered method that offers some.

    families  how many of each family
    columns  categorical columns that are masked
    """
    others: Iterable[type[MaskingMethod]] = (methods[name] for name in methods if methods[name] not in families.named)
    made = families.methods(table, columns)
    for other in others:
        made += islice(other.graded(table, columns), OF_EACH_OTHER)
    return made


def build_population(table: Table, made_by: Sequence[MaskingMethod], rng: Generator) -> MaskedFiles:
    """A masked file by each method, in order.

    table    the original
    made_by  the methods
    rng      the only source of chance

    Raises
    ------
    PlanError
        If no method is given.
    """
    if not made_by:
        raise PlanError("no masking method is given; name at least one, e.g. PaperFamilies().methods(table, columns)")
    files = tuple(method.mask(table, rng) for method in made_by)
    return MaskedFiles(tuple(described(method) for method in made_by), files)


def described(method: MaskingMethod) -> str:
    """A method and the settings that are not its defaults.

    method  a registered method

    Examples
    --------
    >>> from crypsis.masking import Microaggregation
    >>> described(Microaggregation(k=5, numbers="mode"))
    'microaggregation k=5 numbers=mode'
    """
    changed = method.model_dump(exclude_defaults=True, exclude={"columns"})
    if "groups" in changed:
        changed["groups"] = "|".join(",".join(group) for group in changed["groups"])
    return " ".join([methods.name_of(method), *(f"{key}={value}" for key, value in changed.items())])
