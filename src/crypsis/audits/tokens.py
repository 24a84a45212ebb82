"""Words and numbers that a text is made of, and the parts of a code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from crypsis.table.table import Table

LONGEST = 2000
"""Characters of a text that are read."""
PIECES = 4
"""Pieces of a code that are told apart, from its beginning."""
LETTERS = 3
"""First letters of a piece that are looked at."""
DIGITS = 12
"""Digits of a piece that are looked at."""

_WORD = re.compile(r"[^\W\d_]+|\d+")


def tokens_of_text(text: str) -> frozenset[str]:
    """Words and numbers that a text is made of, without regard to case and leading zeros.

    >>> sorted(tokens_of_text("F-1975-031"))
    ['1975', '31', 'f']
    """
    return frozenset(word.lstrip("0") or "0" for word in _WORD.findall(text[:LONGEST].casefold()))


def holders_of_tokens(words: Iterable[frozenset[str]], records: Sequence[int]) -> Counter[str]:
    """Token, a word or number of a text → records that have it."""
    counts = Counter[str]()
    for some, times in zip(words, records, strict=True):
        counts.update(dict.fromkeys(some, times))
    return counts


def tokens_of_code(text: str) -> dict[str, str]:
    """Parts of a code by place: its pieces, their first letters, and stretches of their digits.

    >>> parts = tokens_of_code("F-1975-031")
    >>> parts["0"], parts["1"], parts["1:2+2"], parts["last"]
    ('F', '1975', '75', '031')
    """
    pieces = _WORD.findall(text[:LONGEST])
    found = {"last": pieces[-1]} if pieces else {}
    for place, piece in enumerate(pieces[:PIECES]):
        found[str(place)] = piece
        if piece[0].isdigit():
            shown = piece[:DIGITS]
            found |= {
                f"{place}:{at}+{wide}": shown[at : at + wide]
                for wide in (1, 2, 4)
                for at in range(0, len(shown) - wide + 1, min(wide, 2))
                if wide < len(piece)
            }
        else:
            found |= {f"{place}:{letters}": piece[:letters] for letters in range(1, min(LETTERS, len(piece) - 1) + 1)}
    return found


# -- Dates as days, however they are written.

FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y%m%d")
"""Ways to write a day that are tried on texts."""
PROBED = 20
"""Labels that are tried first."""
DAY = 86400
"""Seconds of a day."""
MOST = 0.9
"""Share of the labels of a column that are dates."""
_EPOCH = datetime(1970, 1, 1)

Floats = NDArray[np.float64]


def days_as_tokens(table: Table, name: str) -> Floats | None:
    """float64[n]: days since 1970 that a column of dates has as tokens, NaN where none; None for any other column.

    >>> days_as_tokens(crypsis.Table.from_columns({"seen": ["01.02.1970", "02.02.1970"]}), "seen").tolist()
    [31.0, 32.0]
    """
    if table.holds_numbers(name):
        dates = table.attribute(name).dates
        return table.column(name) / (1 if dates == "date" else DAY) if dates else None
    labels = table.labels(name)
    for form in FORMATS:
        if sum(_day(label, form) is not None for label in labels[:PROBED]) >= MOST * max(len(labels[:PROBED]), 1):
            days = [_day(label, form) for label in labels]
            if labels and sum(each is not None for each in days) >= MOST * len(days):
                return np.array([*(np.nan if each is None else each for each in days), np.nan])[table.column(name)]
    return None


def numbers_as_tokens(table: Table, name: str) -> Floats | None:
    """float64[n]: numbers of a column, or days where its texts are made of dates; None for categories."""
    return table.column(name) if table.holds_numbers(name) else days_as_tokens(table, name)


def _day(label: str, form: str) -> float | None:
    try:
        return float((datetime.strptime(label.strip()[:10], form) - _EPOCH).days)
    except ValueError:
        return None
