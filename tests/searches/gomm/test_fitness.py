"""The fitness of GOMM against its published tables, its definition, and itself without any memory."""

from __future__ import annotations

import csv
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import SearchError, TableError
from crypsis.kernels import groupings as kernels
from crypsis.kernels import partitions
from crypsis.searches.gomm import (
    PAPER,
    Convention,
    Evaluator,
    Fitness,
    genome_of_listed_groups,
    groups_of,
    paper_fitness,
)
from naive import groupings as naive
from reference import numeric, reference

EXPERIMENT = Path(__file__).resolve().parents[3] / "experiments" / "gomm-2014"
RECOVERED = {
    ("GOMM50", 50): (18.363, 18.155, 6.020, 15.2255),
    ("GOMM100", 100): (16.911, 21.854, 5.578, 15.3137),
}
"""Two groupings that the published rows of Table 2 turn out to be, to three digits."""


def rows(name):
    with (EXPERIMENT / name).open() as file:
        return list(csv.DictReader(file))


def water():
    with reference("water_treatment.csv").open() as file:
        cells = [line.strip().split(",")[1:] for line in file][1:]
    return np.array([[float(cell) for cell in row] for row in cells if all(row)])


@pytest.fixture(scope="module")
def tables():
    return {"Census": numeric("census.csv")[:, :12], "Water": water()}


@pytest.fixture(scope="module")
def configurations():
    return {
        (row["set"], row["row"]): [[int(a) - 1 for a in group.split()] for group in row["groups"].split("|")]
        for row in rows("groupings.csv")
    }


def printed():
    """(set, grouping, k, quantity, value, band): the cells of the paper's tables that no search had a hand in."""
    one = {"Table 1": ("Water", "G38"), "Table 2": ("Census", "G12")}
    whole = {"Table 6": ("Census", {"G12", "G1", "G4c", "G4nc", "G3c", "G3nc"}),
             "Table 5": ("Water", {"G38", "G1", "G10nc", "G5c"})}  # fmt: skip
    cells = rows("expected.csv")
    single = {(c["table"], c["row"]) for c in cells if c["column"] == "groups" and c["value"] == "1"}
    for cell in cells:
        table, row, column, value = (cell[name] for name in ("table", "row", "column", "value"))
        if table in one and (table, row) in single and column != "groups":
            yield (*one[table], int(row.removeprefix("k=")), column, float(value), 0.01)
        elif table in whole and row in whole[table][1] and column.startswith("k="):
            yield whole[table][0], row, int(column.removeprefix("k=")), "score", float(value), 0.1
    for (row, k), values in RECOVERED.items():
        for quantity, value in zip(Fitness._fields, values, strict=True):
            yield "Census", row, k, quantity, value, 0.001


def test_the_papers_tables(tables, configurations):
    evaluators = {name: Evaluator(values, PAPER) for name, values in tables.items()}
    expected = list(printed())
    assert len(expected) == 5 * 4 + 30 + 20 + 2 * 4
    for name, row, k, quantity, value, band in expected:
        evaluator = evaluators[name]
        fitness = evaluator.fitness(genome_of_listed_groups(configurations[name, row], evaluator.points.shape[1], k))
        assert getattr(fitness, quantity) == pytest.approx(value, abs=band), (name, row, k, quantity)


def test_paper_fitness_is_that_function(tables, configurations):
    found = paper_fitness(tables["Census"], configurations["Census", "GOMM100"], 100)
    assert isinstance(found, Fitness)
    assert found == pytest.approx(RECOVERED["GOMM100", 100], abs=1e-3)


def test_four_records_by_hand():
    # One attribute 0, 1, 9, 10; k = 2: clusters {0, 1} and {9, 10}, on the unit scale centres 0.05 and 0.95.
    found = paper_fitness([[0.0], [1.0], [9.0], [10.0]], [[0]], 2)
    assert pytest.approx(100 * 4 * 0.05**2 / (2 * 0.5**2 + 2 * 0.4**2)) == found.IL
    # |x − x'| = 0.05: inside w·0.05 never, inside w·0.95 for w = 6 … 10 %, two of the four cells
    assert pytest.approx(100 * 2 * 5 / 40) == found.ID
    assert pytest.approx(50.0) == found.DLD


@st.composite
def cases(draw):
    n, p = draw(st.integers(4, 24)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.normal(size=(n, p)) if draw(st.booleans()) else rng.integers(0, 4, size=(n, p)).astype(float)
    labels = rng.integers(p, size=p)
    groups = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]
    return values, groups, draw(st.integers(1, n))


@settings(max_examples=40, deadline=None)
@given(cases())
def test_fitness_equals_its_definition(case):
    values, groups, k = case
    points = naive.range_scaled(values)

    def clusters(columns):
        # Ties decide MDAV's clusters on coarse data, so the kernel's own clusters are judged from the definition.
        labels = partitions.mdav(np.ascontiguousarray(columns), k, partitions.GOMM, partitions.MANHATTAN)
        return [np.flatnonzero(labels == g) for g in np.unique(labels)]

    assert paper_fitness(values, groups, k) == pytest.approx(
        naive.judged(points, naive.masked(points, groups, clusters)), abs=1e-9
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6))
def test_fitness_equals_its_definition_with_plain_mdav(seed, k):
    values = np.random.default_rng(seed).normal(size=(23, 3))
    points, groups = naive.range_scaled(values), [[0, 2], [1]]
    expected = naive.judged(points, naive.masked(points, groups, lambda columns: naive.mdav_gomm(columns, k)))
    assert paper_fitness(values, groups, k) == pytest.approx(expected, abs=1e-9)


