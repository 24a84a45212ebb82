"""What the five verdicts come to, read from the verdicts themselves: README.md and the papers' pages get it from here.

python experiments/summary.py            print the figures of README.md
python experiments/summary.py --write    put them into experiments/README.md, and its tables into docs/papers/*.md
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from verdicts import RULE, VERDICTS

HERE = Path(__file__).resolve().parent
PAPERS = ("ga-2006", "hybrid-2007", "gomm-2014", "masking-2012", "pbg-2009")
BEFORE: dict[str, tuple[int, int, int, int, int, int, int]] = {
    "ga-2006": (44, 40, 0, 0, 16, 0, 0),
    "hybrid-2007": (7, 3, 0, 0, 2, 0, 77),
    "gomm-2014": (173, 16, 0, 7, 14, 10, 8),
    "masking-2012": (7, 25, 0, 0, 36, 24, 33),
    "pbg-2009": (16, 35, 0, 0, 11, 8, 0),
}
"""Counts before there was one rule: bands differed from paper to paper, and some runs were shorter than printed."""
BEGIN, END = "<!-- figures: python experiments/summary.py --write -->", "<!-- end of figures -->"
PAGES = HERE.parent / "docs" / "papers"
SHOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "ga-2006": (("Table II average", ""), ("Table IV", ""), ("Table III", "")),
    "hybrid-2007": (("Table 2", "SSE"),),
    "gomm-2014": (("Table 1", "score"), ("Table 2", "score"), ("Section 4.2", "")),
    "masking-2012": (("Section 3.2 max score", "improvement"), ("Section 3.3 robustness", "")),
    "pbg-2009": (("Table 1(b)", ""), ("Table 2(b)", "nodes")),
}
"""Tables of a paper's page, and what the name of a column must hold to be shown."""


def cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table."""
    return [part.strip() for part in re.split(r"(?<!\\)\|", line.strip())[1:-1]] if line.startswith("|") else []


def judged(text: str) -> list[tuple[str, ...]]:
    """(table, row, column, printed, verdict, why, ours) of every printed number of a verdict."""
    found, table = list[tuple[str, ...]](), ""
    for line in text.splitlines():
        if line.startswith("## "):
            table = line[3:]
        parts = cells(line)
        if len(parts) >= 6 and parts[-2] in VERDICTS and not table.startswith("Readings tried"):
            row, column, printed, *ours, verdict, why = parts
            found.append((table, row, column, printed, verdict, why, " ".join(ours)))
    return found


def claims(text: str) -> list[tuple[str, str, str]]:
    """(sentence, holds, found) of every statement of a verdict."""
    rows = [cells(line) for line in text.splitlines()]
    words = ("holds", "does not hold", "not tested")
    return [(parts[0], parts[1], parts[2]) for parts in rows if len(parts) == 3 and parts[1] in words]


def _open(holding: Counter[str]) -> str:
    return f", {holding['not tested']} not tested" if holding["not tested"] else ""


def verdict(paper: str) -> str:
    return (HERE / paper / "verdict.md").read_text(encoding="utf-8")


def cost(text: str) -> tuple[str, int]:
    """The command that made a verdict and its CPU seconds."""
    found = re.search(r"Made by `(.+?)` in (\d+) s", text)
    if found is None:
        raise ValueError("a verdict does not say how it was made")
    return found[1], int(found[2])


def figures() -> str:
    """The rule, counts before and now, and the commands."""
    lines = ["The rule for all papers:", "", *(f"- {sentence}" for sentence in RULE), ""]
    lines += ["| paper | printed numbers | " + " | ".join(VERDICTS) + " | statements that hold |"]
    lines += ["|" + "---|" * (len(VERDICTS) + 3)]
    for paper in PAPERS:
        text = verdict(paper)
        counts = Counter(row[4] for row in judged(text))
        told = [f"{before} → {counts[word]}" for before, word in zip(BEFORE[paper], VERDICTS, strict=True)]
        holding = Counter(holds for _, holds, _ in claims(text))
        tested = holding["holds"] + holding["does not hold"]
        held = f"{holding['holds']} of {tested}{_open(holding)}"
        lines.append(f"| {paper} | {sum(counts.values())} | {' | '.join(told)} | {held} |")
    lines += [
        "",
        "Counts are *before → now*; before, bands differed from paper to paper and were set beside our results.",
        "",
    ]
    lines += ["| paper | made by | CPU seconds |", "|---|---|---|"]
    for paper in PAPERS:
        command, seconds = cost(verdict(paper))
        lines.append(f"| {paper} | `{command} --out FOLDER` | {seconds} |")
    return "\n".join(lines)


def tables(paper: str) -> str:
    """The tables of a paper's page: printed and ours, cell by cell."""
    rows, lines = judged(verdict(paper)), []
    for table, part in SHOWN[paper]:
        shown = [row for row in rows if row[0] == table and part in row[2] and row[6] != "–"]
        lines += [f"**{table}**", "", *(_cross(shown) or _list(shown)), ""]
    counts = Counter(row[4] for row in rows)
    told = ", ".join(f"{counts[word]} *{word}*" for word in VERDICTS if counts[word])
    command, seconds = cost(verdict(paper))
    where = f"experiments/{paper}/verdict.md"
    lines.append(
        f"In a cell of a table: printed → ours, verdict. All {len(rows)} printed numbers: {told}. "
        f"`{command} --out FOLDER`, {seconds} s of one core; the reasons are in `{where}`."
    )
    return "\n".join(lines)


def _cross(shown: list[tuple[str, ...]]) -> list[str]:
    """A table with the rows and columns of the paper; none where it has gaps or a single column."""
    cells = {(row, column): f"{printed} → {ours}, {word}" for _, row, column, printed, word, _, ours in shown}
    names, columns = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    if len(columns) == 1 or len(cells) < len(names) * len(columns):
        return []
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    return lines + [f"| {name} | {' | '.join(cells[name, column] for column in columns)} |" for name in names]


def _list(shown: list[tuple[str, ...]]) -> list[str]:
    """A line for each cell."""
    lines = ["| row | column | printed | ours | verdict |", "|---|---|---|---|---|"]
    return lines + [
        f"| {row} | {column} | {printed} | {ours} | {word} |" for _, row, column, printed, word, _, ours in shown
    ]


def rewritten(page: str, content: str) -> str:
    """A page with what is between the marks replaced."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError("the page has no marks to write between")
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"


def pages() -> dict[Path, str]:
    """Every page that shows figures of the verdicts, as it should read."""
    content = {HERE / "README.md": figures()} | {PAGES / f"{paper}.md": tables(paper) for paper in PAPERS}
    return {path: rewritten(path.read_text(encoding="utf-8"), text) for path, text in content.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put figures and tables into their pages")
    if parser.parse_args().write:
        for path, text in pages().items():
            path.write_text(text, encoding="utf-8")
    print(figures())


if __name__ == "__main__":
    main()
