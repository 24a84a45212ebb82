"""Counts of what each operator achieves by generation, and the rule that disables unproductive operators.

utilisation  share of an operator's children that are removed without ever becoming a parent ("discarded without being
             used" in the paper: high is bad)
life time    mean number of generations its children survive; 0 if they are removed in the generation of their birth
efficacy     number of children better, and of children worse, than their reference
efficiency   by how much, in per cent: 100 (1 − r) if r ≤ 1 and 100 (1/r − 1) otherwise, r = child / reference

The reference is the parent, or the mean of both parents. Fitness is minimised and positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from crypsis.evolution.problem import Child, Genome, Operator
from crypsis.kernels.arrays import Flags, Floats, Ints

FIELDS = (
    "created", "improved", "worsened", "survived", "useful",
    "gain", "best_gain", "loss", "worst_loss", "died", "unused", "lived",
)  # fmt: skip
"""Columns of a tally: sums, except best_gain (maximum) and worst_loss (minimum)."""
_AT = {name: place for place, name in enumerate(FIELDS)}
_MOST_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts per generation and operator."""

    names: tuple[str, ...]
    counts: Floats  # float64[rows, operators, fields]: row r covers the generations r·step + 1 … (r + 1)·step
    last_useful: Ints  # int64[operators]: last generation in which a child was better than its reference and survived
    step: int = 1  # generations per row; doubles when there are too many rows

    @classmethod
    def empty(cls, names: tuple[str, ...]) -> Tally:
        """A tally without generations."""
        return cls(names, np.zeros((0, len(names), len(FIELDS))), np.zeros(len(names), dtype=np.int64))

    def column(self, name: str) -> Floats:
        """float64[rows, operators]: one of `FIELDS`."""
        return self.counts[:, :, _AT[name]]

    def born(self, generation: int, operators: Ints, change: Floats, survived: Flags) -> Tally:
        """The tally with the children of one generation.

        `operators` int64[n]; `change` float64[n]; `survived` bool[n]: whether it survives selection.
        """
        tally = self._extend_to(generation)
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

    def count_removals(self, generation: int, operators: Ints, births: Ints, used: Flags) -> Tally:
        """The tally with the removals of one generation, counted in the generations of birth.

        `operators` int64[n]; `births` int64[n]; `used` bool[n]: whether it was a parent.
        """
        counted = births > 0
        counts = self.counts.copy()
        flat = counts.reshape(-1, len(FIELDS))
        at = (births[counted] - 1) // self.step * len(self.names) + operators[counted]
        np.add.at(flat[:, _AT["died"]], at, 1.0)
        np.add.at(flat[:, _AT["unused"]], at, (~used[counted]).astype(np.float64))
        np.add.at(flat[:, _AT["lived"]], at, (generation - births[counted]).astype(np.float64))
        return replace(self, counts=counts)

    def _extend_to(self, generation: int) -> Tally:
        counts, step = self.counts, self.step
        while (generation - 1) // step >= _MOST_ROWS:
            counts, step = _merge_neighbours(counts), step * 2
        rows = (generation - 1) // step + 1
        grown = np.zeros((max(rows, len(counts)), *counts.shape[1:]))
        grown[: len(counts)] = counts
        return replace(self, counts=grown, last_useful=self.last_useful.copy(), step=step)

    def table(self) -> list[dict[str, float | str | int]]:
        """One row per generation and operator with the four measures of the paper, for export and charts."""
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


def _merge_neighbours(counts: Floats) -> Floats:
    """Neighbouring rows merged."""
    even = np.concatenate([counts, np.zeros((len(counts) % 2, *counts.shape[1:]))])
    pairs = even.reshape(-1, 2, *counts.shape[1:])
    merged = pairs.sum(axis=1)
    merged[:, :, _AT["best_gain"]] = pairs[:, :, :, _AT["best_gain"]].max(axis=1)
    merged[:, :, _AT["worst_loss"]] = pairs[:, :, :, _AT["worst_loss"]].min(axis=1)
    return np.asarray(merged)


@dataclass(frozen=True)
class Muting:
    """The rule that disables unproductive operators."""

    after: int = 20  # first generation in which the rule applies
    window: int = 10  # an operator that is not useful in this many generations is disabled for the rest of the run

    def find_muted(self, tally: Tally, generation: int, already: frozenset[str]) -> frozenset[str]:
        """Operators that are disabled; at least one operator stays enabled."""
        if generation < self.after:
            return already
        idle = {
            name for name, last in zip(tally.names, tally.last_useful, strict=True) if generation - last >= self.window
        }
        disabled = already | idle
        if len(disabled) == len(tally.names):
            enabled = [place for place, name in enumerate(tally.names) if name not in already]
            latest = max(enabled, key=lambda place: (tally.last_useful[place], -place))
            disabled -= {tally.names[latest]}
        return frozenset(disabled)


def draw_operator_positions(eligible: int, count: int, rng: Generator) -> list[int]:
    """Random positions below a number that an operator draws, all different if there are enough of them."""
    if count == 1:
        return [int(rng.integers(eligible))]
    if count == 2 and eligible > 1:
        first, second = int(rng.integers(eligible)), int(rng.integers(eligible - 1))
        return [first, second + (second >= first)]
    return [int(place) for place in rng.choice(eligible, size=count, replace=eligible < count)]


def apply_evolution_operator(
    operator: Operator, parents: Sequence[int], pool: Sequence[Genome], rng: Generator
) -> list[Child]:
    """Children of an operator applied to parents, each with its name, by which achievements are counted."""
    genomes = operator.apply([pool[parent] for parent in parents], rng)
    own = [i % len(parents) for i in range(len(genomes))]
    return [Child(genome, operator.name, (*parents[i:], *parents[:i])) for genome, i in zip(genomes, own, strict=True)]
