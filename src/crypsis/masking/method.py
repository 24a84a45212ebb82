"""The contract of a masking method, and the registry of methods."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator
from pydantic import Field
from pydantic_core import PydanticCustomError

from crypsis.errors import TableError, listing
from crypsis.masking.following import recompute_following
from crypsis.registry import Registry, Settings
from crypsis.table.attribute import Kind
from crypsis.table.table import MaskingStep, Table, require_table


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

    Examples
    --------
    >>> method = crypsis.methods.build("microaggregation", k=2)
    >>> table = crypsis.Table.from_columns({"age": [20, 21, 40, 42]}, roles={"age": "quasi"})
    >>> method.mask(table, np.random.default_rng(0)).column("age").tolist()
    [20.5, 20.5, 41.0, 41.0]
    """

    family: ClassVar[Family]
    kinds: ClassVar[frozenset[Kind]] = frozenset(Kind)
    """Kinds of columns the method can treat."""

    columns: tuple[str, ...] = Field(
        default=(), description="columns to mask; empty means every quasi-identifier the method can treat"
    )

    @abstractmethod
    def apply(self, table: Table, rng: Generator) -> Table:
        """The masked values; what every method defines.

        Parameters
        ----------
        table : Table
            The table whose values are masked.
        rng : Generator
            Where chance comes from, if the method uses any.

        Returns
        -------
        Table
            Same rows and columns.
        """

    def mask(self, table: Table, rng: Generator | int | None = None) -> Table:
        """Mask a table.

        Parameters
        ----------
        table : Table
            The original, or a table masked before.
        rng : Generator, int or None
            Where chance comes from, as `numpy.random.default_rng` takes it: a generator, a seed, or none for the
            randomness of the operating system.

        Returns
        -------
        Table
            The masked table, with the method written into its provenance.
        """
        require_table(table, methods.name_of(self))
        return self.record_step(self.apply(table, np.random.default_rng(rng)), table)

    def record_step(self, masked: Table, original: Table) -> Table:
        """The masked table with this method and its settings in its provenance.

        Parameters
        ----------
        masked : Table
            What the method made.
        original : Table
            The table it was given.

        Returns
        -------
        Table
        """
        settings = self.model_dump(mode="json", exclude_defaults=True)
        step = MaskingStep(methods.name_of(self), str(self.family), self.describe_step(), settings)
        return recompute_following(masked, original).masked_by(step, original)

    def describe_step(self) -> str:
        """What the method does, in words that users of a released file may read.

        Returns
        -------
        str
            A method whose settings tell how few records it changes leaves them out.
        """
        settings = self.model_dump(mode="json", exclude_defaults=True)
        columns = settings.pop("columns", None)
        text = methods.name_of(self) + (f" of {listing(columns)}" if columns else "")
        listed = ", ".join(f"{name} {value}" for name, value in settings.items())
        return f"{text} ({listed})" if listed else text

    @classmethod
    def list_strengths(cls, table: Table, columns: Sequence[str]) -> Iterator[Self]:
        """The method from mild to strong, for a search that starts from masked files.

        Parameters
        ----------
        table : Table
            The table to protect.
        columns : sequence of str
            Categorical columns; those of other `kinds` are left out.

        Returns
        -------
        iterator of MaskingMethod
            Settings under which the method publishes categories of the original alone; by default none, and the
            method takes no part.
        """
        yield from ()

    @classmethod
    def treatable(cls, table: Table, columns: Sequence[str]) -> tuple[str, ...]:
        """Those of the columns that are of the method's `kinds`.

        Parameters
        ----------
        table : Table
            The table they belong to.
        columns : sequence of str
            Names of columns.

        Returns
        -------
        tuple of str
        """
        return tuple(name for name in columns if table.attribute(name).kind in cls.kinds)


methods: Registry[MaskingMethod] = Registry("masking method", built_in=("crypsis.masking",))
"""Every masking method by its name, e.g. ``methods.build("microaggregation", k=5)``."""

# -- Which columns a method masks: those it was given, else every quasi-identifier it can treat.


def chosen_columns(table: Table, named: tuple[str, ...], kinds: frozenset[Kind], method: str, reason: str) -> list[str]:
    """Names of the columns to mask; a named column of the wrong kind is refused with the reason."""
    for name in named:
        kind = table.attribute(name).kind
        if table.level(name) != 0:
            raise TableError(f"{method}: column {name!r} is already generalised; mask before generalising")
        if kind not in kinds:
            raise TableError(f"{method}: column {name!r} is {kind}, and {reason}")
    fitting = [n for n in table.quasi_identifiers if table.attribute(n).kind in kinds and table.level(n) == 0]
    chosen = list(named) or fitting
    if not chosen:
        kinds_in_words = " or ".join(sorted(kind.value for kind in kinds))
        raise TableError(f"{method}: no quasi-identifier is {kinds_in_words}; name the columns to mask")
    return chosen


def check_method_share(share: object) -> object:
    """A share of the records as it was given to a masking method; a number that is none is refused in words."""
    if isinstance(share, (int, float)) and not 0 <= share <= 1:
        words = "a share lies between 0 and 1 (0.01 is 1 %), and this would be {percent} % of the records"
        raise PydanticCustomError("share", words, {"percent": f"{100 * share:g}"})
    return share
