"""First populations for the evolution of masked files: many methods, each over a range of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

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


@dataclass(frozen=True)
class Population:
    """Masked files and, in words, how each was made."""

    names: tuple[str, ...]
    files: tuple[Table, ...]

    def __len__(self) -> int:
        return len(self.files)


class PaperFamilies(Settings):
    """The families of Marés and Torra (2012): 72 or 48 microaggregations, codings, recodings, 11 swappings, 9 PRAMs.

    How many of each is printed; the parameters are not. Ours: k in a range, times how the columns are grouped
    (each alone, a pair and the rest, all together), times median or mode; swapping 5, 10, … per cent; θ = 0.1, 0.2, …
    """

    least_k: int = Field(default=2, ge=2, description="smallest group size of the microaggregations")
    largest_k: int = Field(
        default=13, ge=2, description="largest group size: 13 makes 72 microaggregations, 9 makes 48"
    )
    depths: int = Field(default=4, ge=0, description="top, bottom and global recodings: depths 1 to this")
    swappings: int = Field(default=11, ge=0, le=20, description="rank swappings by 5, 10, 15, … per cent")
    prams: int = Field(default=9, ge=0, le=9, description="invariant PRAMs with θ = 0.1, 0.2, …")
    recoded: Literal["representative", "merged"] = Field(
        default="representative", description="what a global recoding publishes: an existing category or a new label"
    )

    def methods(self, columns: Sequence[str]) -> list[MaskingMethod]:
        """One settings object per file."""
        names = tuple(columns)
        alone, all_together = tuple((name,) for name in names), (names,)
        groupings = dict.fromkeys([alone, (names[:2], names[2:]) if len(names) > 2 else alone, all_together])
        made: list[MaskingMethod] = [
            Microaggregation(k=k, groups=groups, aggregate=aggregate)
            for k in range(self.least_k, self.largest_k + 1)
            for groups in groupings
            for aggregate in ("median", "mode")
        ]
        for depth in range(1, self.depths + 1):
            made += [
                BottomCoding(columns=names, depth=depth),
                TopCoding(columns=names, depth=depth),
                GlobalRecoding(columns=names, depth=depth, label=self.recoded),
            ]
        made += [RankSwapping(columns=names, percent=5.0 * step) for step in range(1, self.swappings + 1)]
        made += [Pram(columns=names, theta=step / 10) for step in range(1, self.prams + 1)]
        return made


def over_ranges(name: str, ranges: Mapping[str, Sequence[Any]]) -> list[MaskingMethod]:
    """One method for every combination of parameter values, e.g. over_ranges("pram", {"theta": [0.1, 0.5]})."""
    return [methods.build(name, **dict(zip(ranges, values, strict=True))) for values in product(*ranges.values())]


def build_population(table: Table, made_by: Sequence[MaskingMethod], rng: Generator) -> Population:
    """A masked file by each method, in order; chance comes from `rng` alone."""
    if not made_by:
        raise PlanError("no masking method is given; name at least one, e.g. PaperFamilies().methods(columns)")
    files = tuple(method.mask(table, rng) for method in made_by)
    return Population(tuple(described(method) for method in made_by), files)


def described(method: MaskingMethod) -> str:
    """A method and the settings that are not its defaults, e.g. 'microaggregation k=5 aggregate=mode'."""
    changed = method.model_dump(exclude_defaults=True, exclude={"columns"})
    if "groups" in changed:
        changed["groups"] = "|".join(",".join(group) for group in changed["groups"])
    return " ".join([methods.name_of(method), *(f"{key}={value}" for key, value in changed.items())])
