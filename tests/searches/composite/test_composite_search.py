"""The search over composite groups: what it publishes, what it promises, and that it goes on where it was."""

from __future__ import annotations

import numpy as np
import pytest

import crypsis
from crypsis.encodings.composite import CompositeEncoding, CompositeGenes
from crypsis.errors import SearchError
from crypsis.evolution import Budget, State, evolve
from crypsis.masking.representatives import Representative
from crypsis.measures.objective import Objective
from crypsis.privacy.anonymity import KAnonymity
from crypsis.privacy.closeness import TCloseness
from crypsis.privacy.diversity import LDiversity
from crypsis.searches.composite import annealing
from crypsis.searches.composite.space import Treatments, true_representative_in_space
from crypsis.searches.search import searches
from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import LOCAL, Table

MEASURES = {"loss": crypsis.InformationLoss(), "risk": crypsis.ClassRisk()}


def searched(table: Table, quanta: int, models: tuple = (), **settings: object) -> tuple[CompositeEncoding, State]:
    search = searches.build("composite", **settings)
    problem = search.pose(table, Objective(table, MEASURES, models=models), np.random.default_rng(1))
    *_, last = evolve(problem, np.random.default_rng(1), Budget(generations=quanta))
    return search.encoding(table), last


def holds(masked: Table, original: Table, name: str) -> np.ndarray:
    """Whether what is published of each record is true of it; a blank says nothing and is true."""
    hierarchy, shown = masked.attribute(name).hierarchy, masked.column(name)
    if masked.level(name) == 0:
        blank = masked.missing(name)
        return blank | (shown == original.column(name))
    assert masked.level(name) == LOCAL
    assert hierarchy is not None
    leaf = original.leaf_codes(name)
    true = shown == MISSING
    for level in range(hierarchy.height + 1):
        above = np.where(leaf >= 0, hierarchy.groups[level][leaf] + hierarchy.offsets[level], MISSING)
        true |= (shown == above) & (leaf >= 0)
    return true


def test_every_solution_has_its_k_and_larger_k_lose_more() -> None:
    table = crypsis.example(150)
    encoding, state = searched(table, 30, k=4, k_values=3)
    for genome in state.frontier.genomes:
        genes, masked = encoding.genes(genome), encoding.decode(genome)
        assert KAnonymity(k=genes.k).judge(masked).holds
    assert [encoding.genes(genome).k for genome in state.genomes[:3]] == [4, 8, 15]
    assert state.scores[0, 0] < state.scores[1, 0] < state.scores[2, 0]


def test_between_two_rungs_a_price_makes_fewer_groups_of_more_sizes() -> None:
    table = crypsis.example(150)
    _, early = searched(table, 2, k=4, k_values=2, largest_k=12)
    assert len(early.genomes) == 2
    encoding, state = searched(table, 80, k=4, k_values=2, largest_k=12)
    assert len(state.genomes) == 4  # between the values of k, and beyond the last one
    assert [float(state.memory[f"{seat}/price"][0]) > 0.0 for seat in range(4)] == [False, False, True, True]
    many, few, between, beyond = (
        np.bincount(encoding.genes(CompositeGenes(state.memory[f"{seat}/best"], 4, profile).genome).labels)
        for seat in range(4)
        for profile in [encoding.genes(state.genomes[0]).treatments]
    )
    assert len(few) <= len(between) < len(many)
    assert len(beyond) <= len(few)
    assert between.min() >= 4
    assert np.ptp(between) > np.ptp(many)


def test_beyond_the_grid_ever_larger_groups_are_merged() -> None:
    """150 records, k = 4 and 15: 30 and 60, and all records as one group; none where the settings end the ladder."""
    table = crypsis.example(150)
    encoding, state = searched(table, 40, k=4, k_values=2)
    sizes = [encoding.genes(genome).k for genome in state.genomes]
    assert sizes[:5] == [4, 15, 30, 60, 150]
    for seat in range(5):
        assert np.bincount(state.memory[f"{seat}/best"]).min() >= sizes[seat]
    least = [min(loss for loss, risk in state.frontier.scores if risk <= most) for most in (4.0, 2.0, 1.0)]
    _, ended = searched(table, 40, k=4, k_values=2, largest_k=15)
    before = [
        min([loss for loss, risk in ended.frontier.scores if risk <= most], default=np.inf) for most in (4.0, 2.0, 1.0)
    ]
    assert len(ended.genomes) == 4
    assert least < before
    assert least[2] < before[2]


