"""Search that knows nothing of tables."""

from crypsis.evolution.evolve import Budget, InProcess, evolve
from crypsis.evolution.frontier import Frontier
from crypsis.evolution.operators import Muting, Tally
from crypsis.evolution.space import Child, Engine, Genome, Operator, Problem, Scores, Space, Strategy, Streams
from crypsis.evolution.state import State
from crypsis.evolution.strategies import Application, Archived, Crowding, Elitist, Generational

__all__ = [
    "Application",
    "Archived",
    "Budget",
    "Child",
    "Crowding",
    "Elitist",
    "Engine",
    "Frontier",
    "Generational",
    "Genome",
    "InProcess",
    "Muting",
    "Operator",
    "Problem",
    "Scores",
    "Space",
    "State",
    "Strategy",
    "Streams",
    "Tally",
    "evolve",
]
