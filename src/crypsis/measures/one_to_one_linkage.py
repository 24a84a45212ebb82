"""One-to-one linkage: an intruder who knows everybody and gives every person a record of their own.

The nearest published record is taken by many people at once, and only one of them is right. Whoever holds the
quasi-identifiers of all people can use that a class of s records holds s people, which no search here is fitted to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import default_rng
from pydantic import Field
from threadpoolctl import threadpool_limits

from crypsis.errors import TableError
from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.kernels.linkage import EXCLUDED, ShownClasses, fill_classes, link_nearest_classes, score_linkage_guesses
from crypsis.measures.boosted_trees import boost_classifier
from crypsis.measures.categories import number_masked_categories
from crypsis.measures.intervals import score_confidence_interval
from crypsis.measures.measure import Aim, BoundColumns, Measure, Reading, check_measured_rows, measures
from crypsis.table.attribute import Kind
from crypsis.table.equivalence_classes import classes_of
from crypsis.table.frames import finite_numbers_of_frame
from crypsis.table.hierarchy import MISSING, Hierarchy
from crypsis.table.precision import Scales
from crypsis.table.table import LOCAL, Table


@dataclass(frozen=True, eq=False)
class PublishedClasses:
    """Records with equal published values over some columns, and the people who are looked for in them."""

    known: Floats  # float64[n, p]: places of the people, NaN where a value is missing
    shown: ShownClasses  # what the classes show
    sizes: Ints  # int64[classes]
    own: Ints  # int64[n]: class of each person, −1 where the record is suppressed

    @classmethod
    def of(cls, original: Table, masked: Table, names: Sequence[str]) -> PublishedClasses:
        """The classes of a masked table over the columns an intruder knows."""
        check_measured_rows(original.rows, masked)
        classes = classes_of(masked, names)
        columns = [_column(original, masked, name, classes.first) for name in names]
        known, low, high, wide = (
            np.ascontiguousarray(np.stack(part, axis=1))
            for part in zip(*((c.known, c.low, c.high, c.wide) for c in columns), strict=True)
        )
        shown = ShownClasses(
            low, high, wide,
            np.ascontiguousarray(np.stack([c.moves for c in columns], axis=1)),
            np.ascontiguousarray(np.stack([_count_covered(c) for c in columns], axis=1)),
            np.array([_blank(original, masked, name, c) for name, c in zip(names, columns, strict=True)]),
        )  # fmt: skip
        return cls(known, shown, classes.sizes, classes.of)


class _Column(NamedTuple):
    """One column on its line: known float64[n]; low, high, wide float64[classes]; moves bool[classes]."""

    known: Floats
    low: Floats
    high: Floats
    wide: Floats
    moves: Flags


def _column(original: Table, masked: Table, name: str, first: Ints) -> _Column:
    """first  int64[classes]: a record of each class"""
    if masked.level(name) != 0:
        return _compare_generalised(original, masked, name, first)
    attribute = original.attribute(name)
    if attribute.numeric != masked.attribute(name).numeric:
        raise TableError(
            f"column {name!r} is {attribute.kind} in the original and {masked.attribute(name).kind} in the masked "
            f"table; read both files with the same kinds, or leave the column out"
        )
    if attribute.numeric:
        scales = Scales.of(finite_numbers_of_frame(original, name)[:, None])
        known, shown = (
            scales.in_unit_interval(finite_numbers_of_frame(each, name)[:, None])[:, 0] for each in (original, masked)
        )
        moves = True
    else:
        codes, same = number_masked_categories(original, masked, name)
        moves = attribute.kind is Kind.ORDINAL and same
        steps = max(len(attribute.categories) - 1, 1) if moves else 1
        known, shown = (_places(each / steps, each == MISSING) for each in (original.column(name), codes))
    at = shown[first]
    return _Column(known, at, at, np.zeros(len(at)), np.full(len(at), moves))


def _places(places: Floats, missing: Flags) -> Floats:
    return np.where(missing, np.nan, places)


def _compare_generalised(original: Table, masked: Table, name: str, first: Ints) -> _Column:
    """Leaves against the groups that may contain them, at one level or at each record's own."""
    hierarchy, level = masked.attribute(name).hierarchy, masked.level(name)
    if hierarchy is None:
        raise TableError(f"column {name!r} is generalised but has no hierarchy; give the masked table the one used")
    attribute = original.attribute(name)
    leaf = original.with_columns({}, attributes={name: attribute.but(hierarchy=hierarchy)}).leaf_codes(name)
    at, ordered = _leaf_places(original, hierarchy, name)
    low, high = _spans(hierarchy, at)
    published = masked.column(name)[first]
    node = published + (0 if level == LOCAL else hierarchy.offsets[level])
    blank = published == MISSING
    numeric = attribute.numeric and ordered
    wide = high - low if numeric else (hierarchy.node_leaves - 1) / max(hierarchy.size - 1, 1)
    return _Column(
        _places(at[leaf], leaf == MISSING),
        _places(low[node], blank),
        _places(high[node], blank),
        np.where(blank, 0.0, np.minimum(wide, 1.0)[node]),
        (node < hierarchy.size) & ordered,
    )


