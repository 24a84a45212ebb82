"""The genetic microaggregation of Solanas et al. (2006): its first population, and so many epochs more.

A chromosome gives every record one of G = ⌊n/k⌋ letters; used letters must have k … 2k−1 records. Legend:
n records, p attributes, P chromosomes. The generator is splitmix64 on one explicit word, so the same seed
gives the same run here and in plain Python. Draws come in this order: the initial chromosomes; then per epoch
and pair of children two parents, the decision to cross, the cut if they cross, one word per gene.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crypsis.kernels.arrays import Floats, Int32s, Ints, Words
from crypsis.kernels.compile import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
LOW = np.uint64(0xFFFFFFFF)
SEVEN, EIGHT = np.uint64(7), np.uint64(8)
BYTES, UPPER = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
B11, B27, B30, B31, B32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

TABLED = 1024
"""Up to so many records all squared distances are kept (8 MB); above, they are computed when asked for."""

PROBED = 8
"""Letters whose sizes are counted first, in the bytes of one word."""


class Population(NamedTuple):
    """A population: int32[P, n] letters and float64[P] SSE, infinite for a chromosome that is no k-partition."""

    genes: Int32s
    sse: Floats


class Best(NamedTuple):
    """The best chromosome so far and where the run stands; all of it changes in place.

    epochs int64[2]: the epoch that met it first, and how many have passed
    random_state uint64[1]: of the generator
    """

    genes: Int32s  # int32[n];  sse  float64[1]
    sse: Floats
    epochs: Ints
    random_state: Words


class Workspace(NamedTuple):
    """Buffers of an evaluation, and the state of the generator."""

    distances: Floats  # float64[n, n]: squared, of a record to those before it; or float64[0, 0]
    counts: Ints
    last: Ints
    previous: Ints
    pairs: Floats
    wheel: Floats
    random_state: Words


def _mix(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> B30)) * FIRST
    word = (word ^ (word >> B27)) * SECOND
    return word ^ (word >> B31)


mix = kernel(_mix)


def _draw_uniform(random_state: Words) -> float:
    """The next number in [0, 1)."""
    random_state[0] += GOLDEN
    return float(np.float64(mix(random_state[0]) >> B11) * 2.0**-53)


draw_uniform = kernel(_draw_uniform)


def _draw_below(random_state: Words, bound: int) -> int:
    """The next integer in 0 … bound − 1."""
    random_state[0] += GOLDEN
    return int(((mix(random_state[0]) >> B32) * np.uint64(bound)) >> B32)


draw_below = kernel(_draw_below)


def _initialise_chromosome(chromosome: Int32s, k: int, counts: Ints, random_state: Words) -> None:
    """Algorithm I, then its repair: random letters up to 2k − 1 each, then records moved from above k to below k.

    Every letter ends with k … 2k − 1 records; `counts` (one place per letter) ends as their sizes.
    """
    counts[:] = 0
    record = 0
    while record < chromosome.size:
        letter = draw_below(random_state, counts.size)
        if counts[letter] < 2 * k - 1:
            chromosome[record] = letter
            counts[letter] += 1
            record += 1
    for letter in range(counts.size):
        while counts[letter] < k:
            record = draw_below(random_state, chromosome.size)
            if counts[chromosome[record]] > k:
                counts[chromosome[record]] -= 1
                chromosome[record] = letter
                counts[letter] += 1


initialise_chromosome = kernel(_initialise_chromosome)


def _distance(points: Floats, one: int, other: int) -> float:
    total = 0.0
    for column in range(points.shape[1]):
        gap = points[one, column] - points[other, column]
        total += gap * gap
    return total


distance = kernel(_distance)


def _make_workspace(points: Floats, letters: int, population: int, random_state: Words) -> Workspace:
    """Buffers for the evaluations of a population; the generator's state is shared, not copied."""
    n = points.shape[0]
    tabled = n if n <= TABLED else 0
    distances = np.zeros((tabled, tabled))
    for one in range(tabled):
        for other in range(one):
            distances[one, other] = distance(points, one, other)
    return Workspace(
        distances,
        np.zeros(letters, np.int64),
        np.empty(letters, np.int64),
        np.empty(n, np.int64),
        np.empty(letters, np.float64),
        np.empty(population, np.float64),
        random_state,
    )


make_workspace = kernel(_make_workspace)