CONVENTIONS = [PAPER, Convention(), Convention(interval="deviation", loss_weight=0.3, interval_weight=0.8)]


@settings(max_examples=40, deadline=None)
@given(cases(), st.sampled_from(CONVENTIONS), st.integers(0, 2**32))
def test_remembered_fitness_equals_the_full_one_along_random_moves(case, convention, seed):
    values, groups, k = case
    rng, p = np.random.default_rng(seed), values.shape[1]
    evaluator = Evaluator(values, convention)
    forgetful = Evaluator(values, convention, megabytes=0.0, largest_block=0)
    genome = genome_of_listed_groups(groups, p, k)
    for _ in range(6):
        genome = genome.copy()
        genome[rng.integers(p)] = rng.integers(p)
        quick = evaluator.fitness(genome)
        assert quick == pytest.approx(evaluator.fitness_in_full(genome), abs=1e-9)
        assert quick == pytest.approx(forgetful.fitness(genome), abs=1e-9)
        clone = genome.copy()
        clone[:-1] = p - 1 - genome[:-1]
        assert evaluator.fitness(clone) == quick, "clones agree to the last bit"


def test_memory_is_bounded_and_counted():
    values = np.random.default_rng(0).normal(size=(60, 6))
    small = Evaluator(values, megabytes=0.045)
    for label in range(6):
        genome = np.array([0, 1, 2, label, 1, 0, 5], dtype=np.int32)
        small.fitness(genome)
    assert small._arena.nbytes <= 45_000
    assert len(small._partitions) <= len(small._arena) < small.counts.group_evaluations
    roomy = Evaluator(values)
    first = roomy.fitness(genome)
    assert roomy.fitness(genome) == first
    groups = len(groups_of(genome))
    assert (roomy.counts.evaluations, roomy.counts.groups_asked, roomy.counts.hits) == (2, 2 * groups, groups)


def test_a_copy_sent_to_a_worker_scores_alike_and_remembers_nothing():
    evaluator = Evaluator(np.random.default_rng(1).normal(size=(30, 4)), PAPER)
    genome = genome_of_listed_groups([[0, 1], [2, 3]], 4, 3)
    scores = evaluator(genome)
    copy = pickle.loads(pickle.dumps(evaluator))
    assert copy.counts.evaluations == 0
    assert copy(genome) == scores


def test_splitting_attributes_states_what_is_left_of_k():
    values = np.random.default_rng(2).normal(size=(40, 4))
    evaluator = Evaluator(values)
    together = evaluator.anonymity(genome_of_listed_groups([range(4)], 4, 5))
    apart = evaluator.anonymity(genome_of_listed_groups([[a] for a in range(4)], 4, 5))
    assert together.effective_k >= 5
    assert together.unique == 0.0
    assert apart.effective_k == 1
    clusters = np.stack(evaluator.clusters(genome_of_listed_groups([[a] for a in range(4)], 4, 5)), axis=1)
    _, sizes = np.unique(clusters, axis=0, return_counts=True)
    assert apart.unique == pytest.approx(100.0 * (sizes == 1).sum() / 40)


def test_distinct_columns_of_labels():
    classes, first, sizes = kernels.classes(np.array([[0, 2, 0, 0], [1, 1, 1, 2]], dtype=np.int32))
    assert classes.tolist() == [0, 1, 0, 2]
    assert first.tolist() == [0, 1, 3]
    assert sizes.tolist() == [2, 1, 1]


def test_constant_and_single_attributes():
    values = np.column_stack([np.full(10, 7.0), np.arange(10.0)])
    found = paper_fitness(values, [[0], [1]], 3)
    assert found == pytest.approx(paper_fitness(values, [[1], [0]], 3))
    assert paper_fitness(np.full((5, 1), 3.0), [[0]], 2).IL == 0.0
    assert pytest.approx(100.0) == paper_fitness(np.arange(3.0)[:, None], [[0]], 3).IL


@pytest.mark.parametrize(
    "values, groups, k, sentence",
    [
        ([[1.0], [2.0]], [[0]], 3, "2 records cannot form a cluster of 3"),
        ([[1.0, np.nan], [2.0, 3.0]], [[0, 1]], 2, r"attributes \[1\].*missing"),
        ([[1.0, np.inf], [2.0, 3.0]], [[0, 1]], 2, "infinite"),
        ([1.0, 2.0], [[0]], 1, "shape"),
        ([[1.0], [2.0]], [[0]], 0, "at least 1"),
        ([[1.0, 1.0], [2.0, 3.0]], [[0]], 2, r"leaves out attributes \[1\]"),
        ([[1.0, 1.0], [2.0, 3.0]], [[0, 1], [1]], 2, "attribute 1 twice"),
        ([[1.0, 1.0], [2.0, 3.0]], [[0, 2], [1]], 2, "names attribute 2"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(values, groups, k, sentence):
    with pytest.raises((TableError, SearchError), match=sentence):
        paper_fitness(values, groups, k)


def test_words_are_refused_by_number_and_never_repeated():
    with pytest.raises(TableError, match=r"attributes \[1\] \(numbered from 0\) do not hold numbers") as caught:
        paper_fitness([[1.0, "secret", 2.0], [3.0, "town", 4.0]], [[0, 1, 2]], 2)
    assert "secret" not in str(caught.value)
    with pytest.raises(TableError, match="do not hold numbers"):
        paper_fitness("abc", [[0]], 2)
