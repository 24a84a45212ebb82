"""Choosing one category for every group of records so that each category keeps the records it had.

Groups start with their cheapest category. Then records flow from categories that have too many to those that lack some:
along the cheapest path, on which one group after the other takes the next category (successive shortest paths). Where
groups have one size that divides every count, the result is the cheapest of all choices that keep the distribution.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Flags, Floats, Ints
from crypsis.kernels.compile import kernel


class GroupChoices(NamedTuple):
    """What every group may become: the categories its records hold.

    starts    int64[G + 1]: first choice of each group
    category  int64[choices]
    cost      float64[choices]: what the group's records lose by it
    size      float64[G]: records of each group
    """

    starts: Ints
    category: Ints
    cost: Floats
    size: Floats


class Flow(NamedTuple):
    """Room for the work: the cheapest change from category to category, and paths over them.

    edge   float64[C, C]: least cost per record of moving a group from one category to another
    by     int64[C, C]: the choice that does it
    far    float64[C]: cost of the cheapest path to a category
    before int64[C]: the category before it on that path
    shut   bool[C]: categories to which no path helps
    """

    edge: Floats
    by: Ints
    far: Floats
    before: Ints
    shut: Flags


def _survey(choices: GroupChoices, taken: Ints, flow: Flow, one: int) -> None:
    """The cheapest changes away from one category."""
    starts, category, cost, size = choices.starts, choices.category, choices.cost, choices.size
    for other in range(flow.edge.shape[0]):
        flow.edge[one, other], flow.by[one, other] = np.inf, -1
    for g in range(len(size)):
        if category[taken[g]] != one:
            continue
        for choice in range(starts[g], starts[g + 1]):
            other = category[choice]
            if other != one:
                change = (cost[choice] - cost[taken[g]]) / size[g]
                if change < flow.edge[one, other]:
                    flow.edge[one, other], flow.by[one, other] = change, choice


survey = kernel(_survey)


def _paths(flow: Flow, surplus: Floats) -> int:
    """Cheapest paths from categories with too many records; the nearest one that lacks some, −1 if none is reached."""
    count = len(surplus)
    for c in range(count):
        flow.far[c], flow.before[c] = 0.0 if surplus[c] > 0 else np.inf, -1
    for _ in range(count):
        changed = False
        for a in range(count):
            for b in range(count):
                if flow.far[a] + flow.edge[a, b] < flow.far[b] - 1e-12:
                    flow.far[b], flow.before[b], changed = flow.far[a] + flow.edge[a, b], a, True
        if not changed:
            break
    nearest = -1
    for c in range(count):
        wanted = surplus[c] < 0 and not flow.shut[c] and flow.far[c] < np.inf
        if wanted and (nearest < 0 or flow.far[c] < flow.far[nearest]):
            nearest = c
    return nearest


paths = kernel(_paths)


def _gain(choices: GroupChoices, group_of: Ints, flow: Flow, surplus: Floats, end: int) -> tuple[float, int]:
    """By how much the path to a category lowers Σ |surplus|, and its length; 0 where it runs in circles."""
    came, lower, steps, c = 0.0, 0.0, 0, end
    while flow.before[c] >= 0:
        steps += 1
        if steps > len(surplus):
            return 0.0, 0
        size = choices.size[group_of[flow.by[flow.before[c], c]]]
        lower += abs(surplus[c]) - abs(surplus[c] + size - came)
        came, c = size, flow.before[c]
    return lower + abs(surplus[c]) - abs(surplus[c] - came), steps


gain = kernel(_gain)


def _polish(choices: GroupChoices, taken: Ints, surplus: Floats) -> None:
    """Single groups change their category as long as Σ |surplus| falls; the greatest fall first, of equal ones the
    cheapest."""
    starts, category, cost, size = choices.starts, choices.category, choices.cost, choices.size
    for _ in range(len(size)):
        best, least, who, whose = 0.0, np.inf, -1, -1
        for g in range(len(size)):
            one = category[taken[g]]
            for choice in range(starts[g], starts[g + 1]):
                other = category[choice]
                if other == one:
                    continue
                fall = (
                    abs(surplus[one])
                    - abs(surplus[one] - size[g])
                    + abs(surplus[other])
                    - abs(surplus[other] + size[g])
                )
                change = cost[choice] - cost[taken[g]]
                if fall > best + 1e-9 or (fall > 1e-9 and fall > best - 1e-9 and change < least):
                    best, least, who, whose = fall, change, choice, g
        if who < 0:
            return
        surplus[category[taken[whose]]] -= size[whose]
        surplus[category[who]] += size[whose]
        taken[whose] = who


polish = kernel(_polish)


def _keep_marginals(choices: GroupChoices, group_of: Ints, taken: Ints, surplus: Floats, flow: Flow) -> None:
    """Change the choice taken by groups until no path lowers Σ |surplus|.

    group_of  int64[choices]: the group of each choice
    taken     int64[G]: the choice of each group; the cheapest one at first
    surplus   float64[C]: records of each category by these choices, less those it should have
    """
    category, size = choices.category, choices.size
    for c in range(len(surplus)):
        survey(choices, taken, flow, c)
        flow.shut[c] = False
    for _ in range(8 * len(size)):
        end = paths(flow, surplus)
        if end < 0:
            break
        lower, steps = gain(choices, group_of, flow, surplus, end)
        if lower <= 1e-9:
            flow.shut[end] = True
            continue
        c = end
        for _ in range(steps):
            choice = flow.by[flow.before[c], c]
            g = group_of[choice]
            surplus[category[taken[g]]] -= size[g]
            surplus[c] += size[g]
            taken[g] = choice
            c = flow.before[c]
        c = end
        for _ in range(steps + 1):
            following = flow.before[c]
            survey(choices, taken, flow, c)
            c = following
        for c in range(len(surplus)):
            flow.shut[c] = False
    polish(choices, taken, surplus)


keep_marginals = kernel(_keep_marginals)