def test_a_limit_on_linkage_begins_with_groups_that_keep_it() -> None:
    """Who is one of twelve alike is found one time in twelve: the first groups of the search may be released."""
    table = crypsis.example(200)
    plan = crypsis.Plan.parse(
        {
            "data": {"source": "(memory)"},
            "columns": {name: {"role": "quasi"} for name in table.quasi_identifiers},
            "search": [{"name": "composite", "k": 4}],
            "limit": [{"measure": "risk", "at_most": 9.0}],
        }
    )
    assert plan.safe_k == 12
    problem = plan.searches()[0].pose(table, None, np.random.default_rng(0))
    assert problem.notes["k"] == [4, 5, 6, 8, 10, 12, 13, 16, 20]
    (genome,) = problem.first()
    masked = plan.searches()[0].encoding(table).decode(genome)
    assert KAnonymity(k=12).judge(masked).holds
    assert crypsis.RecordLinkage().against(table).read(masked) <= 9.0


def test_a_cap_on_a_column_and_a_limit_on_a_measure_are_kept_without_a_guide() -> None:
    """Unsteered, no point of the front keeps the cap on the district; steered, all points keep both."""
    table = crypsis.example(150)
    columns = {name: {"role": "quasi"} for name in table.quasi_identifiers}
    plan = crypsis.Plan.parse(
        {
            "data": {"source": "(memory)"},
            "columns": columns | {"district": {"role": "quasi", "at_most": 12.0}},
            "search": [{"name": "composite", "k": 4, "k_values": 2}],
            "limit": [{"measure": "record-linkage", "at_most": 10.0}],
        }
    )
    objective, search = plan.objective(table), plan.searches()[0]
    kept = []
    for each in (search, search.under(plan.models())):
        problem = each.pose(table, None, np.random.default_rng(1))
        *_, last = evolve(problem, np.random.default_rng(1), Budget(generations=25))
        tables = [each.encoding(table).decode(genome) for genome in last.frontier.genomes]
        kept.append([not objective.evaluate(masked, "aggregation").complaints for masked in tables])
    assert all(kept[0])
    assert not any(kept[1])


def test_less_is_lost_than_by_mdav_and_local_recoding() -> None:
    """The same table, the same k, a second of work: means and most frequent values, or recoded classes."""
    table = crypsis.example(300)
    _, state = searched(table, 60, k=5, k_values=1, numbers="mean", categories="typical")
    objective, rng = Objective(table, MEASURES), np.random.default_rng(1)
    least = state.frontier.scores[:, 0].min()
    assert least < 0.95 * objective.score(crypsis.Microaggregation(k=5).mask(table, rng))[0]
    assert least < 0.6 * objective.score(crypsis.LocalRecoding(k=5).mask(table, rng))[0]


def test_scores_are_read_from_the_groups_alone() -> None:
    """Without a guide: the loss of means and most frequent values, and classes over records, exactly."""
    table = crypsis.example(150)
    search = searches.build("composite", k=4, k_values=2, numbers="mean", categories="typical")
    table = table.with_columns({}, attributes={n: table.attribute(n).but(kind=Kind.NOMINAL) for n in ("education",)})
    problem = search.pose(table, None, np.random.default_rng(1))
    *_, last = evolve(problem, np.random.default_rng(1), Budget(generations=6))
    objective = Objective(table, MEASURES)
    checked = 0
    for genome, scores in zip(last.frontier.genomes, last.frontier.scores, strict=True):
        masked = search.encoding(table).decode(genome)
        if all(len(np.unique(masked.column(name))) > 1 for name in table.quasi_identifiers):
            assert objective.score(masked) == pytest.approx(tuple(scores))
            checked += 1
    assert checked


def test_calibrated_values_keep_more_answers_than_means() -> None:
    table = crypsis.example(400)
    kept = []
    for numbers, categories in (("calibrated", "calibrated"), ("mean", "typical")):
        encoding, state = searched(table, 6, k=5, k_values=1, numbers=numbers, categories=categories)
        kept.append(Objective(table, MEASURES).evaluate(encoding.decode(state.best), "aggregation").figures["analyses"])
    assert kept[0] > kept[1]
    assert kept[0] > 80.0


def test_genomes_are_equal_whatever_the_numbers_of_their_groups() -> None:
    table = crypsis.example(60)
    encoding, state = searched(table, 12, k=4, k_values=1)
    genes = encoding.genes(state.best)
    other = np.random.default_rng(0).permutation(int(genes.labels.max()) + 1).astype(np.int32)
    renamed = CompositeGenes(other[genes.labels], genes.k, genes.treatments)
    assert encoding.key(renamed.genome) == encoding.key(genes.genome)
    assert encoding.key(CompositeGenes(genes.labels, genes.k + 1, genes.treatments).genome) != encoding.key(
        genes.genome
    )
    for name in encoding.names:
        assert np.array_equal(
            encoding.apply(renamed.genome).column(name),
            encoding.apply(genes.genome).column(name),
            equal_nan=table.attribute(name).numeric,
        )


