"""Pages made from results that are kept in the repository: the peers' benchmark and the papers' verdicts."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "experiments"))

from summary import claims, judged  # noqa: E402
from verdicts import VERDICTS  # noqa: E402

PEERS = ROOT / "benchmarks" / "results" / "peers.json"
REMARKS = {
    "anonypyx": "anonypyx' MDAV starts at the first record instead of the farthest where no column is a category "
    "(a distance over no columns is not a number), hence its larger SSE.",
    "anjana": "anjana generalises the column with most values until k is met; Crypsis judges all 17 920 nodes and "
    "takes the one of least loss.",
    "pymoo": "NSGA-II on both sides with the same population, generations, crossover and scores; mutation is "
    "polynomial and rounded in pymoo, one step up or down in Crypsis, and pymoo ends nearer to the front.",
}


def benchmarks() -> str:
    """The peer table as it was last measured."""
    content = json.loads(PEERS.read_text(encoding="utf-8"))
    tools = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
    lines = [
        "# Benchmarks",
        "",
        f"Measured on {content['date']} by `python benchmarks/peers.py`: {tools}. The same data and the same task for "
        "both sides, in children of one process one after the other, one core. Seconds are CPU, the best of the runs, "
        "after one that compiles. *Times faster* above 1 means Crypsis needed less time; *quality* is Crypsis by peer, "
        "below 1 Crypsis lost less, 1 the results agree. The two sides of a row were measured one after the other; "
        "rows may come from several calls (`--only`) on a shared machine, so compare within a row, not between rows.",
        "",
        "## Time",
        "",
        "| task | peer | its seconds | Crypsis, seconds | times faster |",
        "|---|---|---|---|---|",
        *(_time(row) for row in content["rows"]),
        "",
        "## Quality",
        "",
        "| task | judged by | peer | Crypsis | quality |",
        "|---|---|---|---|---|",
        *(_quality(row) for row in content["rows"]),
    ]
    lines += ["", "![CPU time of the peers by that of Crypsis](../images/peers.png)", "", "## Remarks", ""]
    lines += [f"- {text}" for text in REMARKS.values()]
    lines += [
        "",
        "The other benchmarks print their own tables: `benchmarks/partitions.py`, `lattices.py`, `maskings.py`, "
        "`memetic.py`, `genetic.py`, `groupings.py`, `decoding.py`, `measures.py`, `randomising.py`, `scale.py`, "
        "`sensitivity.py`, `studio.py`. No test asserts a time.",
    ]
    return "\n".join(lines) + "\n"


def _time(row: dict[str, Any]) -> str:
    seconds = f"{row['peer_seconds']:.3g} | {row['seconds']:.3g} | {row['time_ratio']:.3g}"
    return f"| {row['task']} | {row['peer']} | {seconds} |"


def _quality(row: dict[str, Any]) -> str:
    values = f"{row['peer_quality']:.6g} | {row['quality']:.6g} | {row['quality_ratio']:.4g}"
    who = f" ({row['ours']})" if row["ours"] != "crypsis" else ""
    return f"| {row['task']}{who} | {row['measure']} | {values} |"


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
