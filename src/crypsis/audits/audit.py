"""The audit: everything a published table reveals that nobody declared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crypsis.audits.arithmetic import arithmetic, small_averages
from crypsis.audits.dependence import dependence
from crypsis.audits.exposure import few_together, find_exposed_units, homogeneous, mark_exposed_records, singling_out
from crypsis.audits.household_inference import fellows
from crypsis.audits.invention import find_invented
from crypsis.audits.partial_values import find_partial_numbers, restoring_parts
from crypsis.audits.published import Finding, FindingKind, Published, published_finding_reason
from crypsis.audits.restatement import find_restated, find_restated_missing
from crypsis.errors import TableError, listing
from crypsis.table.aligning import aligned_pair
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import MissingReading
from crypsis.table.frames import Frame, as_table
from crypsis.table.lookalikes import look_alikes
from crypsis.table.profile import LARGEST_SHARE
from crypsis.table.table import PERTURBATION, Table


@dataclass(frozen=True)
class Audit:
    """What was found, and what was looked at.

    Attributes
    ----------
    findings : tuple of Finding
        Those that stop a release first.
    records, columns : int
        Records and published columns that were looked at.
    combinations, all_combinations : int
        Combinations of two or three columns that were looked at, and all there are.
    compared : bool
        Whether an original was at hand, so that masked cells are known.
    waived : mapping of str to str
        Key of a finding → why it may pass.
    whole : bool
        Whether the table was read as a whole; otherwise its columns were counted, alone and two or three together.

    Examples
    --------
    >>> people = Table.from_columns({"town": ["a", "b"] * 20, "wage": list(range(40))}, {"town": "quasi"})
    >>> reasons = {"undecided:wage": "an invented wage", "singling-out:wage": "an invented wage"}
    >>> audit(people, waivers=reasons).sound
    True
    """

    findings: tuple[Finding, ...]
    records: int
    columns: int
    combinations: int
    all_combinations: int
    compared: bool
    waived: Mapping[str, str]
    whole: bool = True

    @property
    def open(self) -> tuple[Finding, ...]:
        """Findings that stop a release."""
        return tuple(each for each in self.findings if each.refuses and not self.reason(each))

    def assumed_columns(self, confidential: Collection[str]) -> tuple[str, ...]:
        """Columns that a released file takes for unknown outside: who knows one finds people, or many with two more.

        Parameters
        ----------
        confidential : collection of str
            The confidential columns.

        Returns
        -------
        tuple of str
        """
        many = (each for each in self.findings if each.kind is FindingKind.ASSUMPTION and each.share > LARGEST_SHARE)
        alone_ = (each for each in self.findings if each.kind is FindingKind.SINGLING_OUT)
        named = (each.columns[0] for each in sorted((*alone_, *many), key=self.findings.index))
        return tuple(dict.fromkeys(name for name in named if name in confidential))

    @property
    def sound(self) -> bool:
        """Whether nothing stops a release."""
        return not self.open

    def __bool__(self) -> bool:
        """Whether nothing stops a release."""
        return self.sound

    def __repr__(self) -> str:
        """Whether nothing stops a release, and else what does."""
        stopping = listing(f"{each.kind}:{each.columns[0]}" for each in self.open)
        said = f"NOT sound, stopped by {stopping}" if self.open else "sound"
        return f"Audit({said}; {self.records} records, {self.columns} columns)"

    @property
    def waived_kinds(self) -> list[str]:
        """Kinds of the findings that were waived, one entry each."""
        return [str(each.kind) for each in self.findings if each.refuses and self.reason(each)]

    def reason(self, finding: Finding) -> str:
        """Why a finding may pass; empty if nobody said.

        Parameters
        ----------
        finding : Finding
            One of the findings.

        Returns
        -------
        str
        """
        return published_finding_reason(finding, self.waived)


def audit(
    published: Table | Frame,
    original: Table | Frame | None = None,
    *,
    waivers: Mapping[str, str] | None = None,
    beside: Sequence[Finding] = (),
    shuffled: bool = False,
    missing: MissingReading = "own",
    unstated: Collection[str] = (),
    allowed: int = 0,
) -> Audit:
    """Look for everything a published table reveals that no privacy model speaks of.

    Parameters
    ----------
    published : Table or frame
        As it is published. Suppressed records are left out.
    original : Table or frame, optional
        What was collected, row by row; without it nobody knows which cells are masked.
    waivers : mapping of str to str, optional
        Finding, e.g. ``"singling-out:weight"`` → why it may pass.
    beside : sequence of Finding
        What was found in the file beside its table.
    shuffled : bool
        Whether rows do not correspond: a published value then counts as collected if anybody had it, and which cells
        are masked stays unknown.
    missing : {"own", "conservative", "target", "wildcard"}
        How missing cells are read where records are counted, as `KAnonymity` reads them.
    unstated : collection of str
        Confidential columns of which nobody said that no one outside knows their values.
    allowed : int
        People whom a column may single out that nothing masks and nobody spoke of; beyond, it stops a release.

    Returns
    -------
    Audit

    Raises
    ------
    TableError
        If the rows of the two should correspond and do not.

    Examples
    --------
    >>> people = crypsis.Table.from_columns({"town": ["a", "b"] * 20, "wage": list(range(40))}, {"town": "quasi"})
    >>> [each.key for each in crypsis.audit(people).findings if each.refuses]
    ['undecided:wage', 'singling-out:wage']
    """
    aside = as_table(original) if original is not None and shuffled else None
    if original is None or shuffled:
        table, before = as_table(published), None
    else:
        before, table = aligned_pair(original, published)
        if len(before) != len(table):
            raise TableError(
                f"the original has {len(before)} rows and the published table {len(table)}; rows must correspond"
            )
    rows = np.flatnonzero(table.kept)
    perturbed = table.provenance is not None and table.provenance.family == PERTURBATION
    old = None if before is None else before.take(rows)
    seen = Published(
        table.take(rows), old, perturbed, aside, missing=missing, unstated=frozenset(unstated), allowed=allowed
    )
    return audit_matched_records(seen, waivers, beside)


def audit_matched_records(
    seen: Published, waivers: Mapping[str, str] | None = None, beside: Sequence[Finding] = ()
) -> Audit:
    """Do the whole audit, with all its parts, of a table whose records are matched with the original's."""
    told = seen.without_recomputed
    alone_ = [*_find_undecided(seen), *singling_out(told)]
    exposed = {each.columns[0] for each in alone_ if each.share > LARGEST_SHARE or each.kind is FindingKind.UNDECIDED}
    together = few_together(told, exposed)
    restored = dependence(told)
    whole = {(each.columns[0], name) for each in restored if each.by == 1 for name in each.columns[1:]}
    restored += restoring_parts(told, whole)
    known = {(each.columns[0], name) for each in restored if each.by == 1 for name in each.columns[1:]}
    restored += find_partial_numbers(told, known)
    findings = [
        *alone_,
        *together.findings,
        *restored,
        *arithmetic(told, {name for each in restored for name in each.columns[each.by :]}),
        *find_restated(told),
        *fellows(told),
        *find_exposed_units(told),
        *_few_averaged(told),
        *find_restated_missing(told),
        *homogeneous(seen),
        *_spelt_alike(told),
        *find_invented(told),
        *beside,
    ]
    findings.sort(key=lambda each: not each.refuses)
    return Audit(
        tuple(findings),
        len(seen.table),
        len(seen.columns),
        together.looked,
        together.all,
        seen.original is not None,
        dict(waivers or {}),
    )


