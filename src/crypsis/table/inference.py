"""Types of the columns of a text file: numbers, dates or text."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from crypsis.errors import TableError
from crypsis.table.attribute import Kind, Role
from crypsis.table.encoding import Source, encode_numbers, message_for_encoded_text
from crypsis.table.frames import Kinds
from crypsis.table.value_forms import plain_value_form

DATE = r"^\d{4}-\d{2}-\d{2}$"
MOMENT = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$"
ZONE = r"(Z|[+-]\d{2}:?\d{2})$"
CODE = r"^[+-]?0\d"
WHOLE = r"^[+-]?\d+$"


def infer_column_types(
    texts: pl.DataFrame, roles: Mapping[str, Role], kinds: Kinds, missing: tuple[str, ...], source: Source
) -> tuple[pl.DataFrame, list[str]]:
    """Types of the columns of a text file, inferred: integers, floats, dates or text.

    A column is numeric if all its cells are; numbers with leading zeros are codes. A column declared ordinal or nominal
    stays text.
    """
    columns, notes = [], list[str]()
    for series in texts.get_columns():
        name = series.name
        known = series.set(series.is_in(list(missing)).fill_null(False), None) if missing else series
        kind = kinds.get(name)
        declared = kind.strip().lower() if isinstance(kind, str) else ("ordinal" if kind is not None else "")
        if declared in (Kind.ORDINAL, Kind.NOMINAL):
            columns.append(known)
        elif declared == Kind.NUMERIC:
            dated = _read_dates(known)
            columns.append(_read_integers(encode_numbers(name, known, source), known) if dated is None else dated)
        else:
            columns.append(_guess_type(known, roles.get(name, Role.UNDECIDED), source, notes))
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, texts.columns, strict=True)]), notes


def _guess_type(series: pl.Series, role: Role, source: Source, notes: list[str]) -> pl.Series:
    present = series.drop_nulls()
    if not len(present):
        return series
    dated = _read_dates(series)
    if dated is not None:
        return dated
    stripped = series.str.strip_chars()
    numbers = stripped.cast(pl.Float64, strict=False)
    lost = numbers.is_null() & series.is_not_null()
    slips = int(lost.sum())
    if slips == 0:
        return series if stripped.str.contains(CODE).any() else _read_integers(numbers, stripped)
    if slips < len(present) / 2 and not stripped.str.contains(CODE).any():
        sentence = message_for_encoded_text(series.name, stripped, lost, source)
        if role in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL):
            raise TableError(sentence)
        share = 100 - 100 * slips / len(present)
        notes.append(f"{source.of(series.name)} is read as text though {share:.3g} % of it are numbers ({sentence})")
    return series


def _read_integers(numbers: pl.Series, texts: pl.Series) -> pl.Series:
    """Whole numbers as Int64 if they fit, as text if they are too long; other numbers as floats."""
    if not texts.str.contains(WHOLE).fill_null(True).all():
        return numbers
    whole = texts.str.strip_chars_start("+").cast(pl.Int64, strict=False)
    return whole if whole.null_count() == texts.null_count() else texts


def _read_dates(texts: pl.Series) -> pl.Series | None:
    """ISO dates as Date, ISO times as Datetime (in UTC if they have an offset); None for anything else."""
    present = texts.drop_nulls()
    if not len(present):
        return None
    sample = present.head(50)
    if sample.str.contains(DATE).all():
        return _keep_parsed(texts.str.to_date("%Y-%m-%d", strict=False), texts)
    if not (sample.str.contains(MOMENT).all() and present.str.contains(MOMENT).all()):
        return None
    zoned = present.str.contains(ZONE)
    if zoned.any() and not zoned.all():
        return None
    plain = texts.str.replace(" ", "T", literal=True).str.replace("Z$", "+00:00")
    plain = plain.str.replace(r"([+-]\d{2})(\d{2})$", "${1}:${2}") if zoned.any() else plain
    plain = plain.str.replace(r"T(\d{2}:\d{2})($|[+-])", "T${1}:00${2}")
    form = "%Y-%m-%dT%H:%M:%S%.f" + ("%:z" if zoned.any() else "")
    return _keep_parsed(plain.str.to_datetime(form, strict=False, time_unit="us"), texts)


def _keep_parsed(parsed: pl.Series, texts: pl.Series) -> pl.Series | None:
    return parsed if parsed.null_count() == texts.null_count() else None


COMPOUND = 6
"""Words of at least this many letters also match as the first or last part of a longer word (CREDITAMOUNT)."""
REST = 3
"""Letters at least that stand before a word that is the last part."""


def infer_known_word(words: list[str], known: list[str]) -> str:
    """Inference about a column of a file: the known word found in its name, alone or inside a long word."""
    whole = next((word for word in words if word in known), "")
    long = (each for each in known if len(each) >= COMPOUND)
    return whole or next((each for each in long if any(is_part_of_word(each, word) for word in words)), "")


def is_part_of_word(part: str, word: str) -> bool:
    """Inference about a column of a file: whether a word begins or ends with a known one, as compounds do.

    >>> [is_part_of_word("strato", word) for word in ("stratocode", "administrator")]
    [True, False]
    >>> [is_part_of_word("earning", word) for word in ("hourlyearning", "learning")]
    [True, False]
    """
    return word.startswith(part) or (word.endswith(part) and len(word) - len(part) >= REST)


def words_for_inference(name: str) -> list[str]:
    """Inference about a column of a file: its name divided into words, in small letters without accents.

    >>> words_for_inference("dateOfBirth_2"), words_for_inference("Körpergröße")
    (['date', 'of', 'birth'], ['koerpergroesse'])
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z]+", plain_value_form(parted)) if word]
