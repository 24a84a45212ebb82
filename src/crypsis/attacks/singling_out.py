"""Singling out: predicates made from the release that hold for exactly one person of the original.

Univariate predicates: the extremes of a column, and values that only one published record has. Multivariate predicates:
the side of the median, or the category, of a published record in several columns; those that fewest published records
meet are tried first. After Cohen and Nissim (2020) and Giomi et al. (2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.attacks.attack_context import AttackContext, Flags, Outcome, Rate, Untried
from crypsis.attacks.linkage import infer_by_linkage, nearest_record
from crypsis.measures.record_linkage import Sides, sides_of_record_linkage
from crypsis.table.attribute import Role
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.table import Table

SPARE = 4
"""Predicates drawn for each predicate that is tried."""

Sense = Literal["equal", "most", "least"]


@dataclass(frozen=True)
class Condition:
    """A condition on one column: equal to, at most or at least the value of a published record."""

    column: int  # position of the column
    record: int
    sense: Sense  # {"equal", "most", "least"}: how values are compared


Predicate = tuple[Condition, ...]


@dataclass(frozen=True)
class Reader:
    """One column of the release and of the people on whom predicates are tried."""

    sides: Sides  # published and known values

    @property
    def has_order(self) -> bool:
        """Whether the values have an order."""
        return bool(self.sides.published.shape[1])

    def read_published(self) -> NDArray[np.float64]:
        """Published values on the column's scale; missing is NaN."""
        return _plain(self.sides.published)

    def meets(self, condition: Condition) -> Flags:
        """People who meet a condition."""
        sides, record = self.sides, condition.record
        if self.has_order:
            return _compare(_plain(sides.known), self.read_published()[record], condition.sense)
        return np.asarray(sides.ancestors[:, sides.places[record, 0]] == sides.codes[record, 0])

    def find_matching(self, condition: Condition) -> Flags:
        """Published records that meet a condition."""
        sides, record = self.sides, condition.record
        if self.has_order:
            return _compare(self.read_published(), self.read_published()[record], condition.sense)
        same = (sides.codes == sides.codes[record]) & (sides.places == sides.places[record])
        return np.asarray(same[:, 0])


