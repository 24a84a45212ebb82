"""Small tables in HTML, by which notebooks show results, and the same in plain text."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


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
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


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
    cells = [list(head), *([cell_text(each) for each in row] for row in listed)]
    places = range(len(head))
    widths = [max(len(row[place]) for row in cells) for place in places]
    right = [
        any(isinstance(row[place], int | float) for row in listed)
        and all(row[place] is None or isinstance(row[place], int | float) for row in listed)
        for place in places
    ]
    lines = [
        "  ".join(row[p].rjust(widths[p]) if right[p] else row[p].ljust(widths[p]) for p in places).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join([caption, *lines] if caption else lines)
