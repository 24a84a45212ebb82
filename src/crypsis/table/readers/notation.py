"""How cells write numbers, dates and missing values: found out from the cells, said, and rewritten plainly."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from crypsis.errors import TableError, listing, name_reading, suggestion
from crypsis.table.attribute import Kind
from crypsis.table.readers.formats import ReadOptions

MARKERS = (
    "NA", "N/A", "n/a", "na", "<NA>", "#N/A", "#NA", "#NULL!", "#VALUE!", "#DIV/0!", "NULL", "null", "NaN", "nan",
    "None", "none", ".", "..", "-", "--", "?", "(null)", "\\N",
)  # fmt: skip
"""What people write where a number or date is missing."""
WORDS = ("NA", "N/A", "<NA>", "#N/A", "NULL", "\\N")
"""Markers that mean the same in a column of text, once a column of numbers of the same file has them."""

PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DECIDED_POINT = r"^[+-]?(0|\d{4,})?\.|\.\d{1,2}$|\.\d{4,}|\.\d*[eE]"
"""A point that separates no thousands: after 0 or four digits, or before other than three."""
SPACES = "[ \u00a0\u2009\u202f]"
GROUPS = {".": r"\.", ",": ",", " ": SPACES, "'": "['\u2019]"}
"""Thousands marks, and what each looks like."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
TIME = r"(?:[ T](\d{1,2}:\d{2}(?::\d{2})?))?"
DATE_FORMS: Mapping[str, tuple[str, str]] = {
    "yyyy-mm-dd": (rf"^(\d{{4}})-(\d{{1,2}})-(\d{{1,2}}){TIME}$", "ymd"),
    "yyyy/mm/dd": (rf"^(\d{{4}})/(\d{{1,2}})/(\d{{1,2}}){TIME}$", "ymd"),
    "dd.mm.yyyy": (rf"^(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){TIME}$", "dmy"),
    "dd/mm/yyyy": (rf"^(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){TIME}$", "dmy"),
    "mm/dd/yyyy": (rf"^(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){TIME}$", "mdy"),
    "dd-mm-yyyy": (rf"^(\d{{1,2}})-(\d{{1,2}})-(\d{{4}}){TIME}$", "dmy"),
    "mm-dd-yyyy": (rf"^(\d{{1,2}})-(\d{{1,2}})-(\d{{4}}){TIME}$", "mdy"),
    "dd-mon-yyyy": (rf"^(\d{{1,2}})-([A-Za-z]{{3}})-(\d{{4}}){TIME}$", "dmy"),
    "dd mon yyyy": (rf"^(\d{{1,2}}) ([A-Za-z]{{3}}) (\d{{4}}){TIME}$", "dmy"),
    "ddmonyyyy": (rf"^(\d{{1,2}})([A-Za-z]{{3}})(\d{{4}}){TIME}$", "dmy"),
    "yyyymmdd": (r"^(\d{4})(\d{2})(\d{2})$", "ymd"),
}
"""Forms of dates: a pattern, and which group is day, month and year."""
TWINS = {"dd/mm/yyyy": "mm/dd/yyyy", "dd-mm-yyyy": "mm-dd-yyyy"}
"""Forms that only the days beyond 12 tell apart."""
SHORT_YEAR = r"^\d{1,2}[./-]\d{1,2}[./-]\d{2}$"
LIKE_A_DATE = re.compile(
    r"dat(e|um|a\b)|fecha|birth|born|dob\b|geb|naiss|nacim|nascim|nascita|day|tag\b|jour|dia\b|giorno|admi|discharge|visit",
    re.IGNORECASE,
)
"""Names of columns in which eight digits are a date."""
YEARS = (1800, 2150)
"""First and last year of a date that is eight digits."""


@dataclass(frozen=True)
class _Column:
    """The different cells of a column, as they are written."""

    name: str
    cells: pl.Series  # different texts, stripped, without missing ones
    markers: tuple[str, ...]  # those of them that may mean missing

    @property
    def rest(self) -> pl.Series:
        """The cells that are no markers."""
        return self.cells.filter(~self.cells.is_in(list(self.markers))) if self.markers else self.cells


@dataclass(frozen=True)
class Notation:
    """How a file writes numbers, dates and missing values."""

    decimal: str
    thousands: str
    forms: Mapping[str, str]  # form of dates by column
    missing: Mapping[str, tuple[str, ...]]  # markers by column


