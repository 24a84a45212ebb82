"""Draw the pictures of the concept pages: eight people, masked and measured by Crypsis itself.

    python docs/drawings.py [--out docs/images]

Each drawing is an SVG of its own that follows the reader's choice of light or dark. Figures in it are computed here,
from the same eight people that the pages use.
"""

from __future__ import annotations

import argparse
from html import escape
from pathlib import Path

import numpy as np
import polars as pl

import crypsis

PEOPLE = pl.DataFrame({"age": [23, 25, 31, 34, 46, 48, 67, 70], "city": list("aabababb")})
STYLE = """
text { font: 15px system-ui, sans-serif; fill: #1f2933 } .small { font-size: 13px } .bold { font-weight: 600 }
.quiet { fill: #52606d } .end { text-anchor: end } .middle { text-anchor: middle }
.line { stroke: #52606d; fill: none } .thick { stroke: #00796b; stroke-width: 2.5; fill: none }
.dash { stroke: #9aa5b1; stroke-dasharray: 4 4; fill: none }
.box { fill: #f5f7fa; stroke: #9aa5b1 } .good { fill: #00796b } .bad { fill: #c2410c } .faint { fill: #b8c2cc }
.a { fill: #cfe8e4 } .b { fill: #fde3c8 } .c { fill: #dcdcf7 } .d { fill: #f9d5dd }
.verdict { fill: #00695c; font-weight: 600 } .warning { fill: #b23b08; font-weight: 600 }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7eb } .quiet { fill: #a9b4c0 } .line { stroke: #a9b4c0 } .thick { stroke: #4db6ac }
.dash { stroke: #66727f } .box { fill: #2b3038; stroke: #66727f } .good { fill: #4db6ac } .bad { fill: #fb923c }
.faint { fill: #59636e } .a { fill: #1f5a53 } .b { fill: #70451c } .c { fill: #44447c } .d { fill: #74303f }
.verdict { fill: #80cbc4 } .warning { fill: #fdba74 }
}
"""
CLASSES = "abcd"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "images")
    folder = parser.parse_args().out
    for name, draw in DRAWINGS.items():
        (folder / f"concept-{name}.svg").write_text(draw(), encoding="utf-8")


def people() -> crypsis.Table:
    """The eight people, with the hierarchies of the pages."""
    hierarchies = {"age": "intervals:10,20,40", "city": "merge:1"}
    return crypsis.wrap(PEOPLE, quasi_identifiers=["age", "city"], hierarchies=hierarchies)


def masked(method: crypsis.MaskingMethod) -> crypsis.Table:
    return method.mask(people(), np.random.default_rng(3))


def grouped(k: int) -> crypsis.Table:
    return masked(crypsis.Microaggregation(k=k, numbers="mean"))


def figures(table: crypsis.Table) -> tuple[float, float]:
    """Loss and risk, in per cent."""
    original = people()
    return crypsis.InformationLoss().against(original).read(table), crypsis.ClassRisk().against(original).read(table)


