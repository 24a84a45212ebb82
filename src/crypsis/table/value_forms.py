"""What the values of a column are by their form alone: contacts, numbers of persons and accounts, postcodes, sexes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from crypsis.table.role_words import NO_ANSWER, SEX_VALUES, VALUE_WORDS

NEARLY = 0.9
"""Share of the values that must have a form."""
LOOKED_AT = 500
"""Different values that are looked at."""


def plain_value_form(text: str) -> str:
    """The plain form of a value, to compare values by form alone: small letters without accents.

    >>> plain_value_form("Größe"), plain_value_form("Prénom"), plain_value_form("MÄNNLICH")
    ('groesse', 'prenom', 'maennlich')
    """
    small = text.lower()
    for letter, written in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss"), ("æ", "ae"), ("ø", "o")):
        small = small.replace(letter, written)
    return "".join(each for each in unicodedata.normalize("NFKD", small) if not unicodedata.combining(each))


def _keeps_iban(text: str) -> bool:
    """Whether the check digits of an account number are right (ISO 13616: the rest of a division by 97 is 1)."""
    joined = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", joined):
        return False
    return int("".join(str(int(each, 36)) for each in joined[4:] + joined[:4])) % 97 == 1


def _keeps_nhs(text: str) -> bool:
    """Whether the check digit of ten digits of the British health service is right."""
    digits = [int(each) for each in re.sub(r"[ -]", "", text) if each.isdigit()]
    if len(digits) != 10 or not re.fullmatch(r"\d{3}[ -]?\d{3}[ -]?\d{4}", text):
        return False
    return (sum(n * d for n, d in zip(range(10, 0, -1), digits, strict=True))) % 11 == 0


def _keeps_dni(text: str) -> bool:
    """Whether the letter of a Spanish identity number is right."""
    found = re.fullmatch(r"([XYZ\d])(\d{7})-?([A-Z])", text.upper())
    if found is None:
        return False
    number = int({"X": "0", "Y": "1", "Z": "2"}.get(found[1], found[1]) + found[2])
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == found[3]


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


IDENTIFYING: dict[str, Callable[[str], bool]] = {
    "e-mail addresses": _matches(r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
    "web addresses": _matches(r"(https?://|www\.)\S+"),
    "network addresses": _matches(r"\d{1,3}(\.\d{1,3}){3}|[0-9a-f]{0,4}(:[0-9a-f]{0,4}){4,7}"),
    "account numbers": _keeps_iban,
    "social security numbers": _matches(r"\d{3}-\d{2}-\d{4}"),
    "Swiss insurance numbers": _matches(r"756\.\d{4}\.\d{4}\.\d{2}"),
    "Italian tax codes": _matches(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]"),
    "British insurance numbers": _matches(r"[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]"),
    "French insurance numbers": _matches(
        r"[12] ?\d{2} ?(0[1-9]|1[0-2]|2\d|3[0-9]) ?(\d{2}|2[AB]) ?\d{3} ?\d{3}( ?\d{2})?"
    ),
    "Brazilian tax numbers": _matches(r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
    "Spanish identity numbers": _keeps_dni,
    "numbers of the British health service": _keeps_nhs,
    "telephone numbers": _matches(r"(\+|00)\d[\d ()./-]{6,18}\d|\(?0?\d{2,4}\)?[ /-]\d{3,4}[ -]\d{3,5}"),
    "universal identifiers": _matches(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
}
"""Forms of values by which a person is named or reached."""
POSTCODES: tuple[Callable[[str], bool], ...] = (
    _matches(r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"),  # British
    _matches(r"[1-9]\d{3} ?[A-Z]{2}"),  # Dutch
    _matches(r"[A-Z]\d[A-Z] ?\d[A-Z]\d"),  # Canadian
    _matches(r"\d{4}-\d{3}|\d{5}-\d{3,4}"),  # Portuguese, Brazilian, nine digits of the United States
    _matches(r"[A-Z]{1,2}-\d{4,5}"),
)
"""Forms of postcodes that cannot be plain numbers."""


def identifying_form(values: Sequence[str]) -> str:
    """What the values are by which a person is named or reached; empty if they are nothing of the kind.

    >>> identifying_form(["ann@example.org", "bob@example.org"]), identifying_form(["red", "blue"])
    ('e-mail addresses', '')
    """
    return next((name for name, test in IDENTIFYING.items() if _mostly(test, values)), "")


def are_postcodes(values: Sequence[str]) -> bool:
    """Whether values are postcodes by their form.

    >>> are_postcodes(["SW1A 1AA", "M1 1AE"]), are_postcodes(["1000", "2000"])
    (True, False)
    """
    return any(_mostly(test, values) for test in POSTCODES)


def value_subject(values: Iterable[str]) -> tuple[str, str]:
    """What values are called, and their subject, where they say so themselves; empty texts where they do not.

    >>> value_subject(["männlich", "weiblich"]), value_subject(["Agree", "Strongly disagree"])
    (('sex', 'sex'), ('opinion', 'opinion'))
    >>> value_subject(["red", "blue"])
    ('', '')
    """
    written = [plain_value_form(each).strip() for each in values]
    if are_sexes(written):
        return "sex", "sex"
    words = [set(re.split(r"[^a-z]+", each)) | {re.sub(r"[^a-z]", "", each)} for each in written]
    for called, (subject, known) in VALUE_WORDS.items():
        found = sum(bool(each & set(known.split())) for each in words)
        if found >= 2 and found >= 0.5 * len(words):
            return called, subject
    return "", ""


def are_sexes(values: Sequence[str]) -> bool:
    """Whether plain values are two sexes of one language and nothing else but no answer.

    >>> are_sexes(["m", "f"]), are_sexes(["h", "f", "unknown"]), are_sexes(["m", "x"]), are_sexes(["f", "t"])
    (True, True, False, False)
    """
    given = {each.rstrip(".") for each in values} - NO_ANSWER
    return len(given) == 2 and any(given <= known for known in SEX_VALUES)


def _mostly(test: Callable[[str], bool], values: Sequence[str]) -> bool:
    some = [each.strip() for each in values[:LOOKED_AT] if each.strip()]
    return bool(some) and sum(map(test, some)) >= NEARLY * len(some)
