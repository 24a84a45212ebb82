"""Singling out: predicates read off the release that hold for exactly one person of the original.

Univariate: the extremes of a column, and values only one published record has. Multivariate: a published record's
side of the median, or its category, in several columns; those that fewest published records meet are tried first.
After Cohen and Nissim (2020) and Giomi et al. (2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.attacks.attack_context import Flags, Scene
from crypsis.attacks.outcome import Outcome, Rate, Untried
from crypsis.measures.mixed_distance import Sides, sides_of
from crypsis.table.table import Table

SPARE = 4
"""Predicates drawn for each one that is tried."""

Sense = Literal["equal", "most", "least"]


@dataclass(frozen=True)
class Condition:
    """One column's part of a predicate: equal to, at most or at least what a published record says."""

    column: int
    record: int
    sense: Sense


Predicate = tuple[Condition, ...]


@dataclass(frozen=True)
class Reader:
    """One column of the release beside the same column of the people a predicate is tried on."""

    sides: Sides

    @property
    def ordered(self) -> bool:
        return bool(self.sides.published.shape[1])

    def published(self) -> NDArray[np.float64]:
        """Published values on the column's scale; missing is NaN."""
        return _plain(self.sides.published)

    def meets(self, condition: Condition) -> Flags:
        """Which people meet the condition."""
        sides, record = self.sides, condition.record
        if self.ordered:
            return _compared(_plain(sides.known), self.published()[record], condition.sense)
        return np.asarray(sides.ancestors[:, sides.places[record, 0]] == sides.codes[record, 0])

    def shown(self, condition: Condition) -> Flags:
        """Which published records meet it."""
        sides, record = self.sides, condition.record
        if self.ordered:
            return _compared(self.published(), self.published()[record], condition.sense)
        same = (sides.codes == sides.codes[record]) & (sides.places == sides.places[record])
        return np.asarray(same[:, 0])


