"""Individual risk, alone and of whole households: what an intruder finds who knows that the file is a sample."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import HOW_READ, IN_WORDS, MissingReading, missing_in_class_columns
from crypsis.table.households import household_column, household_obstacle, read_households
from crypsis.table.population import (
    combine_population_risks,
    count_people_in_population,
    individual_population_risks,
    record_weights,
    weight_column,
    weight_obstacle,
)
from crypsis.table.table import Table

Floats = NDArray[np.float64]

Statistic = Literal["rate", "highest", "above"]
WEIGHTS = "column of sampling weights; empty: the one with the role weight, and none where no column has it"
NO_WEIGHTS = "the table has no sampling weights, without which this is class-risk; give a column the role 'weight'"
UNWEIGHTED = "without sampling weights the file is taken for the whole population"


def _summarise_risks(risks: Floats, statistic: Statistic, threshold: float) -> float:
    """Mean or highest of risks, or the share of them strictly above a threshold, per cent; 0 where there is none.

    `risks` float64[n], NaN for records that are not in the file.
    """
    inside = risks[~np.isnan(risks)]
    if not len(inside):
        return 0.0
    if statistic == "above":
        return 100.0 * float((inside > threshold).mean())
    return 100.0 * float(inside.mean() if statistic == "rate" else inside.max())


def explain_missing_in_risk(masked: Table, names: tuple[str, ...], missing: MissingReading) -> str:
    """How individual risk reads missing cells and suppressed records, in words."""
    text = f"{IN_WORDS[missing]}; a suppressed record is not published and is not counted"
    return text if missing_in_class_columns(masked, names) else f"no value is missing; {text.split('; ')[-1]}"


def weights_for_individual_risk(masked: Table, named: str) -> Floats | None:
    """float64[n]: the sampling weights from which individual risk is estimated; None if none are published."""
    name = weight_column(masked, named if named in masked.names else "")
    return record_weights(masked, name) if name and masked.holds_numbers(name) else None


class RiskOfRecords(Measure):
    """A measure of risk of every record, from which a mean, a largest value or a share above a threshold is read."""

    unit: ClassVar[str] = "% of records"
    aim: ClassVar[Aim] = "risk"
    valid_for: ClassVar[frozenset[str]] = frozenset({"aggregation", "recoding"})

    statistic: Statistic = Field(
        default="rate",
        description="what is read of the risks of all records: rate, their mean, which is the expected share that is "
        "found; highest; above, the share strictly above the threshold",
    )
    threshold: float = Field(default=0.05, ge=0, lt=1, description="risk that few records may exceed, 0 to 1")
    weights: ColumnName = Field(default="", description=WEIGHTS)
    approximate: bool = Field(
        default=False, description="evaluate by the approximation that sdcMicro uses by default, instead of exactly"
    )
    missing: MissingReading = Field(default="own", description=HOW_READ)

    def unit_in_words(self) -> str:
        return "% for a record" if self.statistic == "highest" else self.unit

    def obstacle(self, original: Table) -> str:
        return super().obstacle(original) or weight_obstacle(original, self.weights)

    def published_risks(self, original: Table, masked: Table, names: tuple[str, ...]) -> Floats:
        """float64[n]: the individual risk of each record; NaN for a suppressed one.

        Parameters
        ----------
        original, masked : Table
            Before and after masking; the weights are those that are published.
        names : tuple of str
            What the intruder knows.

        Returns
        -------
        ndarray of float64
        """
        check_measured_rows(original.rows, masked)
        held = weights_for_individual_risk(masked, self.weights)
        counted = count_people_in_population(masked, names, self.missing, original, weights=held)
        risks = np.full(len(masked), np.nan)
        inside = counted.inside
        risks[inside] = individual_population_risks(counted.records[inside], counted.people[inside], self.approximate)
        return risks


@measures.add("individual-risk")
class IndividualRisk(RiskOfRecords):
    """Expected share of people found by an intruder who knows that the file is a sample.

    Mean over the published records of the individual risk, per cent: the expected value of 1/F, where F, the number of
    people of the population with the values of the record, is negative binomial given f, the records of the file with
    these values, and estimated by the sum of their published sampling weights; the sum over all records is the expected
    number of re-identifications. Valid for a sample whose weights are those of its design; without weights it is 1/f.

    Examples
    --------
    >>> columns = {"town": ["a", "a", "b"], "weight": [10, 10, 10]}
    >>> people = crypsis.Table.from_columns(columns, roles={"town": "quasi", "weight": "weight"})
    >>> crypsis.IndividualRisk().against(people).risks(people).round(4).tolist()
    [0.0827, 0.0827, 0.2558]

    Notes
    -----
    - Formula: r = (p/f) 2F1(1, 1; f + 1; 1 − p), p = f/F; 100 · Σ r / n
    - Paper: Benedetti and Franconi (1998); Franconi and Polettini (2004)
    - Cost: O(n p), and one evaluation per distinct (f, F)
    - Departures: exact by a stable recurrence; sdcMicro approximates from f = 3 on (`approximate`), and its exact form
      gives no number for large classes
    """

    def against(self, original: Table) -> BoundIndividualRisk:
        return BoundIndividualRisk.of(self, original)

    def redundant(self, original: Table) -> str:
        return "" if weight_column(original, self.weights) else NO_WEIGHTS


class BoundIndividualRisk(BoundColumns[IndividualRisk]):
    """Individual risk over some columns of an original."""

    def risks(self, masked: Table) -> Floats:
        """float64[n]: the risk of each record; NaN for a suppressed one."""
        return self.measure.published_risks(self.original, masked, self.names)

    def read(self, masked: Table) -> float:
        return _summarise_risks(self.risks(masked), self.measure.statistic, self.measure.threshold)

    def explain(self, masked: Table) -> Reading:
        risks = self.risks(masked)
        inside, measure = risks[~np.isnan(risks)], self.measure
        counts: dict[str, float] = {"records": len(inside), "expected re-identifications": float(inside.sum())}
        if len(inside):
            counts["highest risk of a record, %"] = 100.0 * float(inside.max())
        counts[f"records above {100 * measure.threshold:g} %"] = int((inside > measure.threshold).sum())
        return measure.make_reading(
            _summarise_risks(risks, measure.statistic, measure.threshold),
            self.names,
            explain_missing_in_risk(masked, self.names, measure.missing),
            counts,
            warning=UNWEIGHTED if weights_for_individual_risk(masked, measure.weights) is None else "",
        )


@measures.add("household-risk")
class HouseholdRisk(RiskOfRecords):
    """Expected share of households of which an intruder finds at least one member.

    Mean over households, per cent, of 1 − Π (1 − r) over the published members of the household, r their individual
    risks: the risk that at least one member is found, after which the others are known as well. Households are those of
    the original. The sum over households is the expected number of households found; the sum over records, which
    sdcMicro prints, the expected number of people in them. Valid where members are looked for independently.

    Examples
    --------
    >>> columns = {"town": ["a", "a", "b"], "home": [1, 2, 2], "weight": [10, 10, 10]}
    >>> people = crypsis.Table.from_columns(columns, roles={"town": "quasi", "home": "household", "weight": "weight"})
    >>> crypsis.HouseholdRisk().against(people).household_risks(people).round(4).tolist()
    [0.0827, 0.3174]

    Notes
    -----
    - Formula: 100 · Σ over households of (1 − Π (1 − r)) / households; r as individual-risk has it
    - Paper: Templ, Kowarik and Meindl (2015)
    - Cost: that of individual-risk
    - Departures: sdcMicro divides the sum over records by records; both sums are among the counts
    """

    unit: ClassVar[str] = "% of households"

    household: ColumnName = Field(
        default="", description="column that says which records belong together; empty: the one with the role household"
    )

    def unit_in_words(self) -> str:
        return "% for a household" if self.statistic == "highest" else self.unit

    def obstacle(self, original: Table) -> str:
        return super().obstacle(original) or household_obstacle(original, self.household)

    def choose_columns(self, original: Table) -> tuple[str, ...]:
        return tuple(n for n in super().choose_columns(original) if n != household_column(original, self.household))

    def against(self, original: Table) -> BoundHouseholdRisk:
        return BoundHouseholdRisk.of(self, original)


class BoundHouseholdRisk(BoundColumns[HouseholdRisk]):
    """Household risk over some columns of an original."""

    def household_risks(self, masked: Table) -> Floats:
        """float64[households]: the risk of each household; NaN where none of its records is published."""
        return self._both(masked)[0]

    def risks(self, masked: Table) -> Floats:
        """float64[n]: the risk of each record's household; NaN for a suppressed record."""
        return self._both(masked)[1]

    def _both(self, masked: Table) -> tuple[Floats, Floats]:
        risks = self.measure.published_risks(self.original, masked, self.names)
        home, inside = read_households(self.original, self.measure.household), ~np.isnan(risks)
        count = int(home.max(initial=-1)) + 1
        found = np.full(count, np.nan)
        found[: int(home[inside].max(initial=-1)) + 1] = combine_population_risks(risks[inside], home[inside])
        found[np.bincount(home[inside], minlength=count) == 0] = np.nan
        return found, np.where(inside, found[home], np.nan)

    def read(self, masked: Table) -> float:
        return _summarise_risks(self.household_risks(masked), self.measure.statistic, self.measure.threshold)

    def explain(self, masked: Table) -> Reading:
        homes, risks = self._both(masked)
        inside, measure = homes[~np.isnan(homes)], self.measure
        counts: dict[str, float] = {
            "households": len(inside),
            "expected households found": float(inside.sum()),
            "sum over records": float(risks[~np.isnan(risks)].sum()),
        }
        if len(inside):
            counts["highest risk of a household, %"] = 100.0 * float(inside.max())
        counts[f"households above {100 * measure.threshold:g} %"] = int((inside > measure.threshold).sum())
        return measure.make_reading(
            _summarise_risks(homes, measure.statistic, measure.threshold),
            self.names,
            explain_missing_in_risk(masked, self.names, measure.missing),
            counts,
            warning=UNWEIGHTED if weights_for_individual_risk(masked, measure.weights) is None else "",
        )
