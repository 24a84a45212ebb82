"""Pictures of the reports as SVG: bars before and after masking, the front, ties between columns.

They are drawn here and not by Vega-Lite, whose engine takes longer to start than a small release; so the same facts
give the same bytes on every machine, and a page can be rendered again and compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from math import floor, log10
from typing import Any

BEFORE, AFTER = "#8a8f98", "#0b6e4f"
"""Grey for the original, green for the released file: readable in print and with colour blindness."""
FAMILIES = ("#0b6e4f", "#b3541e", "#3d5a98", "#8a5a9e", "#7a6a1b", "#4d4d4d")
"""Dark enough on white for print, and different in brightness."""
INK, LINE = "#1c2126", "#888"
FAINT, STRONG = (0xF3, 0xF6, 0xF5), (0xA3, 0x26, 0x1D)
"""Colours of a tie that did not move, and of the one that moved most."""
LETTER = 6.0
"""Width of a letter, about."""
LONGEST = 18
"""Letters of a label; the rest is in the table beside the picture."""


def bars_svg(title: str, labels: Sequence[str], before: Sequence[float], after: Sequence[float], axis: str) -> str:
    """An SVG picture of the reports with two bars per label: original and released."""
    left, top, wide, high = 58.0, 46.0, 380.0, 170.0
    ticks = nice_ticks(max([*before, *after, 0.0]))
    step, most = wide / max(len(labels), 1), ticks[-1]
    drawn = [
        _text(0, 14, title, size=13, weight="bold"),
        *_legend(left, 32, (("original", BEFORE), ("released", AFTER))),
        *_vertical(left, top, high, ticks, axis),
        _line(left, top + high, left + wide, top + high),
    ]
    for place, (label, *values) in enumerate(zip(labels, before, after, strict=True)):
        for turn, (value, colour) in enumerate(zip(values, (BEFORE, AFTER), strict=True)):
            tall = high * value / most
            x = left + place * step + step * (0.1 + 0.4 * turn)
            drawn.append(_box(x, top + high - tall, 0.4 * step, tall, colour))
        x, y = left + (place + 0.5) * step, top + high + 13
        drawn.append(_text(x, y, label, anchor="end", turned=-35))
    return _picture(left + wide + 12, top + high + 78, drawn)


APART = 2.5
"""Times the second largest risk by which the largest is marked at the edge of a front instead of setting its scale."""


def draw_front_svg(points: Sequence[Mapping[str, Any]], loss: str, risk: str) -> str:
    """Draw the front as an SVG picture: loss against risk, one mark per solution."""
    left, top, wide, high = 58.0, 46.0, 560.0, 320.0
    across = nice_ticks(max([float(point["loss"]) for point in points], default=1.0))
    risks = sorted((float(point["risk"]) for point in points), reverse=True) or [1.0]
    apart = len(risks) > 1 and risks[0] > APART * risks[1] > 0  # one far above all others would press them together
    up = nice_ticks(risks[apart])
    families = dict.fromkeys(str(point["family"]) for point in points)
    colours = {family: FAMILIES[place % len(FAMILIES)] for place, family in enumerate(families)}
    drawn = [
        *_legend(left, 16, colours.items()),
        *_vertical(left, top, high, up, risk),
        *_horizontal(left, top + high, wide, across, loss),
    ]
    taken: list[tuple[float, float, float]] = []  # names already written: left, right and height
    for point in points:
        x = left + wide * float(point["loss"]) / across[-1]
        beyond_top = apart and float(point["risk"]) > up[-1]
        y = top if beyond_top else top + high - high * float(point["risk"]) / up[-1]
        colour = colours[str(point["family"])]
        if beyond_top:
            corners = f"{_n(x)},{_n(y - 6)} {_n(x - 5)},{_n(y + 3)} {_n(x + 5)},{_n(y + 3)}"
            drawn.append(f'<polygon points="{corners}" fill="{colour}"/>')
        elif point["kind"] == "baseline":
            drawn.append(_box(x - 3.5, y - 3.5, 7, 7, colour))
        else:
            drawn.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="4" fill="{colour}"/>')
        if point["kind"] == "chosen":
            drawn.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="9" fill="none" stroke="{INK}" stroke-width="2"/>')
        if point["kind"] != "solution":
            name, beyond = str(point["name"])[:40], x > left + 0.75 * wide
            name += f", {float(point['risk']):.3g} %" if beyond_top else ""
            # A name near the right edge stands on the left of its mark, and no name on another one.
            first = x - 11 - LETTER * len(name) if beyond else x + 11
            height = y - 7
            while any(
                first < end and start < first + LETTER * len(name) and abs(h - height) < 12 for start, end, h in taken
            ):
                height -= 12
            taken.append((first, first + LETTER * len(name), height))
            drawn.append(_text(x - 11 if beyond else x + 11, height, name, "end" if beyond else "start", longest=40))
    return _picture(left + wide + 30, top + high + 44, drawn)


def heat_map_svg(pairs: Sequence[Mapping[str, Any]]) -> str:
    """An SVG picture of the ties between columns in the reports: the darker a cell, the more the tie moved."""
    names = list(dict.fromkeys(name for pair in pairs for name in (pair["first"], pair["second"])))
    place = {name: at for at, name in enumerate(names)}
    moved = [min(abs(pair["after"] - pair["before"]), 1.0) for pair in pairs]
    most = max([0.1, *moved])
    left, top, wide, high = 130.0, 6.0, 34.0, 24.0
    drawn = []
    for pair, change in zip(pairs, moved, strict=True):
        low, above = sorted((place[pair["first"]], place[pair["second"]]))
        x, y, share = left + low * wide, top + (above - 1) * high, change / most
        mixed = (round(a + share * (b - a)) for a, b in zip(FAINT, STRONG, strict=True))
        drawn.append(_box(x, y, wide - 1, high - 1, "#" + "".join(f"{part:02x}" for part in mixed)))
        ink = "#fff" if share > 0.6 else INK
        drawn.append(_text(x + wide / 2, y + high / 2 + 3, f"{change:.2f}", "middle", size=9, colour=ink))
    bottom = top + (len(names) - 1) * high
    drawn += [_text(left - 6, top + (at - 0.5) * high + 4, name, "end") for at, name in enumerate(names) if at]
    drawn += [
        _text(left + (at + 0.5) * wide, bottom + 13, name, "end", turned=-35) for at, name in enumerate(names[:-1])
    ]
    return _picture(left + max(len(names) - 1, 1) * wide + 12, bottom + 78, drawn)


def draw_interval_svg(before: float, after: float, error: float) -> str:
    """Draw an estimate as an SVG picture: the 95 % interval of the original as a band, the released value as a mark.

    The scale is that of standard errors and the same for every estimate; a mark beyond it is drawn open at the end.
    """
    wide, high, ends = 84.0, 12.0, 4.0
    away = (after - before) / error
    x = wide / 2 + wide / 2 * max(-1.0, min(1.0, away / ends)) * 0.93
    band = wide / 2 * 1.96 / ends
    inside, colour = abs(away) <= ends, AFTER if abs(away) <= 1.96 else "#a3261d"
    drawn = [
        _line(0, high / 2, wide, high / 2),
        f'<rect x="{_n(wide / 2 - band)}" y="2.5" width="{_n(2 * band)}" height="{_n(high - 5)}" fill="#c9cfd6"/>',
        _line(wide / 2, 1, wide / 2, high - 1),
        f'<circle cx="{_n(x)}" cy="{_n(high / 2)}" r="3" fill="{colour if inside else "#fff"}" stroke="{colour}"/>',
    ]
    return _picture(wide, high, drawn)


def nice_ticks(most: float, count: int = 5) -> list[float]:
    """Round numbers from 0 to at least the largest, about so many.

    >>> nice_ticks(43.0)
    [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]
    """
    if not most > 0:
        return [0.0, 1.0]
    power = 10.0 ** floor(log10(most / count))
    step = next(size * power for size in (1, 2, 5, 10) if size * power * count >= most * (1 - 1e-9))
    last = min(-int(-(most / step - 1e-9) // 1), count)
    return [float(f"{place * step:.12g}") for place in range(last + 1)]


def _vertical(x: float, top: float, high: float, ticks: Sequence[float], title: str) -> Iterator[str]:
    yield _line(x, top, x, top + high)
    for tick in ticks:
        y = top + high - high * tick / ticks[-1]
        yield _line(x - 4, y, x, y)
        yield _text(x - 7, y + 4, f"{tick:g}", "end")
    yield _text(12, top + high / 2, title, "middle", size=12, turned=-90, longest=60)


def _horizontal(left: float, y: float, wide: float, ticks: Sequence[float], title: str) -> Iterator[str]:
    yield _line(left, y, left + wide, y)
    for tick in ticks:
        x = left + wide * tick / ticks[-1]
        yield _line(x, y, x, y + 4)
        yield _text(x, y + 17, f"{tick:g}", "middle")
    yield _text(left + wide / 2, y + 36, title, "middle", size=12, longest=60)


def _legend(x: float, y: float, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, colour in entries:
        yield _box(x, y - 8, 9, 9, colour)
        yield _text(x + 13, y, name)
        x += 28 + 6.5 * min(len(name), LONGEST)


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    *,
    size: int = 11,
    weight: str = "normal",
    colour: str = INK,
    turned: int = 0,
    longest: int = LONGEST,
) -> str:
    longest = max(longest, 60) if weight == "bold" else longest
    shown = escape(text if len(text) <= longest else f"{text[: longest - 1]}…")
    turn = f' transform="rotate({turned} {_n(x)} {_n(y)})"' if turned else ""
    bold = f' font-weight="{weight}"' if weight != "normal" else ""
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{bold}{turn}>'
        f"{shown}</text>"
    )


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{_n(x)}" y1="{_n(y)}" x2="{_n(to_x)}" y2="{_n(to_y)}" stroke="{LINE}"/>'


def _box(x: float, y: float, wide: float, high: float, colour: str) -> str:
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}" fill="{colour}"/>'


def _picture(wide: float, high: float, drawn: Iterable[str]) -> str:
    size = f'width="{_n(wide)}" height="{_n(high)}" viewBox="0 0 {_n(wide)} {_n(high)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(drawn)}</svg>'
    )


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
