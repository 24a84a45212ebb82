"""What the seven categorical measures have in common: the columns they read, and how they are bound to an original."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from crypsis.measures.categorical_ledger import CategoryLedger, Seven
from crypsis.measures.categories import CategoryContext, Pairing, obstacle, readable
from crypsis.measures.intervals import wilson
from crypsis.measures.measure import Aim, BoundMeasure, Measure, Reading
from crypsis.table.table import Table

MISSING_IS_A_CATEGORY = "a missing value counts as a category of its own; a suppressed record as fully generalised"
UNLINKABLE = "a missing value counts as a category of its own; a suppressed record links to nobody"

Divisor = Annotated[
    Literal["size", "range", "nominal"],
    Field(
        description="ordinal rank differences are divided by |D| (size) or |D| − 1 (range); nominal: any two that "
        "differ are one apart"
    ),
]
"""Setting of measures that use distances between categories."""


class Explained(NamedTuple):
    """A score with what it was computed from."""

    value: float
    counts: Mapping[str, float]
    baseline: float | None = None
    trials: int = 0
    """Records of which the value is the share that was linked, which gives it an interval; 0: it is no such share."""


class CategoricalMeasure(Measure):
    """A measure that compares categories as collected."""

    def chosen(self, original: Table) -> tuple[str, ...]:
        return tuple(readable(original, self.columns))

    def obstacle(self, original: Table) -> str:
        return obstacle(original, self.columns)

    def against(self, original: Table) -> BoundCategories:
        return BoundCategories(self, self.context(original))

    def context(self, original: Table) -> CategoryContext:
        """The original side of the comparison; settings that do not fit it are refused here.

        Parameters
        ----------
        original : Table
            The table before masking; its categories are as they were collected.

        Returns
        -------
        CategoryContext
        """
        return CategoryContext.of(original, self.columns)

    @abstractmethod
    def score(self, pairing: Pairing) -> float:
        """The number for one masked file.

        Parameters
        ----------
        pairing : Pairing
            Original and masked file in one numbering (see `CategoryContext.pair`).

        Returns
        -------
        float
        """

    def explained(self, pairing: Pairing) -> Explained:
        """The same number with what it was computed from.

        Parameters
        ----------
        pairing : Pairing
            Original and masked file, numbered alike.

        Returns
        -------
        Explained
        """
        return Explained(self.score(pairing), {})


class CategoricalLoss(CategoricalMeasure):
    """What masking takes from categories."""

    aim: ClassVar[Aim] = "loss"


class CategoricalRisk(CategoricalMeasure):
    """What an intruder who knows the original categories finds."""

    aim: ClassVar[Aim] = "risk"


@dataclass(frozen=True, eq=False)
class BoundCategories(BoundMeasure):
    """A categorical measure bound to an original."""

    measure: CategoricalMeasure
    context: CategoryContext

    def read(self, masked: Table) -> float:
        return self.measure.score(self.context.pair(masked))

    def explain(self, masked: Table) -> Reading:
        return self.reading(self.measure.explained(self.context.pair(masked)))

    def ledger(self, masked: Table) -> CategoryLedger:
        """Tallies of a masked file that follow changes of single cells."""
        return CategoryLedger.of(self.context, masked, Seven.of(self.measure))

    def reading(self, explained: Explained) -> Reading:
        """A number as a person reads it; a risk with a warning where the attack is no better than guessing."""
        value, counts, baseline, trials = explained
        guessed = baseline is not None and value <= baseline
        return self.measure.reading(
            value,
            self.context.names,
            UNLINKABLE if trials else MISSING_IS_A_CATEGORY,
            {"records": self.context.rows, **counts},
            interval=wilson(value / 100 * trials, trials) if trials else None,
            baseline=baseline,
            warning="the attack does no better here than guessing; another attack may" if guessed else "",
        )
