"""Words and numbers that a text is made of, and the parts of a code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

LONGEST = 2000
"""Characters of a text that are read."""
PIECES = 4
"""Pieces of a code that are told apart, from its beginning."""
LETTERS = 3
"""First letters of a piece that are looked at."""
DIGITS = 12
"""Digits of a piece that are looked at."""

_WORD = re.compile(r"[^\W\d_]+|\d+")


def words_of(text: str) -> frozenset[str]:
    """Words and numbers of a text, without regard to case and leading zeros.

    Examples
    --------
    >>> sorted(words_of("F-1975-031"))
    ['1975', '31', 'f']
    """
    return frozenset(word.lstrip("0") or "0" for word in _WORD.findall(text[:LONGEST].casefold()))


def holders(words: Iterable[frozenset[str]], records: Sequence[int]) -> Counter[str]:
    """Word → records that have it.

    words  of each different text
    records  that hold the text
    """
    counts = Counter[str]()
    for some, times in zip(words, records, strict=True):
        counts.update(dict.fromkeys(some, times))
    return counts


def parts_of(text: str) -> dict[str, str]:
    """Parts of a code by place: its pieces, their first letters, and stretches of their digits.

    Examples
    --------
    >>> parts = parts_of("F-1975-031")
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
