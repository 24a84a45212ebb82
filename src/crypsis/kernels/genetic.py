"""The genetic microaggregation of Solanas et al. (2006), the whole loop compiled.

A chromosome gives every record one of G = ⌊n/k⌋ letters; used letters must have k … 2k−1 records. Legend:
n records, p attributes, P chromosomes. The generator is splitmix64 on one explicit word, so the same seed
gives the same run here and in plain Python. Draws come in this order: the initial chromosomes; then per epoch
and pair of children two parents, the decision to cross, the cut if they cross, one word per gene.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.kernels.compile import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
LOW = np.uint64(0xFFFFFFFF)
B11, B27, B30, B31, B32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

TABLED = 1024
"""Up to so many records all squared distances are kept (8 MB); above, they are computed when asked for."""


class Brood(NamedTuple):
    """A population: int32[P, n] letters and float64[P] SSE, infinite for a chromosome that is no k-partition."""

    genes: NDArray[np.int32]
    sse: NDArray[np.float64]


class Work(NamedTuple):
    """What every evaluation needs and no one keeps.

    distances  float64[n, n]: squared, of a record to those before it; or float64[0, 0]
    """

    distances: NDArray[np.float64]
    counts: NDArray[np.int64]
    last: NDArray[np.int64]
    previous: NDArray[np.int64]
    pairs: NDArray[np.float64]
    wheel: NDArray[np.float64]
    state: NDArray[np.uint64]


def _mix(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> B30)) * FIRST
    word = (word ^ (word >> B27)) * SECOND
    return word ^ (word >> B31)


mix = kernel(_mix)


def _uniform(state: NDArray[np.uint64]) -> float:
    """The next number in [0, 1)."""
    state[0] += GOLDEN
    return float(np.float64(mix(state[0]) >> B11) * 2.0**-53)


uniform = kernel(_uniform)


def _below(state: NDArray[np.uint64], bound: int) -> int:
    """The next integer in 0 … bound − 1."""
    state[0] += GOLDEN
    return int(((mix(state[0]) >> B32) * np.uint64(bound)) >> B32)


below = kernel(_below)


def _initialise(chromosome: NDArray[np.int32], k: int, counts: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
    """Algorithm I, then its repair: random letters up to 2k − 1 each, then records moved from above k to below k.

    Every letter ends with k … 2k − 1 records; `counts` (one place per letter) ends as their sizes.
    """
    counts[:] = 0
    record = 0
    while record < chromosome.size:
        letter = below(state, counts.size)
        if counts[letter] < 2 * k - 1:
            chromosome[record] = letter
            counts[letter] += 1
            record += 1
    for letter in range(counts.size):
        while counts[letter] < k:
            record = below(state, chromosome.size)
            if counts[chromosome[record]] > k:
                counts[chromosome[record]] -= 1
                chromosome[record] = letter
                counts[letter] += 1


initialise = kernel(_initialise)


def _distance(points: NDArray[np.float64], one: int, other: int) -> float:
    total = 0.0
    for column in range(points.shape[1]):
        gap = points[one, column] - points[other, column]
        total += gap * gap
    return total


distance = kernel(_distance)


def _prepare(points: NDArray[np.float64], letters: int, population: int, seed: np.uint64) -> Work:
    n = points.shape[0]
    tabled = n if n <= TABLED else 0
    distances = np.zeros((tabled, tabled))
    for one in range(tabled):
        for other in range(one):
            distances[one, other] = distance(points, one, other)
    state = np.empty(1, np.uint64)
    state[0] = seed
    return Work(
        distances,
        np.zeros(letters, np.int64),
        np.empty(letters, np.int64),
        np.empty(n, np.int64),
        np.empty(letters, np.float64),
        np.empty(population, np.float64),
        state,
    )


prepare = kernel(_prepare)


def _lawful(counts: NDArray[np.int64], k: int) -> bool:
    """Whether every letter that is used has k … 2k − 1 records."""
    broken = False
    for letter in range(counts.size):
        broken |= counts[letter] != 0 and (counts[letter] < k or counts[letter] >= 2 * k)
    return not broken


lawful = kernel(_lawful)


def _judge(points: NDArray[np.float64], chromosome: NDArray[np.int32], work: Work) -> float:
    """SSE of a lawful chromosome whose letter counts stand in `work`.

    Σ over groups of (Σ squared distances of pairs) / size: with tabled distances the cost does not depend on p.
    """
    counts, last, previous, pairs = work.counts, work.last, work.previous, work.pairs
    last[:] = -1
    pairs[:] = 0.0
    tabled = work.distances.shape[0] > 0
    for record in range(chromosome.size):
        letter = chromosome[record]
        fellow = last[letter]
        previous[record] = fellow
        last[letter] = record
        total = 0.0
        while fellow >= 0:
            total += work.distances[record, fellow] if tabled else distance(points, record, fellow)
            fellow = previous[fellow]
        pairs[letter] += total
    sse = 0.0
    for letter in range(counts.size):
        if counts[letter] > 0:
            sse += pairs[letter] / counts[letter]
    return sse


judge = kernel(_judge)


def _breed(
    parents: NDArray[np.int32],
    pair: tuple[int, int],
    cut: int,
    children: NDArray[np.int32],
    place: int,
    mutation_rate: float,
    counts: NDArray[np.int64],
    state: NDArray[np.uint64],
) -> None:
    """The first of a pair up to the cut, then the other, each gene redrawn with probability `mutation_rate`.

    `counts` ends as the sizes of the letters. Copying, drawing and counting are loops of their own: the first two
    then run on whole vectors of genes, without a branch for the processor to guess.
    """
    n = parents.shape[1]
    letters = np.uint64(counts.size)
    threshold = np.uint64(mutation_rate * 2.0**32)
    seed = state[0]
    for gene in range(cut):
        children[place, gene] = parents[pair[0], gene]
    for gene in range(cut, n):
        children[place, gene] = parents[pair[1], gene]
    for gene in range(n):
        # One word decides (upper half) and draws (lower half).
        word = mix(seed + GOLDEN * np.uint64(gene + 1))
        drawn = np.int32(((word & LOW) * letters) >> B32)
        redrawn = np.int32((word >> B32) < threshold)
        children[place, gene] += redrawn * (drawn - children[place, gene])
    state[0] = seed + GOLDEN * np.uint64(n)
    counts[:] = 0
    for gene in range(n):
        counts[children[place, gene]] += 1


breed = kernel(_breed)


def _spin(wheel: NDArray[np.float64], state: NDArray[np.uint64]) -> int:
    """The roulette: a place drawn in proportion to its share of the cumulative wheel."""
    ball = uniform(state) * wheel[-1]
    if wheel[0] > ball:  # the best ever, where it is kept: by far the likeliest once most children are no partition
        return 0
    low, high = 1, wheel.size - 1
    while low < high:
        middle = (low + high) // 2
        if wheel[middle] > ball:
            high = middle
        else:
            low = middle + 1
    return low


spin = kernel(_spin)


def _succeed(
    points: NDArray[np.float64],
    k: int,
    penalty: float,
    rates: tuple[float, float],
    spared: int,
    parents: Brood,
    children: Brood,
    work: Work,
) -> None:
    """One generation: roulette, one-point crossover per pair, per-gene mutation. The first `spared` children stay."""
    population, n = parents.genes.shape
    # Taken out of their tuples once: passing a tuple of arrays to every child costs more than breeding it.
    genes, brood, wheel, counts, state = parents.genes, children.genes, work.wheel, work.counts, work.state
    total = 0.0
    for place in range(population):
        total += penalty if parents.sse[place] == np.inf else 1.0 / (1.0 + parents.sse[place])
        wheel[place] = total
    for first in range(spared, population, 2):
        pair = (spin(wheel, state), spin(wheel, state))
        cut = n
        if uniform(state) < rates[0]:
            cut = 1 + below(state, n - 1)
        for place in range(first, min(first + 2, population)):
            breed(genes, pair, cut, brood, place, rates[1], counts, state)
            children.sse[place] = judge(points, brood[place], work) if lawful(counts, k) else np.inf
            pair = (pair[1], pair[0])


succeed = kernel(_succeed)


def _total_squares(points: NDArray[np.float64]) -> float:
    """SST: squared distances to the grand mean."""
    total = 0.0
    for column in range(points.shape[1]):
        mean = points[:, column].mean()
        for record in range(points.shape[0]):
            total += (points[record, column] - mean) ** 2
    return total


total_squares = kernel(_total_squares)


def _settled(genes: NDArray[np.int32], crossover_rate: float) -> bool:
    """Whether a population that never mutates can bring nothing new: it never crosses, or all are the same."""
    if crossover_rate == 0.0:
        return True
    for place in range(1, genes.shape[0]):
        for gene in range(genes.shape[1]):
            if genes[place, gene] != genes[0, gene]:
                return False
    return True


settled = kernel(_settled)


def _evolve(
    points: NDArray[np.float64],
    k: int,
    start: NDArray[np.int32],
    population: int,
    limits: tuple[int, float],
    rates: tuple[float, float],
    keep_best: bool,
    seed: np.uint64,
) -> tuple[NDArray[np.int32], float, int, NDArray[np.float64]]:
    """The best chromosome ever met, its SSE, the epoch that met it first, and the best SSE after each epoch.

    points     float64[n, p], already standardised, n ≥ 2k, k ≥ 2
    start      int32[n] letters below ⌊n/k⌋ of a k-partition that joins the first population, or int32[0]
    limits     epochs, and the least SSE there can be if it is known, else −∞: who reaches it need not go on
    rates      crossover per pair, mutation per gene
    keep_best  whether the best ever also holds a place in every population
    →          int32[n], float, int, float64[epochs + 1]

    An SSE within 10⁻¹² SST of the best is the same partition under other letters, hence no progress.
    A run ends early only where none of what it returns can change any more.
    """
    n = points.shape[0]
    epochs, least = limits
    work = prepare(points, n // k, population, seed)
    parents = Brood(np.empty((population, n), np.int32), np.empty(population, np.float64))
    children = Brood(np.empty((population, n), np.int32), np.empty(population, np.float64))
    sst = total_squares(points)
    penalty, tolerance = 1e-3 / (1.0 + sst), 1e-12 * sst
    best, best_sse, convergence_epoch = np.empty(n, np.int32), np.inf, 0
    history = np.empty(epochs + 1, np.float64)
    spared = 1 if keep_best else 0
    for place in range(population):
        if place < start.size and place == 0:
            parents.genes[0] = start
            work.counts[:] = 0
            for record in range(n):
                work.counts[start[record]] += 1
        else:
            initialise(parents.genes[place], k, work.counts, work.state)
        parents.sse[place] = judge(points, parents.genes[place], work)
        if parents.sse[place] < best_sse - tolerance:
            best_sse = parents.sse[place]
            best[:] = parents.genes[place]
    history[0] = best_sse
    for epoch in range(1, epochs + 1):
        # Half the tolerance leaves room for the rounding of whoever computed the least SSE.
        if best_sse <= least + tolerance / 2 or (rates[1] == 0.0 and settled(parents.genes, rates[0])):
            history[epoch:] = best_sse
            break
        if keep_best:
            children.genes[0] = best
            children.sse[0] = best_sse
        succeed(points, k, penalty, rates, spared, parents, children, work)
        for place in range(spared, population):
            if children.sse[place] < best_sse - tolerance:
                best_sse = children.sse[place]
                best[:] = children.genes[place]
                convergence_epoch = epoch
        history[epoch] = best_sse
        parents, children = children, parents
    return best, best_sse, convergence_epoch, history


evolve = kernel(_evolve)
