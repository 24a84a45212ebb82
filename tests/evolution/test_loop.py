from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypsis.errors import SearchError
from crypsis.evolution import Budget, State, evolve
from crypsis.evolution.problem import Streams
from evolution.puzzle import STRATEGIES, WIDTH, cost, problem


def run(name, generations=8, seed=1, **more):
    return list(evolve(problem(name, **more), np.random.default_rng(seed), Budget(generations=generations)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_resumed_run_is_bit_for_bit_the_run_never_stopped(name):
    whole = run(name, boxes=(2.0, 2.0))
    for cut in (0, 3, 7):
        saved = whole[cut].to_bytes()
        rest = evolve(
            problem(name, boxes=(2.0, 2.0)), np.random.default_rng(99), Budget(generations=8), None,
            State.from_bytes(saved),
        )  # fmt: skip
        assert [s.to_bytes() for s in rest] == [s.to_bytes() for s in whole[cut + 1 :]]
        assert State.from_bytes(saved).to_bytes() == saved


@pytest.mark.parametrize("together", [1, 2])
@pytest.mark.parametrize("name", STRATEGIES)
def test_generations_in_several_quanta_end_in_the_same_bits(name, together):
    whole = [state.to_bytes() for state in run(name, generations=5, boxes=(2.0, 2.0))]
    parts = replace(problem(name, boxes=(2.0, 2.0)), together=together)
    states = list(evolve(parts, np.random.default_rng(1), Budget(generations=5)))
    assert len(states) > len(whole)
    assert [state.to_bytes() for state in states if state.whole] == whole
    cut = max(place for place, state in enumerate(states) if not state.whole)
    again = State.from_bytes(states[cut].to_bytes())
    rest = evolve(parts, np.random.default_rng(99), Budget(generations=5), None, again)
    assert [state.to_bytes() for state in rest] == [state.to_bytes() for state in states[cut + 1 :]]


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_best_never_gets_worse_and_scores_are_true(name):
    states = run(name, generations=15)
    fitnesses = [state.best_fitness for state in states]
    assert all(later <= earlier for earlier, later in itertools.pairwise(fitnesses))
    final = states[-1]
    for genome, row in zip(final.genomes, final.scores, strict=True):
        assert tuple(row) == cost(genome)
    for genome, row in zip(final.frontier.genomes, final.frontier.scores, strict=True):
        assert tuple(row) == cost(genome)
    assert cost(final.best) == final.best_scores
    assert final.evaluations == len(final.known)
    assert len(final.genomes) == 10


def test_elitist_population_never_loses_its_best_and_unique_population_has_no_clones():
    for state in run("elitist"):
        assert state.scores.mean(axis=1).min() == state.best_fitness
    for state in run("muting")[1:]:
        assert len(set(state.keys)) == len(state.keys)


def test_parents_of_tournaments_are_the_best_drawn_and_children_are_tried_again_until_one_is_new():
    state, search = run("nsga2", generations=2)[-1], problem("nsga2").strategy
    everybody = replace(search, contestants=500, applications=search.applications[:2])
    order = search.order(state.scores)
    parents = [place for child in everybody.propose(state, Streams(state.rng)) for place in child.parents]
    assert set(order[parents]) == {order.min()} != set(order)
    bred = search.propose(state, Streams(state.rng))
    new = {child.genome.tobytes() for child in bred if child.operator == "flip"} - set(state.keys)
    assert len(new) == 4
    assert all(child.genome.tobytes() in state.keys for child in bred if child.operator == "nothing")


def test_a_silenced_operator_leaves_the_streams_of_the_others_alone():
    loud, quiet = run("elitist", generations=12), run("muting", generations=12)
    assert "nothing" in quiet[-1].muted
    assert loud[-1].rng["nothing"] != quiet[-1].rng["nothing"]
    assert loud[-1].rng["flip"].keys() == quiet[-1].rng["flip"].keys()


def test_a_forgetful_run_finds_the_same_and_only_evaluates_more():
    sharp, forgetful = run("elitist")[-1], run("elitist", remember=5)[-1]
    assert sharp.scores.tolist() == forgetful.scores.tolist()
    assert forgetful.evaluations >= sharp.evaluations
    assert len(forgetful.known) <= 5


def test_budgets_stop_where_they_say():
    posed, rng = problem("elitist"), np.random.default_rng
    assert list(evolve(posed, rng(0), Budget(generations=4)))[-1].generation == 4
    last = list(evolve(posed, rng(0), Budget(evaluations=30)))[-1]
    assert last.evaluations >= 30
    assert list(evolve(posed, rng(0), Budget(target=1e9)))[-1].generation == 0
    ticks = itertools.count()
    timed = list(evolve(posed, rng(0), Budget(seconds=30, spent=4), clock=lambda: float(next(ticks))))
    assert timed[-1].generation > 2
    assert next(ticks) <= 26 + 1, "no quantum is begun that would end too late"
    assert Budget(generations=8).progress(run("elitist", generations=4)[-1]) == 0.5
    with pytest.raises(SearchError, match="no limit"):
        Budget()


def test_damaged_and_foreign_checkpoints_are_refused_in_a_sentence():
    saved = run("elitist", generations=1)[-1].to_bytes()
    for damaged in (b"", b"not a checkpoint", saved[: len(saved) // 2]):
        with pytest.raises(SearchError, match="cannot be read"):
            State.from_bytes(damaged)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(STRATEGIES))
def test_same_seed_same_bytes_other_seed_other_bytes(seed, name):
    first, again, other = (run(name, generations=2, seed=s)[-1] for s in (seed, seed, seed + 1))
    assert first.to_bytes() == again.to_bytes()
    assert first.rng != other.rng
    assert all(len(genome) == WIDTH for genome in first.genomes)


def test_an_empty_start_is_refused():
    posed = problem("elitist")
    with pytest.raises(SearchError, match="empty first population"):
        next(evolve(type(posed)(posed.key, posed.strategy, (), cost, posed.objectives), np.random.default_rng(0),
                    Budget(generations=1)))  # fmt: skip
