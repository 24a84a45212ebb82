"""The contract of a privacy model: one number per record, and a threshold."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from crypsis.errors import TableError, unknown_column
from crypsis.registry import Registry, Settings
from crypsis.small_tables import draw_html_table
from crypsis.table.table import Table, require_table

Sense = Literal["at least", "at most"]
Unit = Literal["record", "household", "person"]
Floats = NDArray[np.float64]

TOLERANCE = 1e-9
"""Rounding allowed before a property counts as missing its threshold."""


# -- the property of the paper --


# -- quality indices of a property vector --


def worst_record_under_model(levels: Floats, sense: Sense) -> float:
    """The number of the worst kept record under a privacy model; with no record left, as bad as can be."""
    judged = levels[~np.isnan(levels)]
    if not judged.size:
        return 0.0 if sense == "at least" else math.inf
    return float(judged.min() if sense == "at least" else judged.max())


def find_records_failing_model(levels: Floats, required: float, sense: Sense) -> NDArray[np.bool_]:
    """Kept records that miss the threshold of a privacy model by more than rounding."""
    room = TOLERANCE * max(1.0, abs(required))
    return levels < required - room if sense == "at least" else levels > required + room


def shortness_under_model(levels: Floats, required: float, sense: Sense) -> Floats:
    """How far the number of each record misses the threshold of a privacy model: 0 where it is met, 1 at worst."""
    missed = find_records_failing_model(levels, required, sense)
    with np.errstate(invalid="ignore", divide="ignore"):
        if sense == "at least":
            short = (required - levels) / max(abs(required), TOLERANCE)
        else:
            excess = levels - required
            short = np.where(np.isinf(excess), 1.0, excess / (excess + (required if required > 0 else 1.0)))
    return np.where(missed, np.clip(short, 0.0, 1.0), 0.0)


# -- One demand on the contents of a class, as a model states it.


@dataclass(frozen=True, eq=False)
class ContentDemand:
    """What every class must hold: its size, or the values of one confidential column."""

    kind: int  # one of the kinds of `crypsis.kernels.classes`
    # the threshold, then what the kind needs besides (c of recursive diversity, k of (α, k), both bounds of δ)
    bound: tuple[float, float, float]
    column: str = ""  # the column whose values count; empty where only the size does
    # int32[n]: A code per record of the table, equal for values that look alike, in their order; −1 where missing
    codes: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    # int32[levels, n]: group of each record's value at every level above the values
    tree: NDArray[np.int32] | None = None


# -- The contract of a privacy model: one number per record, and a threshold.


class Assumption(StrEnum):
    """What a guarantee takes for granted."""

    KNOWN_COLUMNS = "known-columns"
    """The intruder knows the named columns and no other published one."""
    ONE_RECORD = "one-record"
    """A person has one record."""
    CONFIDENTIAL_UNKNOWN = "confidential-unknown"
    """The intruder knows no confidential value, nor how it depends on other columns."""
    POPULATION = "population"
    """The table of the population is complete."""
    SAMPLE = "sample"
    """The file is a sample of the population, drawn as its weights or its fraction say."""
    ONE_OF_SEVERAL = "one-of-several"
    """The intruder looks for a person by one of their records, not by all of them together."""
    WHOLE_HOUSEHOLDS = "whole-households"
    """The intruder looks for whole households, and knows the named columns of all members and no other."""


@dataclass(frozen=True)
class Verdict:
    """What a model demanded of a table and what it found there.

    Parameters
    ----------
    model : str
        Name by which the model is registered.
    required, attained : float
        The threshold, and the worst level of any record.
    holds : bool
        Whether every record meets the threshold.
    offending : int
        Records that do not.
    records : int
        Records judged; suppressed ones are not.
    sense : {"at least", "at most"}
        On which side of the threshold a level must lie.
    demand : str
        The demand in words, e.g. 'every record shares its values of age, sex with at least 5 records'; it says nothing
        about whether the table keeps it: `statement` does.
    columns : tuple of str
        The columns the intruder was taken to know: those the demand names, or every quasi-identifier.
    unit : {"record", "household", "person"}
        What is protected and counted; a person with several records is not covered as one.
    assumptions : tuple of Assumption
        What must be true for the statement to protect people.
    scenario : str
        Name of the scenario whose intruder it speaks of; empty where it speaks of any intruder.
    remark : str
        What the statement adds for this table: how its missing cells were read, where it has some.

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"town": ["a", "a", "a", "b", "b"]}, roles={"town": "quasi"})
    >>> verdict = crypsis.KAnonymity(k=3).judge(table)
    >>> verdict.holds, verdict.required, verdict.attained, verdict.offending
    (False, 3.0, 2.0, 2)
    >>> print(verdict)
    does not hold: 2 of 5 records fail, the worst attains 2; demanded is that every record shares its values of town \
