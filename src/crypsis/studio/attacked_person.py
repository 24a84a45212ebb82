"""One attacked person: what the intruder knows, which published records are nearest, and whether the person is found.

The intruder is that of the plan where this one reaches the class of each person and guesses in it, as `class-risk`
measures it. The nearest records, and an intruder who only links by distance, are those of `record-linkage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.groupings import TOLERANCE
from crypsis.measures.information_loss import information_losses
from crypsis.measures.record_linkage import LinkagePair, RecordLinkage
from crypsis.report.content import RecordHarm, Subgroup, hardest_groups_for_reports
from crypsis.table.equivalence_classes import MissingReading, alike_records, equivalence_class_sizes
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
    alike: int = 0  # published records in the person's class; 0 where the intruder of the plan reaches no class


class SolutionAttack:
    """An attack on one solution: what it earns on everybody, and on one person in detail.

    `names`: what the intruder knows; `missing`: how missing values are read where the intruder reaches the class of
    each person; empty for one who links by distance.
    """

    def __init__(
        self, original: Table, masked: Table, names: Sequence[str] = (), missing: MissingReading | None = None
    ) -> None:
        self.original, self.masked = original, masked
        self.names = names = tuple(names) or tuple(original.quasi_identifiers)
        self._alike = None if missing is None else np.nan_to_num(alike_records(masked, names, missing, original))
        bound = RecordLinkage(columns=names, sample=PEOPLE).against(original)
        self.people = bound.people
        self.credits = np.asarray(bound.credits(masked))
        self._pair = LinkagePair.between(original, original, masked, names, bound.measure.scaling)
        chances = self.credits if self._alike is None else 1.0 / np.maximum(self._alike, 1.0) * (self._alike > 0)
        among = self.people if self._alike is None else np.arange(len(original))
        self._surest = among[np.argsort(-chances, kind="stable")]

    @property
    def found(self) -> float:
        """Share of the people who are found, per cent."""
        return float(100 * self.credits.mean()) if len(self.credits) else 0.0

    @property
    def ranked(self) -> int:
        """People who are listed by how surely they are found."""
        return len(self._surest)

    def person_by_rank(self, rank: int) -> int:
        """The row of a person, those who are found most surely first."""
        return int(self._surest[min(max(rank, 0), len(self._surest) - 1)])

    def attack(self, row: int) -> AttackedPerson:
        """Look for one person among all published records."""
        return replace(self._link(row), alike=0 if self._alike is None else int(self._alike[row]))

    def _link(self, row: int) -> AttackedPerson:
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
