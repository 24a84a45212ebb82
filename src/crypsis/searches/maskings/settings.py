"""How the evolution of masked files goes about it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crypsis.registry import Settings


class MaskingEvolution(Settings):
    """Evolution of masked categorical files (Marés and Torra 2012), and what goes beyond it.

    With strokes = 1, aimed = 0 and batch = 1 this is the paper's algorithm; its number of generations and
    of leaders is not printed.
    """

    generations: int = Field(default=2000, ge=1, description="how many times a file, or a pair, is bred")
    score: Literal["mean", "max", "front"] = Field(
        default="max",
        description="mean or maximum of loss and risk; front: each file follows its own ray towards none of both",
    )
    crossover_rate: float = Field(default=0.5, ge=0.0, le=1.0, description="chance that a breeding is a crossover")
    selection: Literal["turned", "inverse", "printed"] = Field(
        default="turned",
        description="chance of a file: largest + smallest − its score, 1 / score, or its score (printed Equation 3)",
    )
    leaders: float = Field(
        default=0.1, gt=0.0, le=1.0, description="best share of the files, at least two, that lead crossovers"
    )
    strokes: int = Field(default=1, ge=1, le=100_000, description="one-cell changes tried in turn in one mutation")
    aimed: float = Field(
        default=0.0, ge=0.0, le=1.0, description="share of changes aimed at records that carry the risk or the loss"
    )
    batch: int = Field(default=1, ge=1, description="breedings of a generation, no two with a file in common")
    longest: float = Field(
        default=1.0, gt=0.0, le=1.0, description="longest stretch a crossover exchanges, as a share of the file"
    )
    forbidden: tuple[dict[str, str], ...] = Field(
        default=(), description="combinations of categories, column by column, that no masked record may have"
    )
    record: int = Field(
        default=10, ge=1, description="the scores of all files are written down every so many generations"
    )


PAPER = MaskingEvolution()
"""The paper's own way, with the budget it does not print."""

SWIFT = MaskingEvolution(generations=600, crossover_rate=0.3, strokes=200, aimed=0.7, batch=4)
"""Many aimed changes per breeding."""
