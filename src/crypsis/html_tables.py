"""Small tables in HTML, by which notebooks show results."""

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
