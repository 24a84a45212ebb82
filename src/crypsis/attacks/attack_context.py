"""What an attack starts from (the release, people in it and not in it, what the intruder knows) and what it
achieves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import scipy
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError, word
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.intervals import wilson_interval
from crypsis.measures.record_linkage import LinkagePair
from crypsis.registry import Settings
from crypsis.small_tables import draw_html_table, draw_text_table
from crypsis.table.attribute import UNMASKED
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

# -- What an attack starts from: the release, people in it, people who are not in it, and what the intruder knows.
#
# The rows of a release are shuffled, so nothing here uses which published record belongs to whom. Whether a guess is
# right is decided by the columns that the intruder does not know, or by row numbers where there are no such columns and
# the rows are known to correspond.

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
CELLS = 2_000_000
"""Pairs of a person and a published record in memory at once."""
SAME = 1e-9
"""Distances that differ by less are a tie."""


class Intruder(Settings):
    """What the intruder knows, and how many attempts are made.

    Examples
    --------
    >>> Intruder(knows=("age", "sex")).attempts
    1000
    """

    knows: tuple[str, ...] = Field(
        default=(),
        description="columns the intruder knows; empty means every quasi-identifier, and besides one, two or three of "
        "the published columns",
    )
    sets: int = Field(
        default=24, ge=0, le=1000, description="sets of one to three published columns tried if no known ones are named"
    )
    attempts: int = Field(default=1000, ge=10, le=100_000, description="people, or predicates, of each attack")
    window: float | None = Field(
        default=None, gt=0.0, le=100.0, description="per cent of ranks that were swapped, if known; else the smallest"
    )
    tolerance: float = Field(
        default=5.0, gt=0.0, le=100.0, description="a number counts as inferred within this per cent of its deviation"
    )
    margin: float = Field(
        default=5.0, ge=0.0, le=100.0, description="points by which an attack must exceed its control to be a finding"
    )
    seed: int = Field(default=0, ge=0, description="seed of the draw of people and predicates; not secret")


@dataclass(frozen=True)
class Keys:
    """What the file says about each person beyond what the intruder knows, as a number."""

    names: tuple[str, ...]  # columns it is read from; empty where the key is the row itself
    published: Numbers  # int64[n]: keys of the published records and of the people
    people: Numbers
    outsiders: Numbers | None  # int64[n]: keys of the control

    @cached_property
    def best_guess(self) -> float:
        """Per cent of people with the most frequent key: the best guess without the release."""
        return 100.0 * float(np.unique(self.people, return_counts=True)[1].max()) / len(self.people)


@dataclass(frozen=True)
class AttackContext:
    """A release in the original's columns and codes, with people in it and people who are not."""

    release: Table  # the published records, and the people in it
    original: Table
    control: Table | None  # people who are not in it
    intruder: Intruder  # what is known
    rows_correspond: bool = False  # whether row i of the release is row i of the original

    def __post_init__(self) -> None:
        if not len(self.original) or not self.release.kept.any():
            raise TableError("the original or the release has no records; an attack needs records in both")
        if self.control is not None and not len(self.control):
            raise TableError("the control has no records; give people who are not in the release, or leave it out")
        if not self.knows:
            raise TableError(
                "the intruder knows no published column; name quasi-identifiers, or the known columns by "
                + word(python="Intruder(knows=…)", command="--knows", studio="their role")
            )

    @cached_property
    def knows(self) -> tuple[str, ...]:
        """Published columns that the intruder knows."""
        wanted = self.intruder.knows or tuple(self.original.quasi_identifiers)
        for name in wanted:
            self.original.place(name)
        return tuple(name for name in wanted if name in self.release.names)

    @cached_property
    def learns(self) -> tuple[str, ...]:
        """Columns published as collected that the intruder does not know."""
        columns = self.original.names_by_role(*UNMASKED)
        return tuple(
            n for n in columns if n in self.release.names and n not in self.knows and self.release.level(n) == 0
        )

    def rng(self, attack: str) -> Generator:
        """Random numbers of one attack, independent of the other attacks."""
        return default_rng([self.intruder.seed, *attack.encode()])

    def sample(self, table: Table, attack: str) -> Numbers:
        """Rows of the people on whom an attack is tried."""
        rows, wanted = len(table), self.intruder.attempts
        return np.sort(self.rng(attack).choice(rows, min(rows, wanted), replace=False)).astype(np.int64)

    @cached_property
    def keys(self) -> Keys | None:
        """What can be learnt about each person; None where neither columns nor rows identify a record."""
        if self.learns:
            tables = [self.release, self.original, *([] if self.control is None else [self.control])]
            parts = number_intruder_knowledge(self.learns, tables, self.original)
            return Keys(self.learns, parts[0], parts[1], None if self.control is None else parts[2])
        if self.rows_correspond and len(self.release) == len(self.original):
            rows = np.arange(len(self.original), dtype=np.int64)
            return Keys((), rows, rows, None)
        return None

    def meet(self, people: Table, names: Sequence[str]) -> LinkagePair:
        """People and published records in some of the columns."""
        return LinkagePair.between(self.original, people, self.release, names, "z")


