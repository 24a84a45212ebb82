"""Tables of the documentation that a benchmark prints: put into their page in place of the old one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

HOW_TO = Path(__file__).resolve().parents[1] / "docs" / "how-to"


def replace_table(page: Path, lines: Sequence[str]) -> None:
    """Put a table in place of the first one whose first two columns have the same names.

    Parameters
    ----------
    page : Path
        A page in Markdown.
    lines : sequence of str
        The table; its first line names the columns.
    """
    old, named = page.read_text(encoding="utf-8").splitlines(), lines[0].split("|")[:3]
    first = next(place for place, line in enumerate(old) if line.split("|")[:3] == named)
    last = next((place for place in range(first, len(old)) if not old[place].startswith("|")), len(old))
    page.write_text("\n".join([*old[:first], *lines, *old[last:]]) + "\n", encoding="utf-8")
    print(f"{page.name}: the table has {len(lines) - 2} rows")
