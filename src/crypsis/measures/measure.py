"""The contract of a measure, readings, and the registry of measures.

A measure is bound to the original once (`against`), which computes all that never changes, and then
asked many times. Losses and risks are 0–100 unless the unit says otherwise; SSE is raw.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError, unknown_column
from crypsis.registry import Registry, Settings
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import Hierarchy
from crypsis.table.precision import Scales
from crypsis.table.table import AGGREGATION, LOCAL, PERTURBATION, RECODING, Table, require_table
from crypsis.tasks import Tasks

Aim = Literal["loss", "risk", "privacy"]
Better = Literal["low", "high"]

NO_RECORDS = "the table has no records; nothing can be compared"


@dataclass(frozen=True)
class Reading:
    """A number with all that is needed to interpret it.

    Parameters
    ----------
    measure, definition : str
        Its registered name, and how the number is computed, in a sentence.
    value : float
    unit : str
        Its unit; ``%`` for most losses and risks.
    better : {"low", "high"}
        Which direction is better.
    aim : {"loss", "risk", "privacy"}
        What is measured.
    scope : tuple of str
        The columns it refers to.
    missing : str
        How missing values were treated.
    interval : tuple of float, optional
        95 % interval, where the number is an estimate.
    baseline : float, optional
        What a guess without the masked file achieves, in the same unit.
    control : float, optional
        What the same attack achieves on people who are not in the file, in the same unit.
    counts : mapping of str to float
        What the number was computed from.
    warning : str
        Why the number should be read with care; empty when there is no reason.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> reading = crypsis.RecordLinkage().against(original).explain(masked)
    >>> reading.value, reading.baseline
    (100.0, 20.0)
    """

    measure: str
    value: float
    unit: str
    better: Better
    aim: Aim
    definition: str
    scope: tuple[str, ...] = ()
    missing: str = ""
    interval: tuple[float, float] | None = None
    baseline: float | None = None
    control: float | None = None
    counts: Mapping[str, float] = field(default_factory=dict)
    warning: str = ""


class BoundMeasure(Protocol):
    """A measure bound to an original."""

    def read(self, masked: Table) -> float:
        """The value alone, as searches need it."""

    def explain(self, masked: Table) -> Reading:
        """The value with interval, baseline, counts and definition."""

    def explain_tasks(self, masked: Table) -> Tasks[Reading]:
        """`explain` in tasks; in one, unless a measure says otherwise."""
        return (yield [lambda: self.explain(masked)])[0]  # type: ignore[no-any-return]

    def read_tasks(self, masked: Table) -> Tasks[float]:
        """`read` in tasks; in one, unless a measure says otherwise."""
        return (yield [lambda: self.read(masked)])[0]  # type: ignore[no-any-return]


class Ledger(Protocol):
    """Integer tallies of one masked file that follow changes of single cells.

    The float is computed last, by the same function as `BoundMeasure.read`, so that amended and full values
    agree bit for bit.
    """

    def amend(self, row: int, attribute: int, code: int) -> None:
        """Follow the change of one cell to another code."""

    def read(self) -> float:
        """The value of the file as it is now."""


class Measure(Settings):
    """A frozen settings object that compares an original with its masked version, row by row.

    The second paragraph of the docstring of a measure is its `definition`, which reports print.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> bound = crypsis.SquaredErrorRatio().against(original)  # once; then read as often as needed
    >>> round(bound.read(masked), 2), bound.read(original)
    (3.33, 0.0)
    """

    aim: ClassVar[Aim]
    better: ClassVar[Better] = "low"
    unit: ClassVar[str] = "%"
    definition: ClassVar[str]
    valid_for: ClassVar[frozenset[str]] = frozenset({AGGREGATION, RECODING, PERTURBATION})
    """Masking families after which the number means something."""
    row_wise: ClassVar[bool] = True
    """Whether records are compared one by one; otherwise only the two files as wholes."""
    public: ClassVar[bool] = True
    """Whether users of a released file may read it; not where it counts rare records of the original."""
    tally: ClassVar[str] = ""
    """Where `categorical_ledger.Seven` holds the measure, if its tallies follow changes of single cells; else empty."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        paragraphs = inspect.cleandoc(vars(cls).get("__doc__") or "").split("\n\n")
        if "definition" not in vars(cls) and len(paragraphs) > 1 and "\n---" not in paragraphs[1]:
            cls.definition = " ".join(paragraphs[1].split()).rstrip(".")

    columns: tuple[str, ...] = Field(
        default=(), description="columns to compare; empty means every quasi-identifier the measure can read"
    )

    @property
    def follows(self) -> bool:
        """Whether tallies of the measure, with these settings, follow changes of single cells."""
        return bool(self.tally)

    @abstractmethod
    def against(self, original: Table) -> BoundMeasure:
        """Bind to the original: everything that never changes is computed here.

        Parameters
        ----------
        original : Table
            The table before masking, with roles and hierarchies.

        Returns
        -------
        BoundMeasure
            Reads any masked version of the original.
        """

    def obstacle(self, original: Table) -> str:
        """Why this measure cannot read the table.

        Parameters
        ----------
        original : Table
            A table that would be compared with masked versions of it.

        Returns
        -------
        str
            A sentence with the remedy; empty if the measure can read the table.
        """
        unknown = unknown_column(self.columns, original.names)
        if unknown:
            return unknown
        if not self.choose_columns(original):
            return "the table has no quasi-identifier to compare; name columns or give them the role 'quasi'"
        return "" if original.rows else NO_RECORDS

    def redundant(self, original: Table) -> str:
        """Why the measure says nothing of its own about the table, so that it is read only where it is named.

        Parameters
        ----------
        original : Table
            A table that would be compared with masked versions of it.

        Returns
        -------
        str
            A sentence; empty if the measure is read wherever it applies.
        """
        return ""

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        """The columns to compare: those named, or every quasi-identifier the measure can read.

        Parameters
        ----------
        original : Table
            The table before masking, with its roles.

        Returns
        -------
        tuple of str
        """
        return self.columns or tuple(original.quasi_identifiers)

    def orient(self, value: float) -> float:
        """A reading turned so that small is good.

        Parameters
        ----------
        value : float
            A reading of this measure.

        Returns
        -------
        float
        """
        return value if self.better == "low" else -value

    def unit_in_words(self) -> str:
        """The unit under the present settings."""
        return self.unit

    def make_reading(
        self,
        value: float,
        scope: Sequence[str],
        missing: str,
        counts: Mapping[str, float],
        *,
        interval: tuple[float, float] | None = None,
        baseline: float | None = None,
        control: float | None = None,
        warning: str = "",
    ) -> Reading:
        """A number of this measure with what a signatory needs to know about it.

        Parameters
        ----------
        value : float
            The number.
        scope : sequence of str
            Columns it refers to.
        missing : str
            How missing values were treated.
        counts : mapping of str to float
            What it was computed from.
        interval : tuple of float, optional
            95 % interval, if it is an estimate.
        baseline, control : float, optional
            What a guess achieves, and the same attack on people outside the file.
        warning : str
            Why it should be read with care.

        Returns
        -------
        Reading
        """
        return Reading(
            measure=measures.name_of(self),
            value=value,
            unit=self.unit_in_words(),
            better=self.better,
            aim=self.aim,
            definition=self.definition,
            scope=tuple(scope),
            missing=missing,
            interval=interval,
            baseline=baseline,
            control=control,
            counts=counts,
            warning=warning,
        )


