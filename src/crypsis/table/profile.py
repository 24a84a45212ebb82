"""The profile of a table: suggested roles and kinds with their reasons, and how many records are unique.

Suggestions come from column names and the form of the values; the custodian decides. A profile has counts only, never
a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from crypsis.small_tables import draw_html_table, draw_text_table
from crypsis.table.attribute import UNPUBLISHED, Attribute, Kind, Role
from crypsis.table.builders import builder_for
from crypsis.table.encoding import EXACT
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import MISSING
from crypsis.table.inference import COMPOUND, is_part_of_word, words_for_inference
from crypsis.table.role_words import (
    AFFIXES,
    CODED,
    COUNTED,
    MONEY,
    NO_AFFIX,
    NOT_AGES,
    NUMBERINGS,
    ORDERED,
    OWN_NUMBERS,
    ROLE_OF,
    SUBJECTS,
    SURELY_WEIGHTS,
    SURVEY,
)
from crypsis.table.structure import (
    Codes,
    are_weights,
    find_household_structure,
    follows_by_structure,
)
from crypsis.table.table import Table
from crypsis.table.value_forms import are_postcodes, identifying_form, plain_value_form, value_subject


class Clue(StrEnum):
    """What a suggestion is based on."""

    DECLARED = "declared"
    CONSTANT = "constant"
    IDENTIFIER_NAME = "identifier name"
    WEIGHT_NAME = "weight name"
    HOUSEHOLD_NAME = "household name"
    STRATUM_NAME = "stratum name"
    CONFIDENTIAL_NAME = "confidential name"
    OUTCOME_NAME = "outcome name"
    """Its name says what a study finds out about people, which is assumed not to be known outside."""
    QUASI_NAME = "quasi-identifier name"
    DATE = "date"
    PANEL = "panel"
    """Every value has the same number of records: it says which records belong together."""
    DISTINCT_TEXT = "distinct text"
    RUNNING_NUMBER = "running number"
    GROWING_NUMBER = "growing number"
    """Whole numbers that grow from record to record, each used once."""
    IDENTIFYING_VALUES = "identifying values"
    """By their form its values name or reach a person; `word` says what they are."""
    VALUES = "values"
    """Its values say by themselves what it is about; `word` says what."""
    POSTCODES = "postcodes"
    YEARS = "years"
    HOUSEHOLD_STRUCTURE = "household structure"
    """Equal values follow each other, few at a time, and something is the same for all of them."""
    WEIGHT_STRUCTURE = "weight structure"
    FOLLOWING = "following"
    """It follows from another column, and has its role; `word` names that column."""
    SINGLING_OUT = "singling out"
    UNDECIDED = "undecided"
    PRECAUTION = "precaution"
    """Nothing shows what the column is, and it is settled by the safest reading."""
    RESTORING = "restoring"
    """It would restore what is masked in another column, so it is masked too."""
    SAYING = "saying"
    """Its texts say an identifier of their record, so it is not released either."""
    COMBINED = "combined"
    """Together with masked columns it would single people out, and nobody said that no one outside knows it."""
    DATES_AS_NUMBERS = "dates as numbers"
    CODES = "codes"
    TWO_NUMBERS = "two numbers"
    SEVERAL_PEAKS = "several peaks"
    """Few whole numbers whose counts rise and fall more than once."""
    ORDER = "order"
    KIND_DECLARED = "kind declared"


@dataclass(frozen=True)
class Reason:
    """Why a role or a kind is suggested."""

    clue: Clue
    # the word found in the name of the column, for a clue from its name; or the column that would be restored
    word: str = ""
    values: int = 0  # number of distinct values, for a clue from their number
    share: float = 0.0  # share of the values that one record alone holds, for a clue from that, 0 to 1


LETTERS = 3
"""Letters of the shortest known word that may have an affix before or after it; one with both has more."""


@cache
def _vocabulary(subject: str) -> frozenset[str]:
    """All words of a subject, of every language."""
    return frozenset(word for words in SUBJECTS[subject].values() for word in words.split())


def profile_name_subjects(name: str) -> Iterator[tuple[str, str]]:
    """For the profile of a table: what a column's name may be about, with the word, the likeliest first.

    Whole words come before words with an affix (mage, lwage), and these before long words that begin or end others.

    >>> tuple(next(profile_name_subjects(name)) for name in ("mage", "age_at_diagnosis", "rb090"))
    (('age', 'age'), ('age', 'age'), ('sex', 'rb090'))
    """
    words = words_for_inference(name)
    written = re.sub(r"[^a-z0-9]+", "_", plain_value_form(name)).strip("_")
    whole = [*words, written, written.replace("_", ""), *re.findall(r"[a-z]+[0-9]+[a-z]*", written)]
    for subject in ROLE_OF:
        if found := next((word for word in whole if word in _vocabulary(subject)), ""):
            yield subject, found
    for subject in ROLE_OF:
        if found := next((known for word in words if (known := _without_affix(word, subject))), ""):
            yield subject, found
    for subject in ROLE_OF:
        parts = (long for long in sorted(_vocabulary(subject)) if len(long) >= COMPOUND)
        if found := next((long for long in parts if any(is_part_of_word(long, word) for word in words)), ""):
            yield subject, found


def _without_affix(word: str, subject: str) -> str:
    """The known word that a word is with something before or after it; empty if there is none."""
    if subject == "age" and word.startswith("age") and not word.startswith(NOT_AGES):
        return "age"
    if ROLE_OF[subject] in (Role.IDENTIFIER, Role.HOUSEHOLD, Role.WEIGHT, Role.STRATUM):
        return ""
    known, before, after = _vocabulary(subject), AFFIXES["before"].split(), AFFIXES["after"].split()
    if word in NO_AFFIX:
        return ""
    front = [word[len(part) :] for part in before if word.startswith(part)]
    front += [each[len(part) :] for each in front for part in before if each.startswith(part)]
    one = [word, *front, *(word[: -len(part)] for part in after if word.endswith(part))]
    both = [each[: -len(part)] for each in front for part in after if each.endswith(part)]
    allowed = [each for each in one if len(each) >= LETTERS] + [each for each in both if len(each) > LETTERS]
    return next((each for each in allowed if each in known), "")


# -- Whether the values of a column can be what its name says: a name alone suggests no role.

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
PLACES_OF_CARE = frozenset("hospital doctor physician krankenhaus ziekenhuis clinic".split())
"""Words for a stay or a visit if yes or counted, and for a place if several names."""


@dataclass(frozen=True)
class ColumnEvidence:
    """The values of a column, as far as they speak for or against a role."""

    attribute: Attribute
    numbers: NDArray[np.float64] | None  # the known values of a column of numbers; None for others
    distinct: int  # different values, and the same per record that has one
    spread: float
    whole: bool  # whether all are whole numbers
    numbering: bool  # whether the records are numbered by them

    def fits(self, role: Role, word: str) -> bool:
        """Whether the values can be what a word in the name of the column says."""
        words = words_for_inference(self.attribute.name)
        measured = self.numbers is not None and not self.whole
        if role is Role.IDENTIFIER:
            return self.spread >= 0.5 and not measured  # a 'name' that many records share identifies nobody
        if role is Role.HOUSEHOLD:
            named = _numbers_things(words, word) or _is_code(word)
            return self._groups_records(name_numbers_people(words)) and not measured and named
        if role is Role.QUASI_IDENTIFIER:
            return self.attribute.dates != "" or not self.numbering
        if role is Role.STRATUM:
            return self.spread <= 1 / LARGEST_HOUSEHOLD
        if role is Role.WEIGHT:
            return self._weighs(words, word)
        if role is Role.CONFIDENTIAL and word in PLACES_OF_CARE:
            return self.numbers is not None or self.distinct <= 2
        if role is Role.CONFIDENTIAL and word in MONEY.split() and word not in words:
            return self.numbers is not None and self.distinct >= ENOUGH  # cls_credits is no amount
        return True

    def _groups_records(self, numbers_people: bool) -> bool:
        least = 0.0 if numbers_people else 1 / LARGEST_HOUSEHOLD
        return self.distinct >= ENOUGH and least <= self.spread < 1.0

    def _weighs(self, words: list[str], word: str) -> bool:
        """Whether the numbers are sampling weights: so called, scaled to the sample, or counts of people.

        One value for all records weighs nobody more than others.
        """
        numbers = self.numbers
        if numbers is None or self.distinct < 2 or numbers.min() < 0:
            return False
        if word in SURELY_WEIGHTS.split() or set(words) & set(SURVEY.split()):
            return True
        if word not in words:
            return False
        mean, least = float(numbers.mean()), float(numbers.min())
        unequal = least > 0 and float(numbers.max()) >= UNEQUAL * least
        return abs(mean - 1) <= NORMALISED or (mean >= PEOPLE and unequal)


def name_numbers_people(words: Sequence[str]) -> bool:
    """Profile of a column by its name: whether it says nothing but the number of whose record it is.

    However many records such a number has, they are of one person or household.

    >>> [name_numbers_people(words_for_inference(name)) for name in ("id", "Subj_ID", "region_id", "teacher")]
    [True, True, False, False]
    """
    return bool(words) and all(word in OWN_NUMBERS for word in words)


def _is_code(word: str) -> bool:
    """Whether a known word is the whole name of a column in some survey: db030, hh_id."""
    return re.search(r"[0-9_]", word) is not None


def _numbers_things(words: list[str], word: str) -> bool:
    """Whether a name ends with the word for a thing, or with its number: family_id, not family_income."""
    if word not in words:
        return False
    last = len(words) - words[::-1].index(word)
    return all(after in NUMBERINGS for after in words[last:])


# -- The profile of a table: suggested roles and kinds with their reasons, and how many records are unique.
#
# Suggestions come from column names and the form of the values; the custodian decides. A profile has counts only, never
# a value.

LARGEST_SHARE = 0.05
"""Share of the records that one column may single out by itself before somebody has to decide about it."""
MOST_CODES = 10
"""Whole numbers with more values are not taken for codes by their counts."""
DIP = 3.0
"""Standard deviations by which a value must be rarer than values on both sides of it to part two peaks."""
RARE = 3
"""A value held by fewer records than this is rare."""


@dataclass(frozen=True)
class ColumnProfile:
    """The suggested role and kind of one column."""

    name: str
    role: str
    kind: str
    reasons: tuple[Reason, ...]  # why; `crypsis.text.role_reason_text` gives the sentence
    distinct: int  # how many values there are
    missing: int  # records without a value
    rare: int  # values that fewer than three records have
    unique: int  # records with a value that no other record has
    hierarchy: str = ""  # a builder to start from, for a column that is or may become a quasi-identifier
    # records that are unique with it beside the other quasi-identifiers and not without it; None where not counted
    adds: int | None = None


@dataclass(frozen=True, repr=False)
class Profile:
    """Counts and suggestions for a table; no value of a record is in it."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi_identifiers: tuple[str, ...]  # the declared quasi-identifiers, or the suggested ones where none is declared
    unique_records: int  # records that no other record equals on the quasi-identifiers
    unique_share: float  # the same as a share of all records, 0 to 1
    k: int  # size of the smallest equivalence class: the table is k-anonymous as collected
    declared: bool  # whether the quasi-identifiers are declared
    notes: tuple[str, ...] = ()  # what the reader noticed in the data

    def __repr__(self) -> str:
        known = len(self.quasi_identifiers)
        return f"Profile({self.rows} records, {len(self.columns)} columns, {known} quasi-identifiers, k = {self.k})"

    def __str__(self) -> str:
        """A row for every column, then how many records are unique."""
        return f"{draw_text_table(*self._cells())}\n\n{self.exposure}"

    def _repr_html_(self) -> str:
        return draw_html_table(*self._cells(), self.exposure)

    def _cells(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        head = ("column", "role", "kind", "distinct", "missing", "rare", "adds")
        return head, [(c.name, c.role, c.kind, c.distinct, c.missing, c.rare, c.adds) for c in self.columns]

    @property
    def roles(self) -> dict[str, str]:
        """Every column with its suggested role, to be read, corrected and given to `protect`."""
        return {column.name: str(column.role) for column in self.columns}

    @property
    def exposure(self) -> str:
        """How many records are unique over the quasi-identifiers, in a sentence."""
        if not self.quasi_identifiers:
            return "No quasi-identifier is suggested: no column looks like something an intruder may know."
        which = "declared" if self.declared else "suggested"
        return (
            f"On the {which} quasi-identifiers ({', '.join(self.quasi_identifiers)}) {100 * self.unique_share:.3g} % "
            f"of the records are unique; the raw table is {self.k}-anonymous."
        )


COUNTED_ROWS = 200_000
"""Records of a table up to which the uniqueness that each column adds is counted."""


def profile(table: Table | Frame, kinds: Mapping[str, Kind] | None = None) -> Profile:
    """Suggest a role and a kind for every column, and count the records that are unique.

    Parameters
    ----------
    table : Table or frame
        The data. Declared roles are kept; a missing value is a value of its own.
    kinds : mapping of str to Kind, optional
        Kinds that somebody declared, by column; they are kept.

    Returns
    -------
    Profile

    Raises
    ------
    TableError
        If it is no table, and no frame of a library that is known.

    Examples
    --------
    >>> import polars as pl
    >>> seen = crypsis.profile(pl.DataFrame({"age": [31, 31, 47], "income": [2100, 2500, 3900]}))
    >>> [(column.name, column.role) for column in seen.columns]
    [('age', 'quasi'), ('income', 'confidential')]
    >>> seen.k
    1
    """
    table = as_table(table)
    codes = {name: table.codes([name])[:, 0] for name in table.names}  # sorting every column is what takes long: once
    counts = {name: _value_counts(own) for name, own in codes.items()}
    shapes = {name: _shape(table, name, counts[name]) for name in table.names}
    given = {
        each.name: _role(table, each, shapes[each.name], _evidence(table, each, shapes[each.name]))
        for each in table.attributes
    }
    roles = _roles_together(table, given)
    columns = tuple(
        _column(table, each, (counts[each.name], shapes[each.name]), *roles[each.name], (kinds or {}).get(each.name))
        for each in table.attributes
    )
    declared = bool(table.quasi_identifiers)
    quasi = table.quasi_identifiers if declared else [c.name for c in columns if c.role == Role.QUASI_IDENTIFIER]
    sizes = equivalence_classes(_beside(codes, quasi, table.rows)).sizes
    alone = int(np.sum(sizes == 1))
    smallest = int(sizes.min()) if len(sizes) else 0
    share = alone / table.rows if table.rows else 0.0
    sure = table.quasi_identifiers if declared else profile_sure_quasi(columns)
    columns = _with_uniqueness(codes, columns, sure) if table.rows <= COUNTED_ROWS else columns
    return Profile(table.rows, columns, tuple(quasi), alone, share, smallest, declared, table.notes)


def profile_sure_quasi(columns: Iterable[ColumnProfile]) -> list[str]:
    """Of a table's profile: suggested quasi-identifiers, without those suggested only for unique records."""
    quasi = [column for column in columns if column.role == Role.QUASI_IDENTIFIER]
    return [column.name for column in quasi if column.reasons[0].clue is not Clue.SINGLING_OUT]


def _beside(codes: Mapping[str, Codes], names: Sequence[str], rows: int) -> Codes:
    """int32[n, names]: codes of columns side by side."""
    return np.stack([codes[name] for name in names], axis=1) if names else np.empty((rows, 0), dtype=np.int32)


def _with_uniqueness(
    codes: Mapping[str, Codes], columns: tuple[ColumnProfile, ...], quasi: Sequence[str]
) -> tuple[ColumnProfile, ...]:
    """The columns with how many records become unique by each beside the (other) quasi-identifiers."""
    adds = _added_uniqueness(codes, quasi, [column.name for column in columns if column.role not in UNPUBLISHED])
    return tuple(replace(column, adds=adds.get(column.name)) for column in columns)


def added_uniqueness(table: Table, quasi: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """By column, the records that are unique with it beside the (other) quasi-identifiers and not without it.

    >>> table = Table.from_columns({"sex": ["f", "f", "m", "m"], "town": ["a", "b", "a", "a"]})
    >>> added_uniqueness(table, ["sex"], ["sex", "town"])
    {'sex': 0, 'town': 2}
    """
    codes = {name: table.codes([name])[:, 0] for name in dict.fromkeys([*quasi, *names])}
    return _added_uniqueness(codes, quasi, names)


def _added_uniqueness(codes: Mapping[str, Codes], quasi: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    rows = len(next(iter(codes.values()), ()))
    classes = equivalence_classes(_beside(codes, quasi, rows)) if quasi else None
    alone = int(np.sum(classes.sizes == 1)) if classes else 0
    of = (classes.of if classes else np.zeros(rows)).astype(np.int32)
    adds = dict[str, int]()
    for name in names:
        if name in quasi:
            others = [other for other in quasi if other != name]
            without = equivalence_classes(_beside(codes, others, rows)).sizes if others and rows else np.zeros(0)
            adds[name] = alone - int(np.sum(without == 1))
        else:
            pairs = equivalence_classes(np.stack([of, codes[name]], axis=1)) if rows else None
            adds[name] = (int(np.sum(pairs.sizes == 1)) if pairs else 0) - alone
    return adds


@dataclass(frozen=True)
class Exposure:
    """How exposed the people of a table are as it stands, to an intruder who knows the quasi-identifiers."""

    rows: int
    quasi_identifiers: tuple[str, ...]
    k: int  # records that a class should have
    unique: int  # records that no other record equals
    below: int  # records in classes of fewer than k
    smallest: int  # records of the smallest class
    adds: Mapping[str, int]  # `added_uniqueness` of every published column; empty for a large table


def exposure_of(table: Table, quasi: Sequence[str], others: Sequence[str], k: int) -> Exposure:
    """Count unique records and small classes over the quasi-identifiers, and what each column adds to them.

    `others`: columns that are published beside the quasi-identifiers.

    >>> table = Table.from_columns({"sex": ["f", "f", "m"], "age": [1, 1, 1]})
    >>> found = exposure_of(table, ["sex"], ["age"], k=3)
    >>> found.unique, found.below, found.smallest, found.adds
    (1, 3, 1, {'sex': 1, 'age': 0})
    """
    sizes = equivalence_classes(table.codes(list(quasi))).sizes if quasi else np.array([table.rows])
    small = sizes[sizes < k]
    adds = added_uniqueness(table, quasi, [*quasi, *others]) if table.rows <= COUNTED_ROWS else {}
    smallest = int(sizes.min()) if len(sizes) else 0
    return Exposure(table.rows, tuple(quasi), k, int(np.sum(sizes == 1)), int(small.sum()), smallest, adds)


OPEN = (Clue.UNDECIDED, Clue.SINGLING_OUT)
"""Clues that say nothing of what a column is."""


def _roles_together(table: Table, given: Mapping[str, tuple[Role, Reason]]) -> dict[str, tuple[Role, Reason]]:
    """The roles of all columns, those that nothing shows by itself settled by the structure of the table."""
    roles = dict(given)

    def open_() -> list[str]:
        return [name for name, (_, why) in roles.items() if why.clue in OPEN]

    home = next((name for name, (role, _) in roles.items() if role is Role.HOUSEHOLD), "")
    if not home and (home := find_household_structure(table, open_())):
        roles[home] = Role.HOUSEHOLD, Reason(Clue.HOUSEHOLD_STRUCTURE)
    for name in open_():
        if not table.attribute(name).dates and are_weights(table, name, home):
            roles[name] = Role.WEIGHT, Reason(Clue.WEIGHT_STRUCTURE)
    for role in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL):
        leads = [name for name, (its, why) in roles.items() if its is role and why.clue not in OPEN]
        for name in open_():
            if lead := next((each for each in leads if follows_by_structure(table, name, each)), ""):
                roles[name] = role, Reason(Clue.FOLLOWING, word=lead)
    return roles


def _column(
    table: Table,
    attribute: Attribute,
    values: tuple[NDArray[np.int64], Shape],
    role: Role,
    why: Reason,
    declared: Kind | None,
) -> ColumnProfile:
    """The profile of a column; `values`: how many records hold each of its values, and their form."""
    name, (counts, shape) = attribute.name, values
    kind, because = (declared, Reason(Clue.KIND_DECLARED)) if declared else _kind(attribute, shape, role)
    return ColumnProfile(
        name=name,
        role=role.value,
        kind=kind.value,
        reasons=(why, because) if because else (why,),
        distinct=shape.distinct,
        missing=table.rows - shape.present,
        rare=int(np.sum(counts < RARE)),
        unique=shape.alone,
        hierarchy=builder_for(attribute, table.column(attribute.name), shape, kind)
        if role not in (*UNPUBLISHED, Role.OTHER)
        else "",
    )


@dataclass(frozen=True)
class Shape:
    """The form of the values of a column."""

    present: int  # records with a value, and distinct values
    distinct: int
    alone: int  # records with a value that no other record has
    whole: bool
    running: bool  # whole numbers with few gaps: 1, 2, 3, …
    digits: int  # length of its texts if all are digits and equally long, else 0
    peaks: bool  # whole numbers of few values that are common, rare and common again

    @property
    def spread(self) -> float:
        """Distinct values per record that has one."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def is_numbering(self) -> bool:
        """Whether the records are numbered."""
        return self.running and self.present >= ENOUGH and self.spread == 1.0

    @property
    def is_exposing(self) -> bool:
        """Whether so many stand alone in the column that whoever knows a value finds its record."""
        return self.present >= ENOUGH and self.alone > LARGEST_SHARE * self.present


def _value_counts(codes: Codes) -> NDArray[np.int64]:
    """How many records hold each value that occurs."""
    counts = np.bincount(codes[codes != MISSING])
    return counts[counts > 0]


def _shape(table: Table, name: str, counts: NDArray[np.int64]) -> Shape:
    present = int(counts.sum())
    alone = int(np.sum(counts == 1))
    whole = _is_whole(table, name)
    running = whole and _is_running_number(table.column(name), len(counts))
    peaks = whole and len(counts) <= MOST_CODES and profile_several_peaks(table, name)
    return Shape(present, len(counts), alone, whole, running, _digits(table, name), peaks)


def _is_whole(table: Table, name: str) -> bool:
    if not table.holds_numbers(name):
        return False
    numbers = table.column(name)
    return bool(np.all(np.isnan(numbers) | (numbers == np.round(numbers))))


def _is_running_number(numbers: NDArray[np.float64], distinct: int) -> bool:
    """Whether whole numbers, of which so many differ, have few gaps."""
    return distinct > 0 and bool(np.nanmax(numbers) - np.nanmin(numbers) < 2 * distinct)


def profile_several_peaks(table: Table, name: str) -> bool:
    """For a column's profile, a reason to suggest codes: whole numbers common, rare, then common again.

    A value that does not occur counts as rare, unless all values are multiples of a common step.

    >>> roofs = Table.from_columns({"roof": [2] * 40 + [3] * 5 + [4] * 50, "rooms": [1] * 20 + [2] * 50 + [3] * 25})
    >>> profile_several_peaks(roofs, "roof"), profile_several_peaks(roofs, "rooms")
    (True, False)
    """
    if not _is_whole(table, name):
        return False
    numbers = table.column(name)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if len(values) < 2 or values[-1] - values[0] > EXACT:
        return False
    steps = np.diff(values).astype(np.int64)
    regular = np.gcd.reduce(steps)
    for place in range(1, len(values)):
        left, right = int(counts[:place].max()), int(counts[place:].max())
        if steps[place - 1] > regular and _dips(left, 0, right):
            return True
        if place < len(values) - 1 and _dips(left, int(counts[place]), int(counts[place + 1 :].max())):
            return True
    return False


def _dips(left: int, middle: int, right: int) -> bool:
    """Whether a value is at most half as common as values on both sides, and not by chance."""
    least = min(left, right)
    return bool(2 * middle <= least and least - middle > DIP * np.sqrt(least + middle))


def _digits(table: Table, name: str) -> int:
    labels = table.attribute(name).categories
    length = len(labels[0]) if labels else 0
    return length if all(len(label) == length and label.isdigit() for label in labels) else 0


def _evidence(table: Table, attribute: Attribute, shape: Shape) -> ColumnEvidence:
    column = table.column(attribute.name)
    numbers = column[~np.isnan(column)] if table.holds_numbers(attribute.name) else None
    return ColumnEvidence(attribute, numbers, shape.distinct, shape.spread, shape.whole, shape.is_numbering)


CLUE_OF = {
    Role.IDENTIFIER: Clue.IDENTIFIER_NAME,
    Role.HOUSEHOLD: Clue.HOUSEHOLD_NAME,
    Role.WEIGHT: Clue.WEIGHT_NAME,
    Role.STRATUM: Clue.STRATUM_NAME,
    Role.CONFIDENTIAL: Clue.CONFIDENTIAL_NAME,
    Role.QUASI_IDENTIFIER: Clue.QUASI_NAME,
}
"""The clue that a name gives for each role."""


def _role(table: Table, attribute: Attribute, shape: Shape, evidence: ColumnEvidence) -> tuple[Role, Reason]:
    if attribute.role is not Role.UNDECIDED:
        return attribute.role, Reason(Clue.DECLARED)
    if shape.distinct < 2 and not shape.alone:
        weight = shape.present and next(
            (word for its, word in profile_name_subjects(attribute.name) if its == "weight"), ""
        )
        if weight and evidence.fits(Role.WEIGHT, weight):
            return Role.WEIGHT, Reason(Clue.WEIGHT_NAME, word=weight)
        return Role.OTHER, Reason(Clue.CONSTANT)
    if form := identifying_form(attribute.categories):
        return Role.IDENTIFIER, Reason(Clue.IDENTIFYING_VALUES, word=form)
    for subject, word in profile_name_subjects(attribute.name):
        role = ROLE_OF[subject]
        if evidence.fits(role, word):
            return role, Reason(CLUE_OF[role], word=word)
    return _role_by_values(table, attribute, shape)


def _role_by_values(table: Table, attribute: Attribute, shape: Shape) -> tuple[Role, Reason]:
    enough = shape.present >= ENOUGH
    if attribute.dates:
        return Role.QUASI_IDENTIFIER, Reason(Clue.DATE)
    called, subject = value_subject(attribute.categories) if len(attribute.categories) <= ENOUGH else ("", "")
    if subject:
        return ROLE_OF[subject], Reason(Clue.VALUES, word=called)
    if enough and are_postcodes(attribute.categories):
        return Role.QUASI_IDENTIFIER, Reason(Clue.POSTCODES)
    if not attribute.numeric and enough and shape.spread >= 0.8:
        return Role.IDENTIFIER, Reason(Clue.DISTINCT_TEXT, values=shape.distinct)
    if shape.is_numbering:
        return Role.IDENTIFIER, Reason(Clue.RUNNING_NUMBER)
    if enough and shape.whole and shape.spread == 1.0 and _is_growing(table.column(attribute.name)):
        return Role.IDENTIFIER, Reason(Clue.GROWING_NUMBER)
    if enough and shape.whole and _are_years(table.column(attribute.name), shape.distinct):
        return Role.QUASI_IDENTIFIER, Reason(Clue.YEARS)
    if shape.is_exposing:
        return Role.QUASI_IDENTIFIER, Reason(Clue.SINGLING_OUT, share=shape.alone / shape.present)
    return Role.UNDECIDED, Reason(Clue.UNDECIDED)


def _is_growing(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers grow from record to record."""
    return not np.isnan(numbers).any() and bool(np.all(np.diff(numbers) > 0))


def _are_years(numbers: NDArray[np.float64], distinct: int) -> bool:
    """Whether numbers are years of the last or this century, more than two of them."""
    return distinct > 2 and bool(np.nanmin(numbers) >= 1880 and np.nanmax(numbers) <= 2060)


def common_values(table: Table, name: str, most: int = 5) -> list[str]:
    """Values of a column that at least three records hold, the commonest first; none that is rarer.

    >>> common_values(Table.from_columns({"x": ["a"] * 4 + ["b"] * 3 + ["c"]}), "x")
    ['a', 'b']
    """
    codes = table.codes([name])[:, 0]
    _, first, counts = np.unique(codes[codes != MISSING], return_index=True, return_counts=True)
    order = [place for place in np.argsort(-counts, kind="stable") if counts[place] >= RARE]
    cells = table.column(name)[np.flatnonzero(codes != MISSING)[first[order[:most]]]]
    if not table.holds_numbers(name):
        return [table.labels(name)[int(cell)] for cell in cells]
    dates = table.attribute(name).dates
    if dates:
        return [str(np.datetime64(int(cell), "D" if dates == "date" else "s")) for cell in cells]
    return [f"{cell:g}" for cell in cells]


def _kind(attribute: Attribute, shape: Shape, role: Role) -> tuple[Kind, Reason | None]:
    words = set(words_for_inference(attribute.name))
    if attribute.dates:
        return attribute.kind, Reason(Clue.DATES_AS_NUMBERS)
    if attribute.numeric:
        if shape.whole and words.intersection(CODED.split()) and role is not Role.IDENTIFIER:
            return Kind.NOMINAL, Reason(Clue.CODES)
        category = _by_counts(shape) if role not in (Role.IDENTIFIER, Role.HOUSEHOLD, Role.WEIGHT) else None
        if category is not None and not words.intersection(COUNTED.split()):
            return Kind.NOMINAL, category
        return Kind.NUMERIC, None
    if attribute.kind is Kind.NOMINAL and words.intersection(ORDERED.split()):
        return Kind.NOMINAL, Reason(Clue.ORDER)
    return attribute.kind, None


def _by_counts(shape: Shape) -> Reason | None:
    """Why whole numbers are categories rather than quantities; None where they may be either."""
    if not shape.whole or shape.present < ENOUGH:
        return None
    if shape.distinct == 2:
        return Reason(Clue.TWO_NUMBERS)
    return Reason(Clue.SEVERAL_PEAKS, values=shape.distinct) if shape.peaks else None


def builder_profile_suggests(table: Table, name: str) -> str:
    """The profile of a table suggests how to build a hierarchy for a column, from its values and kind.

    >>> builder_profile_suggests(crypsis.example(200), "age")
    'intervals:5,10,20,40'
    """
    attribute = table.attribute(name)
    shape = _shape(table, name, _value_counts(table.codes([name])[:, 0]))
    return builder_for(attribute, table.column(name), shape, attribute.kind)
