"""The card of a solution: the same analyses are asked of the baselines of the run."""

from __future__ import annotations

import crypsis
from crypsis.measures.utility import Analyses
from crypsis.searches.search import searches
from crypsis.table.example import example


def test_plain_mdav_stands_beside_every_other_solution() -> None:
    table = example(200, seed=4)
    asked = Analyses(table, 200, 1, stream="report")
    with crypsis.evolve(table, search=searches.build("memetic", k=4), budget="2 generations", seed=1) as run:
        own = next(solution for solution in run.front.everything if not solution.baseline)
        card = run.card(own, general=False)
        assert card.analyses == asked.compare(run.decode(own))
        assert "plain MDAV" in card.beside
        assert "untouched" not in card.beside
        stored = {each.title: each for each in run.front.baselines}
        for name, kept in card.beside.items():
            if name in stored:
                assert kept == asked.compare(run.decode(stored[name]))
                assert name not in run.card(stored[name], general=False).beside
