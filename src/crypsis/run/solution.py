"""One solution as people and programs meet it: its number, who found it, its figures, whether it may be released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

BASELINE = -1
"""Number of the "search" that baselines belong to."""


@dataclass(frozen=True)
class Measured:
    """What the common yardstick found on one masked table.

    figures     name → number, or None where it would mean nothing
    unsaid      name → why that figure is not given
    intervals   name → 95 % interval; guessing: name → what blind guessing achieves
    verdicts    every required model's verdict, as plain data
    complaints  why it may not be released; empty if it may
    """

    figures: Mapping[str, float | None]
    unsaid: Mapping[str, str] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    guessing: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    verdicts: tuple[Mapping[str, Any], ...] = ()
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Solution:
    """A masked table that was found and measured; the table itself is decoded when asked for."""

    number: int
    search: int
    title: str
    """The search or the baseline that made it."""
    family: str
    words: str
    facts: Mapping[str, Any]
    measured: Measured

    @property
    def baseline(self) -> bool:
        return self.search == BASELINE

    @property
    def feasible(self) -> bool:
        """Whether every required model, limit and use is kept."""
        return not self.measured.complaints

    def figure(self, name: str) -> float | None:
        return self.measured.figures.get(name)

    def content(self) -> dict[str, Any]:
        """Plain data for the store."""
        return {
            "title": self.title,
            "family": self.family,
            "words": self.words,
            "facts": {name: _plain(value) for name, value in self.facts.items()},
            **asdict(self.measured),
        }

    @classmethod
    def of(cls, number: int, search: int, content: Mapping[str, Any]) -> Solution:
        measured = Measured(
            figures=content["figures"],
            unsaid=content["unsaid"],
            intervals={name: (low, high) for name, (low, high) in content["intervals"].items()},
            guessing=content["guessing"],
            notes=tuple(content["notes"]),
            verdicts=tuple(content["verdicts"]),
            complaints=tuple(content["complaints"]),
        )
        return cls(number, search, content["title"], content["family"], content["words"], content["facts"], measured)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: everything but the genome."""
        return {"number": self.number, "baseline": self.baseline, "feasible": self.feasible, **self.content()}


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
