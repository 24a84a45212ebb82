"""Households: masked cells that other members restore, and classes that belong to few people or households."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crypsis.audits.dependence import FEWEST, MOST_RESTORED, SHUFFLES
from crypsis.audits.published import Codes, Finding, FindingKind, Published, collected_codes
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.equivalence_classes import EquivalenceClasses, equivalence_classes
from crypsis.table.hierarchy import MISSING
from crypsis.table.inference import infer_known_word, words_for_inference
from crypsis.table.profile import name_numbers_people, profile_name_subjects
from crypsis.table.table import Table

# -- Household fellows: masked cells that other members of the household restore, although no household is published.
#
# Which records belong together is never published, but members share what is true of the household: its dwelling, its
# spending, its weight. Records that are alike in all such columns are taken for fellows; the masked cell of one is
# *restored* if those fellows whose cell stands there as collected all hold one value, and it is the right one.

CONSTANT = 0.99
"""Share of the households in which all members agree, from which on a column is one of the household."""
OFTEN = 0.9
"""The same for what is restored: a region that a few households give differently is still known from fellows."""

SURELY = 4.0
"""Standard deviations by which what is restored exceeds chance."""


def fellows(seen: Published, most: float = MOST_RESTORED) -> list[Finding]:
    """Masked cells that household fellows restore, if the original says who lives together."""
    before = seen.original
    homes = [a.name for a in before.attributes if a.role is Role.HOUSEHOLD] if before is not None else []
    if before is None or not homes:
        return []
    home = collected_codes(before, homes[0])
    shared = [
        name
        for name in seen.columns
        if name in before.names
        and seen.role(name) is not Role.QUASI_IDENTIFIER
        and _agrees(before, name, home) >= CONSTANT
    ]
    if not shared:
        return []
    classes = equivalence_classes(np.stack([seen.codes(name) for name in shared], axis=1))
    found = []
    for target in seen.columns:
        masked = seen.masked_cells.get(target)
        if masked is None or not masked.any() or target in shared or _agrees(before, target, home) < OFTEN:
            continue
        count = _count_restored(seen, target, classes)
        if count > most * masked.sum():
            share = count / int(masked.sum())
            found.append(Finding(FindingKind.DEPENDENCE, (*shared, target), count, share, by=len(shared)))
    return found


def _agrees(before: Table, name: str, home: Codes) -> float:
    """Share of the households of several members that have one value."""
    several = home != MISSING
    pairs = equivalence_classes(np.stack([home[several], collected_codes(before, name)[several]], axis=1))
    values = np.bincount(home[several][pairs.first], minlength=1)
    members = np.bincount(home[several], minlength=1)
    return float(np.mean(values[members > 1] == 1)) if np.any(members > 1) else 0.0


def _count_restored(seen: Published, target: str, classes: EquivalenceClasses) -> int:
    """Masked cells whose recognised fellows all show the right value, beyond chance."""
    assert seen.original is not None
    values = collected_codes(seen.original, target)
    right = _right(seen, target, classes, values)
    by_chance = []
    for seed in range(SHUFFLES):
        known = np.flatnonzero(values != MISSING)
        mixed = values.copy()
        mixed[known] = values[np.random.default_rng(seed).permutation(known)]
        by_chance.append(_right(seen, target, classes, mixed))
    chance = float(np.mean(by_chance))
    return round(right - chance) if right - chance > max(FEWEST, SURELY * np.sqrt(chance + 1)) else 0


def _right(seen: Published, target: str, classes: EquivalenceClasses, values: Codes) -> int:
    shown = np.flatnonzero(seen.as_collected[target])
    top = np.iinfo(np.int64).max
    low, high = np.full(classes.count, top), np.full(classes.count, -1)
    np.minimum.at(low, classes.of[shown], values[shown])
    np.maximum.at(high, classes.of[shown], values[shown])
    one = (low == high)[classes.of] & (low[classes.of] == values)
    return int(np.sum(one & seen.masked_cells[target]))


# -- Units: classes whose records belong to few people or households.
#
# A class of five records protects nobody if all five are of one person, and the records of one person are alike, so
# that they come into one class. Which records belong together is known from a household, an identifier that several
# records share, or a column of any role that is named like people or has the structure of a panel.

FEWEST_UNITS = 3
"""People or households in a class, below which they are few."""
LONGEST_PANEL = 50
"""Records of one person at most."""
MOST_UNITS = 0.95
"""Share of the records whose people or households are not larger than what counts as large."""
PEOPLE = (
    "id pid uid person personid subject subj patient patientid student pupil child teacher prof professor worker "
    "employee customer client user member respondent participant individual household householdid hh hhid family"
).split()
"""Words of names of columns that say whose record it is."""
FEWEST_PEOPLE = 20
"""Different values below which equal counts say little."""


COUNTRIES = frozenset("country nation land pays pais paese".split())
"""Words of names that say a country, beside those of places."""
HOUSEHOLDS = "household householdid hh hhid family home dwelling".split()
"""Words of names that say a household rather than a person."""


def infer_household_or_person(table: Table, name: str) -> Literal["household", "person"]:
    """Audit of household inference: whether records that belong together are members, or records of one person.

    A name decides. Without one, a column in which every value has as many records, or that has the structure of a
    panel, is one of persons.

    >>> people = np.repeat(np.arange(40), 3)
    >>> table = Table.from_columns({"hhid": people, "patient": people, "number": people})
    >>> [infer_household_or_person(table, name) for name in table.names]
    ['household', 'person', 'person']
    """
    words = words_for_inference(name)
    if infer_known_word(words, HOUSEHOLDS):
        return "household"
    if infer_known_word(words, PEOPLE):
        return "person"
    panel = count_inferable_household_records(table, name) or infer_panel_household_size(table, name)
    return "person" if panel else "household"


def repeats_for_household_inference(table: Table, name: str) -> bool:
    """Audit of household inference: whether most of many values of a column have several records, and none many.

    >>> table = Table.from_columns({"patient": np.repeat(np.arange(40), 3), "name": np.arange(120)})
    >>> [repeats_for_household_inference(table, name) for name in table.names]
    [True, False]
    """
    return _few_each(_counts(table, name))


def columns_for_household_inference(table: Table) -> list[str]:
    """Audit of household inference: columns that tell an intruder which records belong together.

    A household, or an identifier that is named like people, counts if two records share a value, and there are values
    enough for a class of different ones: a column of one or two values says nothing of people. Any other identifier
    counts if many values have few records each: a marital status that is left out says nothing of people either. A
    column of any other role must also be named like people, or its records must be those of a panel; a panel of places,
    such as states by year, says which place a record is of, and not which person. A column whose whole name says the
    number of a person counts however many records each has.

    >>> people = np.repeat(np.arange(30.0), np.arange(30) % 3 + 2)
    >>> columns_for_household_inference(Table.from_columns({"subject": people, "x": people % 7}, {"subject": "quasi"}))
    ['subject']
    """
    found = []
    for attribute in table.attributes:
        name, counts = attribute.name, _counts(table, attribute.name)
        named = bool(infer_known_word(words_for_inference(name), PEOPLE))
        if attribute.role is Role.HOUSEHOLD or (attribute.role in UNPUBLISHED and named):
            found += [name] * bool(counts.max(initial=0) > 1 and np.count_nonzero(counts) >= FEWEST_UNITS)
        elif name_numbers_people(words_for_inference(name)):
            found += [name] * _repeats(counts)
        elif _few_each(counts) and (attribute.role in UNPUBLISHED or named or _is_panel_of_people(table, name)):
            found.append(name)
    return found


def _is_panel_of_people(table: Table, name: str) -> bool:
    """Whether records that follow each other are of one person: not where the column is named like a place."""
    subject, word = next(profile_name_subjects(name), ("", ""))
    place = subject == "place" or word in COUNTRIES
    return not place and infer_panel_household_size(table, name) > 0


def _counts(table: Table, name: str) -> NDArray[np.int64]:
    codes = table.codes([name])[:, 0]
    return np.bincount(codes[codes != MISSING], minlength=1)


def _few_each(counts: NDArray[np.int64]) -> bool:
    """Whether many values have few records each, and most of them several."""
    return _repeats(counts) and bool(counts.max() <= LONGEST_PANEL)


def _repeats(counts: NDArray[np.int64]) -> bool:
    """Whether there are many values, and most of them have several records."""
    held = counts[counts > 0]
    return len(held) >= FEWEST_PEOPLE and bool(np.mean(held > 1) > 0.5)


def infer_panel_household_size(table: Table, name: str) -> int:
    """Audit of household inference: records that most people of a panel have; 0 if the file is no panel.

    The records of a value follow each other, in the order of a second column that all of them share, such as a year;
    and something else is true of the person, the same in nearly all of their records.

    >>> of = np.repeat(np.arange(30), np.arange(30) % 3 + 2)
    >>> year = np.concatenate([np.arange(n) for n in np.bincount(of)])
    >>> columns = {"number": of * 7.0, "year": year.astype(float), "sex": of % 2 * 1.0}
    >>> panel = Table.from_columns(columns)
    >>> infer_panel_household_size(panel, "number"), infer_panel_household_size(panel, "sex")
    (4, 0)
    """
    counts, codes = _counts(table, name), table.codes([name])[:, 0]
    if not _few_each(counts) or codes.min(initial=0) == MISSING:
        return 0
    follows = codes[1:] == codes[:-1]
    if len(codes) - follows.sum() > len(counts[counts > 0]):
        return 0
    others = {each: table.codes([each])[:, 0] for each in table.names if each != name}
    ordered = [each for each, of in others.items() if _is_increasing(of, follows, counts)]
    constant = [each for each, of in others.items() if _constant(of, follows)]
    return int(np.quantile(counts[codes], MOST_UNITS)) if ordered and constant else 0


def _is_increasing(codes: Codes, follows: NDArray[np.bool_], counts: NDArray[np.int64]) -> bool:
    """Whether a column of few values grows from record to record of each value."""
    return len(np.unique(codes)) <= 2 * counts.max() and bool(np.all(np.diff(codes)[follows] > 0))


def _constant(codes: Codes, follows: NDArray[np.bool_]) -> bool:
    """Whether a column has several values, and nearly always one for all records of a value of the other."""
    return len(np.unique(codes)) > 1 and bool(np.mean(np.diff(codes)[follows] == 0) >= MOST_UNITS)


def count_inferable_household_records(table: Table, name: str) -> int:
    """Audit of household inference: records per value of a column that joins members; 0 if none does.

    Every one of many values has the same small number of records, which chance does not bring about.

    >>> panel = Table.from_columns({"person": np.repeat(np.arange(30.0), 4)})
    >>> count_inferable_household_records(panel, "person")
    4
    """
    codes = table.codes([name])[:, 0]
    counts = np.unique(codes, return_counts=True)[1]
    if len(counts) < FEWEST_PEOPLE or codes.min() == MISSING or counts.min() < counts.max():
        return 0
    records = int(counts[0])
    return records if 2 <= records <= min(LONGEST_PANEL, len(counts) - 1) else 0
