"""The search over attribute groupings: its encoding, its operators, its promises, and what it refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.encodings.grouping import count_groups_in_grouping
from crypsis.engines import engine
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Budget, State, evolve
from crypsis.measures.measure import measures
from crypsis.measures.objective import Objective
from crypsis.searches.gomm import (
    Evaluator,
    GommSearch,
    cluster_gomm_attributes,
    genome_of_listed_groups,
    group_correlated_for_gomm,
    grouping_of_one_group,
    groups_of,
    heuristic_gomm_groupings,
    isolate_for_gomm_operators,
    paper_fitness,
    separate_for_gomm_operators,
)
from crypsis.searches.gomm import operators as ops
from crypsis.searches.gomm.operators import GroupingCandidates
from crypsis.searches.search import searches
from crypsis.table.table import Table
from reference import numeric


def table_of(values):
    names = [f"a{j + 1}" for j in range(values.shape[1])]
    return Table.from_columns({n: values[:, j].tolist() for j, n in enumerate(names)}, dict.fromkeys(names, "quasi"))


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(7)
    hidden = rng.normal(size=(60, 2))
    return table_of(hidden @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(60, 6)))


def small_search(**more):
    return GommSearch(**{"k": 4, "population": 20, "generations": 6, "crossovers": 4, "local_searches": 2} | more)


def states(search, table, seed=0, state=None, where=None, chosen=None):
    rng = np.random.default_rng(seed)
    return list(
        evolve(
            search.pose(table, Objective(table, chosen) if chosen else None, rng), rng, search.budget(), where, state
        )
    )


# -- encoding and operators --


def test_the_papers_crossover_of_figure_4():
    first = genome_of_listed_groups([[0, 3], [1, 4], [2]], 5, 3)  # ABCAB | ABC
    second = genome_of_listed_groups([[0, 1, 2], [3, 4]], 5, 3)  # DDDEE | DE
    child = ops.inject(first, second, 1, 3)  # crossing site {B, C}
    assert child[:-1].tolist() == [2, 0, 1, 3, 0], "DBCEB | BCDE"
    other = ops.inject(second, first, 0, 1)  # crossing site {D}
    assert other[:-1].tolist() == [0, 0, 0, 1, 2], "DDDAB | DAB"


def test_clones_share_a_key_and_k_is_part_of_it():
    space = GroupingCandidates(4, 3, 3)
    one, clone = np.array([0, 1, 0, 2, 3]), np.array([2, 0, 2, 1, 3])
    assert space.key(one) == space.key(clone)
    assert space.key(one) != space.key(np.array([0, 1, 0, 2, 4]))
    assert groups_of(clone) == ((0, 2), (1,), (3,))


OPERATORS = [
    ops.Crossover(), ops.GroupCreate(), ops.GroupEliminate(), ops.GroupSplit(), ops.ElementSwap(), ops.ElementMove(),
    ops.KMutation(3, 9), ops.LocalSearch(3),
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**32), st.sampled_from(OPERATORS))
def test_operators_make_valid_genomes_and_leave_their_parents_alone(p, seed, operator):
    rng = np.random.default_rng(seed)
    parents = GroupingCandidates(p, 3, 9, "log-uniform").draw(rng, operator.arity)
    before = [parent.copy() for parent in parents]
    children = operator.apply(parents, rng)
    assert all((a == b).all() for a, b in zip(parents, before, strict=True))
    for child in children:
        assert child.shape == (p + 1,)
        assert child.dtype == np.int32
        assert set(child[:-1].tolist()) == set(range(count_groups_in_grouping(child))), (
            "labels are 0, 1, … without gaps"
        )
        assert 3 <= child[-1] <= 9


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 8), st.integers(0, 2**32))
def test_mutations_do_what_their_names_say(p, seed):
    rng = np.random.default_rng(seed)
    (parent,) = GroupingCandidates(p, 3, 3, "log-uniform").draw(rng, 1)
    before = count_groups_in_grouping(parent)

    def child(operator):
        return operator.apply([parent], rng)[0]

    assert count_groups_in_grouping(child(ops.GroupEliminate())) == max(1, before - 1)
    split = child(ops.GroupSplit())
    assert count_groups_in_grouping(split) - before in (0, 1)
    sizes = sorted(len(group) for group in groups_of(child(ops.ElementSwap())))
    assert sizes == sorted(len(group) for group in groups_of(parent))
    moved = child(ops.ElementMove())
    assert count_groups_in_grouping(moved) in ((1,) if before == 1 else (before - 1, before))
    if before == 1:
        assert (moved == parent).all()
        assert (child(ops.GroupEliminate()) == parent).all()
    if before == p:
        assert (split == parent).all(), "a single attribute cannot be split"


# -- ad-hoc groupings --


def test_correlated_attributes_together_and_apart_by_hand():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=200), rng.normal(size=200)
    values = np.column_stack([x, y, x + 0.01 * rng.normal(size=200), -y + 0.01 * rng.normal(size=200)])
    assert group_correlated_for_gomm(values, 2) == ((0, 2), (1, 3))
    assert all(len({0, 2} & set(group)) == 1 for group in separate_for_gomm_operators(values, 2))
    assert ((0, 2), (1, 3)) in cluster_gomm_attributes(values)
    assert heuristic_gomm_groupings(values)[:2] == [grouping_of_one_group(4), isolate_for_gomm_operators(4)]
    with pytest.raises(SearchError, match="give 1 to 4"):
        group_correlated_for_gomm(values, 5)


def test_fours_of_census_are_the_papers_own():
    census = numeric("census.csv")[:, :12]
    found = {tuple(a + 1 for a in group) for group in group_correlated_for_gomm(census, 4)}
    assert found == {(2, 4, 6, 7), (5, 10, 11, 12), (1, 3, 8, 9)}


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32), st.data())
def test_groupings_by_heuristics_are_groupings(p, seed, data):
    values = np.random.default_rng(seed).normal(size=(20, p)).round(data.draw(st.integers(0, 2)))
    values[:, 0] = 1.0
    n = data.draw(st.integers(1, p))
    for groups in [
        *heuristic_gomm_groupings(values),
        group_correlated_for_gomm(values, n),
        separate_for_gomm_operators(values, n),
    ]:
        assert sorted(itertools.chain(*groups)) == list(range(p))
    assert max(map(len, group_correlated_for_gomm(values, n))) <= n
    assert max(map(len, separate_for_gomm_operators(values, n))) <= n


# -- the search --


@pytest.mark.parametrize(
    "settings", [{"recipe": "best"}, {"recipe": "pareto"}, {"recipe": "paper", "start": "heuristic"}]
)
def test_never_worse_than_plain_mdav_or_univariate_from_the_heuristic_start(small, settings):
    search = small_search(**settings)
    final = states(search, small)[-1]
    convention = search.scoring_convention()
    evaluator = Evaluator(small.numbers(small.names), convention)
    for groups in (grouping_of_one_group(6), isolate_for_gomm_operators(6)):
        assert final.best_fitness <= evaluator.fitness(genome_of_listed_groups(groups, 6, 4)).score + 1e-12


@pytest.mark.parametrize("recipe", ["paper", "dynamic"])
def test_the_paper_starts_at_random_and_ours_from_groupings_by_heuristics(small, recipe):
    first, seeded = (
        [groups_of(genome) for genome in search.pose(small, None, np.random.default_rng(0)).start]
        for search in (small_search(recipe=recipe), small_search(recipe=recipe, start="heuristic"))
    )
    assert len(first) == len(seeded) == small_search().population
    assert grouping_of_one_group(6) not in first
    assert seeded[:2] == [grouping_of_one_group(6), isolate_for_gomm_operators(6)]


def test_recipe_paper_is_the_paper():
    paper, dynamic = GommSearch(recipe="paper"), GommSearch(recipe="dynamic")
    assert (paper.population, paper.generations, paper.crossovers, paper.group_creates) == (200, 100, 25, 10)
    assert (paper.scaling, paper.ending, paper.metric, paper.interval) == ("range", "gomm", "manhattan", "value")
    assert (paper.copies, paper.local_searches, paper.disable_operators, dynamic.disable_operators) == (
        0,
        0,
        False,
        True,
    )
    assert (paper.start, dynamic.start, GommSearch().start) == ("random", "random", "heuristic")
    assert GommSearch(recipe="paper", copies=1, metric="euclidean").metric == "euclidean"
    assert GommSearch(convention="paper").ending == "gomm"
    for name in ("best", "paper", "dynamic", "pareto"):
        search = GommSearch(recipe=name)
        assert GommSearch(**search.model_dump(exclude_unset=True)) == search


def test_scores_are_the_plain_function(small):
    final = states(small_search(recipe="paper"), small)[-1]
    for genome, row in zip(final.genomes[:5], final.scores[:5], strict=True):
        fitness = paper_fitness(small.numbers(small.names), groups_of(genome), 4)
        assert tuple(row) == pytest.approx((fitness.IL, (fitness.ID + fitness.DLD) / 2), abs=1e-9)


@pytest.mark.parametrize("recipe", ["best", "dynamic", "pareto"])
def test_resume_and_two_processes_give_the_same_bits(small, recipe):
    muting = {"disable_after": 2, "disable_window": 1} if recipe == "dynamic" else {}
    search = small_search(recipe=recipe, largest_k=8, **muting)
    whole = states(search, small)
    resumed = states(search, small, state=State.from_bytes(whole[3].to_bytes()))
    assert [s.to_bytes() for s in resumed] == [s.to_bytes() for s in whole[4:]]
    if recipe == "best":
        with engine("processes", workers=2) as two:
            there = states(search, small, where=two)
        assert [s.to_bytes() for s in there] == [s.to_bytes() for s in whole]


def test_the_default_fitness_is_that_of_the_registered_measures(small):
    chosen = {name: measures.build(name) for name in ("sse-ratio", "interval-disclosure", "record-linkage")}
    quick, slow = (
        small_search(local_searches=0, population=8).pose(small, given, np.random.default_rng(3))
        for given in (None, Objective(small, chosen))
    )
    for genome in quick.start:
        assert quick.evaluate(genome) == pytest.approx(slow.evaluate(genome), abs=1e-9)
    with pytest.raises(SearchError, match="at least one of each"):
        Objective(small, {"sse-ratio": chosen["sse-ratio"]})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"k_mutations": 5}, "k_mutations moves nothing while k is fixed"),
        ({"recipe": "paper", "elites": 3}, "elites moves nothing without local search"),
        ({"disable_window": 5}, "disable_window moves nothing without disable_operators"),
        ({"partitioner": "cbfs", "metric": "manhattan"}, "metric moves nothing without partitioner 'mdav'"),
        ({"initial_population": 10, "population": 20}, "initial_population moves nothing up to a population of 20"),
    ],
)
def test_settings_that_would_move_nothing_are_refused(given, sentence):
    with pytest.raises(PlanError, match=sentence):
        searches.build("gomm", **given)


def test_what_a_recipe_sets_is_not_refused():
    assert GommSearch(partitioner="cbfs", convention="paper").metric == "manhattan"


def test_any_partitioner_may_cluster(small):
    plain, other = (states(small_search(generations=2, partitioner=name), small)[-1] for name in ("mdav", "v-mdav"))
    assert plain.best_fitness != other.best_fitness
    with pytest.raises(PlanError, match="no partitioner"):
        small_search(partitioner="mdva").pose(small, None, np.random.default_rng(0))


def test_pareto_with_free_k_spans_a_curve(small):
    final = states(small_search(recipe="pareto", largest_k=20, generations=12), small)[-1]
    ks = {int(genome[-1]) for genome in final.frontier.genomes}
    assert len(ks) > 2
    assert all(4 <= k <= 20 for k in ks)
    assert len(final.frontier) >= 5


def decoded(encoding, problem, candidate):
    """The table of a candidate, and its description."""
    genome = problem.express_candidate(candidate)
    masked = encoding.decode(genome)
    return masked, encoding.describe(genome, masked)


def test_decoded_tables_and_their_description(small):
    search = small_search()
    encoding = search.encoding(small)
    problem = search.problem(encoding, None, np.random.default_rng(0))
    together, apart = problem.start[:2]
    masked, description = decoded(encoding, problem, together)
    _, sizes = np.unique(masked.numbers(masked.names), axis=0, return_counts=True)
    assert sizes.min() == description.facts["effective_k"] >= 4
    assert "k = 4 holds over all 6 quasi-identifiers: effective k is 4, no record is unique" in description.message
    assert np.allclose(masked.numbers(masked.names).mean(axis=0), small.numbers(small.names).mean(axis=0))
    _, alone = decoded(encoding, problem, apart)
    assert alone.facts["effective_k"] == 1
    assert alone.facts["unique_percent"] > 0
    assert "a1 alone; a2 alone" in alone.message
    assert "does not hold" in alone.message
    assert f"effective k is 1, {alone.facts['unique_percent']:.1f} % of the records are unique" in alone.message
    together_text = "a1, a2, a3, a4, a5 and a6 averaged together; clusters of at least 4 records"
    assert description.message.startswith(together_text)


def test_other_quasi_identifiers_count_in_the_effective_k():
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=40), "y": rng.normal(size=40), "person": [f"p{i}" for i in range(40)]}
    table = Table.from_columns({n: list(c) for n, c in columns.items()}, dict.fromkeys(columns, "quasi"))
    encoding = small_search().encoding(table)
    problem = small_search().problem(encoding, None, rng)
    masked, description = decoded(encoding, problem, problem.start[0])
    assert description.facts["effective_k"] == 1
    assert masked.column("person").tolist() == table.column("person").tolist()


def test_suppressed_records_and_filled_gaps():
    values = np.random.default_rng(1).normal(size=(30, 3))
    values[4, 1] = np.nan
    table = table_of(values).without(np.arange(30) == 7)
    search = small_search(missing="mean", generations=2)
    encoding = search.encoding(table)
    problem = search.problem(encoding, None, np.random.default_rng(0))
    masked, _ = decoded(encoding, problem, problem.start[0])
    assert masked.column("a1")[7] == values[7, 0], "a suppressed record stays as it is"
    assert not np.isnan(masked.column("a2")).any()


def test_missing_values_stay_missing_and_blank_their_cluster():
    values = np.random.default_rng(1).normal(size=(30, 3))
    values[:4, 1] = np.nan
    values[9, 0] = np.nan
    table = table_of(values)
    search = small_search(generations=2)
    encoding = search.encoding(table)
    problem = search.problem(encoding, None, np.random.default_rng(0))
    masked, description = decoded(encoding, problem, problem.start[1])  # every column alone, clusters of 4
    assert np.isnan(masked.column("a2")).tolist() == np.isnan(values[:, 1]).tolist(), "four lack it: a cluster"
    assert np.flatnonzero(np.isnan(masked.column("a1"))).tolist() == sorted([9, *np.argsort(values[:, 0])[-4:-1]]), (
        "the one that lacks it is put with the three largest"
    )
    assert not np.isnan(masked.column("a3")).any()
    assert description.facts["blanked"] == 3
    assert "3 cells of a1 blanked" in description.message


def test_operator_tallies_are_recorded(small):
    final = states(small_search(recipe="paper", local_searches=0), small)[-1]
    rows = final.tally.table()
    assert {row["operator"] for row in rows} == {
        "crossover", "group create", "group eliminate", "group split", "element swap", "element move",
    }  # fmt: skip
    assert len(rows) == 6 * 6


# -- what cannot be grouped --


def refusal(table, **more):
    search = small_search(**more)
    sentence = search.obstacle(table)
    with pytest.raises(SearchError) as caught:
        search.pose(table, None, np.random.default_rng(0))
    assert sentence in str(caught.value)
    return sentence


def test_bad_tables_are_refused_by_name_with_the_remedy():
    values = np.random.default_rng(0).normal(size=(30, 3))
    assert "only 'a1' is there" in refusal(table_of(values[:, :1]))
    assert "3 records cannot form a cluster of 4" in refusal(table_of(values[:3]))
    assert "cluster of 31" in refusal(table_of(values), largest_k=31)
    assert "largest_k of at least k" in refusal(table_of(values), largest_k=3)
    gaps = values.copy()
    gaps[0, 2] = np.nan
    assert "column 'a3' has missing values" in refusal(table_of(gaps), missing="refuse")
    gaps[1, 0] = np.nan
    assert "columns 'a1', 'a3' have missing values" in refusal(table_of(gaps), missing="refuse")
    assert 'missing = "keep"' in refusal(table_of(gaps), missing="refuse")
    infinite = values.copy()
    infinite[0, 2] = np.inf
    assert "column 'a3' holds infinite values" in refusal(table_of(infinite))
    words = Table.from_columns({"x": [1.0] * 9, "town": list("abcabcabc")}, {"x": "quasi", "town": "quasi"})
    assert "column 'town' does not hold numbers" in refusal(words, columns=("x", "town"))
    assert "only 'x' is" in refusal(words)
    assert "no numeric quasi-identifier" in refusal(words.with_roles({"x": "other"}))
    assert "there is no column 'z'" in refusal(words, columns=("x", "z"))


def test_constant_attributes_are_carried_along():
    values = np.random.default_rng(0).normal(size=(30, 3))
    values[:, 1] = 5.0
    final = states(small_search(generations=2), table_of(values))[-1]
    assert np.isfinite(final.scores).all()
    everything = table_of(np.full((12, 3), 2.0))
    assert states(small_search(generations=1), everything)[-1].best_scores[0] == 0.0


def test_settings_are_bounded_and_the_search_is_registered():
    assert searches["gomm"] is GommSearch
    with pytest.raises(PlanError, match="k: input should be greater"):
        searches.build("gomm", k=1)
    with pytest.raises(PlanError, match="did you mean 'crossovers'"):
        searches.build("gomm", crosovers=1)
    kinds = ["group_creates", "group_eliminates", "group_splits", "element_swaps", "element_moves"]
    idle = dict.fromkeys([*kinds, "crossovers", "local_searches"], 0)
    with pytest.raises(SearchError, match="let at least one work"):
        GommSearch(**idle).pose(table_of(np.random.default_rng(0).normal(size=(30, 3))), None, np.random.default_rng(0))


def test_census_of_a_hundred_is_solved():
    values = numeric("census.csv")[:, :12]
    rng = np.random.default_rng(0)
    problem = GommSearch(recipe="best", convention="paper", k=100).pose(table_of(values), None, rng)
    final = list(evolve(problem, rng, Budget(generations=40, target=15.3138)))[-1]
    assert final.best_fitness == pytest.approx(15.3137, abs=1e-4)
