"""What an audit looks at: the published table, the original behind it, and which cells were masked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.tokens import holders_of_tokens, tokens_of_text
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.equivalence_classes import MissingReading
from crypsis.table.hierarchy import MISSING, hierarchy_number_label
from crypsis.table.lookalikes import fold_label
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.rules import recomputed_columns
from crypsis.table.table import Table

ELSEWHERE = -2
"""Code of a collected value that the published file does not have."""

SHIFTED = 0.5
"""Share of the numbers of a column that were moved by one amount, from which on the amount is known."""
LOOKED_AT = 20_000
"""Records that are looked at one by one."""
LONG_WORD = 3
"""Characters of a word that leads to a record."""

Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Published:
    """A table as it is published, and what was collected."""

    table: Table  # as anybody reads it: published columns and records alone
    # what was collected; row i is the record behind row i of `table`. Without it nobody knows which cells were
    # masked, and all but missing ones count as collected
    original: Table | None = None
    perturbed: bool = False  # values are false at random, so equal values do not mean equal people
    # what was collected, where its rows do not correspond: a cell counts as collected if anybody had its value
    shuffled: Table | None = None
    # confidential columns of which nobody said that their values are unknown outside
    unstated: frozenset[str] = frozenset()
    missing: MissingReading = "own"  # how missing cells are read where records are counted
    allowed: int = 0  # people whom a column may single out that nothing masks and nobody spoke of
    # `as_collected` where the records are some of a larger table, of which it is known; None: it is worked out
    given_flags: Mapping[str, Flags] | None = field(default=None, repr=False)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Published columns."""
        return tuple(a.name for a in self.table.attributes if a.role not in UNPUBLISHED)

    @cached_property
    def without_recomputed(self) -> Published:
        """The same without derived columns that say no more than the published columns they follow from."""
        names = recomputed_columns(self.table, self.original)
        if not names:
            return self
        flags = None if self.given_flags is None else {n: f for n, f in self.given_flags.items() if n not in names}
        return replace(self, table=self.table.drop(names), given_flags=flags)

    def role(self, name: str) -> Role:
        """Role of a column."""
        return self.table.attribute(name).role

    def codes(self, name: str) -> Codes:
        """int32[n]: published values of a column as codes; −1 is missing."""
        return self._codes[name]

    @cached_property
    def _codes(self) -> dict[str, Codes]:
        return {name: self.table.codes([name])[:, 0] for name in self.columns}  # each for itself, all of it in a row

    @cached_property
    def as_collected(self) -> dict[str, Flags]:
        """By column, the cells that say what was collected; a missing cell says nothing."""
        if self.given_flags is not None:
            return dict(self.given_flags)
        before = self.original
        if before is None:
            return {name: (self.codes(name) != MISSING) & self._flag_held(name) for name in self.columns}
        return {
            name: (self.codes(name) != MISSING) & _same(self.table, before, name)
            if name in before.names
            else self.codes(name) != MISSING
            for name in self.columns
        }

    def _flag_held(self, name: str) -> Flags:
        """bool[n]: cells whose value somebody in a shuffled original had; all cells without one."""
        before = self.shuffled
        if before is None or name not in before.names:
            return np.ones(len(self.table), dtype=np.bool_)
        if self.table.holds_numbers(name):
            same = before.holds_numbers(name)
            return np.isin(self.table.column(name), before.column(name) if same else [])
        labels = published_number_labels(before, name) if before.holds_numbers(name) else before.labels(name)
        held = {fold_label(label) for label in labels}
        return np.array([*(fold_label(label) in held for label in self.table.labels(name)), False])[
            self.table.column(name)
        ]

    def recognisable(self, name: str) -> Flags:
        """bool[n]: cells that lead to their collected value: as collected, or nearer to it than to any other.

        A number that was rounded or moved a little is recognised like the number itself. Classes or measured risks
        speak of quasi-identifiers, so for them only cells as collected count.
        """
        same, before = self.as_collected[name], self.original
        if before is None or name not in before.names or self.role(name) is Role.QUASI_IDENTIFIER:
            return same
        if not (self.table.holds_numbers(name) or before.holds_numbers(name)):
            return same | self._by_word(name)
        if not (self.table.holds_numbers(name) and before.holds_numbers(name)):
            return same
        shown, collected = self.table.column(name), before.column(name)
        return same | _nearest(shown, collected) | _find_shifted(shown, collected)

    def _by_word(self, name: str) -> Flags:
        """bool[n]: texts with a word or number that stands in the collected text of this record and of no other."""
        assert self.original is not None
        now, then = self.table.column(name), self.original.column(name)
        changed = np.flatnonzero(~self.as_collected[name] & (now != MISSING) & (then != MISSING))
        found = np.zeros(len(now), dtype=np.bool_)
        if not changed.size:
            return found
        held = [tokens_of_text(label) for label in self.original.labels(name)]
        counts = holders_of_tokens(held, np.bincount(then[then != MISSING], minlength=len(held)).tolist())
        shown = {code: tokens_of_text(self.table.labels(name)[code]) for code in np.unique(now[changed]).tolist()}
        for row in changed.tolist():
            alike = held[then[row]] & shown[int(now[row])]
            found[row] = any(len(word) >= LONG_WORD and counts[word] == 1 for word in alike)
        return found

    @cached_property
    def sample(self) -> Published:
        """The records that are looked at one by one, drawn at random from a larger table."""
        if len(self.table) <= LOOKED_AT:
            return self
        rows = np.sort(np.random.default_rng(0).choice(len(self.table), LOOKED_AT, replace=False))
        before = None if self.original is None else self.original.take(rows)
        flags = {name: each[rows] for name, each in self.as_collected.items()}
        return replace(self, table=self.table.take(rows), original=before, given_flags=flags)

    @cached_property
    def masked_cells(self) -> dict[str, Flags]:
        """By column, the cells whose collected value is no longer there; without an original, the missing ones."""
        before = self.original
        if before is None:
            return {name: self.codes(name) == MISSING for name in self.columns}
        return {
            name: ~self.as_collected[name] & (collected_codes(before, name) != MISSING)
            for name in self.columns
            if name in before.names
        }