def number_intruder_knowledge(names: Sequence[str], tables: Sequence[Table], original: Table) -> list[Numbers]:
    """What the intruder of an attack context learns from each table in some columns: equal numbers for equal values.

    Returns int64[n].
    """
    columns = []
    for name in names:
        if original.attribute(name).numeric:
            values = np.concatenate([table.column(name) for table in tables])
            codes = np.unique(values, return_inverse=True)[1]
            columns.append(np.where(np.isnan(values), MISSING, codes))
        else:
            parts = [_code_labels(original, table, name, place) for place, table in enumerate(tables)]
            columns.append(np.concatenate(parts))
    keys = equivalence_classes(np.stack(columns, axis=1)).of
    return np.split(keys, np.cumsum([len(table) for table in tables])[:-1])


def _code_labels(original: Table, table: Table, name: str, place: int) -> Numbers:
    """Codes by the original's categories; a label that it lacks equals no label of another table."""
    codes = number_masked_categories(original, table, name)[0].astype(np.int64)
    strange = codes >= len(original.attribute(name).categories)
    return np.where(strange, codes + (place + 1) * 1_000_000, codes)


# -- A control without a second file: people of the original whom the release leaves out.
#
# A release names nobody. Who is in it shows only where it publishes columns as collected that together are held by one
# person each: then a record of the original whose values no published record holds is not in it. A file about other
# people holds values that the original lacks, and gives no control.

FEWEST = 50
"""People a control has at least."""
AMBIGUOUS = 0.05
"""Largest share of people of whom it does not show whether they are in the release."""
UNLIKE = 0.01
"""Probability below which a difference between the people left out and the others is not chance."""

Rows = NDArray[np.int64]


def held_out(release: Table, original: Table, intruder: Intruder, rows_correspond: bool) -> tuple[Rows, Rows] | None:
    """People in the release and people whom it leaves out.

    Returns int64[n].

    >>> roles = {"sex": "quasi", "pay": "confidential"}
    >>> people = Table.from_columns({"sex": ["f", "m"] * 200, "pay": list(range(400))}, roles)
    >>> inside, outside = held_out(people.take(np.arange(300)), people, Intruder(), False)
    >>> len(inside), len(outside)
    (300, 100)
    """
    if rows_correspond and len(release) == len(original):
        inside, outside = release.kept, ~release.kept
    else:
        found = _by_values(AttackContext(release, original, None, intruder))
        if found is None:
            return None
        inside, outside = found
    if outside.sum() < FEWEST or inside.sum() < FEWEST or not _alike(original, inside, outside):
        return None
    return np.flatnonzero(inside).astype(np.int64), np.flatnonzero(outside).astype(np.int64)


def _by_values(context: AttackContext) -> tuple[Flags, Flags] | None:
    """Who is in the release and who is not, by what it publishes as collected."""
    keys = context.keys
    if keys is None or not keys.names or context.release.kept.sum() >= len(context.original):
        return None
    size = int(max(keys.published.max(), keys.people.max())) + 1
    shown = np.bincount(keys.published[context.release.kept], minlength=size)
    held = np.bincount(keys.people, minlength=size)
    if (shown > held).any():
        return None
    inside, outside = (shown == held)[keys.people], (shown == 0)[keys.people]
    return None if (~inside & ~outside).mean() > AMBIGUOUS else (inside, outside)


def _alike(original: Table, inside: Flags, outside: Flags) -> bool:
    """Whether those left out hold like values, in classes of like sizes, as far as a test can tell."""
    codes = original.codes(original.quasi_identifiers)
    classes = equivalence_classes(codes)
    looked = [*codes.T, classes.sizes[classes.of]]
    return all(scipy.stats.ks_2samp(each[inside], each[outside]).pvalue * len(looked) > UNLIKE for each in looked)


# -- What an attack achieves with a release, and what it achieves without it.


class AttackVerdict(StrEnum):
    """What an attack says about a release."""

    CAUGHT = "caught"
    """The release discloses people: the attack exceeds its control by more than the margin."""
    UNDETERMINED = "undetermined"
    """The attack succeeds, and nobody outside the release was attacked, so that the cause is not known."""
    NOTHING_FOUND = "nothing found"
    """The attack achieves no more than it does without the release, or too little more to count."""


@dataclass(frozen=True)
class Rate:
    """A success rate in per cent with its confidence interval."""

    value: float
    interval: tuple[float, float]  # 95 % interval (Wilson)
    trials: int  # number of trials; 0 where the rate is known and not estimated

    @classmethod
    def of(cls, hits: float, trials: int) -> Rate:
        """Estimate a rate."""
        return cls(100.0 * hits / trials if trials else 0.0, wilson_interval(hits, trials), trials)

    @classmethod
    def make_exact(cls, value: float) -> Rate:
        """A rate that is known exactly, in per cent."""
        return cls(value, (value, value), 0)

    def one_of(self, tries: int) -> Rate:
        """The same rate with an interval that allows for the choice among several tries (Bonferroni)."""
        if not self.trials:
            return self
        return replace(self, interval=wilson_interval(self.value * self.trials / 100.0, self.trials, 0.05 / tries))


