"""Small tables: in HTML, by which notebooks show results, and in plain text for terminals."""

from __future__ import annotations

import html
import shutil
from collections.abc import Iterable, Sequence
from textwrap import wrap


def draw_html_table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table in HTML; every text is escaped, nothing is a dash, and a float has four digits.

    >>> draw_html_table(["a"], [[1.23456], [None], ["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1.235</td></tr><tr><td>–</td></tr><tr><td>&lt;b&gt;</td>\
</tr></tbody></table>'
    """
    said = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell_text(each))}</td>" for each in row) + "</tr>" for row in rows
    )
    return f"<table>{said}<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def cell_text(value: object) -> str:
    """A cell of a table in text.

    >>> [cell_text(value) for value in (None, 0.123456, 7, "town")]
    ['–', '0.1235', '7', 'town']
    """
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e9 else f"{value:.4g}"


def draw_text_table(head: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table in plain text: a caption, names of columns, a line, rows; numbers stand to the right.

    >>> print(draw_text_table(["name", "n"], [["town", 12], ["age", None]], "counted:"))
    counted:
    name   n
    ────  ──
    town  12
    age    –
    """
    listed = [list(row) for row in rows]
    right = [
        place
        for place in range(len(head))
        if any(isinstance(row[place], int | float) for row in listed)
        and all(row[place] is None or isinstance(row[place], int | float) for row in listed)
    ]
    drawn = table(head, [[cell_text(each) for each in row] for row in listed], right)
    return f"{caption}\n{drawn}" if caption else drawn


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Aligned columns of plain text; `right` lists the columns of numbers."""
    from rich.cells import cell_len

    cells = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(row[place]) for row in cells) for place in range(len(headers))]
    flush = set(right)

    def line(row: Sequence[str]) -> str:
        padded = [
            " " * (width - cell_len(cell)) + cell if place in flush else cell + " " * (width - cell_len(cell))
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("─" * width for width in widths)
    return "\n".join([line(cells[0]), rule, *(line(row) for row in cells[1:])])


FALLBACK = 120
"""Characters of a line where no terminal and no COLUMNS says how many there are."""
BELOW = 5
"""Characters by which a text below the figures of its row is moved in."""
LEAST_BESIDE = 36
"""Characters that a text needs beside the figures of its row; else it stands below them."""


def count_characters_of_line() -> int:
    """Characters of a line of the terminal."""
    return shutil.get_terminal_size((FALLBACK, 24)).columns


def table_with_text(
    headers: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = (), width: int | None = None
) -> str:
    """Aligned columns whose last is text: it is broken beside the others, or stands below them on a narrow terminal.

    >>> print(table_with_text(("no.", "what"), [("7", "a short one"), ("12", "one of several words")], [0], width=44))
    no.  what
    ───  ────────────────────
      7  a short one
     12  one of several words
    >>> print(table_with_text(("no.", "what"), [("7", "a rather long one")], [0], width=17))
    no.
    ───
      7
         a rather
         long one
    """
    from rich.cells import cell_len

    listed = [tuple(map(str, row)) for row in rows]
    lines = table(headers[:-1], [row[:-1] for row in listed], right).split("\n")
    used, width = max(map(cell_len, lines[:2])), width or count_characters_of_line()
    room, below = width - used - 2, width - BELOW
    if room < min(LEAST_BESIDE, max(map(cell_len, (headers[-1], *(row[-1] for row in listed))))):
        found = lines[:2]
        for line, row in zip(lines[2:], listed, strict=True):
            found += [line, *(f"{' ' * BELOW}{part}" for part in wrap(row[-1], below))]
        return "\n".join(found)
    broken = [wrap(row[-1], room) or [""] for row in listed]
    widest = max(map(cell_len, (headers[-1], *(part for parts in broken for part in parts))))
    pad = used + 2
    found = [f"{lines[0]}{' ' * (pad - cell_len(lines[0]))}{headers[-1]}", f"{lines[1]}  {'─' * widest}"]
    for line, parts in zip(lines[2:], broken, strict=True):
        found.append(f"{line}{' ' * (pad - cell_len(line))}{parts[0]}".rstrip())
        found += [" " * pad + part for part in parts[1:]]
    return "\n".join(found)
