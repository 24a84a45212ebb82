"""The profile of a table: suggested roles and kinds with their reasons, and how many records are unique.

Suggestions come from column names and the form of the values; the custodian decides. A profile has counts only, never
a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import UNPUBLISHED, Attribute, Kind, Role
from crypsis.table.builders import builder_for
from crypsis.table.encoding import EXACT
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table


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
    SINGLING_OUT = "singling out"
    UNDECIDED = "undecided"
    PRECAUTION = "precaution"
    """Nothing shows what the column is, and it is settled by the safest reading."""
    RESTORING = "restoring"
    """It would restore what is masked in another column, so it is masked too."""
    COMBINED = "combined"
    """Together with masked columns it would single people out, and nobody said that no one outside knows it."""
    DATES_AS_NUMBERS = "dates as numbers"
    CODES = "codes"
    TWO_NUMBERS = "two numbers"
    SEVERAL_PEAKS = "several peaks"
    """Few whole numbers whose counts rise and fall more than once."""
    ORDER = "order"


@dataclass(frozen=True)
class Reason:
    """Why a role or a kind is suggested.

    word  the word found in the name of the column, for a clue from its name; or the column that would be restored
    values  number of distinct values, for a clue from their number
    share  share of the values that one record alone holds, for a clue from that, 0 to 1
    """

    clue: Clue
    word: str = ""
    values: int = 0
    share: float = 0.0


NAMES: tuple[tuple[Role, Clue, str], ...] = (
    (
        Role.IDENTIFIER,
        Clue.IDENTIFIER_NAME,
        "id identifier uid uuid guid name surname firstname lastname forename ssn nino dni nif passport email mail "
        "phone telephone mobile fax iban description address street ip url username login person personid patientid "
        "licence plate",
    ),
    (
        Role.HOUSEHOLD,
        Clue.HOUSEHOLD_NAME,
        "household householdid hh hhid hid family familyid famid dwelling dwellingid id uid personid patientid",
    ),
    (
        Role.WEIGHT,
        Clue.WEIGHT_NAME,
        "fnlwgt pweight dweight anweight perweight hhweight weight weights wgt",
    ),
    (
        Role.STRATUM,
        Clue.STRATUM_NAME,
        "stratum strata",
    ),
    (
        Role.CONFIDENTIAL,
        Clue.CONFIDENTIAL_NAME,
        "income salary wage wages earnings pay revenue profit tax debt loan credit wealth assets capital expenditure "
        "diagnosis disease illness icd condition hiv treatment therapy drug medication symptom disability health "
        "religion party vote crime conviction offence benefit benefits",
    ),
    (
        Role.QUASI_IDENTIFIER,
        Clue.QUASI_NAME,
        "age birth birthday birthdate dob born sex gender race ethnicity ethnic nationality citizenship country region "
        "district province state county city town municipality zip zipcode postcode postal plz place location "
        "occupation job profession employer industry workclass education degree school marital civil married "
        "household family children kids language hours admission discharge death height weight wgt",
    ),
)
"""Words in the name of a column that suggest its role; the first match that the values do not contradict decides."""
OUTCOMES = (
    "outcome outcomes score scores iq result results visits hospital emergency survival relapse recurrence remission "
    "satisfaction opinion attitude trust wellbeing happiness stress anxiety depression pain "
    "expenditure expenses spending cost costs savings wage wages income inc earnings salary smoker smoking insurance "
    "chronic illness disease diagnosis health disability"
)
"""Words in the name of a column for what a study finds out about people: money, health, opinions, results."""
SURELY_WEIGHTS = "fnlwgt pweight dweight anweight perweight hhweight"
"""Names of sampling weights alone; others are also names of what scales show."""
SURVEY = (
    "sample sampling survey household households person population final design calibrated calibration expansion "
    "grossing poststratification frequency analysis probability"
)
"""Words that make a weight a sampling weight."""
MONEY = "income salary wages earnings revenue profit credit wealth assets capital expenditure"
"""Words for amounts; inside a longer word they mean one only if the values are amounts."""
CODED = (
    "sex gender race ethnicity ethnic nationality citizenship country region district province state county city town "
    "municipality zip zipcode postcode postal plz occupation job profession industry workclass education degree "
    "marital civil married religion party diagnosis icd disease condition code class type status category group"
)
"""Words in the name of a column whose whole numbers are codes and not quantities."""
COUNTED = (
    "age year years month months week weeks day days hour hours minute minutes time number num nr count counts size "
    "amount quantity total sum times rooms children kids persons members siblings cylinders score points rating rank "
    "grade level degree stage income price cost pay wage rate weight height width length"
)
"""Words in the name of a column whose whole numbers are counted, measured or ranked."""
ORDERED = "education degree grade level severity satisfaction rating stage"
"""Words in the name of a column whose categories often have an order."""
COMPOUND = 6
"""Words of at least this many letters also match inside a longer word (CREDITAMOUNT)."""


def name_words(name: str) -> list[str]:
    """The words in the name of a column.

    Examples
    --------
    >>> name_words("dateOfBirth_2")
    ['date', 'of', 'birth']
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[^A-Za-z]+", parted) if word]


