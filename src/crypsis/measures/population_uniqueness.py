"""Population uniqueness: how many people of the population nobody else is alike with, estimated from a sample."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.population import (
    ClassSizes,
    Estimator,
    PopulationEstimates,
    estimate_uniqueness_behind_file,
    population_fraction_obstacle,
    sampling_fraction,
)
from crypsis.table.table import Table

IN_WORDS: dict[Estimator, str] = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "snb": "slide negative binomial",
    "rule": "the rule of Dankar et al.",
}
_MISSING = (
    "a missing value is a value of its own, so that it divides classes; a suppressed record is not published and is "
    "in no class"
)


def _by_estimator(estimates: PopulationEstimates) -> dict[Estimator, float | None]:
    return {"pitman": estimates.pitman, "zayatz": estimates.zayatz, "snb": estimates.snb}


def _estimates_text(estimates: PopulationEstimates) -> str:
    """All estimates in a sentence, with the one that the rule takes."""
    found = _by_estimator(estimates)
    parts = [
        f"{IN_WORDS[name]} {'has no estimate' if value is None else f'{100 * value:.3g} %'}"
        for name, value in found.items()
    ]
    return (
        f"estimates for a sampling fraction of {estimates.fraction:.3g}: {', '.join(parts)}; the rule of Dankar et al. "
        f"takes {IN_WORDS[estimates.chosen]}; of the sample {100 * estimates.sample:.3g} % are unique in it"
    )


@measures.add("population-uniqueness")
class PopulationUniqueness(Measure):
    """Estimated share of the population whose values nobody else has.

    Expected number of people who are alone in the population with their values, per cent of the population, estimated
    from the sizes of the classes of the published file and the sampling fraction: by Pitman's model, by Zayatz, or by
    the slide negative binomial; the rule of Dankar et al. takes Pitman up to a fraction of 0.1, and the smaller of the
    others above. Whoever finds such a record in the file knows that it is the person. Valid for a simple random sample;
    estimates differ by up to a factor of two at small fractions, so that all of them are given.

    Examples
    --------
    >>> people = crypsis.Table.from_columns({"town": list("aaabbcdef")}, roles={"town": "quasi"})
    >>> reading = crypsis.PopulationUniqueness(fraction=0.5).against(people).explain(people)
    >>> round(reading.value, 2), round(reading.counts["Zayatz, %"], 2)
    (30.37, 30.37)

    Notes
    -----
    - Formula: Zayatz c₁P/φ, P = c₁φ/Σ c_j H(1; N, j, n); Pitman Γ(θ + 1)/Γ(θ + α) N^α; slide negative binomial K b^a;
      each over N
    - Paper: Zayatz (1991); Hoshino (2001); Chen and Keller-McNulty (1998); Dankar, El Emam, Neisa and Roffey (2012)
    - Cost: O(n p), then O(class sizes) for every step of root finding
    - Departures: nested root finding instead of Newton; ARX 3.9.2 has an error in the slide negative binomial, which is
      0 there
    """

    unit: ClassVar[str] = "% of the population"
    aim: ClassVar[Aim] = "risk"
    valid_for: ClassVar[frozenset[str]] = frozenset({"aggregation", "recoding"})

    estimator: Estimator = Field(
        default="rule", description="whose figure is read: rule (of Dankar et al.), pitman, zayatz or snb"
    )
    fraction: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="share of the population that is in the file; default: records over the sum of their weights",
        examples=[0.05, 0.5],
    )

    def obstacle(self, original: Table) -> str:
        return super().obstacle(original) or population_fraction_obstacle(original, self.fraction)

    def against(self, original: Table) -> BoundPopulationUniqueness:
        return BoundPopulationUniqueness.of(self, original)


class BoundPopulationUniqueness(BoundColumns[PopulationUniqueness]):
    """Population uniqueness over some columns of an original."""

    def estimates(self, masked: Table) -> PopulationEstimates:
        """Every estimate for a masked version."""
        check_measured_rows(self.original.rows, masked)
        fraction = sampling_fraction(masked, self.measure.fraction)
        if fraction is None:  # weights are not published; those of the original say how large the population is
            fraction = sampling_fraction(self.original, None)
        assert fraction is not None
        return estimate_uniqueness_behind_file(ClassSizes.of(classes_of(masked, self.names).sizes), fraction)

    def read(self, masked: Table) -> float:
        return self._choose_estimate(self.estimates(masked))

    def _choose_estimate(self, estimates: PopulationEstimates) -> float:
        found: float | None = getattr(estimates, self.measure.estimator)
        if found is None:
            raise TableError(
                f"{IN_WORDS[self.measure.estimator]} has no estimate for these class sizes; choose the estimator 'rule'"
            )
        return 100.0 * found

    def explain(self, masked: Table) -> Reading:
        estimates = self.estimates(masked)
        found = _by_estimator(estimates)
        counts = {f"{IN_WORDS[name]}, %": 100.0 * value for name, value in found.items() if value is not None}
        counts |= {
            f"taken by the rule: {IN_WORDS[estimates.chosen]}, %": 100.0 * estimates.rule,
            "unique in the sample, %": 100.0 * estimates.sample,
            "sampling fraction": estimates.fraction,
            "records": float(np.sum(masked.kept)),
        }
        return self.measure.make_reading(
            self._choose_estimate(estimates), self.names, _MISSING, counts, warning=_estimates_text(estimates)
        )
