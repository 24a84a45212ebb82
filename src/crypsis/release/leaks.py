"""The last check before a release: no rare value, seed or risk figure is in its public part.

Every public file is searched for whole words. A label that is also a word of the reports, or part of a published label,
cannot be distinguished from it and is ignored.
"""

from __future__ import annotations

import gzip
import html
import io
import json
import re
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl

from crypsis.errors import ReleaseRefused
from crypsis.masking.method import Family
from crypsis.measures.masking_description import Treatment
from crypsis.measures.measure import Better, Reading, measures
from crypsis.privacy import models
from crypsis.privacy.model import Sense
from crypsis.release.published import PARTS_OF_FORMAT, Order
from crypsis.report.codebook import codebook_words
from crypsis.report.content import RECEIVED
from crypsis.table.attribute import Dates, Kind, Role
from crypsis.table.hierarchy import MISSING
from crypsis.table.readers.formats import WrittenFormat
from crypsis.table.table import UNKNOWN, Table
from crypsis.text import masking_treatment_text, published_weight_text, recomputed_text

RARE = 3
"""A value of fewer original records is rare."""
FEWEST_DIGITS = 4
"""A figure with fewer significant digits may occur by chance."""
EXACT_DIGITS = 7
"""A figure with so many significant digits is not one that the reports round."""

LONG_LABEL = 6
"""Bytes from which on a label does not occur in a binary file by coincidence."""
LONG_NUMBER = 6
"""Digits from which on a number is not a count by coincidence, but a seed or a value."""
OTHER_WORDS = ("true", "false", "null", "Crypsis", "UTC")
"""Words of public files that no type lists."""
BINARY = (".parquet", ".xlsx", ".sav", ".dta", ".xpt")
CELLS_OF_A_WORKBOOK = ("xl/sharedStrings", "xl/worksheets/")
WRITTEN = ("report.json", "manifest.json")
"""Files with free text; the HTML report is rendered from the first."""

_WORD = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_BETWEEN_WORDS = bytes(byte if _WORD.match(bytes([byte])) else ord(" ") for byte in range(256))
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w]|\.\d)")


def refuse_leaks(
    public: Path,
    published: Table,
    original: Table | None = None,
    *,
    risks: Sequence[Reading] = (),
    seed: int | None = None,
    sentences: Iterable[str] = (),
) -> None:
    """Search the public folder; a refusal names files and columns, never the value that was found."""
    files = {
        path.name: _unpack(path)
        for path in sorted(public.iterdir())
        if not any(map(path.match, PARTS_OF_FORMAT.values()))
    }
    beside = "\n".join(_words_beside_cells(published)).encode()
    words = {name: _words(content) for name, content in files.items()}
    written = _words(beside).union(*words.values())
    rare = _rare_labels(original, published, written) if original is not None else {}
    known = _ordinary(published, sentences, files)
    found: list[str] = []
    # The labels a binary file spells are those of the table read back from it; short ones occur in numbers by chance.
    spelt = _spellings(rare)
    long = _spellings({label: column for label, column in rare.items() if len(label.encode()) >= LONG_LABEL})
    for name, content in files.items():
        wanted = long if name.endswith(BINARY) else spelt
        if not wanted.keys().isdisjoint(words[name]):
            found += [f"{name} has a rare value of column {c!r}" for c in _labels_in(content, wanted, known)]
        if name.startswith("data."):
            texts = _labels_in(beside, spelt, known)
            found += [f"{name} has a rare value of column {c!r} in its labels" for c in texts]
        else:
            found += [f"{name} {what}" for what in _secrets_in(content, risks, seed)]
        if name in WRITTEN:
            figures = _figures_in_texts(json.loads(content))
            found += [f"{name} has the figure of {r.measure}" for r in risks if _short_forms(r.value) & figures]
            columns = _rare_numbers(original, published, figures) if original is not None else []
            found += [f"{name} has a rare number of column {c!r}" for c in columns]
    if found:
        raise ReleaseRefused(
            f"nothing was released: the public part would disclose what it must not "
            f"({'; '.join(dict.fromkeys(found))}); check the "
            f"title, the description of the method, the names of uses and the labels of columns"
        )


def _words(content: bytes) -> set[bytes]:
    """Every word of a file."""
    return set(content.translate(_BETWEEN_WORDS).split())


