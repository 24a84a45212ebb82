"""Assigning people to published classes one-to-one: the nearest classes of each person, and shares that fill them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.kernels.compile import kernel

EXCLUDED = 50.0
"""What a column adds to the log-volume of a class that cannot hold the person."""
TIED = 1e-7
"""Weights that differ by this share at most are equal."""


class ShownClasses(NamedTuple):
    """What published classes show in each column, on the line on which a person has one place.

    low, high  float64[classes, p]: the places a class covers; NaN where it shows a blank
    wide  float64[classes, p]: cell loss of a person inside, 0 to 1
    moves  bool[classes, p]: whether a person outside loses the distance, at most 1; else 1
    covered  float64[classes, p]: logarithm of the number of original values a class covers
    blank  float64[p]: log-volume of a blank to a person with a value
    """

    low: Floats
    high: Floats
    wide: Floats
    moves: Flags
    covered: Floats
    blank: Floats


def _insert(costs: Floats, classes: Ints, cost: float, at: int) -> None:
    """Insert a class into the ascending list of the nearest, behind those of equal cost; the last one leaves."""
    place = costs.shape[0]
    while place > 0 and cost < costs[place - 1]:
        place -= 1
        if place + 1 < costs.shape[0]:
            costs[place + 1] = costs[place]
            classes[place + 1] = classes[place]
    if place < costs.shape[0]:
        costs[place] = cost
        classes[place] = at


insert = kernel(_insert)


def _list_classes(known: Floats, shown: ShownClasses, costs: Floats, classes: Ints) -> None:
    """List the nearest classes of each person by cell loss and by log-volume; ties go to the lower number.

    known  float64[m, p]: places of the people, NaN where a value is missing
    costs  float64[2, m, nearest], infinite before;  classes  int64[2, m, nearest], −1 before
    """
    last = costs.shape[2] - 1
    for i in range(known.shape[0]):
        for g in range(shown.low.shape[0]):
            cell, volume = 0.0, 0.0
            for j in range(known.shape[1]):
                x, low, high = known[i, j], shown.low[g, j], shown.high[g, j]
                if x >= low and x <= high:
                    cell += shown.wide[g, j]
                    volume += shown.covered[g, j]
                elif x == x and low == low:
                    cell += min(max(low - x, x - high), 1.0) if shown.moves[g, j] else 1.0
                    volume += shown.covered[g, j] + EXCLUDED
                elif x == x:
                    cell += 1.0
                    volume += shown.blank[j]
                elif low == low:
                    cell += 1.0
                    volume += EXCLUDED
                if cell >= costs[0, i, last] and volume >= costs[1, i, last]:
                    break
            if cell < costs[0, i, last]:
                insert(costs[0, i], classes[0, i], cell, g)
            if volume < costs[1, i, last]:
                insert(costs[1, i], classes[1, i], volume, g)


list_classes_into = kernel(_list_classes)


def list_classes(known: Floats, shown: ShownClasses, nearest: int) -> tuple[Floats, Ints]:
    """The nearest classes of each person, by cell loss and by log-volume.

    →  float64[2, m, nearest]: costs, ascending;  int64[2, m, nearest]: classes, −1 where there are no more
    """
    nearest = max(min(nearest, len(shown.low)), 1)
    costs, classes = np.full((2, len(known), nearest), np.inf), np.full((2, len(known), nearest), -1)
    list_classes_into(known, shown, costs, classes)
    return costs, classes


def _fill_classes(weights: Floats, classes: Ints, room: Floats, rounds: int) -> None:
    """Scale the weights of each person to 1 and those of each class to its room, in turns (Sinkhorn and Knopp 1967).

    weights  float64[m, nearest], changed;  classes  int64[m, nearest], −1 for none;  room  float64[classes]
    """
    m, nearest = weights.shape
    filled = np.empty(room.shape[0])
    for _ in range(rounds):
        for g in range(room.shape[0]):
            filled[g] = 0.0
        for i in range(m):
            total = 0.0
            for t in range(nearest):
                if classes[i, t] >= 0:
                    total += weights[i, t]
            if total <= 0.0:
                continue
            for t in range(nearest):
                if classes[i, t] >= 0:
                    weights[i, t] /= total
                    filled[classes[i, t]] += weights[i, t]
        for i in range(m):
            for t in range(nearest):
                g = classes[i, t]
                if g >= 0 and filled[g] > 1e-300:
                    weights[i, t] *= room[g] / filled[g]


fill_classes = kernel(_fill_classes)


def _score_guesses(weights: Floats, classes: Ints, sizes: Ints, own: Ints, found: Floats) -> None:
    """What guessing a record of the class with the largest weight per record earns, split among ties.

    weights  float64[m, nearest];  classes  int64[m, nearest];  sizes  int64[classes]
    own  int64[m]: class of each person, −1 for none;  found  float64[m]: 1 / records guessed among where right, else 0
    """
    for i in range(weights.shape[0]):
        best, records, right = -1.0, 0, False
        for t in range(weights.shape[1]):
            g = classes[i, t]
            if g < 0:
                continue
            weight = weights[i, t] / sizes[g]
            if weight > best * (1.0 + TIED) or best < 0.0:
                best, records, right = weight, sizes[g], g == own[i]
            elif weight >= best * (1.0 - TIED):
                records += sizes[g]
                right = right or g == own[i]
        found[i] = 1.0 / records if right else 0.0


score_guesses_into = kernel(_score_guesses)


def score_guesses(weights: Floats, classes: Ints, sizes: Ints, own: Ints) -> Floats:
    """float64[m]: what guessing a record of the class with the largest weight per record earns."""
    found = np.empty(len(weights))
    score_guesses_into(weights, classes, sizes, own, found)
    return found