def _is_valid(genes: Int32s, place: int, k: int, counts: Ints) -> bool:
    """Whether every letter a chromosome uses has k … 2k − 1 records; `counts` then ends as their sizes.

    Most children break the rule in a letter below `PROBED`. Their sizes are the bytes of one sum, which runs on whole
    vectors of genes; to count every letter takes one gene after the other.
    """
    n = genes.shape[1]
    if counts.size > PROBED and n < 128:  # so that no byte overflows
        packed = np.uint64(0)
        for gene in range(n):
            letter = np.uint64(genes[place, gene])
            packed += np.uint64(np.uint64(letter < EIGHT) << ((letter & SEVEN) * EIGHT))
        # The upper bit of a byte: whether its letter has a record, k of them, 2k of them.
        one, enough = packed + BYTES * np.uint64(127), packed + BYTES * np.uint64(128 - k)
        if ((one & ~enough) | (packed + BYTES * np.uint64(128 - 2 * k))) & UPPER:
            return False
    counts[:] = 0
    for gene in range(n):
        counts[genes[place, gene]] += 1
    broken = False
    for size in counts:
        broken |= size != 0 and (size < k or size >= 2 * k)
    return not broken


is_valid = kernel(_is_valid)


def _compute_sse(points: Floats, chromosome: Int32s, work: Workspace) -> float:
    """SSE of a valid chromosome whose letter counts stand in `work`.

    Σ over groups of (Σ squared distances of pairs) / size: with tabled distances the cost does not depend on p.
    """
    counts, last, previous, pairs = work.counts, work.last, work.previous, work.pairs
    last[:] = -1
    pairs[:] = 0.0
    tabled = work.distances.shape[0] > 0
    for record in range(chromosome.size):
        letter = chromosome[record]
        member = last[letter]
        previous[record] = member
        last[letter] = record
        total = 0.0
        while member >= 0:
            total += work.distances[record, member] if tabled else distance(points, record, member)
            member = previous[member]
        pairs[letter] += total
    sse = 0.0
    for letter in range(counts.size):
        if counts[letter] > 0:
            sse += pairs[letter] / counts[letter]
    return sse


compute_sse = kernel(_compute_sse)


def _cross_and_mutate(
    parents: Int32s,
    pair: tuple[int, int],
    cut: int,
    children: Int32s,
    place: int,
    mutation_rate: float,
    letters: int,
    random_state: Words,
) -> None:
    """The first of a pair up to the cut, then the other, each gene redrawn with probability `mutation_rate`.

    Products instead of branches, so that the loop runs on whole vectors of genes.
    """
    n = parents.shape[1]
    bound, threshold = np.uint64(letters), np.uint64(mutation_rate * 2.0**32)
    seed = random_state[0]
    one, other = pair
    for gene in range(n):
        # One word decides (upper half) and draws (lower half).
        word = mix(seed + GOLDEN * np.uint64(gene + 1))
        drawn = np.int32(((word & LOW) * bound) >> B32)
        redrawn = np.int32((word >> B32) < threshold)
        inherited = parents[other, gene]
        inherited += np.int32(gene < cut) * (parents[one, gene] - inherited)
        children[place, gene] = inherited + redrawn * (drawn - inherited)
    random_state[0] = seed + GOLDEN * np.uint64(n)


cross_and_mutate = kernel(_cross_and_mutate)


def _select_parent(wheel: Floats, random_state: Words) -> int:
    """The roulette: a place drawn in proportion to its share of the cumulative wheel."""
    ball = draw_uniform(random_state) * wheel[-1]
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


select_parent = kernel(_select_parent)


def _make_generation(
    points: Floats,
    k: int,
    penalty: float,
    rates: tuple[float, float],
    spared: int,
    parents: Population,
    children: Population,
    work: Workspace,
) -> None:
    """One generation: roulette, one-point crossover per pair, per-gene mutation. The first `spared` children stay."""
    population, n = parents.genes.shape
    # Taken out of their tuples once: passing a tuple of arrays to every child costs more than the child itself.
    genes, offspring, wheel, counts, random_state = (
        parents.genes,
        children.genes,
        work.wheel,
        work.counts,
        work.random_state,
    )
    total = 0.0
    for place in range(population):
        total += penalty if parents.sse[place] == np.inf else 1.0 / (1.0 + parents.sse[place])
        wheel[place] = total
    for first in range(spared, population, 2):
        pair = (select_parent(wheel, random_state), select_parent(wheel, random_state))
        cut = n
        if draw_uniform(random_state) < rates[0]:
            cut = 1 + draw_below(random_state, n - 1)
        for place in range(first, min(first + 2, population)):
            cross_and_mutate(genes, pair, cut, offspring, place, rates[1], counts.size, random_state)
            children.sse[place] = (
                compute_sse(points, offspring[place], work) if is_valid(offspring, place, k, counts) else np.inf
            )
            pair = (pair[1], pair[0])


