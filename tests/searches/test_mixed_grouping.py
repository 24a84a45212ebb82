"""Groupings of columns of any kind: inseparable sets, clusters by effort, demands that are kept, and small quanta."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crypsis
from crypsis.encodings.grouping import GroupingEncoding, groups_of
from crypsis.engines import Serial
from crypsis.errors import PlanError, SearchError
from crypsis.evolution import Budget, Problem, State, evolve
from crypsis.masking.representatives import Representative
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.diversity import LDiversity
from crypsis.searches.gomm import GommSearch
from crypsis.searches.mixed_grouping import (
    ClusterCache,
    MixedGroupingSearch,
    fixed_columns_beside_grouping,
    inseparable_mixed_columns,
)
from crypsis.searches.search import searches
from crypsis.table.builders import build_hierarchy
from crypsis.table.table import LOCAL, Table, lock_table_columns
from naive.equivalence_classes import group_by
from naive.searches import shown

SMALL = {"k": 3, "largest_k": 6, "population": 6, "crossovers": 1}


def knowing(*columns: str, k: int = 3) -> KAnonymity:
    return KAnonymity(k=k, quasi_identifiers=columns)


def quasi(**columns: list) -> Table:
    return Table.from_columns(columns, dict.fromkeys(columns, "quasi"))


def linked(table: Table, name: str, lead: str) -> Table:
    return table.with_columns({}, attributes={name: table.attribute(name).but(linked=lead)})


def problem_of(table: Table, models: tuple = (), **more: object) -> tuple[MixedGroupingSearch, Problem]:
    search = MixedGroupingSearch(**{**SMALL, **more}).under(models, [model.known_columns(table) for model in models])
    return search, search.pose(table, None, np.random.default_rng(1))


def last(problem: Problem, generations: int) -> State:
    *_, state = evolve(problem, np.random.default_rng(2), Budget(generations=generations))
    return state


def smallest(masked: Table, columns: tuple[str, ...]) -> int:
    """By lists of published cells and a dictionary."""
    return min(map(len, group_by(shown(masked, columns)).values()))


# -- inseparable sets of columns --


def test_inseparable_sets_by_hand() -> None:
    table = quasi(a=[1], b=[2], c=[3], d=[4])
    names = table.names
    assert inseparable_mixed_columns(table, names, []) == ((0,), (1,), (2,), (3,))
    assert inseparable_mixed_columns(table, names, [knowing("a", "c"), knowing("b", "d")]) == ((0, 2), (1, 3))
    assert inseparable_mixed_columns(table, names, [knowing("a", "b"), knowing("b", "c")]) == ((0, 1, 2), (3,)), (
        "scenarios that overlap"
    )
    assert inseparable_mixed_columns(table, names, [KAnonymity(k=3)]) == ((0, 1, 2, 3),), "k over all leaves one group"
    assert inseparable_mixed_columns(linked(table, "d", "a"), names, []) == ((0, 3), (1,), (2,))
    assert inseparable_mixed_columns(table, names, [knowing("a", "b")], [("b", "d")]) == ((0, 1, 3), (2,)), (
        "a rule ties b and d"
    )


def test_a_column_that_stays_does_not_join_the_columns_known_beside_it() -> None:
    table = lock_table_columns(quasi(a=[1], sex=["f"], b=[2]), ["sex"])
    models = [knowing("a", "sex"), knowing("b", "sex")]
    assert inseparable_mixed_columns(table, ["a", "b"], models) == ((0,), (1,))
    assert fixed_columns_beside_grouping(table, ["a"], models) == ["sex"]
    assert fixed_columns_beside_grouping(table, ["a"], [knowing("b", "sex")]) == []


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.lists(st.sets(st.integers(0, 5), min_size=1), max_size=4))
def test_inseparable_sets_are_the_connected_columns(count: int, known: list[set[int]]) -> None:
    names = [f"c{place}" for place in range(count)]
    table = quasi(**{name: [0] for name in names})
    models = [knowing(*(names[place] for place in sorted(some) if place < count)) for some in known]
    models = [model for model in models if model.quasi_identifiers]
    found = inseparable_mixed_columns(table, names, models)
    reach = {name: {name} for name in names}
    for _ in names:
        for model in models:
            joined = set().union(*(reach[name] for name in model.quasi_identifiers))
            for name in joined:
                reach[name] = joined
    assert {frozenset(names[place] for place in unit) for unit in found} == set(map(frozenset, reach.values()))
    assert [unit[0] for unit in found] == sorted(unit[0] for unit in found)


# -- genomes --


def test_a_genome_of_mixed_columns_by_hand() -> None:
    table = quasi(age=[20.0, 30.0, 50.0, 70.0], town=["u", "v", "w", "w"])
    tree = build_hierarchy("merge:2", table.attribute("town"), table.column("town"))
    table = table.with_columns({}, attributes={"town": table.attribute("town").but(hierarchy=tree)})
    encoding = GroupingEncoding(table, ("age", "town"))
    clusters = [np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])]
    ways = [Representative.MEDIAN, Representative.COMMON_ANCESTOR]
    genome = encoding.encode(np.array([0, 1, 2]), clusters, ways)
    masked = encoding.decode(genome)
    assert masked.column("age").tolist() == [35, 50, 35, 50]
    assert masked.level("town") == LOCAL
    towns = [row[0] for row in shown(masked, ["town"])]
    assert towns[0] == towns[1] != towns[2] == towns[3] == "w"
    description = encoding.describe(genome, masked)
    assert description.facts["effective_k"] == 1
    assert "the median of age; the lowest group of the hierarchy that holds all values of town" in description.message
    with pytest.raises(SearchError, match="another table"):
        encoding.decode(genome[:-1])


# -- what is kept --


@pytest.mark.parametrize("partitioner", ["composite", "memetic", "mdav"])
def test_every_scenario_keeps_its_k_whatever_the_grouping(partitioner: str) -> None:
    table = crypsis.example(120)
    scenarios = (("age", "sex", "district"), ("education", "hours"))
    search, problem = problem_of(table, tuple(knowing(*each) for each in scenarios), partitioner=partitioner)
    state, encoding = last(problem, 3), search.encoding(table)
    apart = 0
    for candidate in (*state.genomes, *state.frontier.genomes):
        masked = encoding.decode(problem.express_candidate(candidate))
        assert all(smallest(masked, each) >= 3 for each in scenarios)
        apart += smallest(masked, tuple(table.quasi_identifiers)) < 3
    assert apart, "some grouping masks the scenarios apart"


def test_a_demand_over_all_leaves_one_group_that_keeps_it() -> None:
    table = crypsis.example(80)
    search, problem = problem_of(table, (KAnonymity(k=4),))
    assert problem.notes["column_sets"] == [list(search.names(table))]
    masked = search.encoding(table).decode(problem.express_candidate(last(problem, 2).best))
    assert smallest(masked, tuple(table.quasi_identifiers)) >= 4


def test_demands_on_contents_hold_in_their_scenario() -> None:
    table = crypsis.example(120)
    model = LDiversity(l=2, quasi_identifiers=("age", "sex"), confidential=("diagnosis",))
    search, problem = problem_of(table, (knowing("age", "sex"), model))
    for candidate in last(problem, 2).frontier.genomes:
        assert model.judge(search.encoding(table).decode(problem.express_candidate(candidate))).holds


def test_a_locked_column_stays_and_counts_in_its_scenario() -> None:
    table = lock_table_columns(crypsis.example(200), ["sex"])
    known = ("age", "sex", "education")
    search, problem = problem_of(table, (knowing(*known),))
    assert "sex" not in search.names(table)
    for candidate in last(problem, 2).frontier.genomes:
        masked = search.encoding(table).decode(problem.express_candidate(candidate))
        assert (masked.column("sex") == table.column("sex")).all()
        assert smallest(masked, known) >= 3


def test_linked_columns_are_never_parted() -> None:
    places, ages = ["north", "south", "east"] * 30, [20 + n % 40 for n in range(90)]
    table = quasi(town=places, code=[place[0] for place in places], age=[float(a) for a in ages])
    search, problem = problem_of(linked(table, "code", "town"), categories="typical", memory=1.0)
    for candidate in last(problem, 3).frontier.genomes:
        masked = search.encoding(linked(table, "code", "town")).decode(problem.express_candidate(candidate))
        assert all(town is None or town[0] == code for town, code in shown(masked, ["town", "code"]))


def test_importance_moves_loss_from_one_column_to_another() -> None:
    table = crypsis.example(150)
    found = {}
    for weight in (0.0, 5.0):
        attribute = table.attribute("age").but(importance=weight)
        weighed = table.with_columns({}, attributes={"age": attribute})
        search, problem = problem_of(weighed, (knowing("age", "education", k=5),), k=5, largest_k=0)
        masked = search.encoding(weighed).decode(problem.express_candidate(last(problem, 4).best))
        found[weight] = crypsis.CellLoss(columns=("age",)).against(table).read(masked)
    assert found[5.0] < found[0.0]


# -- effort --


def cache_of(table: Table, partitioner: str) -> ClusterCache:
    _, problem = problem_of(table, partitioner=partitioner)
    return problem.facts.__self__.cache  # type: ignore[union-attr]


@pytest.mark.parametrize("partitioner", ["composite", "memetic"])
def test_effort_is_spent_the_same_way_again_and_never_in_vain(partitioner: str) -> None:
    table = crypsis.example(150)
    once, again = cache_of(table, partitioner), cache_of(table, partitioner)
    straight = again.clusters(((0, 1, 6), 3, 4))
    losses = []
    for effort in range(5):
        labels = once.clusters(((0, 1, 6), 3, effort))
        assert np.bincount(labels).min() >= 3
        losses.append(once._space((0, 1, 6)).cost(0, labels))
    assert (labels == straight).all(), "asked for at once or step by step"
    if partitioner == "composite":
        assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


def test_clusters_are_worked_out_one_quantum_at_a_time() -> None:
    table = crypsis.example(150)
    cache, wanted = cache_of(table, "composite"), [((0, 1), 3, 20), ((2, 3), 3, 20)]
    calls, before = 1, [0, 0]
    while not cache.prepare(wanted, Serial()):
        calls += 1
        reached = [len(each.done) for each in cache._kept.values()]
        assert reached >= before
        before = reached
    assert calls > 4, "no quantum reads more than so many cells"
    begun = cache.counts.begun
    assert cache.prepare(wanted, Serial())
    assert cache.counts.begun == begun == 2


@pytest.mark.parametrize("recipe", ["best", "paper", "dynamic", "pareto", ""])
def test_the_first_population_is_scored_in_quanta(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crypsis.searches.gomm.gomm_search.BATCH_PAIRS", 3 * 100**2)
    monkeypatch.setattr("crypsis.searches.mixed_grouping.BATCH_CELLS", 3 * 100 * 2)
    table = crypsis.example(100)
    small = {"k": 3, "largest_k": 30, "population": 12, "columns": ("age", "hours")}
    search = GommSearch(recipe=recipe, **small) if recipe else MixedGroupingSearch(**small)
    problem = search.pose(table, None, np.random.default_rng(1))
    assert problem.together == 3
    state = problem.strategy.begin(problem, np.random.default_rng(2), Serial())
    while not state.generation:
        before, state = state, problem.strategy.advance(problem, state, Serial())
        assert len(state.known) - len(before.known) <= 3


# -- operators, settings --


def test_operators_that_stopped_helping_are_switched_off() -> None:
    table = crypsis.example(100)
    known = (knowing("age", "sex"), knowing("education", "hours"))
    _, problem = problem_of(table, known, disable_operators=True, disable_after=2, disable_window=1)
    assert last(problem, 8).muted
    _, plain = problem_of(table, known)
    assert not last(plain, 8).muted


def test_groups_of_candidates_hold_whole_column_sets() -> None:
    table = crypsis.example(100)
    _, problem = problem_of(table, (knowing("age", "district"),))
    candidates = problem.facts.__self__  # type: ignore[union-attr]
    age, district = (candidates.encoding.names.index(name) for name in ("age", "district"))
    for candidate in last(problem, 4).genomes:
        assert any({age, district} <= set(group) for group in groups_of(candidates.columns(candidate)))


@pytest.mark.parametrize(
    ("name", "settings", "refusal"),
    [
        ("mixed-grouping", {"scaling": "range"}, "unknown setting 'scaling'"),
        ("mixed-grouping", {"recipe": "paper"}, "unknown setting 'recipe'"),
        ("gomm", {"truthful": True}, "unknown setting 'truthful'"),
        ("mixed-grouping", {"truthful": True, "numbers": "mean"}, "numbers moves nothing with truthful"),
    ],
)
def test_settings_of_the_other_search_and_idle_ones_are_refused(name: str, settings: dict, refusal: str) -> None:
    with pytest.raises(PlanError, match=refusal):
        searches.build(name, **settings)


def test_obstacles_name_the_remedy() -> None:
    table = crypsis.example(50)
    assert "use the search 'mixed-grouping'" in GommSearch(k=3, columns=("age", "sex")).obstacle(table)
    assert "at least two columns" in MixedGroupingSearch(k=3, columns=("sex",)).obstacle(table)
    assert "smaller k" in MixedGroupingSearch(k=60).obstacle(table)
    search = MixedGroupingSearch(k=3).under([knowing("age", "income")])
    assert "'income' stays as collected and is known beside 'age', and" in search.obstacle(table)
    assert not MixedGroupingSearch(k=3).under([knowing("age", "sex")]).obstacle(table)
