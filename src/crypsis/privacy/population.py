"""Models that look at the population: k-map, and limits on individual, average and population risk."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, model_validator

from crypsis.errors import TableError
from crypsis.kernels.classes import SIZE
from crypsis.privacy.model import Assumption, ContentDemand, Floats, PrivacyModel, Sense, models
from crypsis.registry import ColumnName
from crypsis.table.equivalence_classes import HOW_READ, MissingReading, classes_of
from crypsis.table.population import (
    ClassSizes,
    Estimator,
    believed_population_count,
    count_people_in_population,
    estimate_uniqueness_behind_file,
    find_members_of_population,
    individual_population_risks,
    population_fraction_obstacle,
    population_member_obstacle,
    record_weights,
    sampling_fraction,
    weight_column,
    weight_obstacle,
)
from crypsis.table.table import Table

WEIGHTS = "column of sampling weights; empty: the one with the role weight"
NO_WEIGHTS = "no column has sampling weights; give it the role 'weight' or name it with 'weights'"


@models.add("k-map")
class KMap(PrivacyModel):
    """Every record shares the values an intruder may know with at least k people of the population.

    Notes
    -----
    - Formula: min over records of F ≥ k; F counted in the population, or Σ of the weights of the class; estimated: the
      class has so many records that P(X ≥ f | X ≥ 1) ≤ significance for X Poisson with mean k · fraction
    - Paper: Sweeney (2001); El Emam and Dankar (2008)
    - Cost: O(n)
    - Departures: the estimated form is the zero-truncated test of ARX, since a class is seen only if drawn; without
      truncation a single record would prove k people where the fraction is small

    Examples
    --------
    >>> columns = {"town": ["a", "a", "b"], "weight": [10, 10, 3]}
    >>> people = crypsis.Table.from_columns(columns, roles={"town": "quasi", "weight": "weight"})
    >>> verdict = crypsis.KMap(k=5).judge(people)
    >>> verdict.attained, verdict.offending
    (3.0, 1)
    """

    monotone_in_generalisation: ClassVar[bool] = True

    k: int = Field(default=5, ge=2, le=1_000_000_000, description="fewest people of the population who are alike")
    counts: Literal["weights", "population", "estimated"] = Field(
        default="weights",
        description="how people are counted: weights, the sum of the sampling weights of a class; population, in a "
        "table of all people, of whom a column says who is in the file; estimated, believed by a test on class sizes",
    )
    weights: ColumnName = Field(default="", description=WEIGHTS)
    member: ColumnName = Field(default="", description="column that says who of the population is in the file")
    present: str = Field(default="yes", description="its value for those who are (of a numeric column, the number)")
    fraction: float = Field(
        default=0.1, gt=0, le=1, description="estimated: share of the population that is in the file"
    )
    significance: float = Field(
        default=0.05, gt=0, lt=1, description="estimated: how likely a class is believed that has too few people"
    )
    missing: MissingReading = Field(default="own", description=HOW_READ)

    _truth: Table | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _agree(self) -> KMap:
        if self.counts == "population" and not self.member:
            raise ValueError('counts = "population" needs the column that says who is in the file; name it with member')
        return self

    def list_assumptions(self) -> tuple[Assumption, ...]:
        return (*self.assumptions, Assumption.POPULATION if self.membership else Assumption.SAMPLE)

    @property
    def believed(self) -> int:
        """Fewest records of a class from which on k people are believed in the population."""
        return believed_population_count(self.k, self.fraction, self.significance)

    @property
    def required(self) -> float:
        return float(self.believed if self.counts == "estimated" else self.k)

    @property
    def least_class_size(self) -> int:
        return self.believed if self.counts == "estimated" else 1

    @property
    def membership(self) -> str:
        return self.member if self.counts == "population" else ""

    @property
    def beyond_file(self) -> str:
        if self.counts == "population":
            return "speaks of a population that is not in the file"
        return "is judged by true values that are not in the file" if self.missing == "target" else ""

    def bind_original(self, original: Table) -> KMap:
        if self.missing != "target":
            return self
        model = self.model_copy()
        model._truth = original
        return model

    def members(self, table: Table) -> NDArray[np.bool_]:
        return (
            find_members_of_population(table, self.member, self.present) if self.membership else super().members(table)
        )

    def levels(self, table: Table) -> Floats:
        # People of the population alike with each record; estimated: records of its class.
        counted = count_people_in_population(
            table,
            self.known_columns(table),
            self.missing,
            self._truth,
            weights=record_weights(table, self.weights) if self.counts == "weights" else None,
            members=self.members(table) if self.membership else None,
        )
        return counted.people

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        return (ContentDemand(SIZE, (self.required, 0.0, 0.0)),) if self.counts == "estimated" else ()

    def obstacle(self, table: Table) -> str:
        found = super().obstacle(table)
        if found or self.counts == "estimated":
            return found
        if self.membership:
            if self.member in self.known_columns(table):
                return f"k-map: column {self.member!r} cannot be a quasi-identifier as well; give it the role 'other'"
            wrong = population_member_obstacle(table, self.member, self.present)
        else:
            wrong = weight_obstacle(table, self.weights) or ("" if weight_column(table, self.weights) else NO_WEIGHTS)
        return f"k-map: {wrong}" if wrong else ""

    def statement(self) -> str:
        text = f"every record shares its values of {{columns}} with at least {self.k} people of the population"
        if self.counts == "weights":
            return f"{text}, estimated by the sampling weights"
        if self.counts == "population":
            return f"{text}, counted there"
        return (
            f"{text}, estimated: every class has at least {self.believed} records, which of a class with fewer than "
            f"{self.k} people, if any is drawn, are drawn with a probability of at most {self.significance:g} by a "
            f"sample of {self.fraction:g} of the population"
        )


# -- Limits on the risk of records, in the file or in the population.


class RiskLimit(PrivacyModel):
    """A limit on the risks of all records: 1/f in the file, or the individual risk by sampling weights."""

    sense: ClassVar[Sense] = "at most"
    monotone_in_generalisation: ClassVar[bool] = False

    found_in: Literal["file", "population"] = Field(
        default="file",
        description="where an intruder looks: file, 1/f, who knows that the person is in the file; population, the "
        "individual risk by sampling weights",
    )
    weights: ColumnName = Field(default="", description=WEIGHTS)

    def list_assumptions(self) -> tuple[Assumption, ...]:
        return self.assumptions if self.found_in == "file" else (*self.assumptions, Assumption.SAMPLE)

    def record_risks(self, table: Table) -> Floats:
        """The risk of each record.

        Parameters
        ----------
        table : Table
            The judged table.

        Returns
        -------
        ndarray of float64
            NaN for a suppressed record.
        """
        held = record_weights(table, self.weights) if self.found_in == "population" else None
        counted = count_people_in_population(table, self.known_columns(table), weights=held)
        risks, inside = np.full(len(table), np.nan), counted.inside
        risks[inside] = individual_population_risks(counted.records[inside], counted.people[inside])
        return risks

    def obstacle(self, table: Table) -> str:
        found = super().obstacle(table)
        if found or self.found_in == "file":
            return found
        wrong = weight_obstacle(table, self.weights) or ("" if weight_column(table, self.weights) else NO_WEIGHTS)
        return f"{models.name_of(self)}: {wrong}" if wrong else ""

    def _where(self) -> str:
        if self.found_in == "file":
            return "an intruder who knows {columns} and that the person is in the file"
        return "an intruder who knows {columns} and not who is in the file, estimated by the sampling weights"


def _for_all(table: Table, value: float) -> Floats:
    """float64[n]: one number of the whole file for every kept record."""
    return np.where(table.kept, value, np.nan)


@models.add("highest-risk")
class HighestRisk(RiskLimit):
    """Nobody is found with more than a given probability.

    Notes
    -----
    - Formula: max over records of r ≤ most; r = 1/f, or E[1/F | f] by sampling weights
    - Paper: Benedetti and Franconi (1998); El Emam (2013)
    - Cost: O(n)
    - Departures: none

    Examples
    --------
    >>> columns = {"town": ["a", "a", "b"], "weight": [10, 10, 10]}
    >>> people = crypsis.Table.from_columns(columns, roles={"town": "quasi", "weight": "weight"})
    >>> crypsis.HighestRisk(most=0.1, found_in="population").judge(people).offending
    1
    """

    most: float = Field(default=0.1, gt=0, lt=1, description="highest risk of a record, 0 to 1")

    @property
    def required(self) -> float:
        return self.most

    @property
    def least_class_size(self) -> int:
        return math.ceil(1.0 / self.most - 1e-9) if self.found_in == "file" else 1

    def levels(self, table: Table) -> Floats:
        return self.record_risks(table)

    def content_demands(self, table: Table) -> tuple[ContentDemand, ...]:
        if self.found_in != "file":
            return ()
        return (ContentDemand(SIZE, (float(self.least_class_size), 0.0, 0.0)),)

    def statement(self) -> str:
        return f"no record is found with a probability above {self.most:g} by {self._where()}"


@models.add("average-risk")
class AverageRisk(RiskLimit):
    """The expected share of records that an intruder finds is limited.

    Notes
    -----
    - Formula: mean over records of r ≤ most; r = 1/f, so that it is classes/n, or E[1/F | f] by sampling weights
    - Paper: El Emam (2013); Franconi and Polettini (2004)
    - Cost: O(n)
    - Departures: the level of every record is that of the file: all offend, or none

    Examples
    --------
    >>> people = crypsis.Table.from_columns({"town": list("aaabb")}, roles={"town": "quasi"})
    >>> crypsis.AverageRisk(most=0.4).judge(people).holds
    True
    """

    most: float = Field(default=0.05, gt=0, lt=1, description="largest mean risk of all records, 0 to 1")

    @property
    def required(self) -> float:
        return self.most

    def levels(self, table: Table) -> Floats:
        # The mean risk of all kept records, for each of them.
        risks = self.record_risks(table)[table.kept]
        return _for_all(table, float(risks.mean()) if len(risks) else 0.0)

    def statement(self) -> str:
        return f"at most {100 * self.most:g} % of the records are expected to be found by {self._where()}"


@models.add("records-at-risk")
class RecordsAtRisk(RiskLimit):
    """The share of records with a risk above a threshold is limited.

    Notes
    -----
    - Formula: #{i: r_i > threshold} / n ≤ most; r = 1/f, or E[1/F | f] by sampling weights
    - Paper: El Emam (2013)
    - Cost: O(n)
    - Departures: the level of every record is that of the file: all offend, or none

    Examples
    --------
    >>> people = crypsis.Table.from_columns({"town": list("aaaaab")}, roles={"town": "quasi"})
    >>> round(crypsis.RecordsAtRisk(most=0.1, threshold=0.2).judge(people).attained, 3)
    0.167
    """

    most: float = Field(default=0.01, ge=0, lt=1, description="largest share of records above the threshold, 0 to 1")
    threshold: float = Field(default=0.2, gt=0, lt=1, description="risk that counts as too high, if exceeded")

    @property
    def required(self) -> float:
        return self.most

    def levels(self, table: Table) -> Floats:
        # The share of kept records above the threshold, for each of them.
        risks = self.record_risks(table)[table.kept]
        return _for_all(table, float((risks > self.threshold).mean()) if len(risks) else 0.0)

    def statement(self) -> str:
        return (
            f"at most {100 * self.most:g} % of the records are found with a probability above {self.threshold:g} by "
            f"{self._where()}"
        )


@models.add("unique-in-population")
class UniqueInPopulation(PrivacyModel):
    """The estimated share of the population whose values nobody else has is limited.

    Notes
    -----
    - Formula: estimated uniques / N ≤ most; estimators as in the measure population-uniqueness
    - Paper: Dankar, El Emam, Neisa and Roffey (2012)
    - Cost: O(n), then O(class sizes) for every step of root finding
    - Departures: the level of every record is that of the file: all offend, or none

    Examples
    --------
    >>> people = crypsis.Table.from_columns({"town": list("aaabbcdef")}, roles={"town": "quasi"})
    >>> crypsis.UniqueInPopulation(most=0.4, fraction=0.5).judge(people).holds
    True
    """

    sense: ClassVar[Sense] = "at most"
    monotone_in_generalisation: ClassVar[bool] = False
    assumptions: ClassVar[tuple[Assumption, ...]] = (*PrivacyModel.assumptions, Assumption.SAMPLE)

    most: float = Field(default=0.01, ge=0, lt=1, description="largest share of the population that is unique, 0 to 1")
    fraction: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="share of the population that is in the file; default: records over the sum of their weights",
        examples=[0.05, 0.5],
    )
    estimator: Estimator = Field(
        default="rule", description="whose estimate counts: rule (of Dankar et al.), pitman, zayatz or snb"
    )

    @property
    def required(self) -> float:
        return self.most

    def levels(self, table: Table) -> Floats:
        # The estimate for the whole file, for each kept record.
        fraction = sampling_fraction(table, self.fraction)
        assert fraction is not None
        sizes = ClassSizes.of(classes_of(table, self.known_columns(table)).sizes)
        found: float | None = getattr(estimate_uniqueness_behind_file(sizes, fraction), self.estimator)
        if found is None:
            raise TableError(
                f"unique-in-population: the estimator {self.estimator!r} has no estimate for these class sizes; choose "
                f"'rule'"
            )
        return _for_all(table, found)

    def obstacle(self, table: Table) -> str:
        found, wrong = super().obstacle(table), population_fraction_obstacle(table, self.fraction)
        return found or (f"unique-in-population: {wrong}" if wrong else "")

    def statement(self) -> str:
        fraction = "the sampling weights" if self.fraction is None else f"a sampling fraction of {self.fraction:g}"
        return (
            f"an estimated share of at most {100 * self.most:g} % of the population is alone with its values of "
            f"{{columns}} (estimator {self.estimator}, {fraction})"
        )