def _leaf_places(original: Table, hierarchy: Hierarchy, name: str) -> tuple[Floats, bool]:
    """float64[leaves]: the place of each leaf, and whether places differ by as much as values do."""
    attribute = original.attribute(name)
    if attribute.numeric and hierarchy.values.size:
        return Scales.of(finite_numbers_of_frame(original, name)[:, None]).in_unit_interval(hierarchy.values[:, None])[
            :, 0
        ], True
    if attribute.kind is Kind.ORDINAL:
        rank = {label: code for code, label in enumerate(attribute.categories)}
        ranks = np.array([rank.get(label, MISSING) for label in hierarchy.labels[0]])
        low, high = _spans(hierarchy, ranks.astype(np.float64))
        if (ranks != MISSING).all() and ((high - low + 1) == hierarchy.node_leaves).all():
            return ranks / max(len(attribute.categories) - 1, 1), True
    places = np.empty(hierarchy.size)
    places[np.lexsort(hierarchy.groups)] = np.arange(hierarchy.size)  # the coarsest level is the first key
    return places, False


def _spans(hierarchy: Hierarchy, at: Floats) -> tuple[Floats, Floats]:
    """float64[nodes]: the lowest and the highest place of the leaves of each node."""
    low, high = np.full(hierarchy.offsets[-1], np.inf), np.full(hierarchy.offsets[-1], -np.inf)
    for level in range(hierarchy.height + 1):
        node = hierarchy.groups[level] + hierarchy.offsets[level]
        np.minimum.at(low, node, at)
        np.maximum.at(high, node, at)
    return low, high


def _values(column: _Column) -> Floats:
    return np.unique(column.known[~np.isnan(column.known)])


def _count_covered(column: _Column) -> Floats:
    """float64[classes]: logarithm of the number of original values each class covers, at least one."""
    values = _values(column)
    covered = np.searchsorted(values, column.high, side="right") - np.searchsorted(values, column.low)
    return np.asarray(np.log(np.maximum(covered, 1)))


def _blank(original: Table, masked: Table, name: str, column: _Column) -> float:
    """Log-volume of a blank: any value where some were blanked, else only what is missing in the original too."""
    blanked = masked.missing(name)[masked.kept].sum() > original.missing(name).sum()
    return float(np.log(max(len(_values(column)), 1))) if blanked else EXCLUDED


# -- One-to-one linkage: an intruder who knows everybody and gives every person a record of their own.
#
# The nearest published record is taken by many people at once, and only one of them is right. Whoever holds the
# quasi-identifiers of all people can use that a class of s records holds s people, which no search here is fitted to.

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
        return self.measure.make_reading(
            100.0 * float(attack.earned.mean()),
            self.names,
            _MISSING,
            counts,
            interval=one_to_one_interval(attack.earned, published, people),
            baseline=100.0 / records if records else 0.0,
        )


