"""A finished front by other importances: the figures that a run with them would have measured."""

from __future__ import annotations

import pytest

import crypsis
from crypsis.errors import PlanError
from crypsis.measures.information_loss import InformationLoss
from crypsis.plan import Plan
from crypsis.searches.search import searches
from crypsis.table.example import example


def test_the_front_is_weighed_anew_without_a_search() -> None:
    table = example(150, seed=4)
    other = {"age": 5.0, "district": 0.0}
    heavy = table.with_columns({}, attributes={n: table.attribute(n).but(importance=v) for n, v in other.items()})
    bound = InformationLoss().against(heavy)
    with crypsis.evolve(table, search=searches.build("memetic", k=4), budget="2 generations", seed=1) as run:
        front = run.reweigh(other)
        assert len(front.everything) == len(run.front.everything)
        for solution in front.everything:
            assert solution.figure("loss") == pytest.approx(bound.read(run.decode(solution.number)))
        assert [s.figure("loss") for s in run.reweigh({}).everything] == pytest.approx(
            [s.figure("loss") for s in run.front.everything]
        )
        for wrong, words in (({"age": 7.0}, "0 to 5"), ({"agee": 1.0}, "agee")):
            with pytest.raises(PlanError, match=words):
                run.reweigh(wrong)
        with pytest.raises(PlanError, match="no loss counts"):
            run.reweigh(dict.fromkeys(table.quasi_identifiers, 0.0))


def plan(**columns: dict[str, object]) -> list[str]:
    usual = {"age": {"role": "quasi"}, "town": {"role": "quasi"}, "pay": {"role": "confidential"}}
    document = {"data": {"source": "x.csv"}, "columns": {n: c | columns.get(n, {}) for n, c in usual.items()}}
    return Plan.understand(document)[1]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"pay": {"importance": 2.0}}, "columns.pay: importance has no effect"),
        ({"pay": {"lock": True, "at_most": 3.0}}, "columns.pay: lock, at_most have no effect"),
        ({"age": {"lock": True, "at_most": 3.0}}, "columns.age: a locked column is published as collected"),
        ({"age": {"linked": "twon"}}, "'twon' is not another quasi-identifier of the plan (did you mean 'town'?)"),
        ({"age": {"linked": "age"}}, "'age' is not another"),
        ({"age": {"linked": "town"}, "town": {"linked": "age"}}, "'town' is linked itself"),
        ({"age": {"importance": 0}, "town": {"importance": 0}}, "every quasi-identifier has the importance 0"),
        ({"age": {"importance": 6}}, "importance"),
    ],
)
def test_what_a_plan_says_of_columns_in_vain_is_refused(columns: dict[str, dict[str, object]], words: str) -> None:
    assert any(words in problem for problem in plan(**columns)), plan(**columns)


def test_limits_of_columns_are_demands() -> None:
    document = {
        "data": {"source": "x.csv"},
        "columns": {"age": {"role": "quasi", "at_most": 12.5}, "sex": {"role": "quasi", "lock": True}},
    }
    demands = Plan.parse(document).column_limits()
    assert [(each.title, each.at_most) for each in demands] == [("loss of age", 12.5), ("loss of sex", 0.0)]
