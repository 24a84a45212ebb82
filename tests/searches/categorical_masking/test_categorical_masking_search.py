"""The masking search as a plan names it: it starts from many methods, improves, and tells what it did."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from numpy.random import Generator

from crypsis.errors import PlanError, SearchError, TableError
from crypsis.evolution import Budget, evolve
from crypsis.evolution.state import State
from crypsis.masking import MaskingMethod, methods
from crypsis.masking.coding import GlobalRecoding
from crypsis.masking.method import Family
from crypsis.measures.measure import measures
from crypsis.measures.objective import Objective
from crypsis.searches.categorical_masking import CategoricalMaskingSearch
from crypsis.searches.categorical_masking.first_population import (
    OF_EACH_OTHER,
    MethodFiles,
    PaperFamilies,
    add_other_methods,
)
from crypsis.searches.categorical_masking.scoring import Constraints
from crypsis.searches.search import searches
from crypsis.table.example import example
from crypsis.table.table import Table

QUICK = CategoricalMaskingSearch(largest_k=3, depths=1, swappings=1, prams=2, batch=4)
NAMES = ("sex", "district", "education", "marital", "occupation")


def test_it_is_registered_under_the_name_a_plan_uses() -> None:
    assert searches["categorical-masking"] is CategoricalMaskingSearch


def test_the_best_never_gets_worse_and_solutions_decode_and_are_described() -> None:
    table = example(60, seed=2)
    problem = QUICK.pose(table, None, np.random.default_rng(1))
    states = list(evolve(problem, np.random.default_rng(2), Budget(generations=30)))
    fitness = [state.best_fitness for state in states]
    assert all(later <= earlier for earlier, later in pairwise(fitness))
    assert fitness[-1] < fitness[0]
    encoding = QUICK.encoding(table)
    masked = encoding.decode(states[-1].best)
    assert isinstance(masked, Table)
    assert masked.names == table.names
    for name in ("age", "income", "diagnosis"):  # numbers and confidential columns stay
        assert np.array_equal(masked.column(name), table.column(name), equal_nan=name != "diagnosis")
    assert "cells changed" in encoding.describe(states[-1].best, masked).message
    assert problem.evaluate(states[-1].best) == pytest.approx(states[-1].best_scores, abs=0)
    assert np.array_equal(encoding.encode(masked), states[-1].best)


def test_a_table_without_categories_is_refused_in_a_sentence() -> None:
    table = Table.from_columns({"x": [1, 2, 3], "y": [3, 4, 5]}, {"x": "quasi", "y": "quasi"})
    with pytest.raises(SearchError, match="categor"):
        QUICK.pose(table, None, np.random.default_rng(0))


def test_posing_decoding_and_resuming_make_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    table = example(60, seed=2)
    problem = QUICK.pose(table, None, np.random.default_rng(1))
    states = list(evolve(problem, np.random.default_rng(2), Budget(generations=6)))

    def refuse(self: MethodFiles, place: int, rng: Generator) -> None:
        raise AssertionError("a file of the first population is made")

    monkeypatch.setattr(MethodFiles, "make", refuse)
    again = QUICK.pose(table, None, np.random.default_rng(1))
    saved = State.from_bytes(states[3].to_bytes())
    *_, resumed = evolve(again, np.random.default_rng(0), Budget(generations=6), state=saved)
    assert resumed.to_bytes() == states[-1].to_bytes()
    encoding = QUICK.encoding(table)
    assert "cells changed" in encoding.describe(resumed.best, encoding.decode(resumed.best)).message


def test_the_first_population_handed_out_is_the_one_the_search_makes() -> None:
    table = example(60, seed=2)
    problem = QUICK.pose(table, None, np.random.default_rng(1))
    state = next(evolve(problem, np.random.default_rng(2), Budget(generations=1)))
    assert all(np.array_equal(one, two) for one, two in zip(problem.first(), state.genomes, strict=True))


def test_an_objective_of_any_measures_is_what_is_minimised() -> None:
    table = example(60, seed=2)
    for names in (("cell-loss", "record-linkage"), ("distance-loss", "category-linkage")):
        objective = Objective(table, {name: measures.build(name) for name in names})
        problem = QUICK.pose(table, objective, np.random.default_rng(1))
        *_, last = evolve(problem, np.random.default_rng(2), Budget(generations=3))
        encoding = QUICK.encoding(table)
        for genome, scores in zip(last.genomes, last.scores, strict=True):
            assert objective.score(encoding.decode(genome)) == tuple(scores)


def test_forbidden_combinations_never_appear_though_methods_make_them() -> None:
    table = example(80, seed=3)
    plain = QUICK.encoding(table)
    held = {"sex": "female", "marital": "single"}
    labels = [plain.labels[plain.context.names.index(name)] for name in held]
    codes = [known.index(label) for known, label in zip(labels, held.values(), strict=True)]
    places = [plain.context.names.index(name) for name in held]

    def broken(genome: np.ndarray) -> np.ndarray:
        return (genome[:, places] == codes).all(axis=1)

    clean = table.take(np.flatnonzero(~broken(plain.context.codes)))
    free = QUICK.pose(clean, None, np.random.default_rng(1))
    assert any(broken(genome).any() for genome in free.first()), "the methods make the combination"
    search = QUICK.model_copy(update={"forbidden": (held,), "changes_per_mutation": 5})
    problem = search.pose(clean, None, np.random.default_rng(1))
    *_, last = evolve(problem, np.random.default_rng(2), Budget(generations=10))
    assert len(last.genomes) == len(free.first()), "files are mended, not left out"
    assert not any(broken(genome).any() for genome in (*last.genomes, *last.frontier.genomes))


def test_what_a_plan_may_not_say_is_refused() -> None:
    table = example(30, seed=2)
    for rule, sentence in (({"age": "1"}, "names age"), ({}, "names nothing"), ({"sex": "x"}, "column 'sex' does not")):
        with pytest.raises(SearchError, match=sentence):
            QUICK.model_copy(update={"forbidden": (rule,)}).pose(table, None, np.random.default_rng(0))
    with pytest.raises(PlanError, match="selection moves nothing with score 'front'"):
        searches.build("categorical-masking", score="front", selection="inverse")
    with pytest.raises(PlanError, match="crossover_length moves nothing without crossovers"):
        searches.build("categorical-masking", crossover_rate=0.0, crossover_length=0.5)


# -- where the first files come from --


@pytest.mark.parametrize("name", list(methods))
def test_what_a_method_offers_publishes_categories_of_the_original(name: str) -> None:
    table = example(60, seed=4)
    encoding = CategoricalMaskingSearch().encoding(table)
    offered = list(islice(methods[name].list_strengths(table, NAMES), 8))
    for method in offered:
        assert type(method) is methods[name]
        masked = method.mask(table, np.random.default_rng(0))
        assert encoding.encode(masked).shape == (60, 5)
    assert len({str(method) for method in offered}) == len(offered)
    assert not list(methods[name].list_strengths(table, ()))


def test_microaggregations_that_share_their_groups_are_what_they_are_alone() -> None:
    table = example(60, seed=4)
    encoding = CategoricalMaskingSearch().encoding(table)
    made_by = PaperFamilies(largest_k=3, depths=0, swappings=0, prams=0).methods(table, NAMES)
    files = MethodFiles(Constraints.of(encoding), made_by)
    for place in [*range(len(files)), 0, 5]:
        alone = encoding.encode(made_by[place].mask(table, np.random.default_rng(0)))
        assert np.array_equal(files.make(place, np.random.default_rng(0)), alone)


def test_labels_beyond_the_original_s_have_no_code() -> None:
    table = example(60, seed=4)
    merged = GlobalRecoding(columns=("district",)).mask(table, np.random.default_rng(0))
    with pytest.raises(TableError, match="column 'district' of the masked table has 1 label"):
        CategoricalMaskingSearch().encoding(table).encode(merged)


def test_a_method_of_one_s_own_joins_the_first_population() -> None:
    table, families = example(40, seed=4), PaperFamilies(largest_k=2, depths=1, swappings=1, prams=1)
    before = add_other_methods(families, table, NAMES)
    assert before == families.methods(table, NAMES)

    @methods.add("all-alike")
    class AllAlike(MaskingMethod):
        """Every record shows the first category."""

        family = Family.PERTURBATION

        def apply(self, table: Table, rng: Generator) -> Table:
            return table.with_columns({name: np.zeros(len(table), dtype=np.int32) for name in self.columns})

        @classmethod
        def list_strengths(cls, table, columns):
            yield from (cls(columns=tuple(columns[:many])) for many in range(1, 20))

    try:
        joined = add_other_methods(families, table, NAMES)
    finally:
        del methods._classes["all-alike"]
    assert joined[: len(before)] == before
    assert [type(method) for method in joined[len(before) :]] == [AllAlike] * OF_EACH_OTHER