def _unpack(path: Path) -> bytes:
    """The content of a public file; of a packed one what is packed, of a workbook the parts with its cells."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(content)
    if path.suffix != ".xlsx":
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        parts = [name for name in book.namelist() if name.startswith(CELLS_OF_A_WORKBOOK)]
        return b"\n".join(book.read(name) for name in parts)


def _words_beside_cells(published: Table) -> list[str]:
    """What a data file that was read back says beside its cells: labels of columns, values and missing codes."""
    texts = [attribute.label for attribute in published.attributes]
    texts += [text for attribute in published.attributes for text, _ in attribute.codes]
    return texts + [text for attribute in published.attributes for text, _, _ in attribute.missing_codes]


def _rare_labels(original: Table, published: Table, written: Collection[bytes]) -> dict[str, str]:
    """Labels of fewer than RARE original records that the data do not publish → their column.

    `written`: the words of the public files; labels whose first word is none of them are left out, as no file spells
    them.
    """
    shown = {label for name in published.names if not published.holds_numbers(name) for label in published.labels(name)}
    starts = pl.Series([word.decode() for word in written if word.isascii()], dtype=pl.String)
    rare: dict[str, str] = {}
    for name in original.names:
        if original.holds_numbers(name):
            continue
        codes = original.column(name)
        counts = np.bincount(codes[codes != MISSING], minlength=len(original.labels(name)))
        texts = pl.Series(original.labels(name), dtype=pl.String).filter(pl.Series((counts > 0) & (counts < RARE)))
        texts = texts.filter(
            texts.str.contains(_SPELT_OTHERWISE) | texts.str.extract(_FIRST_WORD).is_in(starts.implode())
        )
        for label in texts.to_list():
            if label not in shown and not _is_number(label) and len(label) > 1:
                rare.setdefault(label, name)
    return rare


def _ordinary(published: Table, sentences: Iterable[str], files: Mapping[str, bytes]) -> bytes:
    """Text of a release that does not depend on rare values: words of the program, columns, published labels."""
    labels = [
        label for name in published.names if not published.holds_numbers(name) for label in published.labels(name)
    ]
    keys = [key for name, content in files.items() if name.endswith(".json") for key in _keys(json.loads(content))]
    return "\n".join([_fixed_words(), *files, *keys, *sentences, *published.names, *labels]).encode()


def _keys(content: object) -> set[str]:
    if isinstance(content, dict):
        return set(content) | {key for part in content.values() for key in _keys(part)}
    return {key for part in content for key in _keys(part)} if isinstance(content, list) else set()


@cache
def _fixed_words() -> str:
    """Words that the program writes into public files, from the types that allow them."""
    classes = [*(measures[name] for name in measures), *(models[name] for name in models)]
    texts = [
        _vocabulary(),
        codebook_words(),
        *measures,
        *models,
        *Kind,
        *Role,
        *Family,
        UNKNOWN,
        RECEIVED,
        *OTHER_WORDS,
    ]
    texts += [
        masking_treatment_text(each, n, masked=on, replaced=True, shared=shared)
        for each in Treatment
        for n in (1, 2)
        for on in (True, False)
        for shared in (True, False)
    ]
    texts += [recomputed_text("0"), *map(published_weight_text, ("rounded:1", "noise:1", "raked", "raked:0"))]
    texts += [word for kind in (Order, WrittenFormat, Dates, Sense, Better) for word in get_args(kind)]
    for cls in classes:
        texts.append(str(getattr(cls, "definition", "")))
        texts += [str(info.description) for info in cls.model_fields.values()]
        texts += list(cls.model_fields)
    return "\n".join(texts)


Spellings = Mapping[bytes, Sequence[tuple[bytes, str]]]
"""First word of a rare label as public files may spell it → these spellings, and their columns."""


_SPELT_OTHERWISE = r"""[^ -~]|[&<>"'\\]"""
"""In labels that HTML or JSON spell in another way: their first word may be another one there."""
_FIRST_WORD = "([0-9A-Za-z_]+)"
"""The first word of a label that is spelt in one way."""


def _spellings(rare: Mapping[str, str]) -> Spellings:
    """How public files may spell rare labels: as they are, in HTML and in JSON; made once for all files."""
    starts: dict[bytes, list[tuple[bytes, str]]] = {}
    for label, column in rare.items():
        for form in {label, html.escape(label), json.dumps(label)[1:-1]}:
            raw = form.encode()
            first = _WORD.search(raw)
            starts.setdefault(first.group() if first else raw, []).append((raw, column))
    return starts


def _labels_in(content: bytes, rare: Spellings, ordinary: bytes) -> list[str]:
    """Columns whose rare labels are in the content as whole words."""
    columns: dict[str, None] = {}
    for word in _WORD.finditer(content):
        for raw, column in rare.get(word.group(), ()):
            begin = word.start() - raw.find(word.group())
            if content[begin : begin + len(raw)] != raw or not _is_whole_word(content, begin, len(raw)):
                continue
            if not _contains(ordinary, raw):
                columns[column] = None
    return list(columns)


def _is_whole_word(content: bytes, begin: int, length: int) -> bool:
    """Whether no letter or digit continues the stretch on either side."""
    before, after = content[max(begin - 1, 0) : begin], content[begin + length : begin + length + 1]
    edge = content[begin : begin + 1], content[begin + length - 1 : begin + length]
    return not (_WORD.match(before) and _WORD.match(edge[0])) and not (_WORD.match(after) and _WORD.match(edge[1]))


def _contains(text: bytes, raw: bytes) -> bool:
    place = text.find(raw)
    while place >= 0:
        if _is_whole_word(text, place, len(raw)):
            return True
        place = text.find(raw, place + 1)
    return False


def _secrets_in(content: bytes, risks: Sequence[Reading], seed: int | None) -> list[str]:
    """The seed, the name of an attack, or a risk in full precision, anywhere in a report, schema or manifest.

    A loss is published with four digits, so no figure of seven or more can be there.
    """
    figures = {match.group() for match in _NUMBER.finditer(content)}
    found = []
    if seed is not None and _holds_seed(content, figures, str(seed).encode()):
        found.append("has the seed")
    for reading in risks:
        whole = repr(float(reading.value)).encode()
        if _digits(whole) >= EXACT_DIGITS and whole in figures:
            found.append(f"has the figure of {reading.measure}")
        if _contains(content, reading.measure.encode()):
            found.append(f"names the attack {reading.measure}")
    return found


def _holds_seed(content: bytes, figures: set[bytes], seed: bytes) -> bool:
    """A long seed anywhere; a short one, which may be a year or a count, only where it is called a seed."""
    if len(seed) >= LONG_NUMBER:
        return seed in figures
    return bool(re.search(rb"(?i)seed\W{0,6}" + re.escape(seed) + rb"(?!\d)", content))


def _digits(figure: bytes) -> int:
    return len(re.sub(rb"[^0-9]", b"", figure).strip(b"0"))


def _short_forms(value: float) -> set[bytes]:
    """A figure as people write it, if it has enough digits."""
    forms = (form.encode() for form in (repr(float(value)), f"{value:.4g}", f"{value:.6g}", f"{value:.2f}"))
    return {form for form in forms if _digits(form) >= FEWEST_DIGITS}


def _figures_in_texts(content: object) -> set[bytes]:
    """Figures within the texts of a JSON document; its numbers are those of the report."""
    if isinstance(content, str):
        return {match.group() for match in _NUMBER.finditer(content.encode())}
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return {figure for part in parts for figure in _figures_in_texts(part)}


def _rare_numbers(original: Table, published: Table, figures: set[bytes]) -> list[str]:
    """Columns with a rare, unpublished number among the figures."""
    values = [float(figure) for figure in figures if len(figure) >= LONG_NUMBER]
    leaking = []
    for name in original.names:
        if not values or not original.holds_numbers(name):
            continue
        numbers, counts = np.unique(original.column(name), return_counts=True)
        rare = numbers[counts < RARE]
        if name in published.names and published.holds_numbers(name):
            rare = rare[~np.isin(rare, published.column(name))]
        if np.isin(values, rare).any():
            leaking.append(name)
    return leaking


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


def _vocabulary() -> str:
    """The text of the page templates: words that are in a report whatever the data are."""
    folder = files("crypsis.report").joinpath("templates")
    return "\n".join(page.read_text(encoding="utf-8") for page in folder.iterdir() if page.name.endswith(".html"))
