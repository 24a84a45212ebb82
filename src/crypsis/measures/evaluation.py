"""What one masked table was found to be: figures, verdicts, and typed reasons why it may not be released."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Complaint:
    """Why a masked table may not be released.

    Parameters
    ----------
    kind : {'model', 'no-model', 'suppression', 'limit', 'use'}
        What is not kept; 'no-model': the family of the masking gives class sizes no meaning, so no model can be judged.
    subject : str
        The model, measure or use.
    required, attained : float or None
        The threshold and what was found; `attained` is None where it cannot be read.
    sense : {'at least', 'at most'}
        On which side of the threshold the table must be.
    offending, records : int
        For a model: how many records offend, of how many.
    columns : tuple of str
        For a model: the columns the intruder was taken to know.
    """

    kind: Literal["model", "no-model", "suppression", "limit", "use"]
    subject: str = ""
    required: float | None = None
    attained: float | None = None
    sense: str = "at most"
    offending: int = 0
    records: int = 0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Omission:
    """Why a figure is not given: it has no meaning after a `family` of masking, or cannot be read (`detail`)."""

    reason: Literal["family", "classes", "unreadable"]
    detail: str = ""


@dataclass(frozen=True)
class Evaluation:
    """Everything the objective found on one masked table.

    Parameters
    ----------
    figures : mapping of str to float or None
        By name; None where the figure would mean nothing.
    omissions : mapping of str to Omission
        Why a figure is not given.
    intervals : mapping of str to tuple of float
        95 % interval of a figure that is an estimate.
    baselines : mapping of str to float
        What guessing without the masked file achieves.
    notes : tuple of str
        Why a figure should be read with care.
    verdicts : tuple of mappings
        The verdict of every required model, as plain data.
    complaints : tuple of Complaint
        Why the table may not be released; empty if it may.
    columns : mapping of str to mapping
        Loss, distance of the distribution (numbers: Kolmogorov, categories: total variation) and share of records
        whose value vanished, of each quasi-identifier, per cent.

    Examples
    --------
    >>> people = crypsis.example(100)
    >>> objective = crypsis.Objective(people, {"loss": crypsis.InformationLoss(), "risk": crypsis.ClassRisk()})
    >>> evaluation = objective.evaluate(people, "aggregation")
    >>> evaluation.figures["loss"], evaluation.complaints
    (0.0, ())
    """

    figures: Mapping[str, float | None]
    omissions: Mapping[str, Omission] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    verdicts: tuple[Mapping[str, Any], ...] = ()
    complaints: tuple[Complaint, ...] = ()
    columns: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a store."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Evaluation:
        """The evaluation that was stored.

        Parameters
        ----------
        content : mapping
            What `to_dict` gave.

        Returns
        -------
        Evaluation
        """
        return cls(
            figures=content["figures"],
            omissions={name: Omission(**each) for name, each in content["omissions"].items()},
            intervals={name: (low, high) for name, (low, high) in content["intervals"].items()},
            baselines=content["baselines"],
            notes=tuple(content["notes"]),
            verdicts=tuple(content["verdicts"]),
            complaints=tuple(
                Complaint(**{**each, "columns": tuple(each["columns"])}) for each in content["complaints"]
            ),
            columns=content.get("columns", {}),
        )


def finite(value: float | None) -> float | None:
    """A number that can be stored; None where it is infinite or not known."""
    return None if value is None or not math.isfinite(value) else float(value)


def plain_verdict(verdict: Any) -> dict[str, Any]:
    """A verdict as plain data."""
    plain = {name: value.item() if hasattr(value, "item") else value for name, value in asdict(verdict).items()}
    plain["attained"] = finite(plain["attained"])
    return plain