def attack_one_to_one(published: PublishedClasses, people: Ints) -> OneToOneAttack:
    """The one-to-one attack that finds most of some people, over both costs and both temperatures."""
    sizes, own = published.sizes, published.own[people]
    if not len(sizes):
        return OneToOneAttack(np.zeros(len(people)), COSTS[0], TEMPERATURES[0])
    costs, classes = link_nearest_classes(np.ascontiguousarray(published.known[people]), published.shown, NEAREST)
    found = []
    for cost, name, listed in zip(costs, COSTS, classes, strict=True):
        for temperature in TEMPERATURES:
            weights = np.exp(-(cost - cost[:, :1]) / temperature)
            found.append(OneToOneAttack(_guess_one_to_one(weights, listed, published, people, own), name, temperature))
    return max(found, key=lambda each: float(each.earned.sum()))


def _guess_one_to_one(weights: Floats, classes: Ints, published: PublishedClasses, people: Ints, own: Ints) -> Floats:
    """float64[m]: what guessing earns after classes were filled with people; `weights` are changed."""
    room = published.sizes * (len(people) / max(len(published.own), 1))
    fill_classes(weights, classes, np.asarray(room, dtype=np.float64), ROUNDS)
    return score_linkage_guesses(weights, classes, published.sizes, own)


def one_to_one_interval(earned: Floats, published: PublishedClasses, people: Ints) -> tuple[float, float]:
    """How far one-to-one linkage, where every person gets a record of their own, can be trusted."""
    n, classes = len(published.own), len(published.sizes)
    largest = 1.0 / float(published.sizes.min()) if classes else 1.0
    if len(people) < n:
        return score_confidence_interval(earned, population=n, largest=largest)
    groups = np.where(published.own >= 0, published.own, classes + np.arange(n))
    return score_confidence_interval(earned, groups=groups, largest=largest)


# -- Learned linkage: an intruder who learned from people of a similar file how records were masked.
#
# Only the custodian can run it: half of the people are shown with their classes, and the other half is looked for, and
# the other way round. What it finds bounds an intruder with a similar file and its truth. Of few people a logit among a
# person's nearest classes learns as much as boosted trees, in a tenth of the time; of more people trees find more.

LEARNED = "learned-linkage"
"""Figure of a perturbed solution: what the learned attacker finds."""
MOST_PEOPLE, FEWEST_PEOPLE = 4_000, 100
"""People who are learned from and looked for at most, and at least."""
FEWEST_BOOSTED = 1_000
"""People from whom on trees learn more than a logit."""
TREES, LEAVES, RATE = 60, 15, 0.1
"""Trees of the classifier, leaves of each, and its learning rate."""
RIDGE, STEPS, GAIN = 0.01, 30, 1e-4
"""Penalty of the logit for each person, its most Newton steps, and the share of its likelihood below which it ends."""
FARTHEST = 1e6
"""Cost of a class that a person does not have, in a file of few classes."""
LEAST = 1e-9
"""Weight of a class that the classifier rules out."""


@dataclass(frozen=True)
class LearnedAttack:
    """What the learned attack found: per cent of the people, its 95 % interval, and how many were looked for."""

    found: float
    interval: tuple[float, float]
    people: int


def learn_one_to_one(published: PublishedClasses, seed: int = 0) -> LearnedAttack | None:
    """One-to-one linkage that learns which near class is a person's own, and assigns people it did not learn from.

    Returns None where fewer than `FEWEST_PEOPLE` people are in the file, too few to learn from.
    """
    rng = default_rng([seed, len(published.own)])
    people = np.sort(rng.permutation(len(published.own))[:MOST_PEOPLE])
    if min(len(people), int(published.sizes.sum())) < FEWEST_PEOPLE:
        return None
    candidates = _candidates(published, people)
    features, own = _features(published, people, candidates), published.own[people]
    half = rng.permutation(len(people)) % 2
    weights = np.full(candidates.shape, LEAST)
    for part in (0, 1):
        learned, judged = half != part, half == part
        weights[judged] = _weigh(features, candidates, own, learned, judged, seed)
    earned = _guess_one_to_one(weights, candidates, published, people, own)
    return LearnedAttack(100.0 * float(earned.mean()), one_to_one_interval(earned, published, people), len(people))


