"""What an attack starts from: the release, people in it, people who are not in it, and what the intruder knows.

The rows of a release are shuffled, so nothing here uses which published record belongs to whom. Whether a guess is
right is decided by the columns that the intruder does not know, or by row numbers where there are no such columns and
the rows are known to correspond.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from pydantic import Field

from crypsis.errors import TableError
from crypsis.measures.measure import alike_codes
from crypsis.measures.record_linkage import LinkagePair
from crypsis.registry import Settings
from crypsis.table.attribute import UNMASKED
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
CELLS = 2_000_000
"""Pairs of a person and a published record in memory at once."""
SAME = 1e-9
"""Distances that differ by less are a tie."""


class Intruder(Settings):
    """What the intruder knows, and how many attempts are made.

    Examples
    --------
    >>> Intruder(knows=("age", "sex")).attempts
    1000
    """

    knows: tuple[str, ...] = Field(
        default=(),
        description="columns the intruder knows; empty means every quasi-identifier, and besides one, two or three of "
        "the published columns",
    )
    sets: int = Field(
        default=24, ge=0, le=1000, description="sets of one to three published columns tried if no known ones are named"
    )
    attempts: int = Field(default=1000, ge=10, le=100_000, description="people, or predicates, of each attack")
    window: float | None = Field(
        default=None, gt=0.0, le=100.0, description="per cent of ranks that were swapped, if known; else the smallest"
    )
    tolerance: float = Field(
        default=5.0, gt=0.0, le=100.0, description="a number counts as inferred within this per cent of its deviation"
    )
    margin: float = Field(
        default=5.0, ge=0.0, le=100.0, description="points by which an attack must exceed its control to be a finding"
    )
    seed: int = Field(default=0, ge=0, description="seed of the draw of people and predicates; not secret")


@dataclass(frozen=True)
class Keys:
    """What the file says about each person beyond what the intruder knows, as a number.

    Attributes
    ----------
    names : tuple of str
        Columns it is read from; empty where the key is the row itself.
    published, people : int64[n]
        Keys of the published records and of the people.
    outsiders : int64[n] or None
        Keys of the control.
    """

    names: tuple[str, ...]
    published: Numbers
    people: Numbers
    outsiders: Numbers | None

    @cached_property
    def best_guess(self) -> float:
        """Per cent of people with the most frequent key: the best guess without the release."""
        return 100.0 * float(np.unique(self.people, return_counts=True)[1].max()) / len(self.people)


@dataclass(frozen=True)
class AttackContext:
    """A release in the original's columns and codes, with people in it and people who are not.

    Attributes
    ----------
    release, original : Table
        The published records, and the people in it.
    control : Table or None
        People who are not in it.
    intruder : Intruder
        What is known.
    rows_correspond : bool
        Whether row i of the release is row i of the original.

    Raises
    ------
    TableError
        If a table has no records or the intruder knows no published column.
    """

    release: Table
    original: Table
    control: Table | None
    intruder: Intruder
    rows_correspond: bool = False

    def __post_init__(self) -> None:
        if not len(self.original) or not self.release.kept.any():
            raise TableError("the original or the release has no records; an attack needs records in both")
        if self.control is not None and not len(self.control):
            raise TableError("the control has no records; give people who are not in the release, or leave it out")
        if not self.knows:
            raise TableError(
                "the intruder knows no published column; name quasi-identifiers, or the known columns with --knows"
            )

    @cached_property
    def knows(self) -> tuple[str, ...]:
        """Published columns that the intruder knows."""
        wanted = self.intruder.knows or tuple(self.original.quasi_identifiers)
        for name in wanted:
            self.original.place(name)
        return tuple(name for name in wanted if name in self.release.names)

    @cached_property
    def learns(self) -> tuple[str, ...]:
        """Columns published as collected that the intruder does not know."""
        columns = self.original.named(*UNMASKED)
        return tuple(
            n for n in columns if n in self.release.names and n not in self.knows and self.release.level(n) == 0
        )

    def rng(self, attack: str) -> Generator:
        """Random numbers of one attack, independent of the other attacks.

        attack  name of the attack
        """
        return default_rng([self.intruder.seed, *attack.encode()])

    def sample(self, table: Table, attack: str) -> Numbers:
        """Rows of the people on whom an attack is tried.

        attack  name of the attack
        """
        rows, wanted = len(table), self.intruder.attempts
        return np.sort(self.rng(attack).choice(rows, min(rows, wanted), replace=False)).astype(np.int64)

    @cached_property
    def keys(self) -> Keys | None:
        """What can be learnt about each person; None where neither columns nor rows identify a record."""
        if self.learns:
            tables = [self.release, self.original, *([] if self.control is None else [self.control])]
            parts = learnt(self.learns, tables, self.original)
            return Keys(self.learns, parts[0], parts[1], None if self.control is None else parts[2])
        if self.rows_correspond and len(self.release) == len(self.original):
            rows = np.arange(len(self.original), dtype=np.int64)
            return Keys((), rows, rows, None)
        return None

    def meet(self, people: Table, names: Sequence[str]) -> LinkagePair:
        """People and published records in some of the columns."""
        return LinkagePair.between(self.original, people, self.release, names, "z")


def learnt(names: Sequence[str], tables: Sequence[Table], original: Table) -> list[Numbers]:
    """What each of several tables says in some columns, as numbers: equal numbers for equal values.

    Parameters
    ----------
    names : sequence of str
    tables : sequence of Table
    original : Table
        Gives kinds and categories.

    Returns
    -------
    list of int64[n]
    """
    columns = []
    for name in names:
        if original.attribute(name).numeric:
            values = np.concatenate([table.column(name) for table in tables])
            codes = np.unique(values, return_inverse=True)[1]
            columns.append(np.where(np.isnan(values), MISSING, codes))
        else:
            parts = [_code_labels(original, table, name, place) for place, table in enumerate(tables)]
            columns.append(np.concatenate(parts))
    keys = equivalence_classes(np.stack(columns, axis=1)).of
    return np.split(keys, np.cumsum([len(table) for table in tables])[:-1])


def _code_labels(original: Table, table: Table, name: str, place: int) -> Numbers:
    """Codes by the original's categories; a label that it lacks equals no label of another table."""
    codes = alike_codes(original, table, name)[0].astype(np.int64)
    strange = codes >= len(original.attribute(name).categories)
    return np.where(strange, codes + (place + 1) * 1_000_000, codes)


