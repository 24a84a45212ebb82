"""Restatement: published texts that say what was masked or left out of the same record.

A note that names the person, an address that holds the postcode, a code that begins with the year of birth: the column
that was masked or dropped stands in the file again. A value is *restated* if all its words and numbers are among those
of the text, or if it is long enough to be found within it; what a random order of the values restates is subtracted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crypsis.audits.dependence import FEWEST, MOST_RESTORED, SHUFFLES, unlikely
from crypsis.audits.published import (
    LONG_WORD,
    Finding,
    FindingKind,
    Flags,
    Published,
    collected_codes,
    published_number_labels,
)
from crypsis.audits.tokens import LONGEST, holders_of_tokens, tokens_of_text
from crypsis.errors import TableError
from crypsis.table.attribute import UNPUBLISHED, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.lookalikes import fold_lookalike_text
from crypsis.table.table import Table

LONG_VALUE = 4
"""Characters from which on a value is looked for within words and numbers, too."""
LONG_NUMBER = 10_000
"""Whole numbers from which on a column of them is read like a code."""
NUMERIC_CODES = 0.5
"""Share of such numbers from which on a column of numbers is read like a code."""
SHORT_CODE = 2
"""Characters of codes such as 0 and 1, which say nothing of a column that is coded alike; dependence is looked for."""
NAMES = 2
"""Records of an identifier at most that share a word, where the word alone names the person."""

_WORDLESS = re.compile(r"\W+")


def texts_for_restatement(table: Table, name: str) -> tuple[tuple[str, ...], NDArray[np.integer]] | None:
    """Texts of a column in which an audit looks for restatement, and each record's; None for amounts.

    Numbers are read as spelt where they are whole and long, such as codes, or dates.
    """
    if not table.holds_numbers(name):
        return _spelt_values(table, name)
    values = table.column(name)
    known = values[~np.isnan(values)]
    coded = (known == np.round(known)) & (np.abs(known) >= LONG_NUMBER)
    if not table.attribute(name).dates and (not known.size or coded.mean() < NUMERIC_CODES):
        return None
    return _spelt_values(table, name)


def _spelt_values(table: Table, name: str) -> tuple[tuple[str, ...], NDArray[np.integer]]:
    """Spelt values that occur in a column, and the place of each record's, −1 for none."""
    if table.holds_numbers(name):
        return published_number_labels(table, name), table.codes([name])[:, 0]
    codes = table.column(name)
    present, place = np.unique(codes[codes != MISSING], return_inverse=True)
    of = np.full(len(codes), MISSING, dtype=np.int64)
    of[codes != MISSING] = place
    return tuple(fold_lookalike_text(table.labels(name)[code]) for code in present.tolist()), of


def find_restated(seen: Published, most: float = MOST_RESTORED) -> list[Finding]:
    """Texts that restate identifiers or masked values of their record.

    >>> columns = {"name": ["Ann", "Bob", "Cleo"] * 9, "age": list(range(27))}
    >>> columns["note"] = [f"{name} came in" for name in columns["name"]]
    >>> people = crypsis.Table.from_columns(columns, {"name": "identifier", "age": "quasi", "note": "other"})
    >>> [each.columns for each in find_restated(Published(people, people))]
    [('note', 'name')]
    """
    if seen.original is None or not len(seen.table):
        return []
    some = seen.sample
    targets, found = list(_targets(some)), []
    for name in some.columns:
        dated = some.table.holds_numbers(name) and some.table.attribute(name).dates
        texts = None if dated else texts_for_restatement(some.table, name)
        if texts is None or len(texts[0]) < 2 or max(map(len, texts[0])) <= SHORT_CODE:
            continue
        words = _Texts.of(*texts)
        classes = some.role(name) is Role.QUASI_IDENTIFIER
        counts = {}
        for target in targets:
            if target.name == name or (classes and not target.left_out):
                continue
            count = target.restated_by(words)
            if count > max(most * target.hidden.sum(), FEWEST):
                counts[target.name] = (count, float(count / target.hidden.sum()))
        if counts:
            ranked = sorted(counts, key=lambda other: -counts[other][1])
            count, share = counts[ranked[0]]
            times = len(seen.table) / len(some.table)
            found.append(Finding(FindingKind.RESTATED, (name, *ranked), round(count * times), share))
    return found


