"""A small problem for the loop: bits whose ones and whose neighbouring pairs both cost something."""

from __future__ import annotations

import numpy as np

from crypsis.evolution import Application, Archived, Elitist, Problem
from crypsis.evolution.operators import Muting
from crypsis.evolution.selection import DominanceOrder

WIDTH = 12


class Bits:
    def draw(self, rng, size):
        return [rng.integers(0, 2, WIDTH).astype(np.int8) for _ in range(size)]

    def key(self, genome):
        return genome.tobytes()

    def decode(self, genome):
        return genome.tolist()


class Flip:
    name, arity = "flip", 1

    def apply(self, parents, rng):
        child = parents[0].copy()
        child[rng.integers(WIDTH)] ^= 1
        return [child]


class Nothing:
    name, arity = "nothing", 1

    def apply(self, parents, rng):
        rng.random()
        return [parents[0].copy()]


class Cross:
    name, arity = "cross", 2

    def apply(self, parents, rng):
        at = rng.integers(1, WIDTH)
        first, second = parents
        return [np.concatenate([first[:at], second[at:]]), np.concatenate([second[:at], first[at:]])]


def cost(genome):
    ones = float(genome.sum())
    return (1.0 + ones, 1.0 + WIDTH - ones + float((genome[1:] == genome[:-1]).sum()))


def strategy(name):
    applications = (Application(Cross(), 3), Application(Flip(), 4), Application(Nothing(), 2, elite=3))
    return {
        "elitist": Elitist(10, applications),
        "muting": Elitist(10, applications, copies=1, muting=Muting(after=3, window=2)),
        "pareto": Elitist(10, applications, order=DominanceOrder()),
        "nsga2": Elitist(10, applications, order=DominanceOrder(), copies=1, contestants=2, attempts=5),
        "archived": Archived(10, Flip(), Cross()),
    }[name]


STRATEGIES = ("elitist", "muting", "pareto", "nsga2", "archived")


def problem(name, seed=0, boxes=(), remember=50_000):
    space = Bits()
    start = tuple(space.draw(np.random.default_rng(seed), 10))
    return Problem(space.key, strategy(name), start, cost, ("ones", "likeness"), boxes=boxes, remember=remember)