def known_word(words: list[str], known: list[str]) -> str:
    """The known word in the name of a column: a word by itself or, if long, part of one."""
    whole = next((word for word in words if word in known), "")
    return whole or next((long for long in known if len(long) >= COMPOUND and any(long in word for word in words)), "")


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
    """The suggested role and kind of one column.

    reasons    why; `crypsis.text.reason_text` gives the sentence
    distinct   how many values there are
    missing    records without a value
    rare       values that fewer than three records have
    unique     records with a value that no other record has
    hierarchy  a builder to start from, for a column that is or may become a quasi-identifier
    """

    name: str
    role: str
    kind: str
    reasons: tuple[Reason, ...]
    distinct: int
    missing: int
    rare: int
    unique: int
    hierarchy: str = ""


@dataclass(frozen=True)
class Profile:
    """Counts and suggestions for a table; no value of a record is in it.

    quasi_identifiers  the declared quasi-identifiers, or the suggested ones where none is declared
    unique_records  records that no other record equals on the quasi-identifiers
    unique_share  the same as a share of all records, 0 to 1
    k  size of the smallest equivalence class: the table is k-anonymous as collected
    declared  whether the quasi-identifiers are declared
    notes  what the reader noticed in the data
    """

    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi_identifiers: tuple[str, ...]
    unique_records: int
    unique_share: float
    k: int
    declared: bool
    notes: tuple[str, ...] = ()


def profile(table: Table | Frame) -> Profile:
    """Suggest a role and a kind for every column, and count the records that are unique.

    Parameters
    ----------
    table : Table or frame
        The data. Declared roles are kept; a missing value is a value of its own.

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
    columns = tuple(_column(table, attribute) for attribute in table.attributes)
    declared = bool(table.quasi_identifiers)
    quasi = table.quasi_identifiers if declared else [c.name for c in columns if c.role == Role.QUASI_IDENTIFIER]
    sizes = equivalence_classes(table.codes(quasi)).sizes
    alone = int(np.sum(sizes == 1))
    smallest = int(sizes.min()) if len(sizes) else 0
    share = alone / table.rows if table.rows else 0.0
    return Profile(table.rows, columns, tuple(quasi), alone, share, smallest, declared, table.notes)


def _column(table: Table, attribute: Attribute) -> ColumnProfile:
    name = attribute.name
    counts = _value_counts(table, name)
    shape = _shape(table, name, counts)
    role, why = _role(attribute, shape, _evidence(table, attribute, shape))
    kind, because = _kind(attribute, shape, role)
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
    """The form of the values of a column.

    present, distinct  records with a value, and distinct values
    alone  records with a value that no other record has
    running  whole numbers with few gaps: 1, 2, 3, …
    digits  length of its texts if all are digits and equally long, else 0
    peaks  whole numbers of few values that are common, rare and common again
    """

    present: int
    distinct: int
    alone: int
    whole: bool
    running: bool
    digits: int
    peaks: bool

    @property
    def spread(self) -> float:
        """Distinct values per record that has one."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def numbering(self) -> bool:
        """Whether the records are numbered."""
        return self.running and self.present >= ENOUGH and self.spread == 1.0

    @property
    def exposing(self) -> bool:
        """Whether so many stand alone in the column that whoever knows a value finds its record."""
        return self.present >= ENOUGH and self.alone > LARGEST_SHARE * self.present