def collected_codes(original: Table, name: str) -> Codes:
    """int32[n]: values of a column as collected, as codes for what an audit looks at; −1 is missing."""
    return original.codes([name])[:, 0]


def _same(published: Table, before: Table, name: str) -> Flags:
    if published.holds_numbers(name) and before.holds_numbers(name):
        return np.asarray(published.column(name) == before.column(name))
    if published.holds_numbers(name):
        return np.zeros(len(published), dtype=np.bool_)
    if not before.holds_numbers(name) and published.labels(name) == before.labels(name):
        same: Flags = np.asarray(published.column(name) == before.column(name))
        if same.all():
            return same
    place: dict[str, int] = {}
    shown = [place.setdefault(fold_label(label), len(place)) for label in published.labels(name)]
    if before.holds_numbers(name):
        codes, labels = collected_codes(before, name), published_number_labels(before, name)
    else:
        codes, labels = before.column(name), before.labels(name)
    translate = np.array([*(place.get(fold_label(label), ELSEWHERE) for label in labels), MISSING])
    return np.asarray(translate[codes] == np.array([*shown, MISSING])[published.column(name)])


def _nearest(shown: NDArray[np.float64], collected: NDArray[np.float64]) -> Flags:
    """Numbers less than half as far from the collected one, which nobody else has, as that is from the next one."""
    values, place, held = np.unique(collected, return_inverse=True, return_counts=True)
    steps = np.diff(values, prepend=-np.inf, append=np.inf)
    gaps = np.where(held == 1, np.fmin(steps[:-1], steps[1:]), 0.0)
    gaps[~np.isfinite(gaps)] = 0.0
    return np.asarray(np.abs(shown - collected) < gaps[place] / 2)


def _find_shifted(shown: NDArray[np.float64], collected: NDArray[np.float64]) -> Flags:
    """Numbers moved by the one amount by which most are, such as dates that are all some days later."""
    moved = shown - collected
    values, counts = np.unique(moved[~np.isnan(moved)], return_counts=True)
    if not counts.size or counts.max() <= SHIFTED * counts.sum():
        return np.zeros(len(moved), dtype=np.bool_)
    return np.asarray(moved == values[counts.argmax()])


def published_number_labels(before: Table, name: str) -> tuple[str, ...]:
    """What an audit calls the numbers of a published column, ascending, where a recoded column still shows them."""
    column = before.column(name)
    values = np.unique(column[~np.isnan(column)]).tolist()
    hierarchy, dates = before.attribute(name).hierarchy, before.attribute(name).dates
    known = {} if hierarchy is None else dict(zip(hierarchy.values.tolist(), hierarchy.labels[0], strict=True))
    return tuple(known.get(value, hierarchy_number_label(value, dates)) for value in values)


# -- Findings: what a file reveals that no privacy model speaks of.


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
        return published_finding_key(self.kind, self.columns[0] if self.columns else "")


def published_finding_reason(finding: Finding, waivers: Mapping[str, str]) -> str:
    """The reason why an audit lets its finding on the published table pass; empty if there is none.

    Few people whom a column singles out are among those whom it singles out with others, or while nobody decided about
    it: a reason that lets these pass lets them pass.
    """
    reason = waivers.get(finding.key, "")
    if not reason and finding.kind is FindingKind.SINGLING_OUT and finding.share <= LARGEST_SHARE:
        wider = (FindingKind.COMBINATION, FindingKind.ASSUMPTION, FindingKind.UNDECIDED)
        return next(
            filter(None, (waivers.get(published_finding_key(kind, finding.columns[0]), "") for kind in wider)), ""
        )
    return reason


def published_finding_key(kind: str, column: str) -> str:
    """The key, kind and column in one word, of what an audit finds when it looks at the published table."""
    return f"{kind}:{column}"
