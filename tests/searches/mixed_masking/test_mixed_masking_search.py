"""Masking of mixed files: what moves together, what is kept, what is found, and what may be released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crypsis
from crypsis.encodings.masked_file import ExchangeEncoding, cycles_between_masked_files, join_masked_file_units
from crypsis.engines import Serial
from crypsis.errors import ReleaseRefused, SearchError
from crypsis.masking.repairing import find_records_to_repair
from crypsis.measures.information_loss import CellLoss, InformationLoss
from crypsis.measures.linkage_attacks import HELD_OUT
from crypsis.measures.objective import LimitDemand, Objective
from crypsis.measures.one_to_one_linkage import LEARNED, ONE_TO_ONE
from crypsis.measures.rule_violations import RuleViolations
from crypsis.release.verification import verify
from crypsis.searches.mixed_masking.annealing import cross_annealing_chains
from crypsis.searches.mixed_masking.mixed_masking_search import MixedMaskingSearch, mixed_masking_search_units
from crypsis.searches.mixed_masking.space import is_listable_in_space, rule_tables_of_space
from crypsis.table.rules import read_rule, violations
from crypsis.table.table import Table, lock_table_columns


def after(search: MixedMaskingSearch, table: Table, objective: Objective | None, quanta: int = 3) -> list[Table]:
    """The files on the seats after some quanta."""
    problem = search.pose(table, objective, np.random.default_rng(1))
    state = problem.strategy.begin(problem, np.random.default_rng(2), Serial())
    for _ in range(quanta):
        state = problem.strategy.advance(problem, state, Serial())
    donors = problem.strategy.space.genome(state.memory["0/current"], search.names(table))  # type: ignore[attr-defined]
    return [search.encoding(table).decode(each) for each in (*state.genomes, donors)]


def objective_of(table: Table, *limits: LimitDemand) -> Objective:
    return Objective(table, {"loss": crypsis.CellLoss(), "risk": crypsis.RecordLinkage()}, limits=limits)


# -- genomes --


def test_a_genome_says_whose_value_each_record_shows() -> None:
    table = Table.from_columns(
        {"age": [20.0, 30.0, 40.0], "town": ["a", "b", "b"], "ill": ["x", "y", "z"]}, {"age": "quasi", "town": "quasi"}
    )
    encoding = ExchangeEncoding(table, ("age", "town"))
    genome = np.array([[1, 0], [0, 2], [2, 1]], dtype=np.int32)
    masked = encoding.decode(genome)
    assert masked.column("age").tolist() == [30.0, 20.0, 40.0]
    assert masked.column("town").tolist() == table.column("town").tolist()
    assert masked.column("ill").tolist() == table.column("ill").tolist()
    assert encoding.key(genome) == encoding.key(np.array([[1, 0], [0, 1], [2, 2]], dtype=np.int32))
    description = encoding.describe(genome, masked)
    assert "age 67 %, town 0 %" in description.message
    assert "no class size is promised" in description.message
    assert "every column keeps its values" in description.message
    with pytest.raises(SearchError, match="another table"):
        encoding.decode(genome[:2])


def test_a_crossover_exchanges_whole_cycles() -> None:
    assert cycles_between_masked_files(np.array([0, 1, 2, 3]), np.array([1, 2, 0, 3])).tolist() == [0, 0, 0, 1]
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 6, (40, 2)).astype(np.int32)
    one, other = (np.stack([rng.permutation(40) for _ in range(2)], axis=1).astype(np.int32) for _ in range(2))
    child = cross_annealing_chains(one, other, codes, 0.3, rng)
    for unit in range(2):
        shown = np.sort(codes[child[:, unit], unit])
        assert np.array_equal(shown, np.sort(codes[:, unit]))
    assert (child != one).any()
    replaced = other.copy()
    replaced[:, 0] = 0  # no longer an exchange: the stretch alone is taken
    taken = cross_annealing_chains(one, replaced, codes, 0.3, rng)
    assert int((taken[:, 0] != one[:, 0]).sum()) in (11, 12)


# -- what moves together --


def test_linked_columns_and_columns_of_a_rule_come_from_one_record() -> None:
    names = ["country", "code", "age", "marital", "sex"]
    columns = {name: ["1", "2"] for name in [*names, "pension"]}
    table = Table.from_columns(columns, dict.fromkeys(names, "quasi"))
    table = table.with_columns({}, attributes={"code": table.attribute("code").but(linked="country")})
    units, ties = mixed_masking_search_units(table, tuple(names), [("age", "marital"), ("marital", "pension")])
    assert units == (("country", "code"), ("age", "marital"), ("sex",))
    assert ties == ((), ("pension",), ())


def test_rules_are_looked_up_in_tables_of_combinations() -> None:
    table = Table.from_columns(
        {
            "age": [10.0, 20.0, 30.0, 12.0],
            "marital": ["single", "married", "widowed", "married"],
            "pension": [0, 0, 1, 0],
        },
        {"age": "quasi", "marital": "quasi"},
    )
    rules = [read_rule("if marital = 'married' then age >= 18"), read_rule("if pension = 1 then age > 25")]
    assert all(is_listable_in_space(table, rule) for rule in rules)
    tables = rule_tables_of_space(table, [("age",), ("marital",)], rules)
    own = np.repeat(np.arange(4, dtype=np.int32)[:, None], 2, axis=1)
    assert not find_records_to_repair(tables, own).any()  # the last record breaks the first rule as collected
    for record, unit, donor, breaks in [
        (0, 1, 1, True),
        (0, 1, 2, False),
        (1, 0, 0, True),
        (2, 0, 1, True),
        (3, 0, 0, False),
    ]:
        donors = own.copy()
        donors[record, unit] = donor
        assert find_records_to_repair(tables, donors).tolist() == [breaks and each == record for each in range(4)]
    joined, fixed = join_masked_file_units(tables, 2)
    assert joined.tolist() == [0, 0]
    assert fixed.tolist() == [True, True]


def test_rules_caps_locks_and_importance_hold_in_every_file() -> None:
    table = lock_table_columns(crypsis.example(150), ["sex"])
    rule = "if marital = 'married' then age >= 18"
    kept = ~violations(read_rule(rule), table, collected=True)
    objective = objective_of(
        table,
        LimitDemand("rule", 0.0, RuleViolations(rule=rule)),
        LimitDemand("loss of hours", 4.0, CellLoss(columns=("hours",))),
        LimitDemand("loss of age", 30.0, InformationLoss(columns=("age",))),
        LimitDemand("loss of marital", 20.0, InformationLoss(columns=("marital",))),
    )
    for masked in after(MixedMaskingSearch(risk_limits=2, lowest=10), table, objective, quanta=8):
        assert masked.column("sex").tolist() == table.column("sex").tolist()
        assert not (violations(read_rule(rule), masked) & kept).any()
        assert CellLoss(columns=("hours",)).against(table).read(masked) <= 4.0 + 1e-9
        for name, most in (("age", 30.0), ("marital", 20.0)):
            assert InformationLoss(columns=(name,)).against(table).read(masked) <= most + 1e-9


def test_an_unimportant_column_is_exchanged_more() -> None:
    table = crypsis.example(150)
    shares = []
    for importance in (0.2, 5.0):
        marked = table.with_columns({}, attributes={"district": table.attribute("district").but(importance=importance)})
        masked = after(MixedMaskingSearch(risk_limits=1, lowest=20), marked, None, quanta=12)[-1]
        shares.append(float((masked.column("district") != table.column("district")).mean()))
    assert shares[0] > shares[1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"columns": ("sex",)}, "locked"),
        ({"lowest": 30.0}, "highest"),
    ],
)
def test_what_cannot_be_masked_is_refused(change: dict[str, Any], sentence: str) -> None:
    table = lock_table_columns(crypsis.example(40), ["sex"])
    with pytest.raises(SearchError, match=sentence):
        MixedMaskingSearch(**change).pose(table, None, np.random.default_rng(0))


# -- what is found --


def test_rates_follow_success_and_stay_above_the_least() -> None:
    table = crypsis.example(120)
    ends = {}
    for adaptive in (True, False):
        problem = MixedMaskingSearch(risk_limits=1, adaptive=adaptive).pose(table, None, np.random.default_rng(1))
        state = problem.strategy.begin(problem, np.random.default_rng(2), Serial())
        first = state.memory["0/rates"].copy()
        for _ in range(3):
            state = problem.strategy.advance(problem, state, Serial())
        ends[adaptive] = state.memory["0/rates"]
        assert ends[adaptive].sum() == pytest.approx(1.0)
    assert np.array_equal(ends[False], first)
    assert not np.array_equal(ends[True], first)
    assert ends[True][first > 0].min() > 0.03


def test_several_blocks_are_annealed_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    from crypsis.searches.mixed_masking import space

    monkeypatch.setattr(space, "WHOLE", 50)
    monkeypatch.setattr(space, "BLOCK", 40)
    table = crypsis.example(120)
    problem = MixedMaskingSearch(risk_limits=1, lowest=20).pose(table, None, np.random.default_rng(1))
    blocks = problem.strategy.space.blocks(0)  # type: ignore[attr-defined]
    assert sorted(np.concatenate(blocks).tolist()) == list(range(120))
    assert max(map(len, blocks)) <= 40
    state = problem.strategy.begin(problem, np.random.default_rng(2), Serial())
    before = state.memory["0/current"].copy()
    for turn in range(len(blocks)):
        state = problem.strategy.advance(problem, state, Serial())
        moved = np.flatnonzero((state.memory["0/current"] != before).any(axis=1))
        assert set(moved) <= set(np.concatenate(blocks[: turn + 1]).tolist())
    assert len(moved)


# -- judged, released, verified --


def plan_sections(limit: float) -> dict[str, Any]:
    return {
        "limit": [{"measure": "risk", "at_most": limit}],
        "measures": {"loss": ["cell-loss"], "risk": ["record-linkage"]},
    }


def test_a_file_fitted_to_one_attack_is_not_releasable_and_says_why() -> None:
    """Only linkage by all columns is followed: held-out attacks find far more people, and the point says so."""
    search = MixedMaskingSearch(sets=0, risk_limits=1, lowest=20.0)
    with crypsis.evolve(
        crypsis.example(200), search, [], budget="18 generations", seed=1, **plan_sections(20.0)
    ) as run:
        fitted = [s for s in run.front.everything if not s.baseline and (s.figure("risk") or 0) <= 20.0]
        assert fitted
        refused = [s for s in fitted if (s.figure(HELD_OUT) or 0) > 20.0]
        assert refused
        assert all(not s.feasible and any(HELD_OUT in why for why in s.complaints) for s in refused)


@pytest.mark.parametrize("limit", [40.0, 60.0])
def test_a_masked_file_is_released_if_attackers_the_search_never_saw_keep_the_limit_too(
    tmp_path: Path, limit: float
) -> None:
    table = crypsis.example(200).drop(["income"])  # which nobody masks, and which singles people out
    search = MixedMaskingSearch(risk_limits=1, lowest=25.0)
    with crypsis.evolve(table, search, [], budget="18 generations", seed=1, **plan_sections(limit)) as run:
        masked = [s for s in run.front.everything if not s.baseline]
        offered = [s for s in masked if s.feasible]
        assert offered
        for name in (HELD_OUT, ONE_TO_ONE, LEARNED):
            assert all((s.figure(name) or 100.0) <= limit for s in offered)
        if limit == 40.0:  # nearest records find less than 40 %, the learned attacker more: it is not offered
            fitted = [s for s in masked if not s.feasible and (s.figure("risk") or 100.0) <= limit]
            assert any(LEARNED in why or ONE_TO_ONE in why for s in fitted for why in s.complaints)
        run.release(min(offered, key=lambda s: s.figure("loss") or 0.0).number, tmp_path / "bundle")
    found = verify(tmp_path / "bundle")
    assert found.sound, found
    internal = (tmp_path / "bundle" / "internal" / "report.html").read_text(encoding="utf-8")
    assert HELD_OUT in internal
    assert "no class size is promised" in internal


def test_with_a_demanded_k_nothing_masked_is_released(tmp_path: Path) -> None:
    both = [MixedMaskingSearch(risk_limits=1, lowest=25.0), crypsis.CompositeSearch(k=3, k_values=1)]
    models = [crypsis.KAnonymity(k=3)]
    with crypsis.evolve(crypsis.example(100), both, models, budget="4 generations", seed=1) as run:
        masked = [s for s in run.front.everything if s.title == "mixed-masking"]
        assert masked
        assert not any(s.feasible for s in masked)
        with pytest.raises(ReleaseRefused, match="cannot protect a perturbed file"):
            run.release(masked[0].number, tmp_path / "bundle")


def test_the_risk_of_a_perturbed_table_is_the_larger_of_two_attackers() -> None:
    table = crypsis.example(150)
    measures = {"loss": InformationLoss(), "risk": crypsis.ClassRisk()}
    masked = crypsis.RankSwapping(percent=30).mask(table, np.random.default_rng(1))
    free = Objective(table, measures).evaluate(masked, "perturbation")
    learned, assigned = free.figures[LEARNED], free.figures[ONE_TO_ONE]
    assert learned is not None
    assert assigned is not None
    assert free.figures["risk"] == max(learned, assigned)
    assert not free.complaints
    low, high = sorted([learned, assigned])
    between = [LimitDemand("risk", (low + high) / 2)]
    limited = Objective(table, measures, limits=between).evaluate(masked, "perturbation")
    assert [each.subject for each in limited.complaints if each.subject != HELD_OUT]
