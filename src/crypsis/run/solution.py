"""One solution as people and programs meet it: its number, who found it, its figures, whether it may be released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crypsis.measures.evaluation import Evaluation
from crypsis.text import complaint_text

BASELINE = -1
"""Number of the "search" that baselines belong to."""


@dataclass(frozen=True)
class Solution:
    """A masked table that was found and measured; the table itself is decoded when asked for."""

    number: int
    search: int
    title: str
    """The search or the baseline that made it."""
    family: str
    message: str
    facts: Mapping[str, Any]
    evaluation: Evaluation

    @property
    def baseline(self) -> bool:
        return self.search == BASELINE

    @property
    def feasible(self) -> bool:
        """Whether every required model, limit and use is kept."""
        return not self.evaluation.complaints

    def figure(self, name: str) -> float | None:
        return self.evaluation.figures.get(name)

    @property
    def complaints(self) -> tuple[str, ...]:
        """Why it may not be released, in words; empty if it may."""
        return tuple(complaint_text(complaint, self.family) for complaint in self.evaluation.complaints)

    def content(self) -> dict[str, Any]:
        """Plain data for the store."""
        return {
            "title": self.title,
            "family": self.family,
            "message": self.message,
            "facts": {name: _plain(value) for name, value in self.facts.items()},
            **self.evaluation.to_dict(),
        }

    @classmethod
    def of(cls, number: int, search: int, content: Mapping[str, Any]) -> Solution:
        """The solution that was stored."""
        title, family, message, facts = (content[name] for name in ("title", "family", "message", "facts"))
        return cls(number, search, title, family, message, facts, Evaluation.from_dict(content))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: everything but the genome."""
        return {
            "number": self.number,
            "baseline": self.baseline,
            "feasible": self.feasible,
            **self.content(),
            "reasons": list(self.complaints),
        }


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
