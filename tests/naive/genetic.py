"""Slow, plain twin of the genetic microaggregation: lists, dictionaries and the paper's own words."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

WORD = 2**64 - 1


class SplitMix:
    """splitmix64 on Python integers."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def word(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def uniform(self) -> float:
        return (self.word() >> 11) / 2**53

    def below(self, bound: int) -> int:
        return (self.word() >> 32) * bound >> 32


def sum_of_squares(points: NDArray[np.float64], labels: list[int]) -> float:
    """Within-groups sum of squares, from the definition."""
    total = 0.0
    for group in set(labels):
        members = points[[label == group for label in labels]]
        total += float(((members - members.mean(axis=0)) ** 2).sum())
    return total


def first_chromosome(n: int, k: int, random_state: SplitMix) -> list[int]:
    """Algorithm I and the random moves that follow it."""
    letters = n // k
    genes: list[int] = []
    while len(genes) < n:
        letter = random_state.below(letters)
        if genes.count(letter) < 2 * k - 1:
            genes.append(letter)
    for letter in range(letters):
        while genes.count(letter) < k:
            record = random_state.below(n)
            if genes.count(genes[record]) > k:
                genes[record] = letter
    return genes


def evaluate(points: NDArray[np.float64], k: int, genes: list[int]) -> float:
    if any(not k <= size <= 2 * k - 1 for size in Counter(genes).values()):
        return float("inf")
    return sum_of_squares(points, genes)


def roulette(fitness: list[float], random_state: SplitMix) -> int:
    ball = random_state.uniform() * sum(fitness)
    running = 0.0
    for place, share in enumerate(fitness):
        running += share
        if running > ball:
            return place
    return len(fitness) - 1


def mutated(genes: list[int], letters: int, rate: float, random_state: SplitMix) -> list[int]:
    result = []
    for gene in genes:
        word = random_state.word()
        decision, letter = word >> 32, (word & 0xFFFFFFFF) * letters >> 32
        result.append(letter if decision < int(rate * 2**32) else gene)
    return result


def evolve(
    points: NDArray[np.float64],
    k: int,
    start: list[int],
    population: int,
    epochs: int,
    rates: tuple[float, float],
    keep_best: bool,
    seed: int,
) -> tuple[list[int], float, int, list[float]]:
    n = len(points)
    random_state = SplitMix(seed)
    total = sum_of_squares(points, [0] * n)
    people = [start] if start else []
    while len(people) < population:
        people.append(first_chromosome(n, k, random_state))
    scores = [evaluate(points, k, genes) for genes in people]
    best, best_sse, best_epoch = people[0], float("inf"), 0
    history = []
    for epoch in range(epochs + 1):
        for genes, score in zip(people, scores, strict=True):
            if score < best_sse - 1e-12 * total:
                best, best_sse, best_epoch = genes, score, epoch
        history.append(best_sse)
        if epoch == epochs:
            break
        fitness = [1 / (1 + s) if s < float("inf") else 1e-3 / (1 + total) for s in scores]
        children = [best] if keep_best else []
        while len(children) < population:
            one, other = people[roulette(fitness, random_state)], people[roulette(fitness, random_state)]
            if random_state.uniform() < rates[0]:
                cut = 1 + random_state.below(n - 1)
                one, other = one[:cut] + other[cut:], other[:cut] + one[cut:]
            children.append(mutated(one, n // k, rates[1], random_state))
            if len(children) < population:
                children.append(mutated(other, n // k, rates[1], random_state))
        people, scores = children, [evaluate(points, k, genes) for genes in children]
    return best, best_sse, best_epoch, history
