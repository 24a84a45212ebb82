"""The compiled genetic loop against its plain twin, and its parts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.genetic as naive
from crypsis.kernels import genetic
from crypsis.searches.partitions.lower_bound import optimal_partition

NONE = np.empty(0, dtype=np.int32)


def state(seed: int) -> np.ndarray:
    return np.array([seed], dtype=np.uint64)


def work(points: np.ndarray, letters: int) -> genetic.Workspace:
    return genetic.make_workspace(points, letters, 2, state(0))


def evolve(
    points: np.ndarray,
    k: int,
    start: np.ndarray,
    population: int,
    limits: tuple[int, float],
    rates: tuple[float, float],
    keep_best: bool,
    seed: int,
    pieces: int = 1,
    compiled: bool = True,
) -> tuple[np.ndarray, float, int, np.ndarray]:
    """A whole run in so many pieces: the best chromosome, its SSE, the epoch that met it, the best after each epoch."""
    n, (epochs, least) = len(points), limits
    brood = genetic.Population(np.empty((population, n), np.int32), np.empty(population))
    best = genetic.Best(np.empty(n, np.int32), np.empty(1), np.empty(2, np.int64), state(seed))
    (genetic.initialise_population if compiled else genetic._initialise_population)(points, k, start, brood, best)
    history = [best.sse.copy()]
    for piece in range(pieces):
        share = epochs * (piece + 1) // pieces - epochs * piece // pieces
        more = genetic.evolve if compiled else genetic._evolve
        history.append(more(points, k, brood, best, (share, least), rates, keep_best))
    assert best.epochs[1] == epochs
    return best.genes, float(best.sse[0]), int(best.epochs[0]), np.concatenate(history)


def judged(points: np.ndarray, k: int, chromosome: list[int]) -> float:
    scratch = work(points, len(points) // k)
    genes = np.array([chromosome], dtype=np.int32)
    assert genetic.is_valid(genes, 0, k, scratch.counts)
    return genetic.compute_sse(points, genes[0], scratch)


def test_generator_is_splitmix64() -> None:
    """The first words from seed 1234567, as published with the algorithm."""
    random_state = naive.SplitMix(1234567)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [random_state.word() for _ in range(3)] == published
    words = state(1234567)
    assert [genetic.draw_uniform(words) for _ in range(3)] == [(word >> 11) / 2**53 for word in published]


def test_sse_by_hand() -> None:
    points = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0], [4.0, 3.0]])
    assert judged(points, 2, [0, 0, 1, 1]) == pytest.approx(2.0 + 8.0)


@pytest.mark.parametrize("chromosome", [[0, 0, 0, 1], [0, 0, 0, 0]], ids=["too small", "too large"])
def test_what_is_no_partition_is_not_evaluated(chromosome: list[int]) -> None:
    assert not genetic.is_valid(np.array([chromosome], np.int32), 0, 2, np.empty(2, np.int64))


def test_an_unused_letter_is_no_violation() -> None:
    assert judged(np.arange(5.0)[:, None], 2, [1, 1, 0, 0, 0]) == pytest.approx(0.5 + 2.0)
    assert judged(np.arange(6.0)[:, None], 2, [2, 2, 2, 0, 0, 0]) == pytest.approx(4.0)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(4, 140),
    k=st.integers(2, 6),
    moves=st.integers(0, 4),
    emptied=st.booleans(),
    seed=st.integers(0, 2**63),
)
def test_the_sizes_of_letters_decide_whether_it_is_a_partition(
    n: int, k: int, moves: int, emptied: bool, seed: int
) -> None:
    """Of candidates with a few records moved, with fewer and with more letters than one word counts."""
    n = max(n, 2 * k)
    letters, rng = n // k, np.random.default_rng(seed)
    genes, counts = np.empty((2, n), np.int32), np.empty(letters, np.int64)
    genetic.initialise_chromosome(genes[1], k, counts, state(seed))
    if emptied:
        genes[1][genes[1] == 0] = letters - 1
    genes[1, rng.integers(n, size=moves)] = rng.integers(letters, size=moves)
    sizes = np.bincount(genes[1], minlength=letters)
    lawful = all(size == 0 or k <= size < 2 * k for size in sizes)
    assert genetic.is_valid(genes, 1, k, counts) == lawful
    if lawful:
        assert counts.tolist() == sizes.tolist()


@settings(max_examples=30, deadline=None)
@given(n=st.integers(4, 40), k=st.integers(2, 6), seed=st.integers(0, 2**63))
def test_first_chromosomes_are_candidates_with_all_letters(n: int, k: int, seed: int) -> None:
    letters = max(n, 2 * k) // k
    chromosome, counts = np.empty(max(n, 2 * k), dtype=np.int32), np.zeros(letters, dtype=np.int64)
    genetic.initialise_chromosome(chromosome, k, counts, state(seed))
    sizes = np.bincount(chromosome, minlength=letters)
    assert counts.tolist() == sizes.tolist()
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert chromosome.tolist() == naive.first_chromosome(len(chromosome), k, naive.SplitMix(seed))


def test_roulette_follows_the_shares() -> None:
    wheel, words = np.cumsum([1.0, 0.0, 3.0]), state(5)
    drawn = np.bincount([genetic.select_parent(wheel, words) for _ in range(4000)], minlength=3)
    assert drawn[1] == 0
    assert drawn[2] / 4000 == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize(("rate", "expected"), [(0.0, [0, 0, 1, 1]), (1.0, None)])
def test_children_take_head_and_tail_and_mutate_by_the_rate(rate: float, expected: list[int] | None) -> None:
    parents = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], np.int32)
    children = np.empty((3, 4), np.int32)
    genetic.cross_and_mutate(parents, (0, 1), 2, children, 1, rate, 2, state(0))
    child = children[1]
    if expected is not None:
        assert child.tolist() == expected
    else:
        assert child.tolist() == naive.mutated([0, 0, 1, 1], 2, 1.0, naive.SplitMix(0))


@settings(max_examples=25, deadline=None)
@given(
    k=st.integers(2, 4),
    extra=st.one_of(st.integers(0, 9), st.integers(20, 30)),
    population=st.integers(2, 7),
    rates=st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.1, 0.4])),
    keep_best=st.booleans(),
    started=st.booleans(),
    pieces=st.integers(1, 7),
    seed=st.integers(0, 2**64 - 1),
)
def test_same_run_as_the_plain_twin_in_any_number_of_pieces(
    k: int,
    extra: int,
    population: int,
    rates: tuple[float, float],
    keep_best: bool,
    started: bool,
    pieces: int,
    seed: int,
) -> None:
    n = 2 * k + extra
    points = np.random.default_rng(seed).standard_normal((n, 2))
    start = [min(record // k, n // k - 1) for record in range(n)] if started else []
    labels, sse, epoch, history = evolve(
        points, k, np.array(start, dtype=np.int32), population, (25, -np.inf), rates, keep_best, seed, pieces
    )
    twin = naive.evolve(points, k, start, population, 25, rates, keep_best, seed)
    assert labels.tolist() == twin[0]
    assert sse == pytest.approx(twin[1], rel=1e-9)
    assert epoch == twin[2]
    np.testing.assert_allclose(history, twin[3], rtol=1e-9)


def test_plain_function_is_the_compiled_one() -> None:
    """The undecorated loop over compiled parts gives the same bits."""
    points = np.random.default_rng(1).standard_normal((13, 3))
    arguments = (points, 3, NONE, 5, (40, -np.inf), (0.5, 0.1), True, 3)
    compiled, plain = evolve(*arguments), evolve(*arguments, compiled=False)
    assert compiled[0].tolist() == plain[0].tolist()
    assert compiled[1:3] == plain[1:3]
    assert compiled[0].dtype == plain[0].dtype == np.int32


def test_distances_beyond_the_table_are_the_same() -> None:
    points = np.random.default_rng(1).standard_normal((9, 3))
    scratch = work(points, 3)
    untabled = genetic.Workspace(np.zeros((0, 0)), *scratch[1:])
    chromosome = np.array([0, 1, 2] * 3, dtype=np.int32)
    scratch.counts[:] = 3
    assert genetic.compute_sse(points, chromosome, scratch) == genetic.compute_sse(points, chromosome, untabled)


def test_identical_records_cost_nothing() -> None:
    run = evolve(np.ones((9, 2)), 3, NONE, 4, (10, -np.inf), (0.5, 0.1), True, 0)
    labels, sse, epoch, history = run
    assert (sse, epoch) == (0.0, 0)
    assert labels.tolist() == naive.first_chromosome(9, 3, naive.SplitMix(0)), "no progress after the first"
    assert history.tolist() == [0.0] * 11


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(7, 13),
    population=st.integers(2, 20),
    rates=st.tuples(st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([0.0, 0.1, 0.5])),
    keep_best=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_run_that_ends_at_the_optimum_returns_what_it_would_have(
    n: int, population: int, rates: tuple[float, float], keep_best: bool, seed: int
) -> None:
    points = np.random.default_rng(seed).standard_normal((n, 2))
    least = optimal_partition(points, 3)[1]
    long = evolve(points, 3, NONE, population, (600, -np.inf), rates, keep_best, seed)
    short = evolve(points, 3, NONE, population, (600, least), rates, keep_best, seed)
    assert short[0].tolist() == long[0].tolist()
    assert short[1:3] == long[1:3]
    assert short[3].tolist() == long[3].tolist()


@settings(max_examples=15, deadline=None)
@given(
    population=st.integers(2, 9),
    crossover_rate=st.sampled_from([0.0, 0.5, 1.0]),
    keep_best=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_settled_population_without_mutation_ends_as_the_twin_that_goes_on(
    population: int, crossover_rate: float, keep_best: bool, seed: int
) -> None:
    points = np.random.default_rng(seed).standard_normal((8, 2))
    limits, rates = (120, -np.inf), (crossover_rate, 0.0)
    found = evolve(points, 2, NONE, population, limits, rates, keep_best, seed)
    twin = naive.evolve(points, 2, [], population, 120, rates, keep_best, seed)
    assert (found[0].tolist(), found[2]) == (twin[0], twin[2])
    np.testing.assert_allclose(found[3], twin[3], rtol=1e-9)


def test_settled_is_all_the_same_or_never_crossed() -> None:
    same, mixed = np.ones((3, 4), np.int32), np.array([[0, 1], [0, 1], [1, 0]], np.int32)
    assert genetic.has_converged(same, 1.0)
    assert genetic.has_converged(mixed, 0.0)
    assert not genetic.has_converged(mixed, 0.1)
    assert not genetic.has_converged(mixed[[0, 2, 0]], 0.1)


def test_shares_of_the_roulette_by_hand() -> None:
    """1 / (1 + SSE) for a partition of SSE 1 or 3, the penalty for what is none."""
    points = np.arange(6.0)[:, None]
    scratch = genetic.make_workspace(points, 2, 3, state(5))
    parents = genetic.Population(np.array([[0, 0, 0, 1, 1, 1]] * 3, np.int32), np.array([1.0, np.inf, 3.0]))
    children = genetic.Population(np.zeros((3, 6), np.int32), np.zeros(3))
    genetic.make_generation(points, 3, 0.001, (0.0, 0.0), 1, parents, children, scratch)
    assert scratch.wheel == pytest.approx([0.5, 0.501, 0.751])
    assert children.genes.tolist() == [[0] * 6, [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]]
    assert children.sse == pytest.approx([0.0, 4.0, 4.0])
    assert genetic.total_squares(np.array([[0.0, 1.0], [4.0, 2.0], [5.0, 3.0]])) == pytest.approx(9 + 1 + 4 + 1 + 0 + 1)


def test_crossing_goes_on_without_mutation() -> None:
    """Seven records in two groups, four chromosomes: what crossing them finds, and when, is what the twin finds."""
    points, later = np.random.default_rng(8).standard_normal((7, 2)), 0
    for seed in range(20):
        labels, sse, epoch, _ = evolve(points, 3, NONE, 4, (30, -np.inf), (1.0, 0.0), True, seed)
        twin = naive.evolve(points, 3, [], 4, 30, (1.0, 0.0), True, seed)
        assert (labels.tolist(), epoch) == (twin[0], twin[2])
        assert sse == pytest.approx(twin[1])
        later += epoch > 0
    assert later > 2


def test_a_run_beyond_the_table_of_distances_is_the_twins() -> None:
    points = np.random.default_rng(2).standard_normal((genetic.TABLED + 2, 1))
    labels, sse, epoch, _ = evolve(points, 2, NONE, 2, (2, -np.inf), (1.0, 0.0), True, 4)
    twin = naive.evolve(points, 2, [], 2, 2, (1.0, 0.0), True, 4)
    assert (labels.tolist(), epoch) == (twin[0], twin[2])
    assert sse == pytest.approx(twin[1])


def test_what_is_no_partition_has_a_thousandth_of_the_share_of_one_group() -> None:
    """10⁻³ / (1 + SST): runs with many that are none and an SST next to nothing beside 1, where that decides."""
    points = np.random.default_rng(3).standard_normal((9, 2)) / 100
    for seed in (4, 14):
        labels, _, epoch, history = evolve(points, 2, NONE, 40, (10, -np.inf), (1.0, 0.3), True, seed)
        twin = naive.evolve(points, 2, [], 40, 10, (1.0, 0.3), True, seed)
        assert (labels.tolist(), epoch) == (twin[0], twin[2])
        np.testing.assert_allclose(history, twin[3], rtol=1e-9)


def test_who_redraws_every_gene_and_never_crosses_goes_on() -> None:
    points, later = np.random.default_rng(8).standard_normal((7, 2)), 0
    for seed in range(4):
        labels, _, epoch, _ = evolve(points, 3, NONE, 4, (20, -np.inf), (0.0, 1.0), True, seed)
        twin = naive.evolve(points, 3, [], 4, 20, (0.0, 1.0), True, seed)
        assert (labels.tolist(), epoch) == (twin[0], twin[2])
        later += epoch > 0
    assert later
