"""Learned linkage: an intruder who learned from people of a similar file how records were masked.

Only the custodian can run it: half of the people are shown with their classes, and the other half is looked for, and
the other way round. What it finds bounds an intruder with a similar file and its truth. Of few people a logit among a
person's nearest classes learns as much as boosted trees, in a tenth of the time; of more people trees find more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from threadpoolctl import threadpool_limits

from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.kernels.one_to_one import EXCLUDED, list_classes
from crypsis.measures.one_to_one_linkage import NEAREST, attack_interval, guess_one_to_one
from crypsis.measures.published_classes import PublishedClasses

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


def learned_linkage(published: PublishedClasses, seed: int = 0) -> LearnedAttack | None:
    """Learn which of a person's nearest classes is theirs, and assign the people who were not learned from one-to-one.

    published  the classes over what the intruder knows
    seed  of the draw of people and of the halves
    returns  None where fewer than `FEWEST_PEOPLE` people are in the file, too few to learn from
    """
    rng = default_rng([seed, len(published.own)])
    people = np.sort(rng.permutation(len(published.own))[:MOST_PEOPLE])
    if min(len(people), int(published.sizes.sum())) < FEWEST_PEOPLE:
        return None
    candidates = _candidates(published, people)
    features, own = _features(published, people, candidates), published.own[people]
    half = rng.permutation(len(people)) % 2
    weights = np.full(candidates.shape, LEAST)
    with threadpool_limits(limits=1):  # threads that wait for each other take longer where others compute too
        for part in (0, 1):
            learned, judged = half != part, half == part
            weights[judged] = _weigh(features, candidates, own, learned, judged, seed)
    earned = guess_one_to_one(weights, candidates, published, people, own)
    return LearnedAttack(100.0 * float(earned.mean()), attack_interval(earned, published, people), len(people))


def _candidates(published: PublishedClasses, people: Ints) -> Ints:
    """int64[m, nearest]: the nearest classes by either cost in turn, −1 where there are no more."""
    listed = list_classes(np.ascontiguousarray(published.known[people]), published.shown, NEAREST)[1]
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
    found = _share(terms[judged], there[judged], fit_logit(terms[shown], there[shown], right[shown]))
    return np.where(there[judged], np.maximum(found, LEAST), LEAST)


def _boost(features: Floats, there: Flags, right: Flags, learned: Flags, judged: Flags, seed: int) -> Floats:
    """float64[judged, nearest]: the probability that a candidate is right, by boosted trees over all candidates."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=TREES, max_leaf_nodes=LEAVES, learning_rate=RATE, early_stopping=False, random_state=seed
    )
    found, asked = np.full(there[judged].shape, LEAST), there[judged]
    model.fit(features[learned][there[learned]], right[learned][there[learned]])
    found[asked] = np.maximum(model.predict_proba(features[judged][asked])[:, 1], LEAST)
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


def fit_logit(terms: Floats, there: Flags, right: Flags) -> Floats:
    """Coefficients of a logit among each person's candidates (McFadden 1974), by Newton's method.

    terms  float64[m, nearest, q];  there  bool[m, nearest]: which candidates exist
    right  bool[m, nearest]: the one that is theirs, one for each person
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
