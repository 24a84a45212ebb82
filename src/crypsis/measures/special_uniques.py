"""Special uniques (SUDA2): records that few columns single out, and how likely a match with them is right."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.table.sample_uniques import SampleUniques, minimal_sample_uniques
from crypsis.table.table import Table

Floats = NDArray[np.float64]

_MISSING = "a missing cell takes part in no minimal sample unique; a suppressed record is not counted"
_NO_PAIRS = "no class has exactly two records, so that every special record scores 1 and the scores say nothing"


@measures.add("suda")
class Suda(Measure):
    """Records that stand out by few columns, by how likely a match with them is right.

    Mean over the published records of the DIS score of SUDA2, per cent: the probability that a match with the record is
    right, from its score, the records in classes of two and the assumed sampling fraction; 0 for a record that is not
    unique. The score sums (m − s)! over the minimal sample uniques of the record: sets of s of the m columns on which
    it is alone in the file and on no part of which it is. The intruder finds a person outside who has these values. A
    heuristic order of records by how special they are, calibrated on census samples; no bound on what an intruder
    finds.

    Examples
    --------
    >>> columns = {"sex": list("ffmmmf"), "town": list("aaaabb")}
    >>> people = crypsis.Table.from_columns(columns, roles={"sex": "quasi", "town": "quasi"})
    >>> crypsis.Suda().against(people).uniques(people).scores().tolist()  # the last two are alone by both columns
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]

    Notes
    -----
    - Formula: S = Σ (m − s)!; DIS = 1/(1 + P(1 − δ)/(δ S^Q Σ S^−Q)), P records in classes of two, Q = 1 + (8 − m)/20
    - Paper: Elliot, Manning and Ford (2002); Manning, Haglin and Keane (2008)
    - Cost: one group-by of the distinct records per set of columns
    - Departures: none for scores; sdcMicro computes DIS in single precision, and pads files of one or two columns
    """

    unit: ClassVar[str] = "% of records"
    aim: ClassVar[Aim] = "risk"
    valid_for: ClassVar[frozenset[str]] = frozenset({"aggregation", "recoding"})

    statistic: Literal["mean", "highest", "above", "special"] = Field(
        default="mean",
        description="what is read of all records: mean or highest DIS score; above, the share with a DIS score "
        "strictly above the threshold; special, the share with a minimal sample unique",
    )
    threshold: float = Field(default=0.1, ge=0, lt=1, description="DIS score that few records may exceed, 0 to 1")
    fraction: float = Field(default=0.01, gt=0, le=1, description="share of the population that is in the file")
    scores: Literal["standard", "alternative"] = Field(
        default="standard",
        description="what a minimal sample unique of s columns adds: (m − s)!, or (2^(m − s) − 1) s!(m − s)!/m!",
    )
    largest: int = Field(
        default=0, ge=0, le=40, description="columns of the largest set that is looked at; 0: as many as time allows"
    )

    def unit_in_words(self) -> str:
        return "% for a record" if self.statistic == "highest" else self.unit

    def against(self, original: Table) -> BoundSuda:
        return BoundSuda.of(self, original)


class BoundSuda(BoundColumns[Suda]):
    """SUDA2 over some columns of an original."""

    def uniques(self, masked: Table) -> SampleUniques:
        """The minimal sample uniques of the kept records, in their order."""
        check_measured_rows(self.original.rows, masked)
        return minimal_sample_uniques(masked.codes(self.names)[masked.kept], self.measure.largest)

    def risks(self, masked: Table) -> Floats:
        """float64[n]: the DIS score of each record; NaN for a suppressed one."""
        found = np.full(len(masked), np.nan)
        found[masked.kept] = self._scores(self.uniques(masked))
        return found

    def _scores(self, uniques: SampleUniques) -> Floats:
        return uniques.intrusion_scores(self.measure.fraction, self.measure.scores == "alternative")

    def _summarise(self, scores: Floats) -> float:
        if not len(scores):
            return 0.0
        statistic = self.measure.statistic
        if statistic in ("above", "special"):
            return 100.0 * float((scores > (self.measure.threshold if statistic == "above" else 0.0)).mean())
        return 100.0 * float(scores.mean() if statistic == "mean" else scores.max())

    def read(self, masked: Table) -> float:
        return self._summarise(self._scores(self.uniques(masked)))

    def explain(self, masked: Table) -> Reading:
        uniques, alternative = self.uniques(masked), self.measure.scores == "alternative"
        scores, special = uniques.scores(alternative), self._scores(uniques)
        counts: dict[str, float] = {
            "records": len(special),
            "records with a minimal sample unique": int((uniques.count() > 0).sum()),
            "largest set of columns": uniques.largest,
            "sum of scores": float(scores.sum()),
            "highest score": float(scores.max(initial=0.0)),
            "sum of DIS scores": float(special.sum()),
            "highest DIS score": float(special.max(initial=0.0)),
        }
        for name, share in zip(self.names, uniques.contributions(alternative), strict=True):
            counts[f"share of {name}, %"] = 100.0 * float(share)
        warning = _NO_PAIRS if not uniques.pairs and (scores > 0).any() else ""
        return self.measure.make_reading(self._summarise(special), self.names, _MISSING, counts, warning=warning)
