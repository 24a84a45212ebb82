"""Pages made from what is kept in the repository: the benchmarks there are, and the papers' verdicts."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "experiments"))

from summary import claims, judged  # noqa: E402
from verdicts import VERDICTS  # noqa: E402

BENCHMARKS = ROOT / "benchmarks"


def benchmarks() -> str:
    """Every benchmark that is a command, by the first line of its own description."""
    lines = [
        "# Benchmarks",
        "",
        "Beside other tools: [how Crypsis compares](../comparison.md). The commands below print their own tables; no "
        "test asserts a time.",
        "",
        "| command | what it measures |",
        "|---|---|",
    ]
    for path in sorted(BENCHMARKS.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "__main__" in text:
            said = (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
            lines.append(f"| `python benchmarks/{path.name}` | {said} |")
    return "\n".join(lines) + "\n"


def verdicts() -> str:
    """Everything in the five papers that is not reproduced, or differs, from the verdicts the scripts wrote."""
    lines = [
        "# What is reproduced, and what is not",
        "",
        "Made from `experiments/*/verdict.md`, which `python experiments/NAME/reproduce.py` writes. Every number "
        "printed in the five papers has a verdict there; below are the ones that are *different* or "
        "*not reproduced*, with the reason, and the statements that do not hold.",
        "",
        "| paper | run | " + " | ".join(VERDICTS) + " |",
        "|---|---|" + "---|" * len(VERDICTS),
    ]
    files = sorted((ROOT / "experiments").glob("*/verdict.md"))
    parts: list[str] = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        rows, said = judged(text), claims(text)
        counts = Counter(row[4] for row in rows)
        run = "quick" if "Only the quick run" in text else "full"
        lines.append(f"| {path.parent.name} | {run} | " + " | ".join(str(counts[word]) for word in VERDICTS) + " |")
        parts += ["", f"## {path.parent.name}", "", *_missing(rows)]
        failed = [claim for claim in said if claim[1] == "does not hold"]
        if failed:
            parts += ["", "Statements that do not hold:", ""]
            parts += [f"- {sentence} — found: {found}" for sentence, _, found in failed]
    return "\n".join([*lines, *parts]) + "\n"


def _missing(rows: list[tuple[str, ...]]) -> list[str]:
    """One line per table, verdict and reason, with the cells it concerns."""
    grouped: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
    for row in rows:
        if row[4] in ("undecided", "different", "not reproduced"):
            # The spread over runs differs from cell to cell; the reason behind it does not.
            reason = re.sub(r"; mean of \d+, .*$", "", row[5])
            grouped.setdefault((row[0], row[4], reason), []).append(row)
    if not grouped:
        return ["Everything is reproduced or close."]
    lines = ["| table | verdict | cells | which (printed / ours) | why |", "|---|---|---|---|---|"]
    for (table, verdict, why), members in grouped.items():
        cells = "; ".join(f"{row} {column} ({printed} / {ours})" for _, row, column, printed, _, _, ours in members)
        lines.append(f"| {table} | {verdict} | {len(members)} | {cells} | {why} |")
    return lines
