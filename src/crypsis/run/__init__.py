"""A run: a folder in which several searches feed one measured front."""

from crypsis.run.evolving import evolve
from crypsis.run.front import Front
from crypsis.run.progress import Progress
from crypsis.run.run import Run
from crypsis.run.solution import Measured, Solution

__all__ = ["Front", "Measured", "Progress", "Run", "Solution", "evolve"]
