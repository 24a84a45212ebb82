"""One-to-one linkage: an intruder who knows everybody and gives every person a record of their own.

The nearest published record is taken by many people at once, and only one of them is right. Whoever holds the
quasi-identifiers of all people can use that a class of s records holds s people, which no search here is fitted to.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import default_rng
from pydantic import Field

from crypsis.kernels.arrays import Floats, Ints
from crypsis.kernels.one_to_one import fill_classes, list_classes, score_guesses
from crypsis.measures.intervals import score_interval
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, measures
from crypsis.measures.published_classes import PublishedClasses
from crypsis.table.table import Table

ONE_TO_ONE = "one-to-one-linkage"
"""Name under which the measure is registered."""
NEAREST = 32
"""Classes among which a person is looked for."""
ROUNDS = 40
"""Rounds of scaling people to one and classes to their sizes."""
TEMPERATURES = (0.05, 0.2)
"""How much larger a cost may be before a class is unlikely."""
COSTS = ("cell loss", "log-volume")
"""What a class costs a person, in the order of the lists."""
MOST_PEOPLE, MOST_PAIRS, FEWEST_PEOPLE = 20_000, 60_000_000, 2_000
"""People who are looked for at most, pairs of a person and a class about, and people whatever the pairs."""
_MISSING = (
    "a missing value is a value of its own; a published blank may be any value where the masking blanked some; a "
    "suppressed record is not published, so it cannot be found"
)


class OneToOneAttack(NamedTuple):
    """The best of the one-to-one attacks: what it earned on each person float64[m], its cost and its temperature."""

    earned: Floats
    cost: str
    temperature: float


@measures.add(ONE_TO_ONE)
class OneToOneLinkage(Measure):
    """Share of people found by an intruder who knows everybody and assigns people to records one-to-one.

    100 times the expected share of people whose record is guessed, where every person has weights for the 32 nearest
    published classes, exp(−cost / temperature), which are scaled until people sum to one and classes to their sizes,
    and a record of the class with the largest weight per record is guessed; the largest figure over two costs (cell
    loss between the person and what the class shows; logarithm of the share of values that the class covers, 50 more
    for a column that excludes the person) and two temperatures.

    Examples
    --------
    >>> original, masked = crypsis.example_pair("numbers")
    >>> round(crypsis.OneToOneLinkage().against(original).read(masked), 2)
    100.0

    Notes
    -----
    - Formula: 100 · mean over people of 1/t where their record is among the t that are guessed
    - Paper: own; scaling after Sinkhorn and Knopp (1967), assignment in linkage after Jaro (1989)
    - Cost: O(people · classes · p)
    - Departures: own measure; of a large file people are a draw, and classes have room for as many as were drawn
    """

    aim: ClassVar[Aim] = "risk"

    sample: int | None = Field(
        default=None,
        ge=1,
        description="people who are looked for, drawn at random; by default all, of a large table as many as take "
        "some seconds",
    )
    seed: int = Field(default=0, ge=0, le=2**31 - 1, description="seed of the draw of people")

    def against(self, original: Table) -> BoundOneToOne:
        return BoundOneToOne.of(self, original)


class BoundOneToOne(BoundColumns[OneToOneLinkage]):
    """One-to-one linkage bound to what the intruder knows."""

    @cached_property
    def _order(self) -> Ints:
        """int64[n]: the people in the order in which they are drawn."""
        return default_rng([self.measure.seed, self.original.rows]).permutation(self.original.rows)

    def people(self, classes: int) -> Ints:
        """Rows of the people who are looked for among some number of classes, ascending."""
        most = min(MOST_PEOPLE, max(FEWEST_PEOPLE, MOST_PAIRS // max(classes, 1)))
        wanted = most if self.measure.sample is None else self.measure.sample
        return np.sort(self._order[:wanted])

    def read(self, masked: Table) -> float:
        return self.explain(masked).value

    def explain(self, masked: Table) -> Reading:
        return self.explain_classes(PublishedClasses.of(self.original, masked, self.names))

    def explain_classes(self, published: PublishedClasses) -> Reading:
        """The reading on classes over the bound columns."""
        people = self.people(len(published.sizes))
        attack = attack_one_to_one(published, people)
        records = int(published.sizes.sum())
        counts = {
            "people": len(people),
            **({"people in all": self.original.rows} if len(people) < self.original.rows else {}),
            "classes": len(published.sizes),
            "temperature": attack.temperature,
            f"by {attack.cost}": 1,
        }
        return self.measure.reading(
            100.0 * float(attack.earned.mean()),
            self.names,
            _MISSING,
            counts,
            interval=attack_interval(attack.earned, published, people),
            baseline=100.0 / records if records else 0.0,
        )


def attack_one_to_one(published: PublishedClasses, people: Ints) -> OneToOneAttack:
    """The one-to-one attack that finds most of some people, over both costs and both temperatures."""
    sizes, own = published.sizes, published.own[people]
    if not len(sizes):
        return OneToOneAttack(np.zeros(len(people)), COSTS[0], TEMPERATURES[0])
    costs, classes = list_classes(np.ascontiguousarray(published.known[people]), published.shown, NEAREST)
    found = []
    for cost, name, listed in zip(costs, COSTS, classes, strict=True):
        for temperature in TEMPERATURES:
            weights = np.exp(-(cost - cost[:, :1]) / temperature)
            found.append(OneToOneAttack(guess_one_to_one(weights, listed, published, people, own), name, temperature))
    return max(found, key=lambda each: float(each.earned.sum()))


def guess_one_to_one(weights: Floats, classes: Ints, published: PublishedClasses, people: Ints, own: Ints) -> Floats:
    """float64[m]: what guessing earns after classes were filled with people; `weights` are changed."""
    room = published.sizes * (len(people) / max(len(published.own), 1))
    fill_classes(weights, classes, np.asarray(room, dtype=np.float64), ROUNDS)
    return score_guesses(weights, classes, published.sizes, own)


def attack_interval(earned: Floats, published: PublishedClasses, people: Ints) -> tuple[float, float]:
    """Of a draw, where the whole file would lie; of everybody, where another file of such people would."""
    n, classes = len(published.own), len(published.sizes)
    largest = 1.0 / float(published.sizes.min()) if classes else 1.0
    if len(people) < n:
        return score_interval(earned, population=n, largest=largest)
    groups = np.where(published.own >= 0, published.own, classes + np.arange(n))
    return score_interval(earned, groups=groups, largest=largest)
