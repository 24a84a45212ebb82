"""A measure of your own: registered in one class, then a limit, a figure and an objective like any other."""

from typing import ClassVar

import numpy as np

import crypsis
from crypsis.measures.measure import Aim, BoundColumns, measures


@measures.add("median-shift")
class MedianShift(crypsis.Measure):
    """How far the medians of numbers moved.

    100 times the mean over numeric columns of the distance of the medians, in standard deviations of the original.
    """

    aim: ClassVar[Aim] = "loss"

    def against(self, original: crypsis.Table) -> "BoundMedianShift":
        return BoundMedianShift.of(self, original)


class BoundMedianShift(BoundColumns[MedianShift]):
    """`MedianShift` bound to an original."""

    def read(self, masked: crypsis.Table) -> float:
        numbers = [name for name in self.names if self.original.holds_numbers(name)]
        pairs = [(self.original.column(name), masked.column(name)[masked.kept]) for name in numbers]
        return 100 * float(np.mean([abs(np.nanmedian(a) - np.nanmedian(b)) / np.nanstd(a) for a, b in pairs]))

    def explain(self, masked: crypsis.Table) -> crypsis.Reading:
        return self.measure.make_reading(self.read(masked), self.names, "missing values are left out", {})


people = crypsis.example(300)
for k in (3, 10, 30):
    masked = crypsis.Microaggregation(k=k).mask(people, np.random.default_rng(1))
    shift, loss = crypsis.assess(people, masked, ["median-shift", "information-loss"]).readings
    print(f"k = {k}: medians moved by {shift.value:.1f} %, information loss {loss.value:.1f} %")
