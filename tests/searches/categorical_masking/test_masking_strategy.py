"""The evolution of masked files as a strategy of the loop: quanta, bits, memory, and tallies against full readings."""

from __future__ import annotations

import pickle
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from categories import ledgers, table
from crypsis.engines import Processes, Serial
from crypsis.evolution.loop import Budget, evolve
from crypsis.evolution.state import State
from crypsis.measures.categorical_ledger import Seven
from crypsis.measures.categorical_loss import DistanceLoss
from crypsis.measures.categorical_risk import CategoryLinkage
from crypsis.measures.objective import Objective
from crypsis.privacy import KAnonymity
from crypsis.searches.categorical_masking import CategoricalMaskingSearch, Criteria, pose_maskings
from crypsis.searches.categorical_masking.scoring import (
    Constraints,
    FreshCounts,
    FullReadings,
    Ledgers,
    Parent,
    Proposal,
    own_measures,
)

SIZES, ORDINAL = [5, 4, 3], [True, True, False]
RECIPES = {
    "paper": CategoricalMaskingSearch(crossover_rate=0.5, batch=1),
    "plan": CategoricalMaskingSearch(batch=3),
    "mean": CategoricalMaskingSearch(score="mean", batch=2, selection="inverse"),
    "swift": CategoricalMaskingSearch(
        changes_per_mutation=8, aimed_share=0.7, batch=2, neutral=True, crossover_length=0.2
    ),
    "front": CategoricalMaskingSearch(score="front", changes_per_mutation=4, aimed_share=0.5, batch=3, neutral=True),
}