def picture(title: str, width: int, height: int, *parts: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def text(x: float, y: float, words: object, *classes: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{" ".join(classes)}">{escape(str(words))}</text>'


def rectangle(x: float, y: float, width: float, height: float, kind: str, round_: int = 4) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_}" class="{kind}"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "line", *, arrow: bool = False) -> str:
    drawn = f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" class="{kind}"/>'
    if not arrow:
        return drawn
    along = np.array([x2 - x1, y2 - y1]) / np.hypot(x2 - x1, y2 - y1)
    across = np.array([-along[1], along[0]])
    left, right = np.array([x2, y2]) - 9 * along + 4 * across, np.array([x2, y2]) - 9 * along - 4 * across
    return drawn + f'<path d="M{x2:g} {y2:g}L{left[0]:g} {left[1]:g}L{right[0]:g} {right[1]:g}z" class="quiet"/>'


def rows(x: float, y: float, table: list[tuple[object, ...]], kinds: list[str], titles: tuple[str, ...]) -> list[str]:
    """A small table with a colour for every row."""
    wide = [76, 56, 100]
    starts = [x + sum(wide[:place]) for place in range(len(titles))]
    parts = [text(start + 8, y - 8, title, "small", "quiet") for start, title in zip(starts, titles, strict=True)]
    for place, (row, kind) in enumerate(zip(table, kinds, strict=True)):
        top = y + 26 * place
        parts.append(rectangle(x, top, sum(wide[: len(titles)]), 24, kind))
        parts += [text(start + 8, top + 17, cell) for start, cell in zip(starts, row, strict=True)]
    return parts


def class_colours(table: list[tuple[object, ...]]) -> list[str]:
    """A colour for every class, in order of its first record."""
    seen = list(dict.fromkeys(table))
    return [CLASSES[seen.index(row) % 4] if table.count(row) > 1 else "box" for row in table]


def draw_k() -> str:
    before = PEOPLE.rows()
    table = grouped(2)
    after = [(f"{age:g}", city) for age, city in crypsis.to_frame(table).rows()]
    parts = [*rows(20, 50, before, ["box"] * 8, ("age", "city")), text(20, 22, "as collected", "bold")]
    parts += [text(20, 286, "k = 1: everybody is alone", "warning")]
    parts += [line(172, 150, 232, 150, arrow=True), text(202, 140, "mask", "small", "quiet", "middle")]
    parts += [*rows(252, 50, after, class_colours(after), ("age", "city")), text(252, 22, "published", "bold")]
    parts += [text(252, 286, "k = 2: nobody is alone", "verdict")]
    parts += [text(430, 22, "classes", "bold")]
    for place, kind in enumerate(dict.fromkeys(class_colours(after))):
        top = 50 + 52 * place
        parts += [
            rectangle(430, top, 296, 42, kind),
            text(444, top + 27, f"class {place + 1}: 2 records, one chance in 2"),
        ]
    return picture("Eight people in four classes of two: nobody is alone any more", 740, 304, *parts)


def draw_front() -> str:
    tried = {
        "groups of 2": grouped(2),
        "groups of 3": grouped(3),
        "groups of 4": grouped(4),
        "one group": grouped(8),
        "local recoding": masked(crypsis.LocalRecoding(k=2)),
        "age in twenties, no city": masked(crypsis.Generalisation(levels={"age": 2, "city": 1})),
        "as collected": people(),
    }
    points = {name: figures(table) for name, table in tried.items()}
    allowed = {name: point for name, point in points.items() if name != "as collected"}
    front = [
        name
        for name, (loss, risk) in allowed.items()
        if not any(less <= loss and safer <= risk and (less, safer) != (loss, risk) for less, safer in allowed.values())
    ]
    at = {name: (70 + 5.2 * loss, 300 - 2.6 * risk) for name, (loss, risk) in points.items()}
    parts = [line(70, 300, 610, 300, arrow=True), line(70, 300, 70, 22, arrow=True)]
    parts += [
        text(610, 322, "information loss, %", "small", "quiet", "end"),
        text(60, 14, "risk, %", "small", "quiet", "middle"),
    ]
    parts += [text(70 + 5.2 * tick, 318, tick, "small", "quiet", "middle") for tick in (0, 25, 50, 75)]
    parts += [text(60, 304 - 2.6 * tick, tick, "small", "quiet", "end") for tick in (0, 25, 50, 100)]
    corners = sorted(at[name] for name in front)
    path = f"M{corners[0][0]:g} {corners[0][1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in corners[1:])
    parts.append(f'<path d="{path}" class="thick"/>')
    for name, (x, y) in at.items():
        kind = "good" if name in front else "bad" if name == "as collected" else "faint"
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="7" class="{kind}"/>')
        loss, risk = points[name]
        places = {"local recoding": (22, 8), "groups of 3": (24, -20), "as collected": (5, 14)}
        down, side = places.get(name, (-10, 12))
        classes = ("small", "bold") if name in front else ("small", "quiet")
        anchor = ("end",) if name == "one group" else ()
        words = [f"{name} ({loss:.1f}, {risk:.1f})" + (", may not be released" if name == "as collected" else "")]
        words = words[0].split(" (") if name == "local recoding" else words
        for row, each in enumerate(words):
            shown = f"({each}" if row else each
            parts.append(text(x + (0 if anchor else side), y + down + 17 * row, shown, *classes, *anchor))
    return picture(
        "Loss against risk: three solutions on the front, three beaten ones, and the file as collected",
        640,
        336,
        *parts,
    )


def draw_loss() -> str:
    original, published = PEOPLE["age"].to_list(), [float(age) for age in grouped(2).column("age")]
    loss = 100 * sum((a - b) ** 2 for a, b in zip(original, published, strict=True))
    loss /= sum((a - np.mean(original)) ** 2 for a in original)
    scale = lambda age: 60 + (age - 20) * 11  # noqa: E731
    parts = [text(20, 26, "ages as collected, and the mean of each pair", "bold")]
    for y, values, kind in ((80, original, "good"), (170, published, "bad")):
        parts.append(line(50, y, 630, y))
        parts += [f'<circle cx="{scale(value):g}" cy="{y}" r="7" class="{kind}"/>' for value in values]
    parts += [line(scale(a), 88, scale(b), 161, "dash") for a, b in zip(original, published, strict=True)]
    parts += [text(scale(value), 64, f"{value:g}", "small", "middle") for value in original]
    parts += [text(scale(value), 194, f"{value:g}", "small", "middle") for value in sorted(set(published))]
    parts += [rectangle(50, 226, 580, 16, "faint"), rectangle(50, 226, 5.8 * loss, 16, "bad")]
    parts += [text(50, 262, f"lost: {loss:.1f} %", "warning"), text(50, 218, "0 %: as collected", "small", "quiet")]
    parts += [text(630, 218, "100 %: everybody gets the mean of all", "small", "quiet", "end")]
    return picture("Eight ages, published as means of pairs", 660, 276, *parts)


def draw_risk() -> str:
    table = crypsis.to_frame(grouped(3)).rows()
    kinds = class_colours(table)
    parts = [text(20, 26, "an intruder who reaches everybody’s class and guesses in it", "bold")]
    left = 40
    for kind in dict.fromkeys(kinds):
        size = kinds.count(kind)
        wide = 44 * size + 24
        parts += [rectangle(left, 60, wide, 70, kind, 10)]
        parts += [f'<circle cx="{left + 34 + 44 * i}" cy="95" r="13" class="box"/>' for i in range(size)]
        parts += [text(left + wide / 2, 152, f"{size} records: each 1/{size}", "middle")]
        parts += [text(left + wide / 2, 172, f"{size} × 1/{size} = 1 person found", "middle", "small", "quiet")]
        left += wide + 30
    risk = figures(grouped(3))[1]
    parts += [text(20, 212, f"class risk = 2 classes / 8 records = {risk:.0f} %", "verdict")]
    parts += [text(20, 236, "in the smallest class: at most 1/3 = 33 %", "quiet")]
    return picture("Two classes of three and five records: one person of each is found by guessing", 640, 252, *parts)


def draw_audit() -> str:
    looked = (
        "every column alone",
        "two and three together",
        "keys that restore masked cells",
        "texts, dates, arithmetic",
        "earlier releases",
    )
    parts = [rectangle(16, 96, 118, 66, "box", 8), text(75, 124, "written file,", "middle")]
    parts += [text(75, 144, "read back", "middle"), line(138, 129, 172, 129, arrow=True)]
    parts += [rectangle(180, 20, 250, 218, "a", 8), text(305, 46, "audit: what does it reveal?", "middle", "bold")]
    for place, each in enumerate(looked):
        parts += [rectangle(196, 60 + 35 * place, 218, 28, "box"), text(305, 79 + 35 * place, each, "middle", "small")]
    parts += [line(434, 90, 474, 64, arrow=True), line(434, 168, 474, 194, arrow=True)]
    parts += [rectangle(480, 30, 214, 64, "c", 8), text(587, 57, "nothing open:", "middle")]
    parts += [text(587, 79, "the release gets its name", "middle", "small")]
    parts += [rectangle(480, 164, 214, 74, "d", 8), text(587, 188, "a finding refuses:", "middle")]
    parts += [
        text(587, 208, "nothing is written;", "middle", "small"),
        text(587, 226, "mask, leave out, or waive", "middle", "small"),
    ]
    parts += ['<path d="M587 240C587 268 75 276 75 168" class="dash"/>']
    return picture("The audit stands between the written file and its name", 708, 276, *parts)


def draw_families() -> str:
    shown = {
        "aggregation": (grouped(2), "similar records share one value"),
        "recoding": (masked(crypsis.LocalRecoding(k=2)), "values become coarser, and stay true"),
        "perturbation": (masked(crypsis.RankSwapping(percent=30)), "values change places"),
    }
    parts = []
    for place, (family, (table, words)) in enumerate(shown.items()):
        x = 16 + 275 * place
        after = [(age if isinstance(age, str) else f"{age:g}", city) for age, city in crypsis.to_frame(table).rows()]
        parts += [text(x, 24, family, "bold"), text(x, 44, words, "small", "quiet")]
        parts += rows(x, 76, after, class_colours(after), ("age", "city"))
        loss, risk = figures(table)
        classes = crypsis.KAnonymity(k=2).judge(table).holds
        linked = crypsis.OneToOneLinkage().against(people()).read(table)
        parts += [text(x, 312, f"loss {loss:.1f} %")]
        proof = (
            (f"classes prove: {risk:.0f} % found", "verdict")
            if classes
            else (f"no classes; attacked: {linked:.0f} %", "warning")
        )
        parts += [text(x, 334, proof[0], proof[1])]
    return picture("The same eight people in three families of maskings", 830, 350, *parts)


def draw_searches() -> str:
    parts = []
    ages, cities = PEOPLE["age"].to_list()[:4], PEOPLE["city"].to_list()[:4]
    titles = {
        "which records": ("memetic, composite, households", "a group for every record"),
        "how coarse": ("pbg-ea, local-recoding", "a level for every column or record"),
        "which cells": ("categorical-masking, mixed-masking", "a donor or category for every cell"),
        "which columns": ("gomm, mixed-grouping", "a group for every column"),
    }
    for place, (question, (names, genome)) in enumerate(titles.items()):
        x, y = 16 + 350 * (place % 2), 16 + 190 * (place // 2)
        parts += [rectangle(x, y, 334, 176, "box", 8), text(x + 14, y + 26, question, "bold")]
        parts += [text(x + 14, y + 46, genome, "small", "quiet"), text(x + 14, y + 166, names, "small")]
        for row in range(4):
            for column, value in enumerate((ages[row], cities[row], 40 + 5 * row)):
                kind = {
                    "which records": "ab"[row // 2],
                    "how coarse": "abc"[column],
                    "which cells": "d" if (row + column) % 3 == 0 else "box",
                    "which columns": "aab"[column] if column < 2 else "b",
                }[question]
                left, top = x + 14 + 64 * column, y + 56 + 23 * row
                parts += [rectangle(left, top, 60, 20, kind), text(left + 30, top + 15, value, "small", "middle")]
        note = {
            "which records": ("group 1", "group 2"),
            "how coarse": ("level 1 2 0", ""),
            "which cells": ("changed cells", ""),
            "which columns": ("columns 1 + 2,", "column 3"),
        }[question]
        parts += [
            text(x + 218, y + 84, note[0], "small"),
            text(x + 218, y + 130 if place == 0 else y + 102, note[1], "small"),
        ]
    return picture(
        "Four questions that searches answer: which records, how coarse, which cells, which columns", 720, 400, *parts
    )


DRAWINGS = {
    "front": draw_front,
    "k": draw_k,
    "loss": draw_loss,
    "risk": draw_risk,
    "audit": draw_audit,
    "families": draw_families,
    "searches": draw_searches,
}

if __name__ == "__main__":
    main()
