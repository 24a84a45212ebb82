"""Whether the values of a column can be what its name says: a name alone suggests no role."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import Attribute, Role
from crypsis.table.clues import MONEY, SURELY_WEIGHTS, SURVEY, name_words

ENOUGH = 20
"""Values a column must have before their shape says anything."""
LARGEST_HOUSEHOLD = 20
"""Records per value of a column that says which records belong together, at most, on average."""
NORMALISED = 0.01
"""Distance of the mean of weights from 1 up to which they are scaled to the sample."""
PEOPLE = 1000.0
"""Mean from which on numbers that differ much can be the people each record stands for."""
UNEQUAL = 20.0
"""Ratio of the largest to the smallest such number; no measured weight of grown or newborn people has it."""
NUMBERINGS = frozenset({"id", "identifier", "key", "no", "nr", "num", "number", "code"})
"""Words that may follow the word for what is numbered."""


@dataclass(frozen=True)
class ColumnEvidence:
    """The values of a column, as far as they speak for or against a role.

    numbers  the known values of a column of numbers; None for others
    distinct, spread  different values, and the same per record that has one
    whole  whether all are whole numbers
    numbering  whether the records are numbered by them
    """

    attribute: Attribute
    numbers: NDArray[np.float64] | None
    distinct: int
    spread: float
    whole: bool
    numbering: bool

    def fits(self, role: Role, word: str) -> bool:
        """Whether the values can be what a word in the name of the column says.

        role  suggested by the word
        word  found in the name, by itself or as part of a longer word
        """
        words = name_words(self.attribute.name)
        measured = self.numbers is not None and not self.whole
        if role is Role.IDENTIFIER:
            return self.spread >= 0.5 and not measured  # a 'name' that many records share identifies nobody
        if role is Role.HOUSEHOLD:
            return self._groups_records() and not measured and _numbers_things(words, word)
        if role is Role.QUASI_IDENTIFIER:
            return self.attribute.dates != "" or not self.numbering
        if role is Role.STRATUM:
            return self.spread <= 1 / LARGEST_HOUSEHOLD
        if role is Role.WEIGHT:
            return self._weighs(words, word)
        if role is Role.CONFIDENTIAL and word in MONEY.split() and word not in words:
            return self.numbers is not None and self.distinct >= ENOUGH  # cls_credits is no amount
        return True

    def _groups_records(self) -> bool:
        return self.distinct >= ENOUGH and 1 / LARGEST_HOUSEHOLD <= self.spread < 1.0

    def _weighs(self, words: list[str], word: str) -> bool:
        """Whether the numbers are sampling weights: so called, scaled to the sample, or counts of people."""
        numbers = self.numbers
        if numbers is None or not len(numbers) or numbers.min() < 0:
            return False
        if word in SURELY_WEIGHTS.split() or set(words) & set(SURVEY.split()):
            return True
        if word not in words:
            return False
        mean, least = float(numbers.mean()), float(numbers.min())
        unequal = least > 0 and float(numbers.max()) >= UNEQUAL * least
        return abs(mean - 1) <= NORMALISED or (mean >= PEOPLE and unequal)


def _numbers_things(words: list[str], word: str) -> bool:
    """Whether a name ends with the word for a thing, or with its number: family_id, not family_income."""
    if word not in words:
        return False
    last = len(words) - words[::-1].index(word)
    return all(after in NUMBERINGS for after in words[last:])
