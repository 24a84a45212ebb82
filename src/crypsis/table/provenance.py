"""How a masked table came to be: what was applied to which original, under which roles. It travels with the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PERTURBATION, AGGREGATION, UNKNOWN = "perturbation", "aggregation", "unknown"


@dataclass(frozen=True)
class MaskingStep:
    """One masking that was applied.

    Parameters
    ----------
    method : str
        Name of the masking method or of the search that found the masking.
    family : str
        'aggregation', 'recoding' or 'perturbation': which statements about class sizes mean something.
    message : str
        What was done, in one sentence.
    settings : mapping
        By name; a seed is never among them.
    together : tuple of tuples of str
        Columns that were masked together, each group apart from the others; empty where all were.
    """

    method: str
    family: str
    message: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Provenance:
    """The way from an original to a masked table.

    source  fingerprint of the original
    roles  role of every column of the original
    steps  what was applied, in order

    Examples
    --------
    >>> way = Provenance("", {}, (MaskingStep("pram", "perturbation"), MaskingStep("microaggregation", "aggregation")))
    >>> way.family
    'perturbation'
    """

    source: str
    roles: Mapping[str, str]
    steps: tuple[MaskingStep, ...]

    @property
    def family(self) -> str:
        """The family that limits what can be said: perturbation before aggregation before recoding."""
        families = [step.family for step in self.steps]
        for family in (PERTURBATION, AGGREGATION):
            if family in families:
                return family
        return families[0] if families else UNKNOWN

    def sharing(self, name: str) -> tuple[str, ...]:
        """Columns that a step masked together with one, itself included; empty where no step tells groups apart."""
        groups = [group for step in self.steps for group in step.together if name in group]
        return groups[-1] if groups else ()

    @property
    def message(self) -> str:
        """All steps in words."""
        return "; ".join(step.message or step.method for step in self.steps)