M = TypeVar("M", bound=Measure)


@dataclass(frozen=True, eq=False)
class BoundColumns(BoundMeasure, Generic[M]):
    """A measure bound to some columns of an original."""

    measure: M
    original: Table
    names: tuple[str, ...]

    @classmethod
    def of(cls, measure: M, original: Table) -> Self:
        """The measure bound to the columns it compares."""
        require_table(original, measures.name_of(measure))
        return cls(measure, original, measure.choose_columns(original))


measures: Registry[Measure] = Registry("measure", built_in=("crypsis.measures",))
"""Every measure by its name, e.g. ``measures.build("cell-loss")``."""

# -- The score of a masked file: its mean loss and mean risk as one number.


def mean_score_of_measures(losses: Sequence[float], risks: Sequence[float]) -> float:
    """Contract of every measure: readings become one score, (mean loss + mean risk) / 2."""
    return float(np.mean(losses) + np.mean(risks)) / 2


def max_score_of_measures(losses: Sequence[float], risks: Sequence[float]) -> float:
    """Contract of every measure: readings become one score, the larger of mean loss and mean risk."""
    return float(max(np.mean(losses), np.mean(risks)))


# -- Records that stand for all of a large table: taken at equal distances, so that the same file gives the same ones.

MOST_RECORDS = 1_000_000


