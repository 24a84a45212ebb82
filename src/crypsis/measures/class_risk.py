"""Class risk: what an intruder finds who reaches every person's class and can only guess inside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.table.equivalence_classes import HOW_READ, IN_WORDS, MissingReading, alike_records, classes_of
from crypsis.table.table import Table

CLASS_RISK = "class-risk"
"""Name under which the measure is registered."""
MISSING_CLASSES = (
    "a missing value is a value of its own, so that it divides classes; a suppressed record is not published and is "
    "in no class"
)


@measures.add(CLASS_RISK)
class ClassRisk(Measure):
    """Share of people found by an intruder who knows the class of everybody.

    100 times the number of classes over the number of published records, where the records of a class are published
    with equal values: the mean over the records of 1/size of their class, since within a class the intruder can only
    guess; no intruder who knows these columns and nothing else is expected to find more. ARX prints this figure as the
    average prosecutor risk and the marketer risk, sdcMicro, of a file without weights, as the expected number of
    re-identifications over the number of records.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("levels")
    >>> round(crypsis.ClassRisk().against(original).read(masked), 2)
    63.0

    Notes
    -----
    - Formula: 100 · classes / published records = 100 · mean of 1/size; at worst 100 / k for a person
    - Paper: El Emam and Dankar (2008); Franconi and Polettini (2004)
    - Cost: O(n p)
    - Departures: none; a file of which every record is suppressed has risk 0; other readings of a missing cell count
      records alike instead of classes: 100 · mean of 1/alike
    """

    aim: ClassVar[Aim] = "risk"
    valid_for: ClassVar[frozenset[str]] = frozenset({"aggregation", "recoding"})

    missing: MissingReading = Field(default="own", description=HOW_READ)

    def against(self, original: Table) -> BoundClassRisk:
        return BoundClassRisk.of(self, original)


class BoundClassRisk(BoundColumns[ClassRisk]):
    """Class risk over some columns of an original."""

    def read(self, masked: Table) -> float:
        check_measured_rows(self.original.rows, masked)
        if self.measure.missing == "own":
            return class_risk(masked, self.names)
        alike = alike_records(masked, self.names, self.measure.missing, self.original)[masked.kept]
        return 100.0 * float((1.0 / alike).mean()) if len(alike) else 0.0

    def explain(self, masked: Table) -> Reading:
        if self.measure.missing != "own":
            return self._explain_alike(masked)
        sizes = classes_of(masked, self.names).sizes
        counts: dict[str, float] = {"classes": len(sizes), "records": int(sizes.sum())}
        if len(sizes):
            counts |= {"smallest class": int(sizes.min()), "worst of a person, %": 100.0 / float(sizes.min())}
        baseline = 100.0 / float(sizes.sum()) if len(sizes) else 0.0
        return self.measure.make_reading(self.read(masked), self.names, MISSING_CLASSES, counts, baseline=baseline)

    def _explain_alike(self, masked: Table) -> Reading:
        """By records that are alike under a reading that makes no classes."""
        alike = alike_records(masked, self.names, self.measure.missing, self.original)[masked.kept]
        counts: dict[str, float] = {"records": len(alike)}
        if len(alike):
            counts |= {"fewest alike": int(alike.min()), "worst of a person, %": 100.0 / float(alike.min())}
        text = f"{IN_WORDS[self.measure.missing]}; a suppressed record is not published"
        baseline = 100.0 / len(alike) if len(alike) else 0.0
        return self.measure.make_reading(self.read(masked), self.names, text, counts, baseline=baseline)


def class_risk(masked: Table, columns: Sequence[str]) -> float:
    """100 times the number of classes over the number of kept records; 0 where none is kept."""
    sizes = classes_of(masked, columns).sizes
    return 100.0 * len(sizes) / float(sizes.sum()) if len(sizes) else 0.0