@dataclass(frozen=True, eq=False)
class _Texts:
    """Texts of a column."""

    place: NDArray[np.integer]  # which one each record has, −1 for none
    words: list[frozenset[str]]  # of each different text
    within: list[str]  # each as one line of words

    @classmethod
    def of(cls, texts: Sequence[str], place: NDArray[np.integer]) -> _Texts:
        shown = [text[:LONGEST] for text in texts]
        return cls(place, [tokens_of_text(text) for text in shown], [_WORDLESS.sub(" ", text) for text in shown])


@dataclass(frozen=True, eq=False)
class _Target:
    """A column whose values the file should not show."""

    name: str
    of: NDArray[np.integer]  # place of each record's value, −1 for none
    sets: list[list[frozenset[str]]]  # by value, sets of words one of which is enough
    long: list[str]  # by value, how it is spelt if it is long enough to be looked for within a text, else empty
    hidden: Flags  # bool[n]: cells that are masked, or left out with the column
    left_out: bool  # whether the column is not published, so that a word nobody else has is enough

    def restated_by(self, texts: _Texts) -> int:
        """Hidden cells that the texts restate, beyond chance."""
        rows = np.flatnonzero(self.hidden & (texts.place != MISSING) & (self.of != MISSING))
        places = texts.place[rows].tolist()
        named = self._hits(texts, places, self.of[rows])
        if named <= max(FEWEST, MOST_RESTORED * self.hidden.sum()):
            return 0
        rng = np.random.default_rng(0)
        chance = float(np.mean([self._hits(texts, places, self.of[rng.permutation(rows)]) for _ in range(SHUFFLES)]))
        return round(named - chance) if unlikely(named, chance, 1) else 0

    def _hits(self, texts: _Texts, places: list[int], of: NDArray[np.integer]) -> int:
        count = 0
        for text, value in zip(places, of.tolist(), strict=True):
            words, long = texts.words[text], self.long[value]
            said = any(form <= words for form in self.sets[value])
            count += said or bool(long and long in texts.within[text])
        return count


def _targets(seen: Published) -> Iterator[_Target]:
    """Columns that no text should restate."""
    before = seen.original
    assert before is not None
    for name in before.names:
        left_out = before.attribute(name).role in UNPUBLISHED or name not in seen.columns
        hidden = np.ones(len(before), dtype=np.bool_) if left_out else seen.masked_cells[name]
        if not hidden.any():
            continue
        values, of = _spelt_values(before, name)
        words = [tokens_of_text(value) for value in values]
        held = holders_of_tokens(words, np.bincount(of[of != MISSING], minlength=len(words)).tolist())
        sets = [[each] if each else [] for each in words]
        if left_out:
            for forms, each in zip(sets, words, strict=True):
                forms += [frozenset({w}) for w in each if len(w) >= LONG_WORD and held[w] <= NAMES]
        lines = [_WORDLESS.sub(" ", value).strip() for value in values]
        if len(values) > 1:
            long = [line if len(line) >= LONG_VALUE else "" for line in lines]
            yield _Target(name, of, sets, long, hidden, left_out)


# -- What a file holds beside its table.

EXPECTED = ("ARROW:schema",)
"""Entries of a Parquet file that describe its columns and nothing else."""


def find_restating_metadata(file: Path) -> list[Finding]:
    """Audit of restatement: find metadata of a Parquet file that may restate what was masked or left out."""
    if file.suffix != ".parquet":
        return []
    try:
        entries = pl.read_parquet_metadata(file)
    except (OSError, pl.exceptions.PolarsError):
        raise TableError(f"{file.name}: its metadata cannot be read; write the file again") from None
    odd = tuple(sorted(name for name in entries if name not in EXPECTED))
    return [Finding(FindingKind.METADATA, odd, 0, 0.0)] if odd else []


def find_restated_missing(seen: Published) -> list[Finding]:
    """Beside restatement: columns in which a missing cell of the original became a published value.

    Returns in the order of the columns.
    """
    before, found = seen.original or seen.shuffled, list[Finding]()
    if before is None:
        return found
    for name in seen.columns:
        if name in before.names:
            lacked, lacks = collected_codes(before, name) == MISSING, seen.codes(name) == MISSING
            if seen.original is not None:
                count = int(np.sum(lacked & ~lacks))
            else:  # records that were left out may be those without a value
                count = int(lacked.sum() - lacks.sum()) - (len(before) - len(seen.table))
            if count > 0:
                found.append(Finding(FindingKind.FILLED, (name,), count, count / len(seen.table)))
    return found
