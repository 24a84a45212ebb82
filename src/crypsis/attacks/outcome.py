"""What an attack achieves with a release, and what it achieves without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from crypsis.measures.intervals import wilson


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
    """A success rate in per cent with its confidence interval.

    interval  95 % interval (Wilson)
    trials  number of trials; 0 where the rate is known and not estimated
    """

    value: float
    interval: tuple[float, float]
    trials: int

    @classmethod
    def of(cls, hits: float, trials: int) -> Rate:
        """Estimate a rate.

        Parameters
        ----------
        hits : float
            Successes; a guess among t candidates counts 1/t.
        trials : int
            Number of trials.

        Returns
        -------
        Rate
        """
        return cls(100.0 * hits / trials if trials else 0.0, wilson(hits, trials), trials)

    @classmethod
    def known(cls, value: float) -> Rate:
        """A rate that is known exactly, in per cent."""
        return cls(value, (value, value), 0)

    def one_of(self, tries: int) -> Rate:
        """The same rate with an interval that allows for the choice among several tries (Bonferroni)."""
        if not self.trials:
            return self
        return replace(self, interval=wilson(self.value * self.trials / 100.0, self.trials, 0.05 / tries))


@dataclass(frozen=True)
class Outcome:
    """The result of one attack.

    attack  name of the attack
    baseline  the best guess without the release
    control  the same attack on people outside the release
    margin  points by which the attack must exceed both, at the unfavourable ends of all intervals, to be a finding
    definition  what the rate means
    scope  columns the intruder uses
    remedy  what to do against it
    counts  figures of the attack
    sets  sets of columns that were tried, of which `scope` is the worst
    """

    attack: str
    rate: Rate
    baseline: Rate
    control: Rate | None
    margin: float
    definition: str
    scope: tuple[str, ...]
    remedy: str
    counts: Mapping[str, float] = field(default_factory=dict)
    sets: int = 1

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
    """An attack that does not apply.

    attack  name of the attack
    why  why it does not apply
    """

    attack: str
    why: str


@dataclass(frozen=True)
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

    def named(self, attack: str) -> Outcome:
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
