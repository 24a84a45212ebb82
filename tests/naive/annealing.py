"""A slow, obvious annealer over partitions: lists of records, and every change judged by recomputing the whole SSE."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Lists = list[list[int]]


class Bits:
    """Marsaglia's xorshift generator in plain whole numbers."""

    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self) -> int:
        bits = self.state
        bits ^= (bits << 13) % 2**64
        bits ^= bits >> 7
        bits ^= (bits << 17) % 2**64
        self.state = bits
        return bits


def group_sse(points: Any, rows: list[int]) -> float:
    chosen = np.asarray(points)[rows]
    return float(np.square(chosen - chosen.mean(axis=0)).sum()) if rows else 0.0


def total_sse(points: Any, groups: Lists) -> float:
    return math.fsum(group_sse(points, rows) for rows in groups)


def lists(labels: Any) -> Lists:
    return [[int(row) for row in np.flatnonzero(np.asarray(labels) == label)] for label in range(max(labels) + 1)]


def where(groups: Lists, row: int) -> int:
    return next(place for place, rows in enumerate(groups) if row in rows)


def drop(rows: list[int], row: int) -> None:
    """The last member takes the place of the one that leaves."""
    rows[rows.index(row)] = rows[-1]
    rows.pop()


class Annealer:
    """The annealing of the kernel, move for move."""

    def __init__(self, points: Any, neighbours: Any, temperature_unit: Any, labels: Any, k: int, state: int) -> None:
        self.points, self.k = np.asarray(points), k
        self.neighbours = [[int(row) for row in line] for line in neighbours]
        self.temperature_unit = [float(value) for value in temperature_unit]
        self.groups = lists(labels)
        self.random_state = Bits(state)

    def below(self, bits: int, limit: int) -> int:
        return bits * limit >> 32

    def bears(self, rise: float, temperature: float) -> bool:
        if rise < 1e-9 * temperature:
            return True
        if rise >= 14 * temperature:
            return False
        return rise < -temperature * math.log(((self.random_state.draw() >> 11) + 0.5) * 2.0**-53)

    def accepts(self, before: float, changed: Lists, temperature: float) -> bool:
        return self.bears(total_sse(self.points, changed) - before, temperature)

    def move(self, row: int, place: int, undo: list[tuple[int, int]]) -> None:
        a = where(self.groups, row)
        drop(self.groups[a], row)
        self.groups[place].append(row)
        undo.append((row, a))

    def rewind(self, undo: list[tuple[int, int]]) -> None:
        """Undone moves leave the records, not their order in the lists, as they were."""
        while undo:
            row, place = undo.pop()
            self.move(row, place, [])

    def scatter(self, place: int, undo: list[tuple[int, int]], limit: float) -> bool:
        """Members leave in order of their list, each to the group whose SSE it raises least, while worth it."""
        rise = -group_sse(self.points, self.groups[place])
        for row in list(self.groups[place]):
            options = []
            for rank, other in enumerate(self.neighbours[row]):
                b = where(self.groups, other)
                if b != place and len(self.groups[b]) < 2 * self.k - 1:
                    cost = group_sse(self.points, [*self.groups[b], row]) - group_sse(self.points, self.groups[b])
                    options.append((cost, rank, b))
            rise += min(options)[0] if options else math.inf
            if rise >= limit:
                self.rewind(undo)
                return False
            self.move(row, min(options)[2], undo)
        return True

    def gather(self, seed: int, place: int, undo: list[tuple[int, int]]) -> bool:
        """The seed and then its neighbours, nearest first, from groups that keep k without them."""
        own: list[tuple[int, int]] = []
        for row in [seed, *self.neighbours[seed]]:
            if len(self.groups[where(self.groups, row)]) > self.k:
                self.move(row, place, own)
                if len(own) == self.k:
                    undo.extend(own)
                    return True
            elif row == seed:
                return False
        self.rewind(own)
        return False

    def regroup(self, seed: int, kind: int, temperature: float) -> None:
        before = total_sse(self.points, self.groups)
        undo: list[tuple[int, int]] = []
        place = where(self.groups, seed)
        if kind == 1:
            self.groups.append([])
            place = len(self.groups) - 1
        fine = (kind == 1 or self.scatter(place, undo, math.inf if kind else 14 * temperature)) and (
            kind == 0 or self.gather(seed, place, undo)
        )
        if fine and self.accepts(before, self.groups, temperature):
            if kind == 0:
                self.groups[place] = self.groups[-1]
                self.groups.pop()
            return
        self.rewind(undo)
        if kind == 1:
            self.groups.pop()

    def step(self, temperature: float, regroup_rate: float) -> None:
        bits = self.random_state.draw()
        i = self.below(bits >> 32, len(self.points))
        if bits % 2**32 < int(regroup_rate * 2**32):
            self.regroup(i, self.below(self.random_state.draw() >> 32, 3), temperature * self.temperature_unit[i])
            return
        bits = self.random_state.draw()
        j = self.neighbours[i][self.below(bits % 2**32, 1 + self.below(bits >> 32, len(self.neighbours[i])))]
        a, b = where(self.groups, i), where(self.groups, j)
        if a == b:
            return
        if len(self.groups[a]) > self.k and len(self.groups[b]) < 2 * self.k - 1:
            moved = [list(rows) for rows in self.groups]
            drop(moved[a], i)
            moved[b].append(i)
            if self.accepts(total_sse(self.points, self.groups), moved, temperature * self.temperature_unit[i]):
                self.groups = moved
                return
        j = self.groups[b][self.below(self.random_state.draw() >> 32, len(self.groups[b]))]
        traded = [list(rows) for rows in self.groups]
        drop(traded[a], i)
        drop(traded[b], j)
        traded[b].append(i)
        traded[a].append(j)
        if self.accepts(
            total_sse(self.points, self.groups),
            traded,
            temperature * 0.5 * (self.temperature_unit[i] + self.temperature_unit[j]),
        ):
            self.groups = traded

    def anneal(self, steps: int, hot: float, cold: float, regroup_rate: float) -> Any:
        temperature = hot
        for step in range(steps):
            if step % 256 == 255:
                temperature *= (cold / hot) ** (256 / max(steps, 256))
            self.step(temperature, regroup_rate)
        labels = np.empty(len(self.points), np.int32)
        for label, rows in enumerate(self.groups):
            labels[rows] = label
        return labels