def scene(seed=0, n=40, files=6):
    """An original and masked files with more and more cells replaced at random."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, SIZES, (n, 3))
    population = []
    for share in np.linspace(0.1, 0.9, files):
        masked = np.where(rng.random(codes.shape) < share, rng.integers(0, SIZES, codes.shape), codes)
        population.append(table(masked, SIZES, ORDINAL))
    return table(codes, SIZES, ORDINAL), population


def posed(recipe, **more):
    original, population = scene()
    return pose_maskings(original, population, RECIPES[recipe], np.random.default_rng(1), Criteria(**more))


def states(problem, generations=25, state=None, engine=None):
    return list(evolve(problem, np.random.default_rng(14), Budget(generations=generations), engine, state))


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_the_loop_improves_and_resumes_bit_for_bit(recipe):
    """From any state, by a problem that has counted nothing yet: tallies are counted again with the same bits."""
    problem = posed(recipe)
    whole = states(problem)
    last = whole[-1]
    means = [problem.strategy.fitness(state.scores).mean() for state in whole]
    if recipe != "front":  # there each file is held against its own ray
        assert all(b <= a + 1e-12 for a, b in pairwise(means))
    assert means[-1] < means[0]
    for genome, scores in zip(last.genomes, last.scores, strict=True):
        assert problem.evaluate(genome) == tuple(scores)
    for at in (0, 7, 24):
        again = State.from_bytes(whole[at].to_bytes())
        assert states(posed(recipe), state=again)[-1].to_bytes() == last.to_bytes()
    assert states(problem, state=whole[5])[-1].to_bytes() == last.to_bytes(), "an old state, by tallies long past it"


def test_front_holds_every_child_that_nobody_beats():
    problem = posed("plan")
    last = states(problem)[-1]
    assert last.evaluations > len(last.genomes)
    for genome, scores in zip(last.frontier.genomes, last.frontier.scores, strict=True):
        assert problem.evaluate(genome) == tuple(scores)


@pytest.mark.parametrize("recipe", ["plan", "swift", "front"])
def test_little_memory_costs_time_not_bits(recipe, monkeypatch):
    plenty = states(posed(recipe))[-1]
    problem = posed(recipe)
    each = sum(array.nbytes for array in Ledgers.stack.func(problem.strategy.trials).tallies) // 8
    monkeypatch.setattr("crypsis.measures.categorical_ledger.MOST_BYTES", int(2.5 * each))
    assert len(problem.strategy.trials.stack.tallies.codes) == 2
    assert states(problem)[-1].to_bytes() == plenty.to_bytes()


@pytest.mark.parametrize("recipe", ["plan", "swift"])
def test_an_interrupted_generation_is_made_again_with_the_same_bits(recipe, monkeypatch):
    """Tallies that were half changed when the search was interrupted do not reach what is found later."""
    problem = posed(recipe)
    found, interruptions = states(problem, generations=30), 0
    attempts = Ledgers._attempt_changes

    def interrupt(self, slot, changes):
        attempts(self, slot, changes)
        raise KeyboardInterrupt

    for before, after in pairwise(found[-15:]):
        with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
            patched.setattr(Ledgers, "_attempt_changes", interrupt)
            problem.strategy.advance(problem, before, Serial())
            interruptions -= 1  # a generation without mutants
        interruptions += 1
        assert problem.strategy.advance(problem, before, Serial()).to_bytes() == after.to_bytes()
    assert interruptions > 4


def test_the_first_population_is_made_file_by_file(monkeypatch):
    """Quanta that hold one file each end where one that holds all does, stopped and resumed after each."""
    at_once = states(posed("front"))
    monkeypatch.setattr("crypsis.searches.categorical_masking.categorical_masking_search.PAIRS", 0)
    slowly = states(posed("front"))
    assert [len(state.genomes) for state in slowly[:6]] == [1, 2, 3, 4, 5, 6]
    assert [state.whole for state in slowly[:7]] == [False] * 5 + [True] * 2
    assert {state.generation for state in slowly[:6]} == {0}
    assert len(slowly[2].frontier), "a run stopped here has something to show"
    assert slowly[5].to_bytes() == at_once[0].to_bytes()
    assert slowly[-1].to_bytes() == at_once[-1].to_bytes()
    again = State.from_bytes(slowly[2].to_bytes())
    assert states(posed("front"), state=again)[-1].to_bytes() == at_once[-1].to_bytes()


def test_workers_read_in_full_and_agree():
    original, population = scene(n=20, files=4)
    objective = Objective(original, {"distance": DistanceLoss(), "linkage": CategoryLinkage(ties="first")})

    def guided():
        return pose_maskings(original, population, RECIPES["swift"], np.random.default_rng(1), Criteria(objective))

    assert isinstance(guided().strategy.trials, FullReadings)
    here = states(guided(), 3, engine=Serial())[-1]
    with Processes(2) as engine:
        there = states(guided(), 3, engine=engine)[-1]
    assert here.to_bytes() == there.to_bytes()
    problem = pose_maskings(original, population, RECIPES["plan"], np.random.default_rng(1))
    sent = pickle.loads(pickle.dumps(problem.evaluate))
    assert sent(here.genomes[0]) == problem.evaluate(here.genomes[0])


# -- tallies against full readings --


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.booleans(), st.booleans())
def test_tallies_and_full_readings_keep_the_same_children(seed, neutral, barred, judged):
    """The same proposals on the same parents: the same children, scores, survivors and counts."""
    rng = np.random.default_rng(seed)
    original, population = scene(seed % 1000, n=8, files=3)
    encoding, pairings = CategoricalMaskingSearch().encoding(original).join_files(population)
    models = [KAnonymity(k=2, quasi_identifiers=("c",))] if judged else []
    constraints = Constraints.of(encoding, ({"a": "0", "b": "1"},) if barred else (), models=models)
    measured = own_measures(encoding)
    evaluate = FreshCounts(pairings[0], measured)
    by_tallies = Ledgers(pairings[0], measured, constraints, 4, neutral)
    unread = Ledgers(pairings[0], Seven(), constraints, 2, neutral)
    in_full = FullReadings(evaluate, constraints, neutral, unread)
    proposals = []
    for place, pairing in enumerate(pairings):
        goal = rng.choice([0.5, 1.0, 2.0], 4)
        parent = Parent(pairing.codes, bytes([place]), np.array(evaluate(pairing.codes)), goal)
        assert by_tallies.score(parent.codes, parent.key) == in_full.score(parent.codes, parent.key)
        changes = rng.integers(0, (8, 3, 3), (6, 3))
        proposals.append(Proposal(parent, changes=changes))
        mixed = np.where(rng.random(pairing.codes.shape) < 0.3, pairings[0].codes, pairing.codes)
        proposals.append(Proposal(parent, codes=mixed))
    for one, two in zip(by_tallies.run(proposals, Serial()), in_full.run(proposals, Serial()), strict=True):
        assert (one is None) == (two is None)
        if one is not None and two is not None:
            assert np.array_equal(one.codes, two.codes)
            assert (one.scores, one.survives, one.tried, one.key) == (two.scores, two.survives, two.tried, two.key)


def test_a_child_counts_the_same_followed_or_afresh(monkeypatch):
    original, population = scene(n=30)
    found = []
    for price in (0.0, np.inf):
        monkeypatch.setattr("crypsis.searches.categorical_masking.scoring.PER_AMENDMENT", price)
        files = ledgers(original, population)
        codes = [files.stack.tallies.codes[who].copy() for who in range(2)]
        parent = Parent(codes[0], bytes([0]), files.trial.pairs[0].copy(), np.ones(4))
        mixed = np.where(np.arange(30)[:, None] < 9, codes[1], codes[0])
        (child,) = files.run([Proposal(parent, codes=mixed)], Serial())
        found.append((child.scores, child.survives))
    assert found[0] == found[1]


def test_nothing_to_try_is_no_child():
    original, population = scene(n=10, files=2)
    files = ledgers(original, population)
    codes = files.stack.tallies.codes[0].copy()
    parent = Parent(codes, bytes([0]), files.trial.pairs[0].copy(), np.ones(4))
    same = Proposal(parent, changes=np.array([[0, 0, codes[0, 0]]]))
    assert files.run([same, Proposal(parent, codes=codes.copy())], Serial()) == [None, None]