def test_truthful_solutions_publish_nothing_false() -> None:
    table = crypsis.example(150)
    bare = table.with_columns({}, attributes={"marital": table.attribute("marital").but(hierarchy=None)})
    encoding, state = searched(bare, 20, k=4, k_values=2, truthful=True)
    for genome in state.frontier.genomes:
        masked = encoding.decode(genome)
        for name in bare.quasi_identifiers:
            assert holds(masked, bare, name).all(), name
        assert masked.level("marital") == 0
    assert encoding.describe(genome, masked).facts["truthful"] == "true"


def test_the_default_publishes_something_false_and_the_test_above_would_see_it() -> None:
    table = crypsis.example(150)
    encoding, state = searched(table, 10, k=4, k_values=1)
    masked = encoding.decode(state.best)
    assert not all(holds(masked, table, name).all() for name in table.quasi_identifiers)


def test_marginal_treatment_keeps_the_distribution() -> None:
    table = crypsis.example(200)
    encoding, state = searched(table, 10, k=4, k_values=1)
    genes = encoding.genes(state.best)

    def variation(way: Representative) -> float:
        attributes = [table.attribute(name) for name in encoding.names]
        ways = tuple(Representative.MEDIAN if each.numeric else way for each in attributes)
        masked = encoding.decode(CompositeGenes(genes.labels, genes.k, ways).genome)
        names = [each.name for each in attributes if not each.numeric]
        shares = [
            [np.bincount(each.column(name)[each.column(name) >= 0], minlength=20) / len(table) for name in names]
            for each in (table, masked)
        ]
        return float(np.abs(np.array(shares[0]) - np.array(shares[1])).sum())

    assert variation(Representative.MARGINAL) < 0.5 * variation(Representative.TYPICAL)


@pytest.mark.parametrize("model", [LDiversity(l=3), TCloseness(t=0.25), LDiversity(l=2.5, kind="entropy")])
def test_what_is_demanded_holds_from_the_first_point_on(model: LDiversity | TCloseness) -> None:
    table = crypsis.example(300)
    for quanta in (0, 12):
        encoding, state = searched(table, quanta, (KAnonymity(k=4), model), k=4, k_values=1)
        masked = encoding.decode(state.best)
        assert model.judge(masked).holds
        assert KAnonymity(k=4).judge(masked).holds


def test_a_stopped_search_goes_on_bit_by_bit() -> None:
    table = crypsis.example(100)
    search = searches.build("composite", k=3, k_values=2)
    problem = search.pose(table, Objective(table, MEASURES), np.random.default_rng(2))
    states = list(evolve(problem, np.random.default_rng(2), Budget(generations=8)))
    again = search.pose(table, Objective(table, MEASURES), np.random.default_rng(2))
    half = State.from_bytes(states[4].to_bytes())
    *_, resumed = evolve(again, np.random.default_rng(9), Budget(generations=8), state=half)
    assert resumed.to_bytes() == states[-1].to_bytes()


def test_odd_tables() -> None:
    """Constant, empty and lone columns, fewer than 2k records, all records alike."""
    rng = np.random.default_rng(0)
    nothing = Attribute("none", Kind.NOMINAL, Role.QUASI_IDENTIFIER, ("a",))
    same = Attribute("same", Kind.NUMERIC, Role.QUASI_IDENTIFIER)
    x = Attribute("x", Kind.NUMERIC, Role.QUASI_IDENTIFIER)
    for n in (3, 5, 40):
        columns = (np.full(n, -1, np.int32), np.full(n, 2.5), rng.integers(0, 3, n).astype(float))
        encoding, state = searched(Table((nothing, same, x), columns), 6, k=3, k_values=2)
        masked = encoding.decode(state.best)
        assert KAnonymity(k=3).judge(masked).holds
        assert masked.missing("none").all()
        assert (masked.column("same") == 2.5).all()


def test_a_genome_of_another_table_is_refused() -> None:
    encoding = searches.build("composite", k=3).encoding(crypsis.example(30))
    with pytest.raises(SearchError, match="belongs to another table"):
        encoding.decode(np.zeros(12, np.int32))


def test_treatments_in_turn() -> None:
    table = crypsis.example(30)
    attributes = [table.attribute(name) for name in ("age", "sex")]
    profile = (Representative.CALIBRATED, Representative.CALIBRATED)
    treatments = Treatments.of(attributes, profile, False)
    rng = np.random.default_rng(0)
    true = tuple(true_representative_in_space(each) for each in attributes)
    assert treatments.another(profile, 0, rng) == true
    other = treatments.another(profile, 1, rng)
    assert other is not None
    assert sum(one is not two for one, two in zip(other, profile, strict=True)) == 1
    assert Treatments.of(attributes, profile, True).another(profile, 3, rng) is None


