"""Files of SPSS, Stata and SAS, with variable labels, value labels and codes that mean missing."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from crypsis.errors import TableError, listing
from crypsis.table.attribute import Attribute, Kind
from crypsis.table.encoding import Source
from crypsis.table.readers import isolated_reading
from crypsis.table.readers.excel import LARGEST_WHOLE, settle_excel_numbers
from crypsis.table.readers.formats import (
    CELL,
    TYPED,
    ColumnLabels,
    Contents,
    Input,
    ReadOptions,
    import_format_extra,
    memory_for_formats,
    read_head,
    readers,
    refuse_boundless_format,
    require_extra,
    writers,
)
from crypsis.table.readers.text import as_plain

if TYPE_CHECKING:
    from crypsis.table.table import Table

SPSS, STATA, SAS = (".sav", ".zsav", ".por"), (".dta",), (".sas7bdat", ".xpt")
SAS_MAGIC = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
STATA_MAGIC = (b"<stata_dta>", *(bytes([version, order]) for version in range(108, 117) for order in (1, 2)))
TAKES = TYPED | {"encoding"}
WORDS = {".sav": "SPSS", ".zsav": "SPSS", ".por": "SPSS", ".dta": "Stata", ".sas7bdat": "SAS", ".xpt": "SAS"}
CALLS = {
    ".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport",
}  # fmt: skip
KEEPS_CODES = (".sav", ".zsav", ".dta", ".sas7bdat")
"""Files whose missing codes are read as they are."""


@readers.add(*SPSS, what="an SPSS file", takes=TAKES, magic=(b"$FL2", b"$FL3"))
def read_spss(file: Input, options: ReadOptions) -> Contents:
    """The columns with their labels, and which codes mean missing."""
    return _read(file, options)


@readers.add(*STATA, what="a Stata file", takes=TAKES, magic=STATA_MAGIC)
def read_stata(file: Input, options: ReadOptions) -> Contents:
    """The columns with their labels; .a to .z are missing."""
    return _read(file, options)


@readers.add(*SAS, what="a SAS file", takes=TAKES, magic=(SAS_MAGIC, b"HEADER RECORD*******LIB"))
def read_sas(file: Input, options: ReadOptions) -> Contents:
    """The columns with their labels; value labels where a catalogue .sas7bcat of the same name lies beside the file."""
    return _read(file, options)


def _read(file: Input, options: ReadOptions) -> Contents:
    suffix = Path(file.name).suffix.lower()
    require_extra("pyreadstat", "files", file.shown, f"{'an' if WORDS[suffix] == 'SPSS' else 'a'} {WORDS[suffix]} file")
    with file.on_disk() as path:
        _refuse_other(read_head(path), suffix, file.shown)
        given: dict[str, Any] = {"encoding": options.encoding} if options.encoding else {}
        if suffix in KEEPS_CODES:
            given["user_missing"] = True
        catalogue = path.with_suffix(".sas7bcat")
        if suffix == ".sas7bdat" and catalogue.is_file():
            given["catalog_file"] = str(catalogue)
        frame, about = _read_apart(path, CALLS[suffix], given, file.shown)
    if frame is None:
        wrong = " with this encoding" if options.encoding else ""
        raise TableError(
            f"{file.shown} is not a readable {WORDS[suffix]} file{wrong}, perhaps cut off; save it again, or as CSV"
        )
    labels = {name: _labels_of(name, about) for name in frame.columns}
    lettered = [
        f"{file.path.name}: column {name!r}: codes that mean missing are read as missing ({count} cells)"
        for name, count in about["lettered"].items()
        if count
    ]
    series = [_plain_cells(each) for each in frame.get_columns()]
    return Contents(pl.DataFrame(series), Source(file.path.name), notes=tuple(lettered), found=options, labels=labels)


def _read_apart(
    path: Path, call: str, given: Mapping[str, Any], shown: str
) -> tuple[pl.DataFrame | None, dict[str, Any]]:
    """The table and what the file says of its columns, read by a program of its own; None where that fails."""
    with tempfile.TemporaryDirectory() as folder:
        words = [call, str(path.resolve()), folder, str(memory_for_formats()), str(CELL), json.dumps(dict(given))]
        program = [sys.executable, "-P", isolated_reading.__file__, *words]
        subprocess.run(
            program,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "POLARS_MAX_THREADS": "1"},
            check=False,
        )
        try:
            about: dict[str, Any] = json.loads((Path(folder) / "about.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None, {}
        refuse_boundless_format(about["rows"], about["columns"], shown)
        if not about["columns"]:
            raise TableError(f"{shown} has no columns; give a file with records")
        return pl.read_ipc(io.BytesIO((Path(folder) / "table.arrow").read_bytes())), about


def _refuse_other(head: bytes, suffix: str, shown: str) -> None:
    """Refuse a file whose first bytes are those of another format."""
    real = readers.beginning(head)
    if real is not None and suffix not in real.suffixes:
        raise TableError(f"{shown} is {real.what} with another suffix; rename it to end in {real.suffixes[0]}")


def _labels_of(name: str, about: Mapping[str, Any]) -> ColumnLabels:
    """What the metadata of a file say of a column."""
    codes = {code: str(text) for code, text in about["codes"].get(name, [])}
    ranges = [(each["lo"], each["hi"]) for each in about["ranges"].get(name, [])]
    letters = [(each, each) for each in about["letters"].get(name, [])]
    measure = about["measures"].get(name, "unknown")
    label = str(about["labels"].get(name) or "").strip()
    return ColumnLabels(label, codes, (*ranges, *letters), measure == "ordinal", measure == "scale")


def _plain_cells(series: pl.Series) -> pl.Series:
    """Cells in types that are usual: numbers whole where they are, an empty text missing."""
    if series.dtype == pl.String:
        return series.set((series == "").fill_null(False), None)
    if series.dtype.is_numeric():
        series = series.cast(pl.Float64)
    return settle_excel_numbers(series)


# -- codes as categories --


def apply_labels(
    frame: pl.DataFrame, labels: Mapping[str, ColumnLabels], kinds: Mapping[str, Any], where: str
) -> tuple[pl.DataFrame, dict[str, str], list[str]]:
    """Coded columns as categories with their labels in the order of the codes, and codes that mean missing as missing.

    Returns the frame, the kind of each coded column, and what is to be said.
    """
    columns, found, said = [], dict[str, str](), list[str]()
    for series in frame.get_columns():
        about = labels.get(series.name)
        if about is None:
            columns.append(series)
            continue
        gone = pl.Series([_is_missing(cell, about) for cell in series.to_list()], dtype=pl.Boolean)
        if about.missing and gone.any():
            meant = [text for code, text in about.codes.items() if _is_missing(code, about)]
            what = f" ({listing(map(repr, meant), most=4)})" if meant else ""
            said.append(
                f"{where}: column {series.name!r}: codes that mean missing{what} are read as missing "
                f"({int(gone.sum())} cells)"
            )
            series = settle_excel_numbers(series.set(gone, None))
        kind = kinds.get(series.name)
        if isinstance(kind, str) and kind.strip().lower() == Kind.NUMERIC:
            columns.append(series)
            continue
        coded = _as_categories(series, about)
        if coded is None:
            numbered = sum(not _is_missing(code, about) for code in about.codes)
            if numbered:
                said.append(
                    f"{where}: column {series.name!r} is read as numbers; labelled codes among them: {numbered}"
                )
            columns.append(series)
            continue
        columns.append(coded)
        found[series.name] = (Kind.ORDINAL if about.ordered else Kind.NOMINAL).value
    return pl.DataFrame(columns), found, said


def _is_missing(cell: Any, about: ColumnLabels) -> bool:
    if cell is None:
        return False
    return any(
        type(cell) is str if isinstance(low, str) and cell == low else _between(cell, low, high)
        for low, high in about.missing
    )


def _between(cell: Any, low: Any, high: Any) -> bool:
    numbers = all(isinstance(each, (int, float)) for each in (cell, low, high))
    return numbers and low <= cell <= high


def _category_texts(about: ColumnLabels) -> dict[Any, str]:
    """The text of every code that does not mean missing, in the order of the codes; alike labels get their code."""
    codes = [code for code in about.codes if not _is_missing(code, about)]
    codes.sort(key=lambda code: (isinstance(code, str), code))
    texts = [about.codes[code].strip() or _code_text(code) for code in codes]
    return {
        code: text if texts.count(text) == 1 else f"{text} ({_code_text(code)})"
        for code, text in zip(codes, texts, strict=True)
    }


def _code_text(code: Any) -> str:
    return f"{code:g}" if isinstance(code, (int, float)) else str(code)


def _as_categories(series: pl.Series, about: ColumnLabels) -> pl.Series | None:
    """The labels of a coded column; None where its numbers are measurements of which some have a label."""
    texts = _category_texts(about)
    if about.spelt:
        seen = [label for label in series.drop_nulls().unique().sort().to_list() if label not in texts.values()]
        return series.cast(pl.Enum([*texts.values(), *seen])) if texts and series.dtype == pl.String else None
    if not texts or not (series.dtype.is_numeric() or series.dtype == pl.String):
        return None
    present = series.drop_nulls().unique().sort().to_list()
    bare = [code for code in present if code not in texts]
    if bare and (about.measured or (not about.ordered and len(bare) > len(texts))):
        return None
    taken = set(texts.values())
    texts |= {code: _free_text(_code_text(code), taken) for code in bare}
    order = sorted(texts, key=lambda code: (isinstance(code, str), code))
    meant = pl.Enum([texts[code] for code in order])
    return pl.Series(series.name, [None if cell is None else texts[cell] for cell in series.to_list()], dtype=meant)


def _free_text(text: str, taken: set[str]) -> str:
    return text if text not in taken else f"code {text}"


def labelled_attribute(attribute: Attribute, about: ColumnLabels) -> Attribute:
    """The attribute with what the file says of the column."""
    codes = tuple((text, code) for code, text in _category_texts(about).items())
    missing = tuple(
        (next((text for code, text in about.codes.items() if code == low), ""), low, high)
        for low, high in about.missing
    )
    return attribute.but(label=about.label, codes=codes, missing_codes=missing)


# -- writing --

NAMES = {
    ".sav": (re.compile(r"^[^\W\d_][\w@#$.]{0,63}(?<!\.)$"), "begin with a letter and have letters, digits, _ or ."),
    ".dta": (re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,31}$"), "have at most 32 letters, digits or _, no digit first"),
    ".xpt": (re.compile(r"^[A-Za-z_][A-Za-z0-9_]{0,31}$"), "have at most 32 letters, digits or _, no digit first"),
}
RESERVED = frozenset({"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"})
MOST_MISSING = 3
"""Codes that mean missing which SPSS takes for a column."""


@writers.add(".sav", ".zsav", what="an SPSS file")
def write_spss(table: Table, frame: pl.DataFrame, suffix: str) -> bytes:
    """Codes with value labels, variable labels, measures and the codes that mean missing."""
    return _write(table, frame, ".sav", {"compress": True} if suffix == ".zsav" else {})


@writers.add(".dta", what="a Stata file")
def write_stata(table: Table, frame: pl.DataFrame, suffix: str) -> bytes:
    """Codes with value labels, and variable labels."""
    return _write(table, frame, ".dta")


@writers.add(".xpt", what="a SAS file")
def write_sas(table: Table, frame: pl.DataFrame, suffix: str) -> bytes:
    """Variable labels; such a file has no value labels, so categories are written as their texts."""
    return _write(table, frame, ".xpt")


def _write(table: Table, frame: pl.DataFrame, suffix: str, settings: Mapping[str, Any] | None = None) -> bytes:
    pyreadstat = import_format_extra("pyreadstat", "files", "the file", f"a {WORDS[suffix]} file")
    _refuse_names(frame.columns, suffix)
    columns, values, measures = [], dict[str, dict[Any, str]](), dict[str, str]()
    for series in frame.get_columns():
        attribute = table.attribute(series.name)
        cells, texts = _code_column(series, attribute, suffix)
        columns.append(cells)
        values |= {series.name: texts} if texts else {}
        measures[series.name] = {Kind.NUMERIC: "scale"}.get(attribute.kind, attribute.kind.value)
    extra: dict[str, Any] = {
        "column_labels": {a.name: a.label for a in table.attributes if a.label},
        **(settings or {}),
    }
    if suffix != ".xpt":
        extra["variable_value_labels"] = values
    if suffix == ".sav":
        ranges = _missing_ranges(table)
        for each in table.attributes:
            told = {low: text for text, low, high in each.missing_codes if text and low == high}
            if told and each.name in ranges:
                values[each.name] = {**told, **values.get(each.name, {})}
        extra |= {"variable_measure": measures, "missing_ranges": ranges}
        extra["variable_format"] = {each.name: "F8.0" for each in columns if _shows_whole(each)}
    call = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}[suffix]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"data{suffix}"
        try:
            getattr(pyreadstat, call)(pl.DataFrame(columns), str(place), **extra)
        except Exception:  # noqa: BLE001 - the library's errors name cells
            raise TableError(
                f"the table cannot be written as a {WORDS[suffix]} file, whose texts and names are limited; write "
                f".parquet or .csv"
            ) from None
        return _without_time(place.read_bytes())


TIMES = (
    (re.compile(rb"(?<=^.{92})\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d", re.DOTALL), b"01 Jan 8000:00:00"),
    (re.compile(rb"(?<=<timestamp>\x11)\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d(?=</timestamp>)"), b"01 Jan 1980 00:00"),
    (re.compile(rb"(?<=[ \d])\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d"), b"01JAN80:00:00:00"),
)
"""When a file of SPSS, Stata or SAS says it was written, and what it says instead."""
HEADER = 800
"""Bytes at the beginning of a file among which these are."""


def _without_time(content: bytes) -> bytes:
    """The file as written at no particular time, so that it does not tell when it was."""
    head = content[:HEADER]
    for found, instead in TIMES:
        head = found.sub(instead, head)
    return head + content[HEADER:]


def _shows_whole(cells: pl.Series) -> bool:
    """Whether a column of numbers is shown without decimals."""
    return cells.dtype == pl.Float64 and bool((cells == cells.round(0)).fill_null(True).all())


def _refuse_names(names: list[str], suffix: str) -> None:
    pattern, rule = NAMES[suffix]
    wrong = [name for name in names if not pattern.match(name) or (suffix == ".sav" and name.upper() in RESERVED)]
    alike = len({name.lower() for name in names}) < len(names) and suffix != ".dta"
    if wrong or alike:
        found = f"columns {listing(map(repr, wrong), most=5)} do not" if wrong else "two columns differ by case alone"
        raise TableError(
            f"{found}: names in a {WORDS[suffix]} file {rule}; rename the columns, or write .parquet or .csv"
        )


def _code_column(series: pl.Series, attribute: Attribute, suffix: str) -> tuple[pl.Series, dict[Any, str]]:
    """A column as the file holds it, and the labels of its codes."""
    if series.dtype == pl.Boolean and suffix != ".xpt":
        return series.cast(pl.Float64), {0: "false", 1: "true"}
    if series.dtype == pl.Datetime:
        zone = getattr(series.dtype, "time_zone", None)
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zone else series
        return series.cast(pl.Datetime("us")), {}
    if series.dtype == pl.Date:
        return series, {}
    if series.dtype.is_numeric():
        if series.dtype.is_integer() and (series.cast(pl.Float64).abs() >= LARGEST_WHOLE).any():
            return series.cast(pl.String), {}
        cells = series.cast(pl.Float64).fill_nan(None)
        held = set(cells.drop_nulls().unique().to_list())
        told = {code: text for text, code in attribute.codes if code in held} if suffix != ".xpt" else {}
        whole = suffix != ".dta" or all(code == int(code) for code in told)
        return cells, ({int(c) if suffix == ".dta" else c: t for c, t in told.items()} if whole else {})
    texts = as_plain(series.to_frame()).to_series().cast(pl.String)
    ordered = attribute.kind is Kind.ORDINAL
    if suffix == ".xpt" or not (attribute.codes or ordered):
        return texts, {}
    known = dict(attribute.codes)
    used = texts.drop_nulls().unique().to_list()
    listed = [label for label in attribute.categories if label in known or label in used]
    wanted = [*listed, *sorted(label for label in used if label not in listed)]
    if any(isinstance(code, str) for code in known.values()):
        codes: dict[str, Any] = {label: known.get(label, label) for label in wanted}
        return texts.replace_strict(codes, return_dtype=pl.String), {
            codes[label]: label for label in wanted if label in known
        }
    if suffix == ".dta" and any(code != int(code) for code in known.values()):
        return texts, {}
    reserved = [float(code) for code in known.values()]
    reserved += [float(high) for _, _, high in attribute.missing_codes if isinstance(high, (int, float))]
    following = int(max([0.0, *(code for code in reserved if abs(code) < 1e9)])) + 1
    numbers = dict[str, float]()
    for label in wanted:
        if label in known:
            numbers[label] = float(known[label])
        else:
            numbers[label], following = float(following), following + 1
    by_code = {(int(code) if suffix == ".dta" else code): label for label, code in numbers.items()}
    return texts.replace_strict(numbers, return_dtype=pl.Float64), by_code


def _missing_ranges(table: Table) -> dict[str, list[Any]]:
    """The codes that mean missing of every column of numbers or codes, as SPSS takes them."""
    found = {}
    for attribute in table.attributes:
        ranges = [
            {"lo": low, "hi": high}
            for _, low, high in attribute.missing_codes
            if isinstance(low, (int, float)) and isinstance(high, (int, float))
        ]
        if ranges and not attribute.dates and (attribute.numeric or attribute.codes):
            found[attribute.name] = ranges[:MOST_MISSING]
    return found
