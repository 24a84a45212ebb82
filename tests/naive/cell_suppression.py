"""Hidden cells, record by record: who is alike with whom, and the fewest cells by trying every set of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

Row = Sequence[object]
"""Values of a record; None for a cell that is hidden or missing."""


def agrees(shown: Row, person: Row) -> bool:
    """Whether a published record contradicts a person in no cell; a cell the person lacks must be hidden."""
    return all(cell is None or cell == value for cell, value in zip(shown, person, strict=True))


def records_of_persons(shown: Sequence[Row], people: Sequence[Row]) -> list[int]:
    """For every person the published records that do not contradict it."""
    return [sum(agrees(record, person) for record in shown) for person in people]


def persons_of_records(shown: Sequence[Row], people: Sequence[Row]) -> list[int]:
    """For every published record the persons that it does not contradict."""
    return [sum(agrees(record, person) for person in people) for record in shown]


def wildcard_counts(shown: Sequence[Row]) -> list[int]:
    """For every published record those that differ in no cell that both show."""
    return [
        sum(all(a is None or b is None or a == b for a, b in zip(one, other, strict=True)) for other in shown)
        for one in shown
    ]


def holds(shown: Sequence[Row], people: Sequence[Row], k: int, missing: str, sides: str) -> bool:
    """Whether k holds under a reading and on the sides asked for."""
    counts = wildcard_counts(shown) if missing == "wildcard" else records_of_persons(shown, people)
    return min(counts) >= k and (sides == "persons" or min(persons_of_records(shown, people)) >= k)


def least_weight(people: Sequence[Row], cell: Sequence[float], k: int, missing: str, sides: str) -> float:
    """The least weight of hidden cells with which k holds, by trying every set of cells."""
    best, width = float("inf"), len(people[0])
    for hidden in product((False, True), repeat=len(people) * width):
        weight = sum(cell[place % width] for place, hides in enumerate(hidden) if hides)
        if weight < best:
            shown = [
                [None if hidden[row * width + c] else value for c, value in enumerate(person)]
                for row, person in enumerate(people)
            ]
            if holds(shown, people, k, missing, sides):
                best = weight
    return best
