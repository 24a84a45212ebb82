"""Probabilistic record linkage of categories (Fellegi and Sunter 1969): agreement patterns, weighed by EM.

Missing values are a category of their own; suppressed records are candidates for nobody and link to nobody.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.kernels.arrays import Ints
from crypsis.kernels.ledger import EXPECTED, STRICT, mixture, pattern_risk
from crypsis.kernels.linkage import own_patterns
from crypsis.measures.categorical_ledger import CategoricalRisk, Explained
from crypsis.measures.categories import (
    CategoryContext,
    Pairing,
    agreement_patterns,
    agreements,
    readable,
)
from crypsis.measures.measure import measures
from crypsis.table.table import Table

MOST_ATTRIBUTES = 12
"""Columns whose agreement patterns are counted; each one more doubles the patterns."""


@measures.add("probabilistic-linkage")
class ProbabilisticLinkage(CategoricalRisk):
    """PRL: agreement patterns weighed by a mixture of matches and non-matches (Fellegi and Sunter; EM).

    Share of original records whose masked record of greatest Fellegi–Sunter weight is their own, weights by EM over
    the agreement patterns of all pairs; t tied records count 1/t (expected) or only if t = 1 (strict).

    Examples
    --------
    >>> original, masked = crypsis.example_pair("categories")
    >>> round(crypsis.ProbabilisticLinkage().against(original).read(masked), 2)
    33.33

    Notes
    -----
    - Formula: weight log₂(m_a / u_a) of the agreement pattern a, m and u by EM
    - Paper: Fellegi and Sunter (1969); PRL of Marés and Torra (2012)
    - Cost: O(c² p + rounds · 2^p)
    - Departures: ties count 1/t (decision 0003)
    """

    tally: ClassVar[str] = "probabilistic"

    ties: Literal["expected", "strict"] = Field(
        default="expected", description="credit among t records of greatest weight: 1/t, or only a single one"
    )

    def context(self, original: Table) -> CategoryContext:
        problem = self.obstacle(original)
        if problem:
            raise TableError(problem)
        return super().context(original)

    def obstacle(self, original: Table) -> str:
        found = len(readable(original, self.columns))
        too_many = f"{found} columns make too many agreement patterns; name at most {MOST_ATTRIBUTES}"
        return too_many if found > MOST_ATTRIBUTES else super().obstacle(original)

    @property
    def rule(self) -> int:
        """What a link among ties is worth: a rule of `kernels.ledger`."""
        return STRICT if self.ties == "strict" else EXPECTED

    def patterns(self, pairing: Pairing) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints]:
        """Own and all patterns per original tuple, and pairs with each pattern.

        Parameters
        ----------
        pairing : Pairing
            Both files (see `CategoryContext.pair`).

        Returns
        -------
        own, seen, counted : ndarray
        """
        context, shape = pairing.context, pairing.shape
        agree = agreements(pairing)
        seen = agreement_patterns(pairing, agree)
        own = own_patterns(context.tuples, context.classes.of, pairing.codes, pairing.kept, agree, shape.at, shape.wide)
        return own, seen, context.classes.sizes @ seen.astype(np.int64)

    def score(self, pairing: Pairing) -> float:
        own, seen, counted = self.patterns(pairing)
        rows = pairing.context.rows
        return float(pattern_risk(own, seen, mixture(counted, len(pairing.context.names), rows), self.rule, rows))

    def explained(self, pairing: Pairing) -> Explained:
        names, rows = pairing.context.names, pairing.context.rows
        fitted = mixture(self.patterns(pairing)[2], len(names), rows)
        counts: dict[str, float] = {"share of matching pairs": float(fitted[-1])}
        for j, name in enumerate(names):
            counts[f"agreement of matches in {name}"] = float(fitted[j])
            counts[f"agreement of others in {name}"] = float(fitted[len(names) + j])
        return Explained(self.score(pairing), counts, baseline=100.0 / rows, trials=rows)
