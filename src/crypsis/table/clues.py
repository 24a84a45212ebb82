"""Clues to the role of a column, and the words in names of columns that give one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from crypsis.table.attribute import Role


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
