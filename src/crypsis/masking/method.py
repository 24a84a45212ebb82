"""The contract of a masking method, and the registry of methods."""

from __future__ import annotations

from abc import abstractmethod
from enum import StrEnum
from typing import ClassVar

from numpy.random import Generator
from pydantic import Field

from crypsis.registry import Registry, Settings
from crypsis.table.table import Table


class Family(StrEnum):
    """What a method does to a value, and hence which statements about the masked file mean something."""

    AGGREGATION = "aggregation"
    """Records become alike: class sizes are a guarantee."""
    RECODING = "recoding"
    """Values become coarser but stay true: class sizes are a guarantee."""
    PERTURBATION = "perturbation"
    """Values become false at random: class sizes say nothing, only linkage does."""


class MaskingMethod(Settings):
    """A frozen settings object that turns a table into a masked one of the same rows and columns.

    The input is never changed. Chance comes only from `rng`. Columns that were not chosen, and every
    confidential column that was not named by hand, come back bit for bit.
    """

    family: ClassVar[Family]

    columns: tuple[str, ...] = Field(
        default=(), description="columns to mask; empty means every quasi-identifier the method can treat"
    )

    @abstractmethod
    def mask(self, table: Table, rng: Generator) -> Table:
        """The masked table."""


methods: Registry[MaskingMethod] = Registry("masking method")