make_generation = kernel(_make_generation)


def _total_squares(points: Floats) -> float:
    """SST: squared distances to the grand mean."""
    total = 0.0
    for column in range(points.shape[1]):
        mean = points[:, column].mean()
        for record in range(points.shape[0]):
            total += (points[record, column] - mean) ** 2
    return total


total_squares = kernel(_total_squares)


def _has_converged(genes: Int32s, crossover_rate: float) -> bool:
    """Whether a population that never mutates can bring nothing new: it never crosses, or all are the same."""
    if crossover_rate == 0.0:
        return True
    for place in range(1, genes.shape[0]):
        for gene in range(genes.shape[1]):
            if genes[place, gene] != genes[0, gene]:
                return False
    return True


has_converged = kernel(_has_converged)


def _initialise_population(points: Floats, k: int, start: Int32s, chromosomes: Population, best: Best) -> None:
    """Fill the first population and the best of it.

    `points` float64[n, p]; `start` int32[n].
    """
    population, n = chromosomes.genes.shape
    work = make_workspace(points, n // k, population, best.random_state)
    tolerance = 1e-12 * total_squares(points)
    best.sse[0] = np.inf
    for place in range(population):
        if place < start.size and place == 0:
            chromosomes.genes[0] = start
            work.counts[:] = 0
            for record in range(n):
                work.counts[start[record]] += 1
        else:
            initialise_chromosome(chromosomes.genes[place], k, work.counts, work.random_state)
        chromosomes.sse[place] = compute_sse(points, chromosomes.genes[place], work)
        if chromosomes.sse[place] < best.sse[0] - tolerance:
            best.sse[0] = chromosomes.sse[place]
            best.genes[:] = chromosomes.genes[place]
    best.epochs[:] = 0


initialise_population = kernel(_initialise_population)


def _evolve(
    points: Floats,
    k: int,
    chromosomes: Population,
    best: Best,
    limits: tuple[int, float],
    rates: tuple[float, float],
    keep_best: bool,
) -> Floats:
    """Some epochs more, in place; the best SSE after each of them.

    →          float64[epochs]

    An SSE within 10⁻¹² SST of the best is the same partition under other letters, hence no progress.
    Epochs are passed over only where nothing can change any more. Two calls do what one call of all their epochs does.

    `keep_best`: whether the best ever also holds a place in every population.
    """
    population, n = chromosomes.genes.shape
    epochs, least = limits
    work = make_workspace(points, n // k, population, best.random_state)
    parents = chromosomes
    children = Population(np.empty((population, n), np.int32), np.empty(population, np.float64))
    sst = total_squares(points)
    penalty, tolerance = 1e-3 / (1.0 + sst), 1e-12 * sst
    history = np.empty(epochs, np.float64)
    spared = 1 if keep_best else 0
    passed = best.epochs[1]
    for epoch in range(epochs):
        # Half the tolerance allows for the rounding of whoever computed the least SSE.
        if best.sse[0] <= least + tolerance / 2 or (rates[1] == 0.0 and has_converged(parents.genes, rates[0])):
            history[epoch:] = best.sse[0]
            break
        if keep_best:
            children.genes[0] = best.genes
            children.sse[0] = best.sse[0]
        make_generation(points, k, penalty, rates, spared, parents, children, work)
        for place in range(spared, population):
            if children.sse[place] < best.sse[0] - tolerance:
                best.sse[0] = children.sse[place]
                best.genes[:] = children.genes[place]
                best.epochs[0] = passed + epoch + 1
        history[epoch] = best.sse[0]
        parents, children = children, parents
    chromosomes.genes[:] = parents.genes
    chromosomes.sse[:] = parents.sse
    best.epochs[1] = passed + epochs
    return history


evolve = kernel(_evolve)