def distances(pair: LinkagePair) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Distance of each known person to every published record, some people at a time.

    pair  people and published records
    returns  positions of the people, and distances float64[people, published]
    """
    people, published = len(pair.points), len(pair.kept)
    step, counted = max(1, CELLS // max(published, 1)), pair.counted()
    for begin in range(0, people, step):
        part = slice(begin, min(begin + step, people))
        square = np.zeros((part.stop - begin, published))
        always = pair.lines[:, 0] < 0
        if always.any():
            square += scipy.spatial.distance.cdist(
                pair.points[part][:, always], pair.published[:, always], "sqeuclidean"
            )
        for place in np.flatnonzero(~always):
            apart = pair.points[part][:, place, None] - pair.published[:, place]
            square += np.where(counted[:, place], apart**2, 0.0)
        for codes, places in zip(pair.codes.T, pair.places.T, strict=True):
            square += pair.ancestors[part][:, places] != codes
        square[:, ~pair.kept] = np.inf
        yield part, np.sqrt(square)


def nearest_sets(pair: LinkagePair) -> Iterator[tuple[slice, Flags]]:
    """The nearest published records of each known person.

    pair  people and published records
    returns  positions of the people, and their nearest records bool[people, published]
    """
    for part, distance in distances(pair):
        yield part, distance <= distance.min(axis=1, keepdims=True) + SAME


def certain(candidates: Flags, published: Numbers, own: Numbers) -> Flags:
    """Whether all candidates say the same of a person, and it is true.

    candidates  bool[people, published]: candidate records of each person
    published, own  keys of the published records and of the people
    """
    low = np.where(candidates, published, np.iinfo(np.int64).max).min(axis=1)
    high = np.where(candidates, published, -1).max(axis=1)
    return np.asarray((low == high) & (high == own))


def chance_of_success(candidates: Flags, published: Numbers, own: Numbers) -> NDArray[np.float64]:
    """Probability that a random candidate is right about a person.

    candidates  bool[people, published]: candidate records of each person
    published, own  keys of the published records and of the people
    """
    right = (candidates & (published == own[:, None])).sum(axis=1)
    return np.asarray(right / np.maximum(candidates.sum(axis=1), 1), dtype=np.float64)


# -- A control without a second file: people of the original whom the release leaves out.
#
# A release names nobody. Who is in it shows only where it publishes columns as collected that together are held by one
# person each: then a record of the original whose values no published record holds is not in it. A file about other
# people holds values that the original lacks, and gives no control.

FEWEST = 50
"""People a control has at least."""
AMBIGUOUS = 0.05
"""Largest share of people of whom it does not show whether they are in the release."""
UNLIKE = 0.01
"""Probability below which a difference between the people left out and the others is not chance."""

Rows = NDArray[np.int64]


def held_out(release: Table, original: Table, intruder: Intruder, rows_correspond: bool) -> tuple[Rows, Rows] | None:
    """People in the release and people whom it leaves out.

    Parameters
    ----------
    release, original : Table
        The published records in the original's terms, and all people.
    intruder : Intruder
        What is known.
    rows_correspond : bool
        Whether row i of the release is row i of the original.

    Returns
    -------
    pair of int64[n] or None
        Rows of the original; None where the two cannot be told apart, or those left out are too few or unlike the
        others, as suppressed outliers are.

    Examples
    --------
    >>> roles = {"sex": "quasi", "pay": "confidential"}
    >>> people = Table.from_columns({"sex": ["f", "m"] * 200, "pay": list(range(400))}, roles)
    >>> inside, outside = held_out(people.take(np.arange(300)), people, Intruder(), False)
    >>> len(inside), len(outside)
    (300, 100)
    """
    if rows_correspond and len(release) == len(original):
        inside, outside = release.kept, ~release.kept
    else:
        found = _by_values(AttackContext(release, original, None, intruder))
        if found is None:
            return None
        inside, outside = found
    if outside.sum() < FEWEST or inside.sum() < FEWEST or not _alike(original, inside, outside):
        return None
    return np.flatnonzero(inside).astype(np.int64), np.flatnonzero(outside).astype(np.int64)


def _by_values(context: AttackContext) -> tuple[Flags, Flags] | None:
    """Who is in the release and who is not, by what it publishes as collected."""
    keys = context.keys
    if keys is None or not keys.names or context.release.kept.sum() >= len(context.original):
        return None
    size = int(max(keys.published.max(), keys.people.max())) + 1
    shown = np.bincount(keys.published[context.release.kept], minlength=size)
    held = np.bincount(keys.people, minlength=size)
    if (shown > held).any():
        return None
    inside, outside = (shown == held)[keys.people], (shown == 0)[keys.people]
    return None if (~inside & ~outside).mean() > AMBIGUOUS else (inside, outside)


def _alike(original: Table, inside: Flags, outside: Flags) -> bool:
    """Whether those left out hold like values, in classes of like sizes, as far as a test can tell."""
    codes = original.codes(original.quasi_identifiers)
    classes = equivalence_classes(codes)
    looked = [*codes.T, classes.sizes[classes.of]]
    return all(scipy.stats.ks_2samp(each[inside], each[outside]).pvalue * len(looked) > UNLIKE for each in looked)
