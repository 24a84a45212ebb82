"""The last look before a bundle appears: nothing in its public part names a rare person, a seed or a risk.

Every byte of every public file is searched, as whole words. A label that is an ordinary word of the reports, or part
of a label the data themselves publish, cannot be told from it and is passed over.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from crypsis.errors import ReleaseRefused
from crypsis.measures.measure import Reading, measures
from crypsis.privacy import models
from crypsis.report.render import vocabulary
from crypsis.table.hierarchy import MISSING
from crypsis.table.table import Table

RARE = 3
"""A value held by fewer original records than this is a rare person's."""
TELLING_DIGITS = 4
"""A figure of fewer significant digits may stand anywhere by chance."""

LONG_SEED = 6
"""Digits from which on a seed is searched for wherever a number may stand."""
WRITTEN = ("report.json", "manifest.json")
"""Files with words of the custodian; the HTML report is rendered from the first."""

_WORD = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w]|\.\d)")


def refuse_leaks(
    public: Path,
    published: Table,
    original: Table | None = None,
    *,
    risks: Sequence[Reading] = (),
    losses: Sequence[Reading] = (),
    seed: int | None = None,
) -> None:
    """Search the public folder, and refuse with the names of files and columns only; never with what was found."""
    files = {path.name: path.read_bytes() for path in sorted(public.iterdir())}
    rare = _rare_labels(original, published) if original is not None else {}
    known = _ordinary(published)
    found: list[str] = []
    for name, content in files.items():
        found += [f"{name} holds a rare value of column {c!r}" for c in _labels_in(content, rare, known)]
        if not name.startswith("data."):
            found += [f"{name} {what}" for what in _secrets_in(content, risks, losses, seed)]
        if original is not None and name in WRITTEN:
            numbers = _numbers_said(json.loads(content))
            found += [f"{name} holds a rare number of {c!r}" for c in _rare_numbers(original, published, numbers)]
    if found:
        raise ReleaseRefused(
            f"nothing was released: the public part would give away what it must not ({'; '.join(found)}); look at the "
            f"title, the method's description and the names of uses"
        )


def _rare_labels(original: Table, published: Table) -> dict[str, str]:
    """Labels of fewer than RARE original records that the data do not publish → their column."""
    shown = {label for name in published.names if not published.holds_numbers(name) for label in published.labels(name)}
    rare: dict[str, str] = {}
    for name in original.names:
        if original.holds_numbers(name):
            continue
        codes = original.column(name)
        counts = np.bincount(codes[codes != MISSING], minlength=len(original.labels(name)))
        for code in np.flatnonzero((counts > 0) & (counts < RARE)):
            label = original.labels(name)[code]
            if label not in shown and not _is_number(label) and len(label) > 1:
                rare.setdefault(label, name)
    return rare


def _ordinary(published: Table) -> bytes:
    """Everything that stands in a bundle whoever the people are: the reports' own words, columns, published labels."""
    labels = [
        label for name in published.names if not published.holds_numbers(name) for label in published.labels(name)
    ]
    return "\n".join([_fixed_words(), *published.names, *labels]).encode()


@cache
def _fixed_words() -> str:
    classes = [*(measures[name] for name in measures), *(models[name] for name in models)]
    texts = [vocabulary(), *measures, *models]
    for cls in classes:
        texts.append(str(getattr(cls, "definition", "")))
        texts += [str(info.description) for info in cls.model_fields.values()]
        texts += list(cls.model_fields)
    return "\n".join(texts)


def _labels_in(content: bytes, rare: Mapping[str, str], ordinary: bytes) -> list[str]:
    """Columns whose rare labels stand in the content as whole words."""
    starts: dict[bytes, list[tuple[bytes, str]]] = {}
    for label, column in rare.items():
        for form in {label, html.escape(label), json.dumps(label)[1:-1]}:
            raw = form.encode()
            first = _WORD.search(raw)
            starts.setdefault(first.group() if first else raw, []).append((raw, column))
    columns: dict[str, None] = {}
    for word in _WORD.finditer(content):
        for raw, column in starts.get(word.group(), ()):
            begin = word.start() - raw.find(word.group())
            if content[begin : begin + len(raw)] != raw or not _whole(content, begin, len(raw)):
                continue
            if not _stands_in(ordinary, raw):
                columns[column] = None
    return list(columns)


def _whole(content: bytes, begin: int, length: int) -> bool:
    """Whether no letter or digit continues the stretch on either side."""
    before, after = content[max(begin - 1, 0) : begin], content[begin + length : begin + length + 1]
    edge = content[begin : begin + 1], content[begin + length - 1 : begin + length]
    return not (_WORD.match(before) and _WORD.match(edge[0])) and not (_WORD.match(after) and _WORD.match(edge[1]))


def _stands_in(text: bytes, raw: bytes) -> bool:
    place = text.find(raw)
    while place >= 0:
        if _whole(text, place, len(raw)):
            return True
        place = text.find(raw, place + 1)
    return False


def _secrets_in(content: bytes, risks: Sequence[Reading], losses: Sequence[Reading], seed: int | None) -> list[str]:
    """Seeds and risks among the words and figures of a report, schema or manifest."""
    figures = {match.group() for match in _NUMBER.finditer(content)}
    found = []
    if seed is not None and _holds_seed(content, figures, str(seed).encode()):
        found.append("holds the seed")
    harmless = {form for reading in losses for form in _forms(reading.value)}
    for reading in risks:
        if any(_digits(form) >= TELLING_DIGITS and form in figures for form in _forms(reading.value) - harmless):
            found.append(f"holds the figure of {reading.measure}")
        if _stands_in(content, reading.measure.encode()):
            found.append(f"names the attack {reading.measure}")
    return list(dict.fromkeys(found))


def _holds_seed(content: bytes, figures: set[bytes], seed: bytes) -> bool:
    """A long seed anywhere; a short one, which may be a year or a count, only where it is called a seed."""
    if len(seed) >= LONG_SEED:
        return seed in figures
    return bool(re.search(rb"(?i)seed\W{0,6}" + re.escape(seed) + rb"(?!\d)", content))


def _forms(value: float) -> set[bytes]:
    return {form.encode() for form in (repr(float(value)), f"{value:.4g}", f"{value:.6g}", f"{value:.8g}")}


def _digits(figure: bytes) -> int:
    return len(re.sub(rb"[^0-9]", b"", figure).strip(b"0"))


def _numbers_said(content: object) -> set[float]:
    """Figures of five digits or more inside the words of a JSON document; its bare numbers are the report's own."""
    if isinstance(content, str):
        figures = (match.group() for match in _NUMBER.finditer(content.encode()))
        return {float(figure) for figure in figures if _digits(figure) > TELLING_DIGITS}
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return {figure for part in parts for figure in _numbers_said(part)}


def _rare_numbers(original: Table, published: Table, said: set[float]) -> list[str]:
    """Columns of which a number held by few and not published was said."""
    leaking = []
    for name in original.names:
        if not said or not original.holds_numbers(name):
            continue
        numbers, counts = np.unique(original.column(name), return_counts=True)
        rare = numbers[counts < RARE]
        if name in published.names and published.holds_numbers(name):
            rare = rare[~np.isin(rare, published.column(name))]
        if np.isin(list(said), rare).any():
            leaking.append(name)
    return leaking


def _is_number(label: str) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True
