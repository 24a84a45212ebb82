"""A first look at a table: what each column seems to be, why, and how exposed the people in it are.

Suggestions come from names and shapes; they are a start for a custodian's judgement and not a judgement.
A profile holds counts only, never a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crypsis.table.attribute import Attribute, Kind, Role
from crypsis.table.equivalence_classes import equivalence_classes
from crypsis.table.frames import Frame, as_table
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

RARE = 3
"""A value held by fewer records than this is rare."""

WORDS: tuple[tuple[Role, str, str], ...] = (
    (
        Role.IDENTIFIER,
        "it names, numbers or reaches a person",
        "id identifier uid uuid guid name surname firstname lastname forename ssn nino dni nif passport email mail "
        "phone telephone mobile fax iban account address street ip url username login person personid patientid "
        "licence plate",
    ),
    (
        Role.OTHER,
        "it is a sampling weight",
        "weight wgt fnlwgt pweight weights",
    ),
    (
        Role.CONFIDENTIAL,
        "it is what people keep to themselves",
        "income salary wage wages earnings pay revenue profit tax debt loan credit wealth assets capital expenditure "
        "diagnosis disease illness icd condition hiv treatment therapy drug medication symptom disability health "
        "religion party vote crime conviction offence benefit benefits",
    ),
    (
        Role.QUASI_IDENTIFIER,
        "a neighbour or another file may know it",
        "age birth birthday birthdate dob born sex gender race ethnicity ethnic nationality citizenship country region "
        "district province state county city town municipality zip zipcode postcode postal plz place location "
        "occupation job profession employer industry workclass education degree school marital civil married "
        "household family children kids language hours admission discharge death height",
    ),
)
CODED = (
    "sex gender race ethnicity ethnic nationality citizenship country region district province state county city town "
    "municipality zip zipcode postcode postal plz occupation job profession industry workclass education degree "
    "marital civil married religion party diagnosis icd disease condition code class type status category group"
)
"""Names under which whole numbers are codes and not quantities."""
ORDERED = "education degree grade level severity satisfaction rating stage"
"""Names under which categories tend to have an order."""
COMPOUND = 6
"""Words of at least so many letters are also found inside a longer word (CREDITAMOUNT)."""


@dataclass(frozen=True)
class ColumnProfile:
    """What one column seems to be; `reason` says why in words."""

    name: str
    role: str
    kind: str
    reason: str
    distinct: int
    missing: int
    rare: int
    """How many of its values are held by fewer than three records."""
    unique: int
    """How many records hold a value nobody else holds."""
    hierarchy: str = ""
    """A builder to start from, for a quasi-identifier."""


@dataclass(frozen=True)
class Profile:
    """Counts and suggestions for a table; nothing in it is a value of a person."""

    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi_identifiers: tuple[str, ...]
    unique_records: int
    """Records that no other record equals on the quasi-identifiers."""
    unique_share: float
    """The same as a share of all records, 0 to 1."""
    k: int
    """Size of the smallest class on the quasi-identifiers: the raw table is k-anonymous."""
    declared: bool
    """Whether the quasi-identifiers were declared; otherwise they are suggestions."""
    notes: tuple[str, ...] = ()


def profile(table: Table | Frame) -> Profile:
    """Suggest a role and a kind for every column, and tell how exposed the raw table is.

    Roles that were declared are kept. Uniqueness and k speak of the declared quasi-identifiers, or of the
    suggested ones where none was declared; a missing value counts as a value of its own.
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
    codes = table.codes([name])[:, 0]
    present = codes[codes != MISSING]
    counts = np.bincount(present) if len(present) else np.empty(0, dtype=np.int64)
    counts = counts[counts > 0]
    shape = Shape(len(present), len(counts), _whole(table, name), _running(table, name), _digits(table, name))
    role, why = _role(attribute, shape)
    kind, because = _kind(attribute, shape, role)
    return ColumnProfile(
        name=name,
        role=role.value,
        kind=kind.value,
        reason=f"{why}; {because}" if because else why,
        distinct=shape.distinct,
        missing=table.rows - shape.present,
        rare=int(np.sum(counts < RARE)),
        unique=int(np.sum(counts == 1)),
        hierarchy=_builder(table, attribute, shape, kind) if role is Role.QUASI_IDENTIFIER else "",
    )


@dataclass(frozen=True)
class Shape:
    """What the values of a column look like, without saying any."""

    present: int
    distinct: int
    whole: bool
    """Numbers without decimals."""
    running: bool
    """Whole numbers without many gaps: 1, 2, 3, …"""
    digits: int
    """Length of its texts if all are digits and equally long, else 0."""

    @property
    def spread(self) -> float:
        return self.distinct / self.present if self.present else 0.0