def _value_counts(table: Table, name: str) -> NDArray[np.int64]:
    """How many records hold each value that occurs."""
    codes = table.codes([name])[:, 0]
    counts = np.bincount(codes[codes != MISSING])
    return counts[counts > 0]


def _shape(table: Table, name: str, counts: NDArray[np.int64]) -> Shape:
    present = int(counts.sum())
    alone = int(np.sum(counts == 1))
    whole, peaks = _is_whole(table, name), len(counts) <= MOST_CODES and several_peaks(table, name)
    return Shape(present, len(counts), alone, whole, _is_running_number(table, name), _digits(table, name), peaks)


def _is_whole(table: Table, name: str) -> bool:
    if not table.holds_numbers(name):
        return False
    numbers = table.column(name)
    return bool(np.all(np.isnan(numbers) | (numbers == np.round(numbers))))


def _is_running_number(table: Table, name: str) -> bool:
    if not _is_whole(table, name):
        return False
    numbers = np.unique(table.column(name)[~np.isnan(table.column(name))])
    return len(numbers) > 0 and bool(numbers[-1] - numbers[0] < 2 * len(numbers))


def several_peaks(table: Table, name: str) -> bool:
    """Whether whole numbers are common, rare and common again, beyond chance: codes are, what is counted seldom.

    A value that does not occur counts as rare, unless all values are multiples of a common step.

    Examples
    --------
    >>> roofs = Table.from_columns({"roof": [2] * 40 + [3] * 5 + [4] * 50, "rooms": [1] * 20 + [2] * 50 + [3] * 25})
    >>> several_peaks(roofs, "roof"), several_peaks(roofs, "rooms")
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
    attribute = table.attribute(name)
    lengths = {len(label) for label in attribute.categories if label.isdigit()}
    every = all(label.isdigit() for label in attribute.categories)
    return lengths.pop() if every and len(lengths) == 1 else 0


def _evidence(table: Table, attribute: Attribute, shape: Shape) -> ColumnEvidence:
    column = table.column(attribute.name)
    numbers = column[~np.isnan(column)] if table.holds_numbers(attribute.name) else None
    return ColumnEvidence(attribute, numbers, shape.distinct, shape.spread, shape.whole, shape.numbering)


def _role(attribute: Attribute, shape: Shape, evidence: ColumnEvidence) -> tuple[Role, Reason]:
    if attribute.role is not Role.UNDECIDED:
        return attribute.role, Reason(Clue.DECLARED)
    if shape.distinct < 2 and not shape.alone:
        return Role.OTHER, Reason(Clue.CONSTANT)
    words = name_words(attribute.name)
    for role, clue, known in NAMES:
        match = known_word(words, known.split())
        if match and evidence.fits(role, match):
            return role, Reason(clue, word=match)
    return _role_by_shape(attribute, shape)


def _role_by_shape(attribute: Attribute, shape: Shape) -> tuple[Role, Reason]:
    enough = shape.present >= ENOUGH
    if attribute.dates:
        return Role.QUASI_IDENTIFIER, Reason(Clue.DATE)
    if not attribute.numeric and enough and shape.spread >= 0.8:
        return Role.IDENTIFIER, Reason(Clue.DISTINCT_TEXT, values=shape.distinct)
    if shape.numbering:
        return Role.IDENTIFIER, Reason(Clue.RUNNING_NUMBER)
    if shape.exposing:
        return Role.QUASI_IDENTIFIER, Reason(Clue.SINGLING_OUT, share=shape.alone / shape.present)
    return Role.UNDECIDED, Reason(Clue.UNDECIDED)


def _kind(attribute: Attribute, shape: Shape, role: Role) -> tuple[Kind, Reason | None]:
    words = set(name_words(attribute.name))
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


def suggested_builder(table: Table, name: str) -> str:
    """A hierarchy to start from for a column of the kind it has.

    name  one of its columns
    returns  a builder such as 'intervals:5,10,20,40', 'dates:month,quarter,year', 'prefixes:3,2,1' or 'merge:8,4,2'

    Examples
    --------
    >>> suggested_builder(crypsis.example(200), "age")
    'intervals:5,10,20,40'
    """
    attribute = table.attribute(name)
    shape = _shape(table, name, _value_counts(table, name))
    return builder_for(attribute, table.column(name), shape, attribute.kind)