def _few_averaged(seen: Published) -> list[Finding]:
    """Columns with published averages over fewer than three known values."""
    if seen.original is None or seen.perturbed:
        return []
    marked = small_averages(seen.table, seen.original, np.arange(len(seen.table)))
    counts = {name: int(marks.sum()) for name, marks in marked.items()}
    return [
        Finding(FindingKind.SMALL_AVERAGE, (name,), count, count / max(len(seen.table), 1))
        for name, count in counts.items()
        if count
    ]


def _spelt_alike(seen: Published) -> list[Finding]:
    """Columns of categories in which values only look different; privacy models count them once."""
    found = []
    for name in seen.columns:
        if not seen.table.holds_numbers(name):
            count = sum(each.records for each in look_alikes(seen.table, name))
            if count:
                share = count / max(len(seen.table), 1)
                found.append(Finding(FindingKind.LOOK_ALIKE, (name,), count, share, refuses=False))
    return found


def _find_undecided(seen: Published) -> list[Finding]:
    """Columns that nobody decided about, most exposing first."""
    found = []
    for name in seen.columns:
        if seen.role(name) is Role.UNDECIDED:
            single = int(mark_exposed_records(seen.codes(name)).sum())
            found.append(Finding(FindingKind.UNDECIDED, (name,), single, single / max(len(seen.table), 1)))
    return sorted(found, key=lambda each: -each.records)
