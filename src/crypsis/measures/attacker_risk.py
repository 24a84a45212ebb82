"""Three attackers (El Emam 2013): prosecutor, journalist and marketer, who differ in whom they look for and where."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.measures.individual_risk import WEIGHTS, explain_missing_in_risk, weights_for_individual_risk
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import HOW_READ, MissingReading
from crypsis.table.population import (
    PeopleCounts,
    Source,
    count_people_in_population,
    find_members_of_population,
    population_member_obstacle,
    weight_column,
    weight_obstacle,
)
from crypsis.table.table import Table

Floats = NDArray[np.float64]

Statistic = Literal["above", "highest", "average"]
MEMBER = "column that says who is in the file, where the table is the whole population; empty: the table is the file"
PRESENT = "value of that column for those who are in the file (of a numeric column, the number)"
NO_POPULATION = (
    "nothing says how many people of the population are alike; give a column of sampling weights the role 'weight', or "
    "give the whole population and name the column that says who is in the file with 'member'"
)
_FROM: dict[Source, str] = {
    "file": "people are counted in the file alone",
    "weights": "people of the population are estimated by the published sampling weights",
    "population": "people of the population are counted in it",
}


class AttackerRisk(Measure):
    """What one of the three attackers finds: a risk of every record, from the people who are alike with it."""

    unit: ClassVar[str] = "% of records"
    aim: ClassVar[Aim] = "risk"
    valid_for: ClassVar[frozenset[str]] = frozenset({"aggregation", "recoding"})

    missing: MissingReading = Field(default="own", description=HOW_READ)

    def count(self, original: Table, masked: Table, names: tuple[str, ...]) -> PeopleCounts:
        """Records and people alike with each record.

        Parameters
        ----------
        original, masked : Table
            Before and after masking.
        names : tuple of str
            What the attacker knows.

        Returns
        -------
        PeopleCounts
        """
        return count_people_in_population(masked, names, self.missing, original)

    def record_risks(self, counted: PeopleCounts) -> Floats:
        """float64[n]: the risk of each record; NaN for one that is not in the file.

        Parameters
        ----------
        counted : PeopleCounts
            Records and people alike with each record.

        Returns
        -------
        ndarray of float64
        """
        return np.asarray(1.0 / counted.people)

    def summarise(self, risks: Floats) -> float:
        """The figure, per cent; 0 where no record is published.

        Parameters
        ----------
        risks : ndarray of float64
            The risk of each record; NaN for one that is not in the file.

        Returns
        -------
        float
        """
        inside = risks[~np.isnan(risks)]
        return 100.0 * float(inside.mean()) if len(inside) else 0.0

    def against(self, original: Table) -> BoundAttackerRisk:
        return BoundAttackerRisk.of(self, original)


class _WithThreshold(AttackerRisk):
    """An attacker who looks for one person, so that the risk of every record counts."""

    statistic: Statistic = Field(
        default="above",
        description="what is read of the risks of all records: above, the share strictly above the threshold; highest; "
        "average",
    )
    threshold: float = Field(default=0.2, ge=0, lt=1, description="risk that few records may exceed, 0 to 1")

    def unit_in_words(self) -> str:
        return "% for a record" if self.statistic == "highest" else self.unit

    def summarise(self, risks: Floats) -> float:
        inside = risks[~np.isnan(risks)]
        if not len(inside) or self.statistic == "average":
            return super().summarise(risks)
        return 100.0 * float((inside > self.threshold).mean() if self.statistic == "above" else inside.max())


class _WithPopulation(AttackerRisk):
    """An attacker who looks into the population, counted there or estimated by weights."""

    weights: ColumnName = Field(default="", description=WEIGHTS)
    member: ColumnName = Field(default="", description=MEMBER)
    present: str = Field(default="yes", description=PRESENT)

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        return tuple(name for name in super().choose_columns(original) if name != self.member)

    def obstacle(self, original: Table) -> str:
        found = super().obstacle(original) or weight_obstacle(original, self.weights)
        return found or (population_member_obstacle(original, self.member, self.present) if self.member else "")

    def count(self, original: Table, masked: Table, names: tuple[str, ...]) -> PeopleCounts:
        inside = find_members_of_population(original, self.member, self.present) if self.member else None
        held = None if self.member else weights_for_individual_risk(masked, self.weights)
        return count_people_in_population(masked, names, self.missing, original, weights=held, members=inside)


class BoundAttackerRisk(BoundColumns[AttackerRisk]):
    """The risk of one attacker over some columns of an original."""

    def risks(self, masked: Table) -> Floats:
        """float64[n]: the risk of each record; NaN for one that is not in the file."""
        check_measured_rows(self.original.rows, masked)
        return self.measure.record_risks(self.measure.count(self.original, masked, self.names))

    def read(self, masked: Table) -> float:
        return self.measure.summarise(self.risks(masked))

    def explain(self, masked: Table) -> Reading:
        check_measured_rows(self.original.rows, masked)
        counted = self.measure.count(self.original, masked, self.names)
        risks = self.measure.record_risks(counted)
        inside = risks[~np.isnan(risks)]
        counts: dict[str, float] = {"records": len(inside)}
        if len(inside):
            counts |= {"average, %": 100.0 * float(inside.mean())}
        if len(inside) and isinstance(self.measure, _WithThreshold):
            most = self.measure.threshold
            counts |= {"highest, %": 100.0 * float(inside.max()), f"records above {most:g}": int((inside > most).sum())}
        return self.measure.make_reading(
            self.measure.summarise(risks),
            self.names,
            f"{explain_missing_in_risk(masked, self.names, self.measure.missing)}; {_FROM[counted.source]}",
            counts,
        )


@measures.add("prosecutor-risk")
class ProsecutorRisk(_WithThreshold):
    """Records that an intruder finds too easily who knows that the person is in the file.

    Share of the published records whose risk is strictly above a threshold, per cent; the risk of a record is 1/f, f
    the records of the file that are alike with it. The prosecutor looks for one person who is known to be in the file.

    Examples
    --------
    >>> people = crypsis.Table.from_columns({"town": list("aaaaab")}, roles={"town": "quasi"})
    >>> round(crypsis.ProsecutorRisk().against(people).read(people), 2)  # one of six is alone
    16.67

    Notes
    -----
    - Formula: 100 · #{i: 1/f_i > threshold} / n; or 100 · max 1/f_i; or 100 · mean 1/f_i, which is class-risk
    - Paper: El Emam (2013), Guide to the De-Identification of Personal Health Information
    - Cost: O(n p)
    - Departures: none; suppressed records are neither counted nor a class
    """


@measures.add("journalist-risk")
class JournalistRisk(_WithPopulation, _WithThreshold):
    """Records that an intruder finds too easily who looks for anybody of the population in the file.

    Share of the published records whose risk is strictly above a threshold, per cent; the risk of a record is 1/F, F
    the people of the population who are alike with it, counted in a table of the population or estimated by the
    published sampling weights. The journalist wants to show that somebody can be found and does not know who is in the
    file. Valid as far as the population table is complete, or the weights are those of the design.

    Examples
    --------
    >>> columns = {"town": ["a", "a", "b"], "weight": [1, 1, 10]}
    >>> people = crypsis.Table.from_columns(columns, roles={"town": "quasi", "weight": "weight"})
    >>> round(crypsis.JournalistRisk().against(people).read(people), 2)  # two people of the population in town a
    66.67

    Notes
    -----
    - Formula: 100 · #{i: 1/F_i > threshold} / n; or 100 · max 1/F_i; or 100 · mean 1/F_i
    - Paper: El Emam (2013), Guide to the De-Identification of Personal Health Information
    - Cost: O(n p)
    - Departures: ARX prints the larger of classes/ΣF and the average as success rate
    """

    def obstacle(self, original: Table) -> str:
        found = super().obstacle(original)
        return found or ("" if self.member or weight_column(original, self.weights) else NO_POPULATION)


@measures.add("marketer-risk")
class MarketerRisk(_WithPopulation):
    """Expected share of records found by an intruder who links everybody and does not mind errors.

    Mean over the published records of 1/F, per cent: F the people of the population who are alike with the record,
    counted in a table of the population, estimated by the published sampling weights, or without either the records of
    the file. The marketer looks for as many people as possible; each is found by a guess among those alike.

    Examples
    --------
    >>> columns = {"town": ["a", "a", "b"], "weight": [1, 1, 10]}
    >>> people = crypsis.Table.from_columns(columns, roles={"town": "quasi", "weight": "weight"})
    >>> round(crypsis.MarketerRisk().against(people).read(people), 2)
    36.67

    Notes
    -----
    - Formula: 100 · mean of 1/F_i; without a population 100 · classes / n, which is class-risk
    - Paper: El Emam (2013), Guide to the De-Identification of Personal Health Information
    - Cost: O(n p)
    - Departures: none
    """

    def redundant(self, original: Table) -> str:
        known = self.member or weight_column(original, self.weights)
        return "" if known else f"{NO_POPULATION}; without that it is class-risk"