with at least 3 records
    >>> print(crypsis.KAnonymity(k=2).judge(table))
    holds for all 5 records: every record shares its values of town with at least 2 records
    """

    model: str
    required: float
    attained: float
    holds: bool
    offending: int
    records: int
    sense: Sense
    demand: str
    columns: tuple[str, ...] = ()
    unit: Unit = "record"
    assumptions: tuple[Assumption, ...] = ()
    scenario: str = ""
    remark: str = ""

    @property
    def statement(self) -> str:
        """Whether the table keeps the demand, for how many records, and the demand."""
        if self.holds:
            return f"holds for all {self.records} records: {self.demand}"
        found = f"{self.offending} of {self.records} records fail, the worst attains {self.attained:g}; "
        return f"does not hold: {found if self.records else ''}demanded is that {self.demand}"

    def __bool__(self) -> bool:
        """Whether the table keeps the demand."""
        return self.holds

    def __str__(self) -> str:
        return self.statement

    def __repr__(self) -> str:
        """Whether it holds, first of all, and by what."""
        kept = "holds" if self.holds else f"does not hold for {self.offending} of {self.records} records"
        return f"Verdict({self.model} {kept}: {self.attained:g} attained, {self.sense} {self.required:g} required)"

    def _repr_html_(self) -> str:
        return draw_html_table(
            ("model", "demanded", "attained", "holds", "records that fail", "demand"),
            [
                (
                    self.model,
                    f"{self.sense} {self.required:g}",
                    f"{self.attained:g}",
                    "yes" if self.holds else "no",
                    f"{self.offending} of {self.records}",
                    self.demand,
                )
            ],
        )


class PrivacyModel(Settings):
    """A frozen settings object that judges one table by its quasi-identifiers and confidential values.

    Examples
    --------
    >>> table = crypsis.Table.from_columns({"town": ["a", "a", "a", "b", "b"]}, roles={"town": "quasi"})
    >>> model = crypsis.models.build("k-anonymity", k=3)
    >>> model.levels(table).tolist(), model.judge(table).offending
    ([3.0, 3.0, 3.0, 2.0, 2.0], 2)
    """

    sense: ClassVar[Sense] = "at least"
    unit: ClassVar[Unit] = "record"
    """What is protected and counted."""
    assumptions: ClassVar[tuple[Assumption, ...]] = (Assumption.KNOWN_COLUMNS, Assumption.ONE_RECORD)
    """What must be true for the guarantee to protect people."""
    monotone_in_generalisation: ClassVar[bool]
    """Whether coarser classes can only help, so that a search may prune."""

    quasi_identifiers: tuple[str, ...] = Field(
        default=(), description="columns the intruder knows; empty means every quasi-identifier"
    )

    _scenario: str = PrivateAttr(default="")

    @property
    def scenario(self) -> str:
        """Name of the scenario whose intruder the demand speaks of; empty where it speaks of any intruder."""
        return self._scenario

    def within(self, scenario: str) -> Self:
        """The same demand as a part of a scenario.

        Parameters
        ----------
        scenario : str
            Its name.

        Returns
        -------
        PrivacyModel

        Examples
        --------
        >>> crypsis.KAnonymity(k=3, quasi_identifiers=("town",)).within("neighbour").scenario
        'neighbour'
        """
        model = self.model_copy()
        model._scenario = scenario
        return model

    def bind_original(self, original: Table) -> Self:
        """The same demand, judged by the true values where the model reads missing cells by them.

        Parameters
        ----------
        original : Table
            The table before masking; its rows are those of the tables that are judged.

        Returns
        -------
        PrivacyModel
            Itself unless true values matter.
        """
        return self

    @property
    def beyond_file(self) -> str:
        """Why the file alone cannot show the verdict, as the end of a sentence; empty if it can."""
        return ""

    def list_assumptions(self) -> tuple[Assumption, ...]:
        """What must be true for the guarantee to protect people, under the present settings.

        Returns
        -------
        tuple of Assumption
        """
        return self.assumptions

    @property
    @abstractmethod
    def required(self) -> float:
        """The threshold the property is held against."""

    @property
    def least_class_size(self) -> int:
        """No class smaller than this can satisfy the model; lets a search discard early."""
        return 1

    @property
    def membership(self) -> str:
        """Column that tells who of the judged population is in the file; empty if the judged table is the file."""
        return ""

    def members(self, table: Table) -> NDArray[np.bool_]:
        """Which records of the judged table are in the file.

        Parameters
        ----------
        table : Table
            The judged table, of which the file is a part.

        Returns
        -------
        bool[n]
        """
        return np.ones(len(table), dtype=np.bool_)

    @abstractmethod
    def levels(self, table: Table) -> Floats:
        """The property vector.

        Parameters
        ----------
        table : Table
            The judged table (a suppressed record has no level).

        Returns
        -------
        ndarray of float64
            One number per record; NaN for a suppressed record.
        """

    @abstractmethod
    def statement(self) -> str:
        """The demand in words, with {columns} where those the intruder knows are to be named."""

    def remark(self, table: Table) -> str:
        """What must be added to the statement for a table, e.g. how its missing cells are read.

        Parameters
        ----------
        table : Table
            The judged table, with its missing cells.

        Returns
        -------
        str
            Empty if nothing is to be added.
        """
        return ""

    def known_columns(self, table: Table) -> tuple[str, ...]:
        """The columns the intruder knows: those named, or all with that role.

        Parameters
        ----------
        table : Table
            A table, of which only the roles are read.

        Returns
        -------
        tuple of str
        """
        return self.quasi_identifiers or tuple(table.quasi_identifiers)

    def judge(self, table: Table) -> Verdict:
        """Whether every kept record meets the threshold; a table without records satisfies nothing.

        Parameters
        ----------
        table : Table
            The table to judge: masked, or as it was collected.

        Returns
        -------
        Verdict
            What was required and attained, and how many records fall short.

        Raises
        ------
        TableError
            The model cannot be applied to the table; the message is that of ``obstacle``.
        """
        require_table(table, models.name_of(self))
        obstacle = self.obstacle(table)
        if obstacle:
            raise TableError(obstacle)
        levels, columns = self.levels(table), self.known_columns(table)
        records = int(table.kept.sum())
        offending = int(find_records_failing_model(levels, self.required, self.sense).sum())
        demand = self.statement().format(columns=", ".join(columns))
        remark = self.remark(table)
        if remark:
            demand += f" ({remark})"
        if self.scenario:
            demand += f" (against the scenario {self.scenario!r}, whose intruder knows these columns and no other)"
        return Verdict(
            model=models.name_of(self),
            required=self.required,
            attained=worst_record_under_model(levels, self.sense),
            holds=records > 0 and offending == 0,
            offending=offending,
            records=records,
            sense=self.sense,
            demand=demand if records else f"{demand} (no record is left to judge)",
            columns=columns,
            unit=self.unit,
            assumptions=self.list_assumptions(),
            scenario=self.scenario,
            remark=remark,
        )

    def shortfall(self, table: Table) -> float:
        """How far the table falls short of the demand: what a search makes small before anything else.

        Parameters
        ----------
        table : Table
            A masked table.

        Returns
        -------
        float
            0 … 1: the mean over kept records of how far each misses the threshold, relative to it; 0 exactly where
            the model holds, 1 where no record is left.

        Examples
        --------
        >>> table = crypsis.Table.from_columns({"town": ["a", "a", "a", "b", "b"]}, roles={"town": "quasi"})
        >>> round(crypsis.KAnonymity(k=3).shortfall(table), 3)  # two of five records lack a third of it
        0.133
        """
        levels = self.levels(table)
        judged = levels[table.kept]
        return float(shortness_under_model(judged, self.required, self.sense).mean()) if len(judged) else 1.0

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        """What every class must hold, where that alone decides; see `crypsis.privacy.demands`.

        Parameters
        ----------
        table : Table
            The original.

        Returns
        -------
        tuple of ContentDemand
            Empty where the verdict needs more than the contents of each class.
        """
        return ()

    def obstacle(self, table: Table) -> str:
        """Why the model cannot be applied to the table.

        Parameters
        ----------
        table : Table
            The table to which the model would be applied, masked or not.

        Returns
        -------
        str
            A sentence with the remedy; empty if the model can be applied.
        """
        unknown = unknown_column(self.quasi_identifiers, table.names)
        if unknown:
            return f"{models.name_of(self)}: {unknown}"
        if self.known_columns(table):
            return ""
        return (
            f"{models.name_of(self)}: the table has no quasi-identifier, so nobody can be looked up; give the columns "
            f"an intruder may know the role 'quasi'"
        )


models: Registry[PrivacyModel] = Registry("privacy model", built_in=("crypsis.privacy",))
"""Every privacy model by its name, e.g. ``models.build("k-anonymity", k=5)``."""


def complaint_of_model(verdict: Verdict) -> str:
    """Why the verdict of a privacy model fails its threshold, in a sentence."""
    return (
        f"{verdict.model} requires {verdict.sense} {verdict.required:g} over {', '.join(verdict.columns)}, the file "
        f"attains {verdict.attained:g}, and {verdict.offending} of {verdict.records} records offend"
    )
