"""Runs: a folder in which several searches contribute to one measured front."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.run.front import Front
    from crypsis.run.progress import Progress
    from crypsis.run.protect import evolve, protect
    from crypsis.run.session import Run
    from crypsis.run.solution import Solution

__all__ = ["Front", "Progress", "Run", "Solution", "evolve", "protect"]

load_when_used(__name__)