def sample_records_to_measure(records: int, most: int) -> NDArray[np.int64]:
    """Contract of every measure: one that reads only some records reads these places, evenly apart.

    >>> sample_records_to_measure(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.unique(np.linspace(0, records - 1, min(most, records)).round().astype(np.int64))


def sample_setting(least: int, tried: int) -> Any:
    """The setting of a measure that says how many records it looks at."""
    text = "largest number of records that are looked at, taken at equal distances"
    return Field(default=2000, ge=least, le=MOST_RECORDS, examples=[tried], description=text)


# -- Which columns are compared, and how a published cell is read beside the original one.
#
# A record that was suppressed, and a cell that was blanked, tells an analyst nothing but the column's mean:
# in a loss it counts as fully generalised. A generalised number is read as the middle of its group. A cell
# the original lacks cannot be compared and takes part in nothing.

MISSING_NUMBERS = (
    "cells missing in the original are left out; a cell blanked by the masking, and every cell of a suppressed "
    "record, is read as the original column mean; a generalised number is read as the middle of its group"
)


def check_measured_rows(original_rows: int, masked: Table) -> None:
    """Refuse to measure a masked table whose rows cannot correspond to the original's."""
    require_table(masked, "a masked table")
    if masked.rows != original_rows:
        raise TableError(
            f"the masked table has {masked.rows} rows and the original {original_rows}; row i must mask row i: "
            f"keep suppressed records in place, or compare files of equal length"
        )


def middles_every_measure_reads(hierarchy: Hierarchy, level: int) -> NDArray[np.float64]:
    """Contract of every measure: a generalised group is read as the middle of its leaves, missing as NaN."""
    levels = range(hierarchy.height + 1) if level == LOCAL else [level]
    middle = []
    for each in levels:
        size = len(hierarchy.labels[each])
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, hierarchy.groups[each], hierarchy.values)
        np.maximum.at(high, hierarchy.groups[each], hierarchy.values)
        middle.append((low + high) / 2)
    return np.concatenate([*middle, [np.nan]])


def numbers_that_measures_read(masked: Table, name: str) -> NDArray[np.float64]:
    """A masked column as the numbers that any measure reads, suppressed records as NaN."""
    if masked.holds_numbers(name):
        numbers = finite_numbers_of_frame(masked, name)
    else:
        hierarchy = masked.attribute(name).hierarchy
        if hierarchy is None or not hierarchy.values.size:
            raise TableError(
                f"column {name!r} is numeric in the original but holds categories in the masked table; "
                f"give it a numeric hierarchy or compare it with a measure for categories"
            )
        numbers = middles_every_measure_reads(hierarchy, masked.level(name))[masked.column(name)]
    return np.where(masked.kept, numbers, np.nan)


_known_numbers: WeakKeyDictionary[Table, dict[tuple[str, ...], Numbers]] = WeakKeyDictionary()
"""Numbers of originals, which never change, while they live."""


@dataclass(frozen=True)
class Numbers:
    """The original side of a numeric comparison: float64[n, p], NaN where missing, and its scales."""

    names: tuple[str, ...]
    values: NDArray[np.float64]
    present: NDArray[np.bool_]
    scales: Scales

    @classmethod
    def of(cls, original: Table, names: Sequence[str]) -> Numbers:
        """Bind the numeric columns of an original, once for all measures that compare the same ones."""
        known = _known_numbers.setdefault(original, {})
        if (key := tuple(names)) not in known:
            known[key] = cls._bind(original, names)
        return known[key]

    @classmethod
    def _bind(cls, original: Table, names: Sequence[str]) -> Numbers:
        values = np.stack([finite_numbers_of_frame(original, name) for name in names], axis=1)
        return cls(tuple(names), values, ~np.isnan(values), Scales.of(values))

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.values)

    def read_published(self, masked: Table) -> NDArray[np.float64]:
        """float64[n, p]: what an analyst reads in the masked table; NaN exactly where the original is missing."""
        check_measured_rows(self.rows, masked)
        read = np.stack([numbers_that_measures_read(masked, name) for name in self.names], axis=1)
        return np.where(self.present, np.where(np.isnan(read), self.scales.mean, read), np.nan)
