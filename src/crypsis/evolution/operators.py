"""What each operator achieved, generation by generation, and the rule that silences the useless.

utilisation  share of an operator's children that died without ever becoming a parent (the paper's
             "discarded without being used": high is bad)
life time    generations its children survived on average; 0 if they fell in the selection of their birth
efficacy     how many children were better, and how many worse, than their reference
efficiency   by how much, in per cent: 100 (1 − r) if r ≤ 1 and 100 (1/r − 1) otherwise, r = child / reference

The reference is the parent, or the mean of both parents. Worths are minimised and positive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FIELDS = (
    "created", "improved", "worsened", "survived", "useful",
    "gain", "best_gain", "loss", "worst_loss", "died", "unused", "lived",
)  # fmt: skip
"""Columns of a tally. Sums, but best_gain (maximum) and worst_loss (minimum)."""
_AT = {name: place for place, name in enumerate(FIELDS)}
_MOST_ROWS = 1024


def efficiency(child: NDArray[np.float64], reference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per cent of improvement (positive) or worsening (negative) of each child; 0 for a clone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = child / reference
        result = np.where(ratio <= 1.0, 100.0 * (1.0 - ratio), 100.0 * (1.0 / ratio - 1.0))
    return np.where(np.isfinite(result), result, 0.0)


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts per generation and operator.

    counts       float64[rows, operators, fields]; row r covers generations r·step + 1 … (r + 1)·step
    last_useful  int64[operators]: last generation in which a child beat its reference and survived
    step         doubles when there are more rows than memory should hold, so that a tally stays small
    """

    names: tuple[str, ...]
    counts: NDArray[np.float64]
    last_useful: NDArray[np.int64]
    step: int = 1

    @classmethod
    def empty(cls, names: tuple[str, ...]) -> Tally:
        return cls(names, np.zeros((0, len(names), len(FIELDS))), np.zeros(len(names), dtype=np.int64))

    def column(self, name: str) -> NDArray[np.float64]:
        """float64[rows, operators] of one field."""
        return self.counts[:, :, _AT[name]]

    def born(
        self,
        generation: int,
        operators: NDArray[np.int64],
        change: NDArray[np.float64],
        survived: NDArray[np.bool_],
    ) -> Tally:
        """With the children of one generation: who made each, its efficiency, whether it got through selection."""
        tally = self._reaching(generation)
        row = tally.counts[(generation - 1) // tally.step]
        for name, amounts in {
            "created": np.ones(len(change)),
            "improved": change > 0,
            "worsened": change < 0,
            "survived": survived,
            "useful": survived & (change > 0),
            "gain": np.maximum(change, 0.0),
            "loss": np.minimum(change, 0.0),
        }.items():
            np.add.at(row[:, _AT[name]], operators, amounts.astype(np.float64))
        np.maximum.at(row[:, _AT["best_gain"]], operators, change)
        np.minimum.at(row[:, _AT["worst_loss"]], operators, change)
        tally.last_useful[operators[survived & (change > 0)]] = generation
        return tally

    def died(
        self,
        generation: int,
        operators: NDArray[np.int64],
        births: NDArray[np.int64],
        used: NDArray[np.bool_],
    ) -> Tally:
        """With the deaths of one generation, booked where the dead were born; the first population is not booked."""
        booked = births > 0
        counts = self.counts.copy()
        flat = counts.reshape(-1, len(FIELDS))
        at = (births[booked] - 1) // self.step * len(self.names) + operators[booked]
        np.add.at(flat[:, _AT["died"]], at, 1.0)
        np.add.at(flat[:, _AT["unused"]], at, (~used[booked]).astype(np.float64))
        np.add.at(flat[:, _AT["lived"]], at, (generation - births[booked]).astype(np.float64))
        return replace(self, counts=counts)

    def _reaching(self, generation: int) -> Tally:
        counts, step = self.counts, self.step
        while (generation - 1) // step >= _MOST_ROWS:
            counts, step = _halved(counts), step * 2
        rows = (generation - 1) // step + 1
        grown = np.zeros((max(rows, len(counts)), *counts.shape[1:]))
        grown[: len(counts)] = counts
        return replace(self, counts=grown, last_useful=self.last_useful.copy(), step=step)

    def table(self) -> list[dict[str, float | str | int]]:
        """One row per generation and operator with the paper's four measures, for export and plots."""
        rows: list[dict[str, float | str | int]] = []
        for r in range(len(self.counts)):
            for o, name in enumerate(self.names):
                c = dict(zip(FIELDS, self.counts[r, o].tolist(), strict=True))
                rows.append(
                    {
                        "generation": r * self.step + 1,
                        "operator": name,
                        "utilisation": 100.0 * c["unused"] / c["created"] if c["created"] else 0.0,
                        "life_time": c["lived"] / c["died"] if c["died"] else 0.0,
                        "efficiency": (c["gain"] + c["loss"]) / c["created"] if c["created"] else 0.0,
                        "mean_gain": c["gain"] / c["improved"] if c["improved"] else 0.0,
                        "mean_loss": c["loss"] / c["worsened"] if c["worsened"] else 0.0,
                        **c,
                    }
                )
        return rows


def _halved(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Neighbouring rows merged."""
    even = np.concatenate([counts, np.zeros((len(counts) % 2, *counts.shape[1:]))])
    pairs = even.reshape(-1, 2, *counts.shape[1:])
    merged = pairs.sum(axis=1)
    merged[:, :, _AT["best_gain"]] = pairs[:, :, :, _AT["best_gain"]].max(axis=1)
    merged[:, :, _AT["worst_loss"]] = pairs[:, :, :, _AT["worst_loss"]].min(axis=1)
    return np.asarray(merged)


@dataclass(frozen=True)
class Muting:
    """From generation `after` on, an operator not useful in any of the last `window` generations is off for good."""

    after: int = 20
    window: int = 10

    def muted(self, tally: Tally, generation: int, already: frozenset[str]) -> frozenset[str]:
        """Names of the silent operators; at least one operator always stays on."""
        if generation < self.after:
            return already
        idle = {
            name for name, last in zip(tally.names, tally.last_useful, strict=True) if generation - last >= self.window
        }
        silent = already | idle
        if len(silent) == len(tally.names):
            awake = [place for place, name in enumerate(tally.names) if name not in already]
            latest = max(awake, key=lambda place: (tally.last_useful[place], -place))
            silent -= {tally.names[latest]}
        return frozenset(silent)
