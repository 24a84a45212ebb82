"""Values that only look different: spellings of one category, numbers that agree in nine significant digits.

What looks alike is said in `crypsis.table.lookalikes`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crypsis.table.equivalence_classes import ClassContents, EquivalenceClasses
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Column, Table

_CYRILLIC = {
    **dict(zip("авсеніјкмоԛрѕтѵху", "abcehijkmoqpstvxy", strict=True)),
    **dict(zip("һѡԝӏԁү", "hwwldy", strict=True)),
}
_GREEK = dict(zip("αβεζηικνορςστυχϲϳ", "abezhiknop\u03c3\u03c3tyxcj", strict=True))
_OTHER = dict(zip("օսհոցıɑɡɩʟɴʀᴏᴄᴠᴡᴢ", "ouhngiagilnrocvwz", strict=True))
CONFUSABLES = {ord(other): latin for other, latin in (_CYRILLIC | _GREEK | _OTHER).items()}
"""Small letters that, small or capital, look like Latin ones; the Greek mu is none, or µg would be mg."""

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043"), "-")
_SINGLE = dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02bc\u0060\u00b4"), "'")
_DOUBLE = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"')
_SAME_MARKS = {**_DASHES, **_SINGLE, **_DOUBLE}

_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_DASH = re.compile(r"(?<=[^\W\d_])( ?)-\1(?=[^\W_])|(?<=\d)( ?)-\2(?=[^\W\d_])")
_STOP = re.compile(
    r"""(?<=[^\W\d_])[.,;:!_](?=\d)      # after a letter, before a digit: No.5
      | (?<!\d)[.,;:!_](?!\d)            # beside no digit
      | (?<=\d)[.,;:!_](?!\s*\d)         # after the last digit
      | (?<!\d)[()\[\]{}'"](?!\d)        # brackets and quotation marks beside no digit
    """,
    re.VERBOSE,
)


def fold_lookalike_text(text: str) -> str:
    """One spelling for lookalikes: texts that differ only in case, spaces, Unicode form or similar letters.

    >>> fold_lookalike_text("  Type\\u00a0 II ") == fold_lookalike_text("type ii")
    True
    """
    if text.isascii():
        return " ".join(text.casefold().split())
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    parts = unicodedata.normalize("NFKD", plain).translate(CONFUSABLES).translate(_SAME_MARKS)
    seen = "".join(mark for mark in parts if unicodedata.category(mark) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen).split())


def fold_label(label: str) -> str:
    """One spelling for all labels that look alike, without the punctuation that changes no number and no sign.

    >>> [fold_label(label) for label in ("HIV-1", "hiv 1.", "HIV -1", "3-4", "A+")]
    ['hiv 1', 'hiv 1', 'hiv -1', '3-4', 'a+']
    """
    folded, before = fold_lookalike_text(label), ""
    while folded != before:
        before = folded
        plain = _STOP.sub(" ", _DASH.sub(" ", _APOSTROPHE.sub("", folded)))
        folded = " ".join(plain.split()) or before
    return folded


# -- Values that only look different: spellings of one category, numbers that agree in nine significant digits.
#
# What looks alike is said in `crypsis.table.lookalikes`.

DIGITS = 9
"""Significant digits in which numbers must differ to be two values."""


class LookAlikes(NamedTuple):
    """Values of a column that only look different."""

    spellings: int  # how many values look alike
    records: int  # how many records hold one of them


def round_lookalike_numbers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers to nine significant digits, so that those that only look different agree.

    `values` float64[n]: NaN where missing; returns float64[n].

    >>> round_lookalike_numbers(np.array([1.00000000049, 123456789.4, 0.0])).tolist()
    [1.0, 123456789.0, 0.0]
    """
    rounded = values.copy()
    usual = np.isfinite(values) & (np.abs(values) > 1e-290) & (np.abs(values) < 1e290)
    size = np.abs(values[usual])
    exponent = np.floor(np.log10(size))
    digits = np.rint(size / np.power(10.0, exponent) * 10.0 ** (DIGITS - 1))
    carried = digits >= 10.0**DIGITS
    digits, exponent = np.where(carried, digits / 10, digits), exponent + carried
    # Two steps: a power of ten that is exact for most numbers keeps them as they were written.
    down, up = np.maximum(DIGITS - 1 - exponent, 0.0), np.maximum(exponent - DIGITS + 1, 0.0)
    rounded[usual] = np.copysign(digits / np.power(10.0, down) * np.power(10.0, up), values[usual])
    return rounded


def folded_codes(table: Table, column: str) -> NDArray[np.int32]:
    """Codes of a column in which values that look alike have one code.

    Returns in the order of the values; −1 where missing.

    >>> table = Table.from_columns({"ill": ["HIV", "flu", "hiv ", None]})
    >>> folded_codes(table, "ill").tolist()
    [0, 1, 0, -1]
    """
    return merge_lookalikes(table, [column]).codes([column])[:, 0]


def merge_lookalikes(table: Table, columns: Iterable[str]) -> Table:
    """The table with one value for all that look alike: the first in the order of the column."""
    changed: dict[str, Column] = {}
    for name in columns:
        if table.holds_numbers(name):
            changed[name] = round_lookalike_numbers(table.column(name))
        else:
            first = _first_of_each(table, name)
            if (first[:-1] != np.arange(len(first) - 1)).any():
                changed[name] = first[table.column(name)]
    return table.with_columns(changed) if changed else table


def _first_of_each(table: Table, name: str) -> NDArray[np.int32]:
    """Code → the first code whose label looks alike; the last entry is for a missing value."""
    place: dict[str, int] = {}
    codes = [place.setdefault(fold_label(label), code) for code, label in enumerate(table.labels(name))]
    return np.array([*codes, MISSING], dtype=np.int32)


def look_alikes(table: Table, column: str) -> list[LookAlikes]:
    """Find the values of a column that only look different.

    >>> look_alikes(Table.from_columns({"ill": ["HIV", "flu", "hiv ", "HIV"]}), "ill")
    [LookAlikes(spellings=2, records=3)]
    """
    written, folded = table.codes([column])[table.kept, 0], folded_codes(table, column)[table.kept]
    present = written != MISSING
    held = np.bincount(written[present])
    first = np.full(len(held), MISSING, dtype=np.int64)
    first[written[present]] = folded[present]  # the same for all records that are written alike
    spelt = np.flatnonzero(held)
    spellings = np.bincount(first[spelt], minlength=len(held))
    records = np.bincount(first[spelt], weights=held[spelt], minlength=len(held))
    return [LookAlikes(int(spellings[code]), int(records[code])) for code in np.flatnonzero(spellings > 1).tolist()]


def count_without_lookalikes(
    classes: EquivalenceClasses, table: Table, column: str
) -> tuple[EquivalenceClasses, ClassContents]:
    """Values of a column by class, where lookalikes (spellings of one category) count as one value."""
    codes = folded_codes(table, column)
    known = EquivalenceClasses(np.where(codes == MISSING, -1, classes.of), classes.count)
    return known, known.contents(codes)
