"""Linkage by attacks that no search uses, the worst of them: what judges a file that was fitted to other attacks."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from crypsis.measures.intervals import score_interval
from crypsis.measures.linkage_attacks import LinkageAttack, attack_credits, held_out_attacks
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, measures
from crypsis.measures.mixed_distance import MISSING_LINKS
from crypsis.measures.pairing import check_rows
from crypsis.table.table import Table

HELD_OUT = "held-out-linkage"
"""What judges a perturbed table beside the risks that are limited: it may have been fitted to those."""
SETS = 24
"""Sets of three and four known columns that are tried, where there are so many."""
PAIRS = 2_000_000
"""Pairs of a person and a published record that every attack looks at, about; fewer people of a large table."""


@measures.add(HELD_OUT)
class HeldOutLinkage(Measure):
    """Share of people found by the worst of several attacks that no search uses to guide itself.

    100 times the largest share, over the attacks, of original records whose nearest published record is their own: sets
    of three and four known columns, compared by deviations, by ranges or by the columns that agree, and all columns
    with weights that were drawn; none of these attacks is used by a search; t equally near records are worth 1/t if the
    right one is among them.

    Notes
    -----
    - Formula: 100 · max over held-out attacks of the share of records whose nearest published record is their own
    - Paper: own; distance-based record linkage after Domingo-Ferrer and Torra (2001)
    - Cost: O(n · people) for each attack
    - Departures: own measure; people are a fixed draw where the table is large

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.HeldOutLinkage().against(original).read(masked), 2)
    100.0
    """

    aim: ClassVar[Aim] = "risk"
    valid_for: ClassVar[frozenset[str]] = frozenset({"perturbation"})

    def against(self, original: Table) -> BoundHeldOut:
        return BoundHeldOut.of(self, original)


class BoundHeldOut(BoundColumns[HeldOutLinkage]):
    """The held-out attacks on one original."""

    @cached_property
    def attacks(self) -> list[LinkageAttack]:
        """The attacks, in a fixed order."""
        return held_out_attacks(self.names, SETS)

    @cached_property
    def people(self) -> NDArray[np.int64]:
        """Rows of the people who are looked for: all, or a draw that depends on nothing but their number."""
        rows = self.original.rows
        wanted = max(100, PAIRS // max(rows, 1))
        return np.arange(rows) if wanted >= rows else np.sort(default_rng(rows).choice(rows, wanted, replace=False))

    def _credits(self, masked: Table) -> NDArray[np.float64]:
        check_rows(self.original.rows, masked)
        return attack_credits(self.original, masked, self.names, self.attacks, self.people)

    def read(self, masked: Table) -> float:
        return 100.0 * float(self._credits(masked).mean(axis=1).max())

    def explain(self, masked: Table) -> Reading:
        earned = self._credits(masked)
        rates = earned.mean(axis=1)
        worst = int(np.argmax(rates))
        attack, few = self.attacks[worst], len(self.people) < self.original.rows
        published = int(masked.kept.sum())
        counts = {
            "attacks": len(self.attacks),
            "records": len(self.people),
            **({"records in all": self.original.rows} if few else {}),
            "mean of the attacks": 100.0 * float(rates.mean()),
            **(
                {f"weight of {n}": w for n, w in zip(attack.columns, attack.weights, strict=True)}
                if attack.weights
                else {}
            ),
        }
        return self.measure.reading(
            100.0 * float(rates[worst]),
            attack.columns,
            MISSING_LINKS,
            counts,
            interval=score_interval(earned[worst], population=self.original.rows if few else None),
            baseline=100.0 / published if published else 0.0,
        )