def _candidates(published: PublishedClasses, people: Ints) -> Ints:
    """int64[m, nearest]: the nearest classes by either cost in turn, −1 where there are no more."""
    listed = link_nearest_classes(np.ascontiguousarray(published.known[people]), published.shown, NEAREST)[1]
    both = np.moveaxis(listed, 0, 2).reshape(len(people), -1)
    again = np.zeros(both.shape, dtype=np.bool_)
    for place in range(1, both.shape[1]):
        again[:, place] = (both[:, :place] == both[:, place, None]).any(axis=1)
    order = np.argsort(again, axis=1, kind="stable")[:, :NEAREST]
    return np.where(np.take_along_axis(again, order, axis=1), -1, np.take_along_axis(both, order, axis=1))


def _features(published: PublishedClasses, people: Ints, candidates: Ints) -> Floats:
    """float64[m, nearest, features]: costs, their ranks and gaps, class sizes, and how far each column differs."""
    shown, known, at = published.shown, published.known[people][:, None, :], np.maximum(candidates, 0)
    none = candidates < 0
    low, high = shown.low[at], shown.high[at]
    blank, lost = np.isnan(low), np.broadcast_to(np.isnan(known), low.shape)
    away = np.fmax(np.fmax(low - known, known - high), 0.0)
    outside = away > 0
    cell = np.where(outside, np.where(shown.moves[at], np.minimum(away, 1.0), 1.0), shown.wide[at])
    cell = np.where(blank & lost, 0.0, np.where(blank | lost, 1.0, cell))
    volume = shown.covered[at] + EXCLUDED * outside
    volume = np.where(blank & lost, 0.0, np.where(blank, shown.blank, np.where(lost, EXCLUDED, volume)))
    moved = _ranks(published.known)[people][:, None, :] - _ranks((shown.low + shown.high) / 2)[at]
    columns = [published.sizes[at][..., None], cell, np.abs(moved), moved]
    for cost in (cell.sum(axis=2), volume.sum(axis=2)):
        cost = np.where(none, FARTHEST, cost)
        ordered = np.sort(cost, axis=1)
        second = ordered[:, min(1, cost.shape[1] - 1)]
        rank = np.argsort(np.argsort(cost, axis=1, kind="stable"), axis=1)
        rivals = _rivals(cost, candidates) / published.sizes[at]
        gap, lead = cost - ordered[:, :1], np.broadcast_to((second - ordered[:, 0])[:, None], cost.shape)
        columns.append(np.stack([cost, rank, gap, cost - second[:, None], lead, rivals], axis=2))
    features = np.concatenate(columns, axis=2)
    return np.where(none[..., None] | ~np.isfinite(features), np.nan, features)


def _ranks(values: Floats) -> Floats:
    """float64[rows, p]: the place of each value among those of its column, 0 to 1; NaN stays."""
    ranks = np.full(values.shape, np.nan)
    for j, column in enumerate(values.T):
        present = ~np.isnan(column)
        found, place, counts = np.unique(column[present], return_inverse=True, return_counts=True)
        if len(found):
            ranks[present, j] = ((np.cumsum(counts) - counts / 2) / counts.sum())[place]
    return ranks


def _rivals(cost: Floats, candidates: Ints) -> Floats:
    """float64[m, nearest]: how many people among whose candidates a class is lie nearer to it."""
    flat, classes = cost.ravel(), candidates.ravel()
    order = np.lexsort((flat, classes))
    begins = np.flatnonzero(np.concatenate([[True], classes[order][1:] != classes[order][:-1]]))
    starts = np.repeat(begins, np.diff(np.append(begins, len(order))))
    rivals = np.empty(len(order))
    rivals[order] = np.arange(len(order)) - starts
    return rivals.reshape(cost.shape)