def test_starts_differ_and_each_keeps_k() -> None:
    table = crypsis.example(120)
    first = {}
    for start in ("halving", "mdav", "lattice", "local-recoding", "best"):
        encoding, state = searched(table, 0, k=4, k_values=1, start=start)
        first[start] = state.best_scores[0]
        assert np.bincount(encoding.genes(state.best).labels).min() >= 4
    assert len(set(first.values())) == 4
    assert first["best"] == min(first["halving"], first["mdav"])


def test_importance_moves_the_groups() -> None:
    table = crypsis.example(150)
    losses = []
    for importance in (1.0, 20.0):
        weighed = table.attribute("district").but(importance=importance)
        encoding, state = searched(table.with_columns({}, attributes={"district": weighed}), 8, k=4, k_values=1)
        district = crypsis.InformationLoss(columns=("district",)).against(table)
        losses.append(district.read(encoding.decode(state.best)))
    assert losses[1] < losses[0]


def test_a_large_table_walks_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """With blocks of some fifty records: every quantum changes one block, k holds and the loss falls."""
    monkeypatch.setattr("crypsis.searches.composite.annealing.WHOLE", 100)
    monkeypatch.setattr("crypsis.searches.composite.annealing.BLOCK", 50)
    table = crypsis.example(300)
    _, first = searched(table, 0, k=4, k_values=1, start="halving")
    encoding, state = searched(table, 30, k=4, k_values=1, start="halving")
    assert KAnonymity(k=4).judge(encoding.decode(state.best)).holds
    assert state.best_scores[0] < 0.8 * first.best_scores[0]
    model = LDiversity(l=3)
    encoding, state = searched(table, 30, (model,), k=4, k_values=1)
    assert model.judge(encoding.decode(state.best)).holds


def test_blocks_hold_whole_groups_and_every_group_once() -> None:
    table = crypsis.example(200)
    search = searches.build("composite", k=4, k_values=1)
    space = search.pose(table, None, np.random.default_rng(0)).strategy.space
    labels = space.halve(0, 4)
    for turn in range(4):
        rows = [
            annealing.rows_of_composite_block(space, labels, turn, block)
            for block in range(annealing.count_composite_blocks(space))
        ]
        assert sorted(np.concatenate(rows).tolist()) == list(range(200))
        for some in rows:
            assert not set(labels[some]) & set(np.delete(labels, some))


def test_locked_columns_stay_and_k_holds_with_them() -> None:
    table = crypsis.example(200)
    locked = table.with_columns({}, attributes={"sex": table.attribute("sex").but(locked=True)})
    encoding, state = searched(locked, 12, k=4, k_values=2)
    masked = encoding.decode(state.best)
    assert (masked.column("sex") == table.column("sex")).all()
    assert KAnonymity(k=4).judge(masked).holds


def test_the_models_of_a_plan_are_met_by_its_own_figures_too() -> None:
    table, model = crypsis.example(200), LDiversity(l=3)
    search = searches.build("composite", k=4, k_values=1).under([KAnonymity(k=4), model])
    *_, state = evolve(
        search.pose(table, None, np.random.default_rng(1)), np.random.default_rng(1), Budget(generations=8)
    )
    for genome in state.frontier.genomes:
        assert model.judge(search.encoding(table).decode(genome)).holds


def test_variants_publish_the_same_groups_in_other_ways() -> None:
    table = crypsis.example(60)
    problem = searches.build("composite", k=4, k_values=1, try_ancestors=True).pose(
        table, None, np.random.default_rng(1)
    )
    encoding, (genome,) = searches.build("composite", k=4).encoding(table), problem.first()
    assert problem.variants is not None
    [true] = (encoding.genes(each) for each in problem.variants(genome))
    assert all(way.truthful for way in true.treatments)
    assert (true.labels == encoding.genes(genome).labels).all()


def test_variants_that_are_members_of_the_front_are_measured_once() -> None:
    """Guided by cell loss and linkage, a true solution is a member of the front and a variant of another one."""
    people = crypsis.example(120)
    measures = {"loss": ["cell-loss"], "risk": ["record-linkage"], "guide": True}
    search = crypsis.CompositeSearch(k=4, k_values=3, try_ancestors=True)
    with crypsis.evolve(people, search, budget="30 generations", seed=1, measures=measures) as run:
        assert {"true", "false"} == {s.facts.get("truthful") for s in run.front.everything if s.title == "composite"}