@dataclass(frozen=True)
class Outcome:
    """The result of one attack."""

    attack: str  # name of the attack
    rate: Rate
    baseline: Rate  # the best guess without the release
    control: Rate | None  # the same attack on people outside the release
    # points by which the attack must exceed both, at the unfavourable ends of all intervals, to be a finding
    margin: float
    definition: str  # what the rate means
    scope: tuple[str, ...]  # columns the intruder uses
    remedy: str  # what to do against it
    counts: Mapping[str, float] = field(default_factory=dict)  # figures of the attack
    sets: int = 1  # sets of columns that were tried, of which `scope` is the worst

    @property
    def reference(self) -> Rate:
        """The larger of control and baseline: the success without the person's record in the file."""
        if self.control is None or self.baseline.interval[1] >= self.control.interval[1]:
            return self.baseline
        return self.control

    @property
    def excess(self) -> float:
        """Points between the lower end of the attack's interval and the upper end of its reference."""
        return self.rate.interval[0] - self.reference.interval[1]

    @property
    def verdict(self) -> AttackVerdict:
        """Whether the attack exceeds its reference by more than the margin; nobody is accused without a control."""
        if self.excess <= self.margin:
            return AttackVerdict.NOTHING_FOUND
        return AttackVerdict.UNDETERMINED if self.control is None else AttackVerdict.CAUGHT

    @property
    def caught(self) -> bool:
        """Whether the attack is a finding."""
        return self.verdict is AttackVerdict.CAUGHT

    def one_of(self, tries: int) -> Outcome:
        """The same outcome with intervals that allow for the choice among several tries."""
        return replace(
            self,
            rate=self.rate.one_of(tries),
            baseline=self.baseline.one_of(tries),
            control=None if self.control is None else self.control.one_of(tries),
        )


@dataclass(frozen=True)
class Untried:
    """An attack that does not apply."""

    attack: str  # name of the attack
    why: str  # why it does not apply


@dataclass(frozen=True, repr=False)
class Findings:
    """The results of all attacks on a release.

    Attributes
    ----------
    outcomes : tuple of Outcome
        Attacks that were tried.
    untried : tuple of Untried
        Attacks that do not apply.
    notes : tuple of str
        Remarks for the reader.

    Examples
    --------
    >>> Findings((), (), ()).caught
    ()
    """

    outcomes: tuple[Outcome, ...]
    untried: tuple[Untried, ...]
    notes: tuple[str, ...]

    @property
    def caught(self) -> tuple[Outcome, ...]:
        """Attacks that are findings."""
        return tuple(each for each in self.outcomes if each.caught)

    @property
    def undetermined(self) -> tuple[Outcome, ...]:
        """Attacks that succeed and cannot be compared with people outside the release."""
        return tuple(each for each in self.outcomes if each.verdict is AttackVerdict.UNDETERMINED)

    @property
    def conclusion(self) -> str:
        """What all attacks together show, in a sentence."""
        tried = len(self.outcomes)
        if self.caught:
            return f"CAUGHT by {len(self.caught)} of {tried} attacks"
        if self.undetermined:
            return (
                f"UNDETERMINED: {len(self.undetermined)} of {tried} attacks succeed and cannot be compared; give people"
                f" outside the release as control"
            )
        return "no attack is a finding, which is no proof that none would be"

    def __repr__(self) -> str:
        return (
            f"Findings({len(self.outcomes)} attacks, {len(self.caught)} caught, {len(self.undetermined)} undetermined)"
        )

    def __str__(self) -> str:
        """A row for every attack, what was not tried, and the conclusion."""
        untried = [f"not tried: {each.attack} ({each.why})" for each in self.untried]
        notes = [f"note: {each}" for each in self.notes]
        return "\n".join([draw_text_table(*self._cells()), "", *untried, *notes, self.conclusion])

    def _repr_html_(self) -> str:
        return draw_html_table(*self._cells(), self.conclusion)

    def _cells(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        head = ("attack", "succeeds, %", "95 % interval", "outside, %", "without, %", "tries", "")
        rows = list[tuple[object, ...]]()
        for each in self.outcomes:
            rate, verdict = each.rate, "" if each.verdict is AttackVerdict.NOTHING_FOUND else str(each.verdict)
            between, outside = f"{rate.interval[0]:.3g}–{rate.interval[1]:.3g}", each.control and each.control.value
            rows.append((each.attack, rate.value, between, outside, each.baseline.value, rate.trials, verdict))
        return head, rows

    def outcome(self, attack: str) -> Outcome:
        """The outcome of one attack.

        Parameters
        ----------
        attack : str
            Its name, e.g. "linkability".

        Returns
        -------
        Outcome
        """
        return next(each for each in self.outcomes if each.attack == attack)