def _weigh(features: Floats, candidates: Ints, own: Ints, learned: Flags, judged: Flags, seed: int) -> Floats:
    """float64[judged, nearest]: how likely each candidate is the class of the person, as learned from the others."""
    there = candidates >= 0
    right = there & (candidates == own[:, None])
    if not right[learned].any() or right[learned][there[learned]].all():
        return np.full(candidates[judged].shape, LEAST)
    if len(candidates) >= FEWEST_BOOSTED:
        return _boost(features, there, right, learned, judged, seed)
    terms = _standardise(features, there)
    shown = learned & right.any(axis=1)
    found = _share(terms[judged], there[judged], fit_linkage_logit(terms[shown], there[shown], right[shown]))
    return np.where(there[judged], np.maximum(found, LEAST), LEAST)


def _boost(features: Floats, there: Flags, right: Flags, learned: Flags, judged: Flags, seed: int) -> Floats:
    """float64[judged, nearest]: the probability that a candidate is right, by boosted trees over all candidates."""
    model = boost_classifier(TREES, LEAVES, seed, RATE)
    found, asked = np.full(there[judged].shape, LEAST), there[judged]
    shown, taught = features[learned][there[learned]], right[learned][there[learned]]
    known = ~np.isnan(shown).all(axis=0)  # a feature that no learned candidate has cannot be binned
    if not known.any():
        return found
    # Threads that wait for each other take longer where others compute too; only libraries loaded by now are limited.
    with threadpool_limits(limits=1):
        model.fit(shown[:, known], taught)
        found[asked] = np.maximum(model.predict_proba(features[judged][asked][:, known])[:, 1], LEAST)
    return found


def _standardise(features: Floats, there: Flags) -> Floats:
    """float64[m, nearest, terms]: features on a log scale and their squares, standardised; 0 where one is missing."""
    scaled = np.where(np.isfinite(features), features, 0.0)
    scaled = np.sign(scaled) * np.log1p(np.abs(scaled))
    for square in (False, True):
        if square:
            scaled = np.concatenate([scaled, scaled**2], axis=2)
        spread = scaled[there].std(axis=0)
        varied = spread > 1e-12
        scaled = (scaled[:, :, varied] - scaled[there].mean(axis=0)[varied]) / spread[varied]
    return np.asarray(scaled)


def fit_linkage_logit(terms: Floats, there: Flags, right: Flags) -> Floats:
    """Coefficients of a logit among the candidates of each person in learned one-to-one linkage (McFadden 1974).

    `terms` float64[m, nearest, q]; `right` bool[m, nearest].
    """
    m, _, q = terms.shape
    beta, chosen, ridge = np.zeros(q), terms[right].sum(axis=0), RIDGE * m
    reached, shares = _likelihood(terms, there, chosen, beta)
    for _ in range(STEPS):
        mean = (shares[:, :, None] * terms).sum(axis=1)
        spread = (terms * shares[:, :, None]).reshape(-1, q).T @ terms.reshape(-1, q) - mean.T @ mean
        step = np.linalg.solve(spread + ridge * np.eye(q), chosen - mean.sum(axis=0) - ridge * beta)
        size, before = 1.0, reached
        while size > 1e-4:
            reached, shares = _likelihood(terms, there, chosen, beta + size * step)
            if reached > before:
                break
            size /= 2
        else:
            break
        beta = beta + size * step
        if reached - before < GAIN * abs(reached):
            break
    return beta


def _likelihood(terms: Floats, there: Flags, chosen: Floats, beta: Floats) -> tuple[float, Floats]:
    """Penalised log-likelihood of coefficients, and float64[m, nearest]: the shares of the candidates."""
    scores = np.where(there, terms @ beta, -np.inf)
    top = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=1, keepdims=True)
    reached = float(chosen @ beta) - float((top + np.log(total)).sum()) - RIDGE * len(terms) / 2 * float(beta @ beta)
    return reached, weights / total


def _share(terms: Floats, there: Flags, beta: Floats) -> Floats:
    """float64[m, nearest]: the share of each candidate, 0 for none."""
    scores = np.where(there, terms @ beta, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e300))
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))