def rewrite_cells(
    texts: pl.DataFrame,
    kinds: Mapping[str, Any],
    options: ReadOptions,
    where: str,
    bare: str = "",
    quoted: bool = False,
) -> tuple[pl.DataFrame, list[str], ReadOptions]:
    """Columns of text with plain numbers, ISO dates and null for missing; what was found out in sentences and options.

    `bare`: a marker that stands without quotation marks where all text of the file has them; `quoted`: whether
    markers stand in quotation marks, where they are texts.
    """
    _refuse_unknown(options)
    listed = list(options.missing or ())
    known = [_without(series, listed, strip=False) for series in texts.get_columns()]
    looked = [_Column(series.name, _different(series), ()) for series in known]
    if options.missing is None:
        looked = [replace(each, markers=tuple(m for m in MARKERS if (each.cells == m).any())) for each in looked]
    free = [each for each in looked if _kind(kinds.get(each.name)) in ("", Kind.NUMERIC)]
    forms, said = _date_forms(free, options)
    decimal, thousands, unclear = _number_marks([each for each in free if each.name not in forms], options)
    missing = _missing_cells(looked, forms, decimal, thousands, bare, quoted)
    columns, numbers, grouped, typed = [], list[str](), list[str](), {each.name for each in free}
    for series in known:
        name, cells = series.name, _without(series, missing.get(series.name, ()))
        if name in forms:
            cells = _as_iso(cells, forms[name])
        elif name in typed:
            plain = read_marks(cells, decimal, thousands)
            if plain is not cells:
                numbers += [name] if decimal == "," and cells.str.contains(",", literal=True).any() else []
                grouped += [name] if thousands and cells.str.contains(rf"\d{GROUPS[thousands]}\d{{3}}").any() else []
            cells = plain
        columns.append(cells)
    notation = Notation(decimal, thousands, forms, missing)
    found = _effective(options, notation, texts)
    said = [*_sentences(notation, numbers, grouped, unclear), *said]
    return pl.DataFrame(columns) if columns else texts, [f"{where}: {each}" for each in said], found


def _kind(kind: Any) -> str:
    return kind.strip().lower() if isinstance(kind, str) else ("ordinal" if kind is not None else "")


def _different(series: pl.Series) -> pl.Series:
    return series.drop_nulls().unique().str.strip_chars().unique().sort()


def _refuse_unknown(options: ReadOptions) -> None:
    """Refuse marks and forms that cannot be read."""
    if options.decimal not in (None, ".", ","):
        raise TableError(f"the decimal mark is {options.decimal!r}; it may be '.' or ','")
    if options.thousands not in (None, "", *GROUPS):
        raise TableError(
            f"the thousands mark is {options.thousands!r}; allowed are {listing(map(repr, GROUPS))} and '' for none"
        )
    if options.thousands and options.thousands == options.decimal:
        raise TableError(f"the decimal mark and the thousands mark are both {options.decimal!r}; they must differ")
    for form in options.dates or ():
        if form not in DATE_FORMS:
            raise TableError(
                f"there is no date form {form!r}{suggestion(form, DATE_FORMS)}; forms: {listing(DATE_FORMS, most=20)}"
            )


# -- numbers --


def _grammar(decimal: str, thousands: str) -> str:
    """What a number looks like under two marks, its thousands grouped or not."""
    point = r"\." if decimal == "." else ","
    tail = rf"({point}\d*)?([eE][+-]?\d+)?"
    plain = rf"(0|[1-9]\d*){tail}|{point}\d+([eE][+-]?\d+)?"
    groups = rf"[1-9]\d{{0,2}}({GROUPS[thousands]}\d{{3}})+{tail}|" if thousands else ""
    return rf"^[+-]?({groups}{plain})$"


def read_marks(series: pl.Series, decimal: str, thousands: str) -> pl.Series:
    """The column with plain numbers where every cell is a number under the marks; the same column otherwise.

    >>> read_marks(pl.Series(["1.234,5", "7", None]), ",", ".").to_list()
    ['1234.5', '7', None]
    """
    if decimal == "." and not thousands:
        return series
    stripped = series.str.strip_chars()
    if not stripped.str.contains(_grammar(decimal, thousands)).fill_null(True).all():
        return series
    if decimal == "." and not stripped.str.contains(GROUPS[thousands]).any():
        return series
    plain = stripped.str.replace_all(GROUPS[thousands], "") if thousands else stripped
    return plain.str.replace(",", ".", literal=True) if decimal == "," else plain