def _plain(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(points[:, 1] > 0, np.nan, points[:, 0]) if points.shape[1] > 1 else points[:, 0]


def _compared(values: NDArray[np.float64], with_: np.float64, sense: Sense) -> Flags:
    if np.isnan(with_):
        return np.isnan(values)
    return np.asarray(values == with_ if sense == "equal" else values <= with_ if sense == "most" else values >= with_)


def singling_out(scene: Scene) -> list[Outcome | Untried]:
    """Both kinds of predicates."""
    members, outsiders = _as_many(scene)
    return [
        _tried(scene, "singling out, one column", members, outsiders, univariate),
        _tried(scene, "singling out, several columns", members, outsiders, multivariate),
    ]


def _as_many(scene: Scene) -> tuple[Table, Table | None]:
    """As many people of the original as there are outside: in a larger crowd it is harder to be alone."""
    if scene.control is None:
        return scene.original, None
    size, rng = min(len(scene.original), len(scene.control)), scene.rng("singling out")
    rows = [np.sort(rng.choice(len(table), size, replace=False)) for table in (scene.original, scene.control)]
    return scene.original.take(rows[0]), scene.control.take(rows[1])


def _tried(
    scene: Scene,
    attack: str,
    members: Table,
    outsiders: Table | None,
    make: Callable[[Sequence[Reader], Flags, int, Generator], list[Predicate]],
) -> Outcome | Untried:
    rng, wanted = scene.rng(attack), scene.intruder.attempts
    inside = _readers(scene, members)
    predicates = make(inside, scene.release.kept, wanted, rng)
    if not predicates:
        return Untried(attack, "nothing published is an extreme or held by one record alone, or one column is known")
    guesses = blind(inside, scene.release.kept, [len(each) for each in predicates], rng)
    hits = _isolated(inside, predicates)
    control = None
    if outsiders is not None:
        control = Rate.of(_isolated(_readers(scene, outsiders), predicates), len(predicates))
    return Outcome(
        attack=attack,
        rate=Rate.of(hits, len(predicates)),
        baseline=Rate.of(_isolated(inside, guesses), len(guesses)),
        control=control,
        margin=scene.intruder.margin,
        definition=(
            f"share of predicates read off the release that hold for exactly one of {len(members)} people; baseline: "
            f"predicates whose parts come from values taken blindly; control: as many people outside the release"
        ),
        scope=scene.knows,
        remedy="top- or bottom-code the extremes, coarsen, or ask for larger classes",
        counts={"predicates": len(predicates), "people": len(members), "isolated": hits},
    )


def _readers(scene: Scene, people: Table) -> list[Reader]:
    return [Reader(sides_of(scene.original, people, scene.release, name, "z")) for name in scene.knows]


def _isolated(readers: Sequence[Reader], predicates: Sequence[Predicate]) -> int:
    """How many predicates hold for exactly one person."""
    return sum(int(np.logical_and.reduce([readers[c.column].meets(c) for c in p]).sum() == 1) for p in predicates)


# -- predicates --


def univariate(readers: Sequence[Reader], kept: Flags, wanted: int, rng: Generator) -> list[Predicate]:
    """Extremes of ordered columns, and every value that one published record alone has."""
    found: list[Predicate] = []
    for column, reader in enumerate(readers):
        values = reader.published() if reader.ordered else _nodes(reader.sides)
        rows = np.flatnonzero(kept & ~np.isnan(values))
        if not len(rows):
            continue
        if reader.ordered:
            found.append((Condition(column, int(rows[np.argmin(values[rows])]), "most"),))
            found.append((Condition(column, int(rows[np.argmax(values[rows])]), "least"),))
        _, first, count = np.unique(values[rows], return_index=True, return_counts=True)
        found += [(Condition(column, int(rows[place]), "equal"),) for place in first[count == 1]]
    order = rng.permutation(len(found))[:wanted]
    return [found[place] for place in order]


def _nodes(sides: Sides) -> NDArray[np.float64]:
    """One number for each published code and the level it stands at; missing is NaN."""
    codes, places = sides.codes[:, 0].astype(np.float64), sides.places[:, 0].astype(np.float64)
    return np.where(codes < 0, np.nan, codes * (places.max(initial=0.0) + 1) + places)


def multivariate(readers: Sequence[Reader], kept: Flags, wanted: int, rng: Generator) -> list[Predicate]:
    """A published record's side of the median, or its category, in some columns; the rarest in the release first."""
    rows, most = np.flatnonzero(kept), len(readers)
    if most < 2:
        return []
    middles = [float(np.nanmedian(r.published()[rows])) if r.ordered else 0.0 for r in readers]
    drawn: dict[Predicate, int] = {}
    for record in rng.choice(rows, SPARE * wanted):
        columns = np.sort(rng.choice(most, int(rng.integers(2, most + 1)), replace=False))
        predicate = tuple(_side(readers[c], int(c), int(record), middles[c]) for c in columns)
        if predicate not in drawn:
            shown = np.logical_and.reduce([readers[c.column].shown(c) for c in predicate]) & kept
            drawn[predicate] = int(shown.sum())
    return sorted(drawn, key=lambda predicate: drawn[predicate])[:wanted]


def _side(reader: Reader, column: int, record: int, middle: float) -> Condition:
    if not reader.ordered:
        return Condition(column, record, "equal")
    return Condition(column, record, "least" if reader.published()[record] >= middle else "most")


def blind(readers: Sequence[Reader], kept: Flags, sizes: Sequence[int], rng: Generator) -> list[Predicate]:
    """Predicates of the same sizes whose parts come from records taken independently of each other."""
    rows, found = np.flatnonzero(kept), []
    for size in sizes:
        parts = []
        for column in rng.choice(len(readers), size, replace=False):
            sense: Sense = "equal"
            if readers[column].ordered:
                sense = "most" if rng.random() < 0.5 else "least"
            parts.append(Condition(int(column), int(rng.choice(rows)), sense))
        found.append(tuple(parts))
    return found
