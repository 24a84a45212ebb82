"""Spellings: one form for all labels that a reader takes for one value.

Two labels are one value if they agree after Unicode normalisation (NFKC), without regard to case, invisible characters,
how many spaces of which kind stand where, letters of other scripts that look like Latin ones, and punctuation. An
intruder who reads ``HIV-1``, ``hiv 1.`` and a HIV whose H is Cyrillic has learnt one value, not three.

Punctuation is ignored only where it can change neither a number nor a sign:

- full stops, commas, colons, semicolons, exclamation marks, underscores, quotation marks and brackets are spaces, but
  not between two digits (``3.4``), nor before a digit unless a letter stands before them (``.5``, but ``No.5``);
  brackets and quotation marks stay beside any digit (``(1)``, ``5'``);
- an apostrophe between two letters is nothing;
- a dash is a space between two letters, or a letter and a digit, with a space on both sides or on neither (``HIV-1``,
  ``flu - severe``); everywhere else it may be a sign (``-1``, ``A-``, ``O- pos``) or a range (``3-4``);
- every other mark says something: ``A+``, ``<5``, ``50%``, ``1/2``, ``A*``, ``flu?``.
"""

from __future__ import annotations

import re
import unicodedata

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


def fold_text(text: str) -> str:
    """One spelling for texts that differ in case, spaces, Unicode form or letters that look alike.

    Examples
    --------
    >>> fold_text("  Type\\u00a0 II ") == fold_text("type ii")
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

    Examples
    --------
    >>> [fold_label(label) for label in ("HIV-1", "hiv 1.", "HIV -1", "3-4", "A+")]
    ['hiv 1', 'hiv 1', 'hiv -1', '3-4', 'a+']
    """
    folded, before = fold_text(label), ""
    while folded != before:
        before = folded
        plain = _STOP.sub(" ", _DASH.sub(" ", _APOSTROPHE.sub("", folded)))
        folded = " ".join(plain.split()) or before
    return folded