def _number_marks(columns: Sequence[_Column], options: ReadOptions) -> tuple[str, str, list[str]]:
    """Decimal and thousands mark of a file, and the columns of numbers that could be read in two ways."""
    rests = {each.name: each.rest for each in columns if len(each.rest)}
    odd = {name: rest for name, rest in rests.items() if not rest.str.contains(PLAIN).all()}
    comma = [name for name, rest in odd.items() if _fits(rest, ",", options, ".")]
    point = [name for name, rest in odd.items() if _fits(rest, ".", options, ",")]
    decimal, unclear = options.decimal, list[str]()
    if decimal is None:
        sure_comma, sure_point = set(comma) - set(point), set(point) - set(comma)
        if sure_comma or sure_point:
            decimal = "," if len(sure_comma) >= len(sure_point) else "."
        elif comma and point and options.thousands is not None:
            decimal = "." if options.thousands == "," else ","
        elif comma and point:
            # 1,234: thousands where commas separate cells or other columns have decimal points, else undecided
            if options.delimiter == "," or any(
                rest.str.contains(DECIDED_POINT).any() for name, rest in rests.items() if name not in odd
            ):
                decimal = "."
            else:
                decimal, unclear = ".", comma
        else:
            decimal = "."
    if options.thousands is not None:
        return decimal, options.thousands, unclear
    if unclear:
        return decimal, "", unclear
    candidates = [mark for mark in GROUPS if mark != decimal]
    counts = {mark: _count_grouped(rests if mark == "." else odd, decimal, mark) for mark in candidates}
    best = max(candidates, key=lambda mark: counts[mark])
    return decimal, best if counts[best] else "", unclear


def _fits(rest: pl.Series, decimal: str, options: ReadOptions, usual: str) -> bool:
    """Whether all cells are numbers under a decimal mark and some thousands mark."""
    marks = ("", usual, " ", "'") if options.thousands is None else (options.thousands,)
    return any(bool(rest.str.contains(_grammar(decimal, mark)).all()) for mark in marks if mark != decimal)


def _count_grouped(rests: Mapping[str, pl.Series], decimal: str, mark: str) -> int:
    """Columns whose numbers have thousands grouped by a mark."""
    grammar, seen = _grammar(decimal, mark), rf"\d{GROUPS[mark]}\d{{3}}"
    return sum(bool(rest.str.contains(grammar).all() and rest.str.contains(seen).any()) for rest in rests.values())


# -- dates --


def _date_forms(columns: Sequence[_Column], options: ReadOptions) -> tuple[dict[str, str], list[str]]:
    """The form of every column of dates, and sentences on columns that could be read in two ways."""
    allowed = options.dates if options.dates is not None else tuple(DATE_FORMS)
    forms, said, twins = dict[str, str](), list[str](), dict[str, str]()
    for each in columns:
        rest = each.rest
        if not len(rest):
            continue
        fitting = [form for form in allowed if _is_form(rest, form, each.name, options)]
        first = next((form for form in fitting if TWINS.get(form) in fitting), "")
        if first:
            twins[each.name] = first
        elif fitting and (fitting[0] != "yyyy-mm-dd" or each.markers):
            forms[each.name] = fitting[0]
        elif not fitting and rest.str.contains(SHORT_YEAR).all():
            said.append(
                f"column {each.name!r} has dates whose years have two digits; it stays text, so write four digits"
            )
    for name, first in twins.items():
        sure = [form for form in forms.values() if form in (first, TWINS[first])]
        if sure and len(set(sure)) == 1:
            forms[name] = sure[0]
            continue
        said.append(
            f"column {name!r} has dates that fit {first} and {TWINS[first]}; it stays text until you decide "
            f"({name_reading('dates', first)} or {TWINS[first]})"
        )
    return forms, said


def _is_form(rest: pl.Series, form: str, name: str, options: ReadOptions) -> bool:
    if not rest.head(20).str.contains(DATE_FORMS[form][0]).all():
        return False
    if form == "yyyymmdd" and options.dates is None and not LIKE_A_DATE.search(name):
        return False
    if not rest.str.contains(DATE_FORMS[form][0]).all():
        return False
    iso = _as_iso(rest, form)
    if iso.str.len_chars().n_unique() > 1:
        return False
    days = iso.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
    if days.null_count():
        return False
    years = days.dt.year()
    return form != "yyyymmdd" or bool(((years >= YEARS[0]) & (years <= YEARS[1])).all())


