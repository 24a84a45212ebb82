"""Findings: what a file reveals that no privacy model speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from crypsis.table.attribute import Role
from crypsis.table.profile import LARGEST_SHARE


class FindingKind(StrEnum):
    """What an audit can find."""

    UNDECIDED = "undecided"
    """Nobody decided what a published column means for disclosure; a waiver decides that it is `other`."""
    SINGLING_OUT = "singling-out"
    """Records hold a value of one column that no other record holds."""
    COMBINATION = "combination"
    """Records are alone with their values of two or three columns, one of which is not masked."""
    ASSUMPTION = "assumption"
    """Records are alone with their value of a confidential column and of one or two others: they are safe only if
    nobody outside knows that column."""
    DEPENDENCE = "dependence"
    """A published column, or two together, restore masked cells of another."""
    RESTATED = "restated"
    """A published text says the value of an identifier or a masked cell of its record."""
    FEW_UNITS = "few-units"
    """Many records are in a class whose records belong to fewer than three people or households."""
    SMALL_AVERAGE = "small-average"
    """Averages over fewer than three known values."""
    FILLED = "filled"
    """Cells that were missing and hold a value in the published file."""
    HOMOGENEOUS = "homogeneous"
    """Many people share their value of a confidential column with all of their class."""
    LOOK_ALIKE = "look-alike"
    """Categories that differ only in case, spaces, punctuation or letters that look alike."""
    INVENTED = "invented"
    """Values or pairs of values that no record of the original holds."""
    EARLIER_RELEASE = "earlier-release"
    """Values of a column that an earlier release of the same source fixes together with this one; or, where more
    columns are named, people left with fewer candidates by both than by each."""
    METADATA = "metadata"
    """Something in the file beside the table."""


REASONED = {Role.OTHER: FindingKind.COMBINATION, Role.CONFIDENTIAL: FindingKind.ASSUMPTION}
"""Roles that may carry a reason in a plan, and the finding that it answers."""


@dataclass(frozen=True)
class Finding:
    """Something a file reveals.

    Attributes
    ----------
    kind : FindingKind
        What was found.
    columns : tuple of str
        In which columns; the first is the one to decide about.
    records : int
        How many records it concerns.
    share : float
        The same as a share of the published records, or of the masked cells for a dependence, 0 to 1.
    refuses : bool
        Whether it stops a release until it is waived; otherwise it is reported.
    by : int
        How many of the columns, the first ones, reveal something about the others.

    Examples
    --------
    >>> Finding(FindingKind.SINGLING_OUT, ("weight",), 9, 0.9).key
    'singling-out:weight'
    """

    kind: FindingKind
    columns: tuple[str, ...]
    records: int
    share: float
    refuses: bool = True
    by: int = 1

    @property
    def key(self) -> str:
        """Under which a waiver names it."""
        return waiver_key(self.kind, self.columns[0] if self.columns else "")


def find_reason(finding: Finding, waivers: Mapping[str, str]) -> str:
    """Why a finding may pass; empty if nobody said.

    Few people whom a column singles out are among those whom it singles out with others, or while nobody decided about
    it: a reason that lets these pass lets them pass.

    finding  a finding
    waivers  finding (kind:column) → reason
    """
    reason = waivers.get(finding.key, "")
    if not reason and finding.kind is FindingKind.SINGLING_OUT and finding.share <= LARGEST_SHARE:
        wider = (FindingKind.COMBINATION, FindingKind.ASSUMPTION, FindingKind.UNDECIDED)
        return next(filter(None, (waivers.get(waiver_key(kind, finding.columns[0]), "") for kind in wider)), "")
    return reason


def waiver_key(kind: str, column: str) -> str:
    """Kind and column as one word, which no rule of a rulebook can be called.

    kind  a kind of finding
    column  the column to decide about
    """
    return f"{kind}:{column}"
