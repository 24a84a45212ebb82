"""What an attack achieved, beside what it achieves without the release, and the sentence a signatory reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crypsis.measures.intervals import wilson


@dataclass(frozen=True)
class Rate:
    """A share of tries that succeed, in per cent, and how far it can be trusted."""

    value: float
    interval: tuple[float, float]
    trials: int
    """0 where the share is known and not estimated."""

    @classmethod
    def of(cls, hits: float, trials: int) -> Rate:
        """`hits` may be an expected number: a guess among t candidates is worth 1/t."""
        return cls(100.0 * hits / trials if trials else 0.0, wilson(hits, trials), trials)

    @classmethod
    def known(cls, value: float) -> Rate:
        return cls(value, (value, value), 0)


@dataclass(frozen=True)
class Outcome:
    """One attack: its rate, the same on people outside the release, and the best guess without the release."""

    attack: str
    rate: Rate
    baseline: Rate
    control: Rate | None
    margin: float
    """Points by which the attack must beat both, at the unfavourable ends of all intervals, to be a finding."""
    definition: str
    scope: tuple[str, ...]
    """The columns the intruder uses."""
    remedy: str
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def reference(self) -> Rate:
        """The better of control and baseline: what owes nothing to somebody's being in the file."""
        if self.control is None or self.baseline.interval[1] >= self.control.interval[1]:
            return self.baseline
        return self.control

    @property
    def excess(self) -> float:
        """Points between the lower end of the attack's interval and the upper end of its reference."""
        return self.rate.interval[0] - self.reference.interval[1]

    @property
    def caught(self) -> bool:
        return self.excess > self.margin

    @property
    def verdict(self) -> str:
        """The finding in a sentence."""
        told = f"right for {self.rate.value:.1f} % of the tries"
        other = (
            f"{self.reference.value:.1f} % {'without the release' if self.reference is self.baseline else 'outside'}"
        )
        if self.caught:
            return f"{told} against {other}: the release gives people away; {self.remedy}"
        if self.excess > 0:
            return f"{told} against {other}: better, by less than the {self.margin:g} points that count as a finding"
        return f"{told} against {other}: cannot be told from what succeeds anyway"


@dataclass(frozen=True)
class Untried:
    """An attack that could not be tried, and why."""

    attack: str
    why: str


@dataclass(frozen=True)
class Findings:
    """Everything that was tried on a release."""

    outcomes: tuple[Outcome, ...]
    untried: tuple[Untried, ...]
    notes: tuple[str, ...]

    @property
    def caught(self) -> tuple[Outcome, ...]:
        return tuple(each for each in self.outcomes if each.caught)

    def named(self, attack: str) -> Outcome:
        """The outcome of one attack."""
        return next(each for each in self.outcomes if each.attack == attack)