def _as_iso(series: pl.Series, form: str) -> pl.Series:
    """Dates of a form as ISO text: 1982-01-15, or 1982-01-15T10:30 with a time."""
    pattern, order = DATE_FORMS[form]
    cells = series.str.strip_chars().alias("cell")
    parts = {letter: pl.col("cell").str.extract(pattern, place + 1) for place, letter in enumerate(order)}
    month = parts["m"].str.to_lowercase().replace({word: str(n + 1) for n, word in enumerate(MONTHS)})
    day = pl.concat_str(parts["y"], month.str.zfill(2), parts["d"].str.zfill(2), separator="-")
    time = pl.col("cell").str.extract(pattern, 4) if TIME in pattern else pl.lit(None, dtype=pl.String)
    hour = time.str.split(":").list.get(0).str.zfill(2)
    whole = pl.concat_str(day, pl.lit("T"), hour, time.str.extract(r"^\d{1,2}((?::\d{2})+)$", 1))
    rewritten = pl.when(time.is_null()).then(day).otherwise(whole)
    return cells.to_frame().select(rewritten.alias(series.name)).to_series()


# -- missing values --


def _missing_cells(
    columns: Sequence[_Column], forms: Mapping[str, str], decimal: str, thousands: str, bare: str, quoted: bool
) -> dict[str, tuple[str, ...]]:
    """Markers by column: those of numbers and dates, and the same words in columns of text."""
    found = dict[str, tuple[str, ...]]()
    for each in columns:
        if not each.markers:
            continue
        rest = each.rest
        if not len(rest):
            words = tuple(mark for mark in each.markers if mark in WORDS)
            if words == each.markers:
                found[each.name] = words
            continue
        numbers = read_marks(rest, decimal, thousands).str.contains(PLAIN).all()
        if each.name in forms or numbers:
            found[each.name] = each.markers
    meant = {mark for marks in found.values() for mark in marks if mark in WORDS} | ({bare} if bare else set())
    for each in columns if not quoted else ():
        shared = tuple(mark for mark in each.markers if mark in meant)
        if each.name not in found and shared and not _are_codes(each.rest, shared, bare):
            found[each.name] = shared
    return found


def _are_codes(rest: pl.Series, marks: Sequence[str], bare: str) -> bool:
    """Whether a marker may be a code among codes: NA is Namibia among countries of two letters."""
    return "NA" in marks and not bare and bool(rest.str.contains(r"^[A-Z]{2}$").all())


def _without(series: pl.Series, markers: Collection[str], strip: bool = True) -> pl.Series:
    """The column with null for markers."""
    if not markers:
        return series
    cells = series.str.strip_chars() if strip else series
    return series.set(cells.is_in(list(markers)).fill_null(False), None)


# -- what is said, and written into a plan --


def _effective(options: ReadOptions, notation: Notation, texts: pl.DataFrame) -> ReadOptions:
    """The options given, and those that read the file again in the same way."""
    forms = tuple(form for form in DATE_FORMS if form in notation.forms.values() and form != "yyyy-mm-dd")
    markers = tuple(dict.fromkeys(mark for marks in notation.missing.values() for mark in marks))
    everywhere = all(
        mark in notation.missing.get(name, ()) or not (texts[name].str.strip_chars() == mark).any()
        for mark in markers
        for name in texts.columns
    )
    return replace(
        options,
        decimal=options.decimal or (notation.decimal if notation.decimal != "." else None),
        thousands=options.thousands or notation.thousands or options.thousands,
        dates=options.dates if options.dates is not None else (forms or None),
        missing=options.missing
        if options.missing is not None
        else (("", *markers) if markers and everywhere else None),
    )


def _sentences(notation: Notation, numbers: Sequence[str], grouped: Sequence[str], unclear: Sequence[str]) -> list[str]:
    said = []
    if numbers:
        said.append(f"decimal commas are read in {_columns(numbers)}")
    if grouped:
        said.append(
            f"{notation.thousands!r} is read as thousands mark in {_columns(grouped)}: 1{notation.thousands}234 is 1234"
        )
    for form in DATE_FORMS:
        names = [name for name, each in notation.forms.items() if each == form]
        if names and form != "yyyy-mm-dd":
            said.append(f"dates are read as {form} in {_columns(names)}")
    marks = dict[tuple[str, ...], list[str]]()
    for name, each in notation.missing.items():
        marks.setdefault(each, []).append(name)
    for each, names in marks.items():
        said.append(f"{listing(map(repr, each), most=9)} is read as missing in {_columns(names)}")
    said += [
        f"column {name!r} has numbers such as 1,234 that may have decimal commas or thousands marks; it stays text "
        f"until you decide ({name_reading('decimal', ',')} or {name_reading('thousands', ',')})"
        for name in unclear
    ]
    return said


def _columns(names: Sequence[str]) -> str:
    return f"column{'s'[: len(names) > 1]} {listing(map(repr, names), most=6)}"
