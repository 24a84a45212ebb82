"""One attacked person: what the intruder knows, which published records are nearest, and whether the person is found.

The attack is record linkage by distance on all quasi-identifiers, as `record-linkage` measures it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.groupings import TOLERANCE
from crypsis.measures.information_loss import information_losses
from crypsis.measures.record_linkage import LinkagePair, RecordLinkage
from crypsis.report.content import RecordHarm, Subgroup, hardest_groups_for_reports
from crypsis.table.equivalence_classes import equivalence_class_sizes
from crypsis.table.table import Table

NEAREST = 5
"""Nearest published records that are shown."""
PEOPLE = 5_000
"""People of a larger table who are looked for, among all published records."""

Fate = Literal["found", "guessed", "missed", "left out"]


@dataclass(frozen=True)
class AttackedPerson:
    """A person whom the intruder looks for, and what the intruder finds."""

    row: int  # of the original, from 0
    fate: Fate
    ties: int  # published records that are equally near, with none nearer
    nearest: tuple[tuple[int, float], ...]  # row and distance of published records, the nearest first
    own: tuple[int, float] | None  # place (from 1) and distance of the person's own record; None if it is left out


class SolutionAttack:
    """Record linkage on one solution: what it earns on everybody, and on one person in detail."""

    def __init__(self, original: Table, masked: Table) -> None:
        self.original, self.masked = original, masked
        names = tuple(original.quasi_identifiers)
        bound = RecordLinkage(columns=names, sample=PEOPLE).against(original)
        self.people = bound.people
        self.credits = np.asarray(bound.credits(masked))
        self._pair = LinkagePair.between(original, original, masked, names, bound.measure.scaling)
        self._surest = self.people[np.argsort(-self.credits, kind="stable")]

    @property
    def found(self) -> float:
        """Share of the people who are found, per cent."""
        return float(100 * self.credits.mean()) if len(self.credits) else 0.0

    def person_by_rank(self, rank: int) -> int:
        """The row of a person, those who are found most surely first."""
        return int(self._surest[min(max(rank, 0), len(self._surest) - 1)])

    def attack(self, row: int) -> AttackedPerson:
        """Look for one person among all published records."""
        far = self._pair.distances_from(row)
        order = np.lexsort((np.arange(len(far)) != row, far))  # among equally near ones the person's own first
        order = order[np.isfinite(far[order])]
        nearest = tuple((int(each), float(far[each])) for each in order[:NEAREST])
        if not nearest:
            return AttackedPerson(row, "left out", 0, (), None)
        ties = int((far**2 <= nearest[0][1] ** 2 + TOLERANCE).sum())
        if not np.isfinite(far[row]):
            return AttackedPerson(row, "left out", ties, nearest, None)
        place = int((far < far[row]).sum()) + 1
        fate: Fate = "missed" if far[row] ** 2 > nearest[0][1] ** 2 + TOLERANCE else "found" if ties == 1 else "guessed"
        return AttackedPerson(row, fate, ties, nearest, (place, float(far[row])))

    def hardest_groups(self, most: int = 8) -> tuple[Subgroup, ...]:
        """The groups of people that bear the greatest loss, and how many of them are found."""
        some, hidden = (table.take(self.people.astype(np.intp)) for table in (self.original, self.masked))
        names = self.original.quasi_identifiers
        lost: NDArray[np.float64] = np.mean([information_losses(some, hidden, name) for name in names], axis=0)
        alone = equivalence_class_sizes(self.original, names)[self.people] == 1
        return hardest_groups_for_reports(some, RecordHarm(alone, ~hidden.kept, lost, self.credits), names, most)
