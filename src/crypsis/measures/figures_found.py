"""What has been read of one masked table while it is evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from crypsis.measures.evaluation import Omission
from crypsis.measures.measure import Reading


@dataclass
class FiguresFound:
    """What has been read of one masked table so far."""

    family: str
    figures: dict[str, float | None] = field(default_factory=dict)
    omissions: dict[str, Omission] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    baselines: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by_intruder: dict[str, dict[str, float]] = field(default_factory=dict)
    """Measure → intruder → reading."""

    def omit(self, name: str, reason: Literal["family", "classes", "unreadable"], detail: str = "") -> None:
        """Leave a figure out, for a reason."""
        self.figures[name], self.omissions[name] = None, Omission(reason, detail)

    def remark(self, title: str, reading: Reading) -> None:
        """Keep interval, baseline and warning of a reading."""
        if reading.interval is not None:
            self.intervals[title] = (float(reading.interval[0]), float(reading.interval[1]))
        if reading.baseline is not None:
            self.baselines[title] = float(reading.baseline)
        if reading.warning:
            self.notes.append(f"{title}: {reading.warning}")

    def mean(self, titles: Sequence[str]) -> float | None:
        """The mean of some figures; None if one is missing."""
        values = [self.figures[title] for title in titles]
        return None if None in values or not values else float(np.mean(values))  # type: ignore[arg-type]

    def span_risk(self, titles: Sequence[str]) -> None:
        """The interval of the overall risk: the means of the ends, where every risk has an interval."""
        spans = [self.intervals[title] for title in titles if title in self.intervals]
        if self.figures["risk"] is not None and len(spans) == len(titles):
            low, high = np.mean(spans, axis=0)
            self.intervals["risk"] = (float(low), float(high))
