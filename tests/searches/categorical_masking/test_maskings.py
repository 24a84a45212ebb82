"""The evolution of given masked files: what it promises and what it refuses."""

from __future__ import annotations

import moocore
import numpy as np
import pytest

from categories import recoded, table
from crypsis.errors import SearchError
from crypsis.evolution.selection import select_best_on_rays
from crypsis.measures.categorical_loss import DistanceLoss
from crypsis.measures.categorical_risk import CategoryLinkage
from crypsis.measures.information_loss import CellLoss
from crypsis.measures.measure import measures
from crypsis.measures.objective import Objective
from crypsis.privacy import KAnonymity
from crypsis.searches.categorical_masking import CategoricalMaskingSearch, Criteria, evolve_maskings, hold_out
from crypsis.searches.categorical_masking.categorical_masking_search import (
    assign_rays_to_maskings,
    draw_neighbouring_maskings,
    steepest_angle_of_maskings,
)

SIZES, ORDINAL = [5, 4, 3], [True, True, False]


def scene(seed=0, n=60, files=8):
    """An original and masked files with more and more cells replaced at random."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, SIZES, (n, 3))
    population = []
    for share in np.linspace(0.1, 0.9, files):
        masked = np.where(rng.random(codes.shape) < share, rng.integers(0, SIZES, codes.shape), codes)
        population.append(table(masked, SIZES, ORDINAL))
    return table(codes, SIZES, ORDINAL), population


QUICK = CategoricalMaskingSearch(generations=60, crossover_rate=0.5, batch=1, neutral=True)


@pytest.mark.parametrize("score", ["mean", "max"])
@pytest.mark.parametrize("aimed", [0.0, 0.7])
def test_largest_mean_and_smallest_score_never_grow(score, aimed):
    original, population = scene()
    settings = QUICK.model_copy(update={"score": score, "aimed_share": aimed, "changes_per_mutation": 5, "batch": 2})
    result = evolve_maskings(original, population, settings, np.random.default_rng(1), every=1)
    assert len(result.history) == 61
    assert (np.diff(result.history[:, 1:], axis=0) <= 1e-12).all()
    assert (result.scores <= result.scores_before).all()
    assert result.scores.mean() < result.scores_before.mean()


def test_pairs_are_the_means_of_full_readings_of_the_files():
    original, population = scene()
    result = evolve_maskings(original, population, QUICK, np.random.default_rng(2))
    bound = {aim: [] for aim in ("loss", "risk")}
    for name in measures:
        if measures[name].tally:
            bound[measures[name].aim].append(measures.build(name).against(original))
    for who in range(len(population)):
        for pairs, file in ((result.pairs, result.table(who)), (result.pairs_before, population[who])):
            expected = [np.mean([each.read(file) for each in bound[aim]]) for aim in ("loss", "risk")]
            assert pairs[who].tolist() == pytest.approx(expected, rel=1e-12)


def test_history_is_written_down_every_so_often_and_at_the_end():
    original, population = scene()
    result = evolve_maskings(original, population, QUICK, np.random.default_rng(2), every=25)
    assert result.history[:, 0].tolist() == [0, 25, 50, 60]
    last = result.scores
    assert result.history[-1, 1:].tolist() == [last.max(), last.mean(), last.min()]


def test_same_seed_same_files():
    original, population = scene()
    one, two = (evolve_maskings(original, population, QUICK, np.random.default_rng(3)) for _ in range(2))
    assert [one.table(w).fingerprint() for w in range(8)] == [two.table(w).fingerprint() for w in range(8)]
    assert np.array_equal(one.history, two.history)


def test_the_front_moves_as_a_whole():
    original, population = scene()
    settings = QUICK.model_copy(update={"score": "front", "changes_per_mutation": 20, "aimed_share": 0.5})
    result = evolve_maskings(original, population, settings, np.random.default_rng(4))
    front = result.pairs[result.front()]
    assert (np.diff(front[:, 0]) > 0).all()
    assert (np.diff(front[:, 1]) < 0).all()
    before, after = (moocore.hypervolume(pairs, ref=[100.0, 100.0]) for pairs in (result.pairs_before, result.pairs))
    assert after > before


def test_rays_spread_evenly_and_keep_the_order_of_angles():
    slopes = assign_rays_to_maskings(np.array([[10.0, 1.0], [1.0, 10.0]]))
    assert slopes[0, 0] < slopes[0, 1]
    assert slopes[1] == pytest.approx(slopes[0, ::-1])


def test_rays_end_where_the_risk_is_too_high():
    """Of three files only (60, 10) can come to 30, half again above 20: along rays no steeper than 30 / 60."""
    files = np.array([[10.0, 60.0], [30.0, 40.0], [60.0, 10.0]])
    assert steepest_angle_of_maskings(files, 100.0) == np.pi / 2
    assert abs(steepest_angle_of_maskings(files, 20.0) - np.arctan(0.5)) < np.pi / 360
    assert steepest_angle_of_maskings(files, 1.0) < np.pi / 180  # no file comes near: straight down
    assert assign_rays_to_maskings(files, 20.0)[:, 1].min() >= 2.0 > assign_rays_to_maskings(files)[:, 1].min()


def test_mates_come_from_the_nearest_rays():
    slopes = assign_rays_to_maskings(np.random.default_rng(0).random((30, 2)))
    order = np.argsort(np.arctan2(slopes[:, 0], slopes[:, 1]))
    rank = np.empty(30, dtype=int)
    rank[order] = np.arange(30)
    couples = [draw_neighbouring_maskings(slopes, np.random.default_rng(seed)) for seed in range(300)]
    apart = [abs(rank[one] - rank[two]) for one, two in couples]
    assert min(apart) == 1
    assert max(apart) <= 8
    assert len({one for one, _ in couples}) == 30
    assert draw_neighbouring_maskings(slopes[:2], np.random.default_rng(0)) in {(0, 1), (1, 0)}


def test_whoever_is_beaten_on_its_own_ray_starts_again_from_the_better_file():
    """File 1 beats file 0 on both rays; file 2 is best where loss hardly counts, and stays."""
    pairs = np.array([[30.0, 30.0], [20.0, 20.0], [60.0, 1.0]])
    goals = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [1.0, 0.1, 1.0, 0.0]])
    assert select_best_on_rays(pairs, goals).tolist() == [1, 1, 2]
    assert pairs[0].tolist() == [30.0, 30.0], "what was handed in stays"


@pytest.mark.parametrize(
    "change",
    [
        {"score": "mean"},
        {"crossover_rate": 0.0},
        {"selection": "printed"},
        {"selection": "inverse"},
        {"leaders": 1.0},
        {"changes_per_mutation": 3},
        {"aimed_share": 1.0},
        {"batch": 3},
        {"crossover_length": 0.05},
        {"neutral": False},
        {"generations": 90},
    ],
)
def test_every_setting_moves_something(change):
    original, population = scene()
    plain = evolve_maskings(original, population, QUICK, np.random.default_rng(5))
    changed = evolve_maskings(original, population, QUICK.model_copy(update=change), np.random.default_rng(5))
    assert not np.array_equal(plain.pairs, changed.pairs)


def test_forbidden_combinations_never_appear():
    original, population = scene()
    rule = {"a": "0", "b": "0"}

    def clean(file):
        hit = (file.column("a") == 0) & (file.column("b") == 0)
        return file.with_columns({"a": np.where(hit, 1, file.column("a")).astype(np.int32)})

    settings = QUICK.model_copy(update={"forbidden": (rule,), "changes_per_mutation": 20, "aimed_share": 0.5})
    files = [clean(file) for file in population[:4]] + population[4:]
    result = evolve_maskings(original, files, settings, np.random.default_rng(6))
    assert result.left_out == 4
    for who in range(4):
        file = result.table(who)
        assert not ((file.column("a") == 0) & (file.column("b") == 0)).any()


def test_a_rule_of_ones_own_never_breaks():
    original, population = scene()
    fit = [f.with_columns({"c": np.zeros(60, dtype=np.int32)}) for f in population]
    result = evolve_maskings(
        original,
        fit,
        QUICK,
        np.random.default_rng(7),
        Criteria(allowed=lambda held: held["c"] == "0" or held["a"] == "4"),
    )
    for who in range(len(fit)):
        file = result.table(who)
        assert ((file.column("c") == 0) | (file.column("a") == 4)).all()


def test_a_privacy_model_holds_for_every_child():
    original, population = scene(n=120)
    files = [p.with_columns({"a": p.column("a") // 3, "b": p.column("b") // 2}) for p in population]
    model = KAnonymity(k=2)
    files = [f for f in files if model.judge(f).holds]
    assert files
    settings = QUICK.model_copy(update={"changes_per_mutation": 5})
    result = evolve_maskings(original, files, settings, np.random.default_rng(8), Criteria(models=[model]))
    assert all(model.judge(result.table(who)).holds for who in range(len(files)))
    assert result.scores.mean() < result.scores_before.mean()


def test_chosen_measures_only():
    original, population = scene()
    objective = Objective(original, {"distance": DistanceLoss(), "linkage": CategoryLinkage(ties="strict")})
    result = evolve_maskings(original, population, QUICK, np.random.default_rng(9), Criteria(objective))
    for who in range(len(population)):
        assert objective.score(result.table(who)) == tuple(result.pairs[who])


@pytest.mark.parametrize(
    "chosen",
    [
        {"cells": CellLoss(), "linkage": CategoryLinkage()},
        {"distance": DistanceLoss(), "linkage": CategoryLinkage(ties="first")},
        {"distance": DistanceLoss(columns=("a",)), "linkage": CategoryLinkage()},
    ],
    ids=["no tallies", "tallies that cannot follow", "tallies of other columns"],
)
def test_what_tallies_cannot_follow_is_read_in_full(chosen):
    original, population = scene(n=30, files=4)
    objective = Objective(original, chosen)
    settings = QUICK.model_copy(update={"generations": 15, "changes_per_mutation": 2, "aimed_share": 0.5})
    result = evolve_maskings(original, population, settings, np.random.default_rng(9), Criteria(objective))
    for who in range(len(population)):
        assert objective.score(result.table(who)) == tuple(result.pairs[who])
    assert result.scores.mean() < result.scores_before.mean()


def test_a_file_with_a_merged_label_takes_part():
    original = table([(0, 0), (1, 0), (2, 1), (3, 1)] * 6, [4, 2], [True, False])
    result = evolve_maskings(original, [recoded(original), original], QUICK, np.random.default_rng(10))
    assert result.table(0).rows == 24
    assert (result.scores <= result.scores_before).all()


def test_one_file_evolves_by_mutation_alone():
    original, population = scene()
    result = evolve_maskings(original, population[:1], QUICK, np.random.default_rng(11))
    assert result.tried["crossover"] == 0
    assert result.scores[0] < result.scores_before[0]


def test_one_record_missing_values_and_lone_categories():
    original = table([(-1, 0, 0)], [3, 1, 2], [True, True, False])
    masked = table([(1, 0, -1)], [3, 1, 2], [True, True, False])
    settings = QUICK.model_copy(update={"aimed_share": 0.5, "changes_per_mutation": 3})
    result = evolve_maskings(original, [masked, original], settings, np.random.default_rng(18))
    assert (result.scores <= result.scores_before).all()


def test_bad_requests_are_refused():
    original, population = scene()
    rng = np.random.default_rng(0)
    with pytest.raises(SearchError, match="population is empty"):
        evolve_maskings(original, [], QUICK, rng)
    with pytest.raises(SearchError, match="suppressed record"):
        evolve_maskings(original, [original.without(np.arange(60) < 3)], QUICK, rng)
    for rule in ({"z": "0"}, {"a": "9"}, {}):
        with pytest.raises(SearchError, match="forbidden combination"):
            evolve_maskings(original, population, QUICK.model_copy(update={"forbidden": (rule,)}), rng)
    everything = tuple({"a": str(code)} for code in range(5))
    with pytest.raises(SearchError, match="none of the 8 files"):
        evolve_maskings(original, population, QUICK.model_copy(update={"forbidden": everything}), rng)


# -- attacks the search did not use --


def test_held_out_attacks_see_everything_in_the_original_and_little_in_noise():
    original, population = scene(n=200)
    rng = np.random.default_rng(12)
    open_file, noise = hold_out(original, original, rng), hold_out(original, population[-1], rng)
    assert open_file.keys() == noise.keys()
    assert len(open_file) == 8
    for name in open_file:
        assert noise[name].value < open_file[name].value
        assert noise[name].measure == name
    assert open_file["inference, learned"].value == 100.0


def test_learned_weights_ignore_a_scrambled_column():
    """Column b is noise: weights learned on one half link the other half better than equal weights do."""
    rng = np.random.default_rng(13)
    codes = rng.integers(0, [30, 30], (300, 2))
    masked = codes.copy()
    masked[:, 1] = rng.permutation(masked[:, 1])
    original, file = (table(c, [30, 30], [False, False]) for c in (codes, masked))
    told = hold_out(original, file, rng)["linkage, learned weights"]
    assert told.counts["weight of b"] < told.counts["weight of a"]
    assert told.value > told.counts["with equal weights"]
