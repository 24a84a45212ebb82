"""Public names of `crypsis.evolution`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.engines import Engine as Engine
from crypsis.evolution.frontier import Frontier as Frontier
from crypsis.evolution.loop import (
    Budget as Budget,
    evolve as evolve,
)
from crypsis.evolution.operators import (
    Muting as Muting,
    Tally as Tally,
)
from crypsis.evolution.problem import (
    Child as Child,
    Genome as Genome,
    Operator as Operator,
    Problem as Problem,
    Scores as Scores,
    Strategy as Strategy,
    Streams as Streams,
)
from crypsis.evolution.state import State as State
from crypsis.evolution.strategies import (
    Application as Application,
    Archived as Archived,
    Elitist as Elitist,
)