def _plain(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(points[:, 1] > 0, np.nan, points[:, 0]) if points.shape[1] > 1 else points[:, 0]


def _compare(values: NDArray[np.float64], with_: np.float64, sense: Sense) -> Flags:
    if np.isnan(with_):
        return np.isnan(values)
    return np.asarray(values == with_ if sense == "equal" else values <= with_ if sense == "most" else values >= with_)


def singling_out(context: AttackContext) -> list[Outcome | Untried]:
    """Try predicates on one column and on several."""
    members, outsiders = _as_many(context)
    return [
        _try_predicates(context, "singling out, one column", members, outsiders, univariate),
        _try_predicates(context, "singling out, several columns", members, outsiders, multivariate),
    ]


def _as_many(context: AttackContext) -> tuple[Table, Table | None]:
    """As many people of the original as of the control, since a unique match depends on the number of people."""
    if context.control is None:
        return context.original, None
    size, rng = min(len(context.original), len(context.control)), context.rng("singling out")
    rows = [np.sort(rng.choice(len(table), size, replace=False)) for table in (context.original, context.control)]
    return context.original.take(rows[0]), context.control.take(rows[1])


def _try_predicates(
    context: AttackContext,
    attack: str,
    members: Table,
    outsiders: Table | None,
    make: Callable[[Sequence[Reader], Flags, int, Generator], list[Predicate]],
) -> Outcome | Untried:
    rng, wanted = context.rng(attack), context.intruder.attempts
    inside = _readers(context, members)
    predicates = make(inside, context.release.kept, wanted, rng)
    if not predicates:
        return Untried(attack, "no published value is an extreme or unique, or only one column is known")
    guesses = blind(inside, context.release.kept, [len(each) for each in predicates], rng)
    hits = _count_isolated(inside, predicates)
    control = None
    if outsiders is not None:
        control = Rate.of(_count_isolated(_readers(context, outsiders), predicates), len(predicates))
    return Outcome(
        attack=attack,
        rate=Rate.of(hits, len(predicates)),
        baseline=Rate.of(_count_isolated(inside, guesses), len(guesses)),
        control=control,
        margin=context.intruder.margin,
        definition=(
            f"share of predicates made from the release that hold for exactly one of {len(members)} people; baseline: "
            f"predicates with parts from random records; control: as many people outside the release"
        ),
        scope=context.knows,
        remedy="top- or bottom-code the extremes, generalise, or demand larger classes",
        counts={"predicates": len(predicates), "people": len(members), "isolated": hits},
    )


def _readers(context: AttackContext, people: Table) -> list[Reader]:
    return [
        Reader(sides_of_record_linkage(context.original, people, context.release, name, "z")) for name in context.knows
    ]


def _count_isolated(readers: Sequence[Reader], predicates: Sequence[Predicate]) -> int:
    """Number of predicates that hold for exactly one person."""
    return sum(int(np.logical_and.reduce([readers[c.column].meets(c) for c in p]).sum() == 1) for p in predicates)


# -- predicates --


def univariate(readers: Sequence[Reader], kept: Flags, wanted: int, rng: Generator) -> list[Predicate]:
    """Predicates on one column: extremes of ordered columns, and values of one published record.

    `kept` bool[published].
    """
    found: list[Predicate] = []
    for column, reader in enumerate(readers):
        values = reader.read_published() if reader.has_order else _nodes(reader.sides)
        rows = np.flatnonzero(kept & ~np.isnan(values))
        if not len(rows):
            continue
        if reader.has_order:
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
    """Predicates on several columns: side of the median, or category, of a published record; the rarest first.

    `kept` bool[published].
    """
    rows, most = np.flatnonzero(kept), len(readers)
    if most < 2:
        return []
    middles = [float(np.nanmedian(r.read_published()[rows])) if r.has_order else 0.0 for r in readers]
    drawn: dict[Predicate, int] = {}
    for record in rng.choice(rows, SPARE * wanted):
        columns = np.sort(rng.choice(most, int(rng.integers(2, most + 1)), replace=False))
        predicate = tuple(_side(readers[c], int(c), int(record), middles[c]) for c in columns)
        if predicate not in drawn:
            shown = np.logical_and.reduce([readers[c.column].find_matching(c) for c in predicate]) & kept
            drawn[predicate] = int(shown.sum())
    return sorted(drawn, key=lambda predicate: drawn[predicate])[:wanted]


def _side(reader: Reader, column: int, record: int, middle: float) -> Condition:
    if not reader.has_order:
        return Condition(column, record, "equal")
    return Condition(column, record, "least" if reader.read_published()[record] >= middle else "most")


def blind(readers: Sequence[Reader], kept: Flags, sizes: Sequence[int], rng: Generator) -> list[Predicate]:
    """Predicates of given sizes with parts from random, independent records.

    `kept` bool[published].
    """
    rows, found = np.flatnonzero(kept), []
    for size in sizes:
        parts = []
        for column in rng.choice(len(readers), size, replace=False):
            sense: Sense = "equal"
            if readers[column].has_order:
                sense = "most" if rng.random() < 0.5 else "least"
            parts.append(Condition(int(column), int(rng.choice(rows)), sense))
        found.append(tuple(parts))
    return found


# -- An intruder who knows one, two or three of the published columns, whatever their roles.
#
# Which columns an intruder knows is not the custodian's choice. Every column is tried alone, then the pairs and
# triples that leave most published records alone with their values; the worst set is reported, with intervals that
# allow for the choice among all that were tried.

ATTACK = "few columns"
MOST = 3
"""Columns that are known together."""
WIDEST = 10
"""Columns of which pairs and triples are made."""
CELLS = 40_000_000
"""Pairs of a person and a published record that all sets together look at, about."""
FEWEST = 100
"""People on whom a set is tried at least."""

Columns = tuple[str, ...]


def single_out_by_few(context: AttackContext) -> list[Outcome | Untried]:
    """A few known columns: the worst set for singling out a record, and for inferring a confidential value."""
    if context.intruder.knows or not context.intruder.sets:
        return [Untried(ATTACK, "the columns that the intruder knows are given")]
    sets = _known_sets(context)
    share = CELLS // max(len(sets) * len(context.release), 1)
    attempts = min(context.intruder.attempts, max(share, FEWEST))
    linked: list[Outcome] = []
    inferred: list[Outcome] = []
    for names in sets:
        known = context.intruder.model_copy(update={"knows": names, "attempts": attempts})
        sub = replace(context, intruder=known)
        linked += [each for each in [nearest_record(sub)] if isinstance(each, Outcome)]
        inferred += [each for each in infer_by_linkage(sub) if isinstance(each, Outcome)]
    found = [
        _worst(f"nearest record, {ATTACK}", linked, len(sets)),
        _worst(f"inference, {ATTACK}", inferred, len(sets)),
    ]
    return [each for each in found if each is not None] or [
        Untried(ATTACK, "no column is left to learn beside those that are known")
    ]


def _worst(attack: str, outcomes: Sequence[Outcome], sets: int) -> Outcome | None:
    """The outcome farthest above its reference."""
    if not outcomes:
        return None
    worst = max((each.one_of(len(outcomes)) for each in outcomes), key=lambda each: each.excess)
    return replace(
        worst,
        attack=attack,
        definition=f"{worst.attack} by the worst of {sets} sets of one to {MOST} published columns, here "
        f"{', '.join(worst.scope)}: {worst.definition}",
        remedy="mask these columns too, or leave one of them out",
        sets=sets,
    )


def _known_sets(context: AttackContext) -> list[Columns]:
    """Sets of one to three published columns, the single ones first."""
    release, original, most = context.release, context.original, context.intruder.sets
    people = [original] if context.control is None else [original, context.control]
    names = [
        name
        for name in release.names
        if all(name in each.names for each in people) and original.attribute(name).role is not Role.IDENTIFIER
    ]
    single = {(name,): _alone(context, (name,)) for name in names}
    names.sort(key=lambda name: -single[name,])
    # A column that finds most records by itself makes every set with it look alike.
    others = [name for name in names if single[name,] <= release.kept.sum() / 2][:WIDEST]
    sets = [set_ for size in range(2, MOST + 1) for set_ in combinations(others, size)]
    several = {set_: _alone(context, set_) for set_ in sets if set(set_) != set(context.knows)}
    ranked = sorted(several, key=lambda set_: (-several[set_], len(set_)))
    return [*((name,) for name in names), *ranked][:most]


def _alone(context: AttackContext, names: Columns) -> int:
    """Published records that are alone with their values in some columns."""
    rows = np.flatnonzero(context.release.kept)
    return int((equivalence_classes(context.release.take(rows).codes(names)).sizes == 1).sum())
