"""Tables of the documentation that a benchmark prints: put into their page in place of the old one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

HOW_TO = Path(__file__).resolve().parents[1] / "docs" / "how-to"


def replace_table(page: Path, lines: Sequence[str]) -> None:
    """Put a table in place of the one that begins with the same line.

    Parameters
    ----------
    page : Path
        A page in Markdown.
    lines : sequence of str
        The table; its first line names the columns and stands once in the page.
    """
    old = page.read_text(encoding="utf-8").splitlines()
    first = old.index(lines[0])
    last = next((place for place in range(first, len(old)) if not old[place].startswith("|")), len(old))
    page.write_text("\n".join([*old[:first], *lines, *old[last:]]) + "\n", encoding="utf-8")
    print(f"{page.name}: the table has {len(lines) - 2} rows")
