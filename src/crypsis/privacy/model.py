"""The contract of a privacy model: one number per record, and a threshold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.registry import Registry, Settings
from crypsis.table.table import Table


@dataclass(frozen=True)
class Verdict:
    """What a model demanded of a table and what it found there."""

    model: str
    required: float
    attained: float
    holds: bool
    offending: int
    """Records that do not meet the demand."""
    records: int
    """Records judged (suppressed ones are not)."""
    sense: Literal["at least", "at most"]
    statement: str
    """The demand in words, e.g. 'every record shares its values of age, sex with at least 5 records'."""
    columns: tuple[str, ...] = ()
    """The columns the intruder was taken to know: those the demand names, or every quasi-identifier."""


class PrivacyModel(Settings):
    """A frozen settings object that judges one table by its quasi-identifiers and confidential values."""

    sense: ClassVar[Literal["at least", "at most"]] = "at least"
    monotone_in_generalisation: ClassVar[bool]
    """Whether coarser classes can only help, so that a search may prune."""

    quasi_identifiers: tuple[str, ...] = Field(
        default=(), description="columns the intruder knows; empty means every quasi-identifier"
    )

    @property
    @abstractmethod
    def required(self) -> float:
        """The threshold the property is held against."""

    @property
    def least_class_size(self) -> int:
        """No class smaller than this can satisfy the model; lets a search discard early."""
        return 1

    @abstractmethod
    def levels(self, table: Table) -> NDArray[np.float64]:
        """The property vector: one number per record (NaN for a suppressed record)."""

    @abstractmethod
    def judge(self, table: Table) -> Verdict:
        """Whether every kept record meets the threshold."""

    @abstractmethod
    def obstacle(self, table: Table) -> str:
        """Why the model cannot be applied to the table, in a sentence; empty if it can."""


models: Registry[PrivacyModel] = Registry("privacy model")
