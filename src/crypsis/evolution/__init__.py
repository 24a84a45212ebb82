"""Evolutionary search, independent of tables: the loop, strategies, operators and the frontier."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.engines import Engine
    from crypsis.evolution.frontier import Frontier
    from crypsis.evolution.loop import Budget, evolve
    from crypsis.evolution.operators import Muting, Tally
    from crypsis.evolution.problem import Child, Genome, Operator, Problem, Scores, Strategy, Streams
    from crypsis.evolution.state import State
    from crypsis.evolution.strategies import Application, Archived, Crowding, Elitist

__all__ = [
    "Application",
    "Archived",
    "Budget",
    "Child",
    "Crowding",
    "Elitist",
    "Engine",
    "Frontier",
    "Genome",
    "Muting",
    "Operator",
    "Problem",
    "Scores",
    "State",
    "Strategy",
    "Streams",
    "Tally",
    "evolve",
]

load_when_used(__name__)
