"""A solution: its number, the search that found it, its figures, and whether it may be released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crypsis.measures.objective import Evaluation
from crypsis.text import complaint_text

BASELINE = -1
"""Number of the search of baselines."""


@dataclass(frozen=True)
class Solution:
    """A measured solution; its table is decoded when it is needed.

    Attributes
    ----------
    number : int
        Its number in the run.
    search : int
        Place of its search in the plan; `BASELINE` for a baseline.
    title : str
        Name of the search or baseline.
    family : str
        How it masks.
    message : str
        What it does, in one sentence.
    facts : mapping
        Figures of the search about it.
    evaluation : Evaluation
        Measured figures and complaints.

    Examples
    --------
    >>> from crypsis.measures.objective import Evaluation
    >>> Solution(1, 0, "partition", "aggregation", "", {}, Evaluation({"loss": 2.0})).figure("loss")
    2.0
    """

    number: int
    search: int
    title: str
    family: str
    message: str
    facts: Mapping[str, Any]
    evaluation: Evaluation

    @property
    def baseline(self) -> bool:
        """Whether it is a baseline."""
        return self.search == BASELINE

    @property
    def feasible(self) -> bool:
        """Whether it may be released: every required model, limit and use is kept."""
        return not self.evaluation.complaints

    def figure(self, name: str) -> float | None:
        """A measured figure.

        Parameters
        ----------
        name : str
            Name of the figure.

        Returns
        -------
        float or None
            None if it has no meaning for the solution.
        """
        return self.evaluation.figures.get(name)

    @property
    def complaints(self) -> tuple[str, ...]:
        """Why it may not be released, in words; empty if it may."""
        figures = self.evaluation.figures
        return tuple(complaint_text(complaint, self.family, figures) for complaint in self.evaluation.complaints)

    def content(self) -> dict[str, Any]:
        """The content of the store, as plain data."""
        return {
            "title": self.title,
            "family": self.family,
            "message": self.message,
            "facts": {name: _plain(value) for name, value in self.facts.items()},
            **self.evaluation.to_dict(),
        }

    @classmethod
    def of(cls, number: int, search: int, content: Mapping[str, Any]) -> Solution:
        """A solution from the content of the store.

        Parameters
        ----------
        number : int
            Its number.
        search : int
            Place of its search.
        content : mapping
            What `content` gave.

        Returns
        -------
        Solution
        """
        title, family, message, facts = (content[name] for name in ("title", "family", "message", "facts"))
        return cls(number, search, title, family, message, facts, Evaluation.from_dict(content))

    def to_dict(self) -> dict[str, Any]:
        """The solution as plain data for JSON, without the genome."""
        return {
            "number": self.number,
            "baseline": self.baseline,
            "feasible": self.feasible,
            **self.content(),
            "reasons": list(self.complaints),
        }


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
