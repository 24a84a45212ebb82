"""Scores in tasks: where the work is cut, and whether the run is resumed between, changes no bit of a state."""

from __future__ import annotations

import numpy as np
import pytest

from crypsis.engines import Engine, Serial, Threads
from crypsis.evolution import Problem, State, problem
from crypsis.measures import CellLoss, RecordLinkage
from crypsis.measures.objective import Objective
from crypsis.searches import searches
from crypsis.table.example import example

TABLE = example(90, seed=3)
GENERATIONS = 9


def posed(name: str, guided: bool) -> Problem:
    search = searches.build(name, k=3, k_values=2)
    objective = Objective(TABLE, {"loss": CellLoss(), "risk": RecordLinkage()}) if guided else None
    return search.problem(search.encoding(TABLE), objective, np.random.default_rng(0))


def advanced(name: str, guided: bool, engine: Engine, resumed: bool = False) -> tuple[bytes, int]:
    """The state after some generations, and how many quanta they took."""
    problem = posed(name, guided)
    state, quanta = problem.strategy.begin(problem, np.random.default_rng(1), engine), 1
    while state.generation < GENERATIONS or not state.whole:
        if resumed and quanta % 5 == 0:
            state, problem = State.from_bytes(state.to_bytes()), posed(name, guided)
        state, quanta = problem.strategy.advance(problem, state, engine), quanta + 1
    return state.to_bytes(), quanta


@pytest.mark.parametrize("guided", [False, True])
def test_any_cut_gives_the_same_state(guided: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, quanta = advanced("composite", guided, Serial())
    monkeypatch.setattr(problem, "RECORDS", 0)
    cut, more = advanced("composite", guided, Serial())
    assert (cut, more > 2 * quanta) == (whole, guided), "without a guide, groups are scored at once"
    with Threads(2) as threads:
        assert advanced("composite", guided, threads)[0] == whole


def test_a_run_resumed_between_pieces_gives_the_same_state(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = advanced("composite", False, Serial())
    monkeypatch.setattr(problem, "RECORDS", 8 * len(TABLE))
    assert advanced("composite", False, Serial(), resumed=True)[0] == whole