def _whole(table: Table, name: str) -> bool:
    if not table.holds_numbers(name):
        return False
    numbers = table.column(name)
    return bool(np.all(np.isnan(numbers) | (numbers == np.round(numbers))))


def _running(table: Table, name: str) -> bool:
    if not _whole(table, name):
        return False
    numbers = np.unique(table.column(name)[~np.isnan(table.column(name))])
    return len(numbers) > 0 and bool(numbers[-1] - numbers[0] < 2 * len(numbers))


def _digits(table: Table, name: str) -> int:
    attribute = table.attribute(name)
    lengths = {len(label) for label in attribute.categories if label.isdigit()}
    every = all(label.isdigit() for label in attribute.categories)
    return lengths.pop() if every and len(lengths) == 1 else 0


def words_of(name: str) -> list[str]:
    """'dateOfBirth_2' → date, of, birth: the words a column name is made of."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[^A-Za-z]+", parted) if word]


def _role(attribute: Attribute, shape: Shape) -> tuple[Role, str]:
    if attribute.role is not Role.OTHER:
        return attribute.role, "declared"
    if shape.distinct < 2:
        return Role.OTHER, "it has one value at most and tells nobody apart"
    words = words_of(attribute.name)
    for role, why, known in WORDS:
        hit = _hit(words, known.split())
        if role is Role.IDENTIFIER and hit and shape.spread < 0.5:
            continue  # a 'name' that many share names no person
        if hit:
            return role, f"by its name ({hit}): {why}"
    return _role_by_shape(attribute, shape)


def _hit(words: list[str], known: list[str]) -> str:
    """The known word a column name holds, as a word of its own or, if long, inside one."""
    whole = next((word for word in words if word in known), "")
    return whole or next((long for long in known if len(long) >= COMPOUND and any(long in word for word in words)), "")


def _role_by_shape(attribute: Attribute, shape: Shape) -> tuple[Role, str]:
    enough = shape.present >= 20
    if attribute.dates:
        return Role.QUASI_IDENTIFIER, "a date of an event can often be looked up"
    if not attribute.numeric and enough and shape.spread >= 0.8:
        return Role.IDENTIFIER, f"text that differs from record to record ({shape.distinct} values) names them"
    if shape.running and enough and shape.spread == 1.0:
        return Role.IDENTIFIER, "running whole numbers, each used once, number the records"
    return Role.OTHER, "neither its name nor its values tell; decide whether an intruder may know it"


def _kind(attribute: Attribute, shape: Shape, role: Role) -> tuple[Kind, str]:
    words = set(words_of(attribute.name))
    if attribute.dates:
        return attribute.kind, "dates count as numbers"
    if attribute.numeric:
        if shape.whole and words.intersection(CODED.split()) and role is not Role.IDENTIFIER:
            return Kind.NOMINAL, "its numbers look like codes"
        return Kind.NUMERIC, ""
    if attribute.kind is Kind.NOMINAL and words.intersection(ORDERED.split()):
        return Kind.NOMINAL, "it may have an order: list it from low to high to make it ordinal"
    return attribute.kind, ""


def _builder(table: Table, attribute: Attribute, shape: Shape, kind: Kind) -> str:
    """A hierarchy to start from."""
    if attribute.dates:
        return "dates:month,quarter,year"
    if kind is Kind.NUMERIC:
        return _intervals(table.column(attribute.name), shape)
    if shape.digits >= 3 and shape.distinct > 10:
        return f"prefixes:{','.join(str(length) for length in range(shape.digits - 1, 0, -1))}"
    sizes = [size for size in (32, 16, 8, 4, 2) if size < shape.distinct]
    return f"merge:{','.join(map(str, sizes or [1]))}"


def _intervals(numbers: NDArray[np.float64], shape: Shape) -> str:
    """Widths that double, from about a twentieth of the range up, in round figures."""
    span = float(np.nanmax(numbers) - np.nanmin(numbers))
    power = int(np.floor(np.log10(span / 20)))
    if shape.whole:
        power = max(power, 0)
    mantissa = next((m for m in (1, 2, 5) if m * 10.0**power >= span / 20), 10)
    widths = [mantissa * 2**step for step in range(4)]
    if power >= 0:
        return f"intervals:{','.join(str(width * 10**power) for width in widths)}"
    return f"intervals:{','.join(f'{width * 10.0**power:.{-power}f}' for width in widths)}"
